package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"
	"github.com/rs/zerolog"

	"github.com/hermes-mcp/hermes-mcp/tools"
	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// A keeper keeps the archive up with the files of the agents, beside a server.
// Of all processes of a home one does so at a time, by the lock
// mcp/ingest.lock; the others stand by and take over when it ends.
type keeper struct {
	open     tools.Archive
	sources  []transcript.Source
	places   transcript.Places
	excluded func(source string) bool
	folder   string // mcp
	log      zerolog.Logger
	wait     time.Duration // before the first scan

	owner atomic.Bool
	state atomic.Pointer[backlog]
	told  time.Time // when the state was last written for other processes
}

// A backlog says how far a scan is. It is also mcp/ingest.json, for the
// processes that do not ingest themselves.
type backlog struct {
	Files int `json:"files"`
	Done  int `json:"done"`
}

// words is "" when nothing is left to do.
func (b *backlog) words() string {
	if b == nil || b.Done >= b.Files {
		return ""
	}
	return fmt.Sprintf("archiving %d of %d files; what is not archived yet is not found", b.Done, b.Files)
}

// How often things are looked at.
const (
	rescanEvery  = time.Minute            // all files, for what the watcher missed
	rescanAtMost = 10 * time.Second       // when news keep coming
	takeOverTry  = 15 * time.Second       // whether the owner of the lock is gone
	gatherEvents = 700 * time.Millisecond // after a file changed, for more to come
	quietAfter   = 10 * time.Minute       // a torn last line is then taken as final
	tellEvery    = 500 * time.Millisecond
)

// pending is what searches say about what they may have missed.
func (k *keeper) pending(context.Context) string {
	if k.owner.Load() {
		return k.state.Load().words()
	}
	return readBacklog(k.folder).words()
}

// readBacklog returns what the owner of the lock last wrote, nil when nobody
// ingests. An owner that was killed leaves its last words behind.
func readBacklog(folder string) *backlog {
	path := filepath.Join(folder, "ingest.json")
	info, err := os.Stat(path)
	if err != nil || time.Since(info.ModTime()) > rescanEvery {
		return nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var b backlog
	if err := json.Unmarshal(raw, &b); err != nil {
		return nil
	}
	return &b
}

// run ingests until ctx is done. It never fails: what goes wrong is logged and
// tried again with the next scan.
func (k *keeper) run(ctx context.Context) {
	if !pause(ctx, k.wait) {
		return
	}
	lock := flock.New(filepath.Join(k.folder, "ingest.lock"))
	for {
		held, err := lock.TryLock()
		if err != nil {
			k.log.Warn().Err(err).Msg("ingest lock")
		}
		if held {
			break
		}
		if !pause(ctx, takeOverTry) {
			return
		}
	}
	k.owner.Store(true)
	k.keep(ctx)
	if err := errors.Join(dropBacklog(k.folder), lock.Unlock()); err != nil {
		k.log.Warn().Err(err).Msg("ingest lock")
	}
}

func dropBacklog(folder string) error {
	if err := os.Remove(filepath.Join(folder, "ingest.json")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// keep scans at once, then whenever a file changed and every so often anyway.
func (k *keeper) keep(ctx context.Context) {
	w := newWatcher(k.log)
	defer w.close()
	ticker := time.NewTicker(rescanEvery)
	defer ticker.Stop()
	known := k.scan(ctx, w)
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			known = k.scan(ctx, w)
			last = time.Now()
		case path, ok := <-w.changes():
			if !ok {
				w.forget() // the periodic scan goes on without it
				continue
			}
			strange := k.changed(ctx, known, w.gather(ctx, path))
			if time.Since(last) > rescanAtMost && slices.ContainsFunc(strange, w.telling) {
				known = k.scan(ctx, w)
				last = time.Now()
			}
		}
	}
}

// scan ingests whatever is new anywhere, the newest files first, and returns
// the files by path.
func (k *keeper) scan(ctx context.Context, w *watcher) map[string]transcript.File {
	known := map[string]transcript.File{}
	var found []found
	total := 0
	for _, src := range k.sources {
		if k.excluded(src.Name()) {
			continue
		}
		files, err := src.Find(ctx, k.places)
		if err != nil && ctx.Err() == nil {
			k.log.Warn().Str("source", src.Name()).Err(err).Msg("find sessions")
		}
		slices.SortFunc(files, func(a, b transcript.File) int { return b.Modified.Compare(a.Modified) })
		for _, f := range files {
			known[f.Path] = f
		}
		total += len(files)
		found = append(found, foundOf(src, files)...)
	}
	w.watch(k.places.Home, known)
	done := 0
	for _, f := range found {
		k.ingest(ctx, f.src, f.files, f.final, total, done)
		done += len(f.files)
	}
	k.tell(&backlog{Files: total, Done: total}, true)
	debug.FreeOSMemory() // a backfill's garbage must not stay with an idle server
	return known
}

// A found is what one call of Ingest takes.
type found struct {
	src   transcript.Source
	files []transcript.File
	final bool
}

// foundOf parts files that are being written from those that lie still: of the
// latter a torn last line is all there will be.
func foundOf(src transcript.Source, files []transcript.File) []found {
	var fresh, quiet []transcript.File
	for _, f := range files {
		if time.Since(f.Modified) < quietAfter {
			fresh = append(fresh, f)
		} else {
			quiet = append(quiet, f)
		}
	}
	var out []found
	if len(fresh) > 0 {
		out = append(out, found{src, fresh, false})
	}
	if len(quiet) > 0 {
		out = append(out, found{src, quiet, true})
	}
	return out
}

// changed ingests the files at paths and returns the paths that it does not
// know, of which only a scan can say whose they are.
func (k *keeper) changed(ctx context.Context, known map[string]transcript.File, paths []string) (strange []string) {
	bySource := map[string][]transcript.File{}
	for _, path := range paths {
		f, ok := known[path]
		info, err := os.Stat(path)
		if !ok || err != nil {
			strange = append(strange, path)
			continue
		}
		f.Size, f.Modified = info.Size(), info.ModTime()
		bySource[f.Source] = append(bySource[f.Source], f)
	}
	for _, src := range k.sources {
		if files := bySource[src.Name()]; len(files) > 0 {
			k.ingest(ctx, src, files, false, len(files), 0)
		}
	}
	k.tell(nil, true)
	return strange
}

func (k *keeper) ingest(ctx context.Context, src transcript.Source, files []transcript.File, final bool, total, before int) {
	db, err := k.open(ctx)
	if err != nil {
		k.log.Error().Err(err).Msg("open archive")
		return
	}
	report, err := db.Ingest(ctx, src, files, final, func(p transcript.Progress) {
		k.tell(&backlog{Files: total, Done: before + p.FilesDone}, false)
	})
	if err != nil && ctx.Err() == nil {
		k.log.Error().Str("source", src.Name()).Err(err).Msg("ingest")
	}
	for _, p := range report.Problems {
		k.log.Info().Str("path", p.Path).Int("line", p.Line).Str("reason", p.Reason).Msg("not read")
	}
	if report.Messages > 0 {
		k.log.Info().Str("source", src.Name()).Int("files", report.Files).Int("messages", report.Messages).Msg("archived")
	}
}

// tell keeps the state for searches of this process, and now and then for
// those of others.
func (k *keeper) tell(b *backlog, now bool) {
	k.state.Store(b)
	if !now && time.Since(k.told) < tellEvery {
		return
	}
	k.told = time.Now()
	raw, err := json.Marshal(cmp.Or(b, &backlog{}))
	if err == nil {
		err = os.WriteFile(filepath.Join(k.folder, "ingest.json"), raw, 0o600)
	}
	if err != nil {
		k.log.Warn().Err(err).Msg("tell what is pending")
	}
}

// pause waits and tells whether ctx is still on.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
