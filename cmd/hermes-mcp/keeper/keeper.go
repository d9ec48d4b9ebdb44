// Package keeper keeps the archive up with the files of the agents, beside a
// server.
//
// Of all processes of a home one does so at a time, by the lock
// mcp/ingest.lock; the others stand by and take over when it ends. The owner
// scans when it begins, whenever a file changes and every minute, and tells
// the other processes how far it is in mcp/ingest.json. Between scans it holds
// no database open, so that an idle server stays small.
//
// Nothing here fails: what goes wrong is logged and tried again.
package keeper

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"
	"github.com/rs/zerolog"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// A Keeper is the background work of one server. Set the fields before Run.
type Keeper struct {
	Open     func(ctx context.Context) (*transcript.DB, error) // opens the archive; the keeper closes it
	Sources  []transcript.Source
	Places   transcript.Places
	Excluded func(source string) bool
	Folder   string // mcp
	Log      zerolog.Logger
	Wait     time.Duration // before the first scan
	Meaning  bool          // what is archived is given its vectors too, see transcript.DB.Embed

	owner atomic.Bool
	state atomic.Pointer[backlog]
	told  time.Time     // when the state was last written for other processes
	taken int           // new messages of the last ingest
	news  chan struct{} // something was archived
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
	retryAfter   = 5 * time.Second        // when the archive could not be written
	rescanAtMost = 10 * time.Second       // when news keep coming
	takeOverTry  = 3 * time.Second        // whether the owner of the lock is gone
	gatherEvents = 700 * time.Millisecond // after a file changed, for more to come
	gatherBusy   = 150 * time.Millisecond // the same, when the last time brought more than busy
	quietAfter   = 10 * time.Minute       // a torn last line is then taken as final
	tellEvery    = 500 * time.Millisecond
	backfill     = 2000 // new messages; what brings fewer is live
	busy         = 500  // new messages of one time, from which on many files grow fast
)

// Pending is what a search must say about what it may have missed, or "".
// Safe for concurrent use.
func (k *Keeper) Pending(context.Context) string {
	if k.owner.Load() {
		return k.state.Load().words()
	}
	return Pending(k.Folder)
}

// Pending is what the keeper of another process says in folder.
func Pending(folder string) string { return readBacklog(folder).words() }

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

// Run ingests until ctx is done.
func (k *Keeper) Run(ctx context.Context) {
	if !pause(ctx, k.Wait) {
		return
	}
	lock := flock.New(filepath.Join(k.Folder, "ingest.lock"))
	for {
		held, err := lock.TryLock()
		if err != nil {
			k.Log.Warn().Err(err).Msg("ingest lock")
		}
		if held {
			break
		}
		if !pause(ctx, takeOverTry) {
			return
		}
	}
	k.owner.Store(true)
	k.news = make(chan struct{}, 1)
	var beside sync.WaitGroup
	if k.Meaning {
		beside.Go(func() { k.embed(ctx) })
	}
	k.keep(ctx)
	beside.Wait()
	if err := errors.Join(dropBacklog(k.Folder), lock.Unlock()); err != nil {
		k.Log.Warn().Err(err).Msg("ingest lock")
	}
}

func dropBacklog(folder string) error {
	if err := os.Remove(filepath.Join(folder, "ingest.json")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// keep scans at once, then whenever a file changed and every so often anyway.
func (k *Keeper) keep(ctx context.Context) {
	w := newWatcher(k.Log)
	defer w.close()
	var known map[string]transcript.File
	var last time.Time
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		scan, ok := false, true
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			scan = true
		case path, open := <-w.changes():
			if !open {
				w.forget() // the periodic scan goes on without it
				continue
			}
			var strange []string
			wait := gatherEvents
			if k.taken > busy {
				wait = gatherBusy
			}
			paths := w.gather(ctx, path, wait)
			if slices.Contains(paths, missed) {
				scan = true
				break
			}
			strange, ok = k.changed(ctx, known, paths)
			scan = time.Since(last) > rescanAtMost && slices.ContainsFunc(strange, w.telling)
		}
		if scan {
			known, ok = k.scan(ctx, w)
			last = time.Now()
			timer.Reset(rescanEvery)
		}
		if !ok {
			timer.Reset(retryAfter)
		}
	}
}

// scan ingests whatever is new anywhere, the newest files first, and returns
// the files by path, and whether the archive took them.
func (k *Keeper) scan(ctx context.Context, w *watcher) (known map[string]transcript.File, ok bool) {
	known = map[string]transcript.File{}
	var work []Batch
	total := 0
	for _, src := range k.Sources {
		if k.Excluded(src.Name()) {
			continue
		}
		files, err := src.Find(ctx, k.Places)
		if err != nil && ctx.Err() == nil {
			k.Log.Warn().Str("source", src.Name()).Err(err).Msg("find sessions")
		}
		sort.Slice(files, func(i, j int) bool { return files[j].Modified.Before(files[i].Modified) })
		for _, f := range files {
			known[f.Path] = f
		}
		total += len(files)
		work = append(work, Batches(src, files)...)
	}
	w.watch(k.Places.Home, known)
	return known, k.ingest(ctx, work, total)
}

// A Batch is what one call of Ingest takes.
type Batch struct {
	Source transcript.Source
	Files  []transcript.File
	Final  bool // a torn last line is all there will be
	whole  bool // Files are all that the source has of that kind, not those that changed
}

// Batches parts files that are being written from those that lie still.
func Batches(src transcript.Source, files []transcript.File) []Batch {
	var fresh, quiet []transcript.File
	for _, f := range files {
		if time.Since(f.Modified) < quietAfter {
			fresh = append(fresh, f)
		} else {
			quiet = append(quiet, f)
		}
	}
	var out []Batch
	if len(fresh) > 0 {
		out = append(out, Batch{src, fresh, false, true})
	}
	if len(quiet) > 0 {
		out = append(out, Batch{src, quiet, true, true})
	}
	return out
}

// changed ingests the files at paths and returns the paths that it does not
// know, of which only a scan can say whose they are.
func (k *Keeper) changed(ctx context.Context, known map[string]transcript.File, paths []string) (strange []string, ok bool) {
	bySource := map[string][]transcript.File{}
	for _, path := range paths {
		f, is := known[path]
		info, err := os.Stat(path)
		if !is || err != nil {
			strange = append(strange, path)
			continue
		}
		f.Size, f.Modified = info.Size(), info.ModTime()
		bySource[f.Source] = append(bySource[f.Source], f)
	}
	var work []Batch
	for _, src := range k.Sources {
		if files := bySource[src.Name()]; len(files) > 0 {
			work = append(work, Batch{src, files, false, false})
		}
	}
	return strange, k.ingest(ctx, work, len(paths))
}

// ingest works through the batches, which hold total files, and tells whether
// the archive took them all.
func (k *Keeper) ingest(ctx context.Context, work []Batch, total int) (ok bool) {
	k.taken = 0
	defer func() {
		k.tell(&backlog{}, true)
		if k.taken > backfill { // its garbage must not stay with an idle server
			debug.FreeOSMemory()
		}
	}()
	if len(work) == 0 {
		return true
	}
	k.tell(&backlog{Files: total}, true)
	db, err := k.Open(ctx)
	if err != nil {
		k.Log.Error().Err(err).Msg("open archive")
		return false
	}
	ok = true
	done := 0
	var release func()
	defer func() {
		if release != nil {
			release()
		}
	}()
	for _, b := range work {
		tell := func(p transcript.Progress) {
			if release == nil && p.Messages > backfill {
				release = Slack()
			}
			k.tell(&backlog{Files: total, Done: done + p.FilesDone}, false)
		}
		var report transcript.IngestReport
		if b.whole {
			report, err = db.Ingest(ctx, b.Source, b.Files, b.Final, tell)
		} else {
			report, err = db.Refresh(ctx, b.Source, b.Files, tell)
		}
		done += len(b.Files)
		k.taken += report.Messages
		if err != nil && ctx.Err() == nil {
			k.Log.Error().Str("source", b.Source.Name()).Err(err).Msg("ingest")
			ok = false
		}
		for _, p := range report.Problems {
			k.Log.Info().Str("path", p.Path).Int("line", p.Line).Str("reason", p.Reason).Msg("not read")
		}
		if report.Messages > 0 {
			select {
			case k.news <- struct{}{}:
			default: // told already
			}
			k.Log.Info().Str("source", b.Source.Name()).Int("files", report.Files).Int("messages", report.Messages).Msg("archived")
		}
	}
	if err := db.Close(); err != nil {
		k.Log.Error().Err(err).Msg("close archive")
	}
	return ok
}

// tell keeps the state for searches of this process, and now and then for
// those of others.
func (k *Keeper) tell(b *backlog, now bool) {
	k.state.Store(b)
	if !now && time.Since(k.told) < tellEvery {
		return
	}
	k.told = time.Now()
	raw, err := json.Marshal(b)
	if err == nil {
		err = os.WriteFile(filepath.Join(k.Folder, "ingest.json"), raw, 0o600)
	}
	if err != nil {
		k.Log.Warn().Err(err).Msg("tell what is pending")
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
