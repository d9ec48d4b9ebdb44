package keeper

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/rs/zerolog"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// mostWatched bounds the folders that are watched: systems give few handles,
// and what is not watched is found by the next scan.
const mostWatched = 2000

// A watcher hears of changed files. Without one the periodic scan has to do.
type watcher struct {
	fs      *fsnotify.Watcher
	watched map[string]bool // folders
	kinds   map[string]bool // extensions of files that sources know
	out     chan string
	log     zerolog.Logger
}

func newWatcher(log zerolog.Logger) *watcher {
	w := &watcher{watched: map[string]bool{}, kinds: map[string]bool{}, log: log}
	fs, err := fsnotify.NewWatcher()
	if err != nil {
		log.Warn().Err(err).Msg("no watcher, files are scanned every minute")
		return w
	}
	w.fs = fs
	w.out = make(chan string)
	go w.pump()
	return w
}

// missed stands for the paths of changes that the system could not tell.
const missed = ""

// pump turns events into paths of files that sources know. It ends when the
// watcher is closed.
func (w *watcher) pump() {
	defer close(w.out)
	for {
		select {
		case e, ok := <-w.fs.Events:
			if !ok {
				return
			}
			if e.Has(fsnotify.Write) || e.Has(fsnotify.Create) || e.Has(fsnotify.Rename) {
				w.out <- strings.TrimSuffix(e.Name, "-wal") // a database's news is beside it
			}
		case err, ok := <-w.fs.Errors:
			if !ok {
				return
			}
			w.log.Warn().Err(err).Msg("watch")
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				w.out <- missed
			}
		}
	}
}

// changes gives the paths of changed files; it is never ready without a watcher.
func (w *watcher) changes() <-chan string { return w.out }

// forget stops listening to a watcher that has ended.
func (w *watcher) forget() { w.out = nil }

// gather waits for what else changes now and returns the paths.
func (w *watcher) gather(ctx context.Context, path string, wait time.Duration) []string {
	paths := []string{path}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return paths
		case <-timer.C:
			return paths
		case p, ok := <-w.out:
			if !ok {
				return paths
			}
			if !slices.Contains(paths, p) {
				paths = append(paths, p)
			}
		}
	}
}

// watch adds the folders of files, and the folders above them, below home,
// where new ones appear.
func (w *watcher) watch(home string, files map[string]transcript.File) {
	if w.fs == nil {
		return
	}
	for path := range files {
		dir := filepath.Dir(path)
		w.kinds[filepath.Ext(path)] = true
		for _, d := range []string{dir, filepath.Dir(dir)} {
			if w.watched[d] || len(w.watched) >= mostWatched || !strings.HasPrefix(d, home+string(filepath.Separator)) && d != dir {
				continue
			}
			w.watched[d] = true
			if err := w.fs.Add(d); err != nil {
				w.log.Debug().Str("folder", d).Err(err).Msg("watch")
			}
		}
	}
}

// telling tells whether a change of a path that no source has named yet may be
// a new session: a file of a known kind, or a folder.
func (w *watcher) telling(path string) bool {
	if w.kinds[filepath.Ext(path)] && filepath.Ext(path) != "" {
		return true
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (w *watcher) close() {
	if w.fs == nil {
		return
	}
	if err := w.fs.Close(); err != nil {
		w.log.Warn().Err(err).Msg("end watching")
	}
	if w.out == nil {
		return
	}
	for range w.out { // until pump has ended
	}
}
