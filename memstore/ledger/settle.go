package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/hermes-mcp/hermes-mcp/memstore/document"
	"github.com/hermes-mcp/hermes-mcp/memstore/durable"
	"github.com/hermes-mcp/hermes-mcp/memstore/journal"
)

const (
	// settleAfter is how long after the last edit its folder is synced.
	settleAfter = time.Second
	// unsettledStates is how many states a file may be put back to by a power
	// cut before an edit waits for the folder.
	unsettledStates = 100
	// heldFiles is how many replaced files wait to be freed.
	heldFiles = 50
)

// Settle syncs the folders of what was edited, and notes it in the journal. An
// edit that is acknowledged does not need it to last; what it spares is the
// telling of a person's change from that of a power cut.
func (l *Ledger) Settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	if err := l.takeTurn(ctx); err != nil {
		return err
	}
	defer func() { <-l.turn }()
	return l.settle(ctx)
}

// settle is Settle for the one whose turn it is.
func (l *Ledger) settle(ctx context.Context) (err error) {
	free(l.held)
	l.held = nil
	if len(l.unsettled) == 0 {
		return nil
	}
	unlock, err := durable.Lock(ctx, l.lockPath())
	if errors.Is(err, fs.ErrNotExist) {
		clear(l.unsettled) // the home is gone
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	synced := map[string]bool{}
	for _, dir := range l.unsettled {
		if synced[dir] {
			continue
		}
		synced[dir] = true
		if err := durable.SyncFolder(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("sync %s: %w", dir, err)
		}
	}
	if err := l.tell(journal.Settled, maps.Keys(l.unsettled), false); err != nil { // the folders are synced
		return err
	}
	clear(l.unsettled)
	return nil
}

// tell writes a line of that kind about each target.
func (l *Ledger) tell(kind string, targets iter.Seq[string], sync bool) (err error) {
	log, err := l.Log().Append()
	if err != nil {
		return fmt.Errorf("open the journal: %w", err)
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	if err := l.known.Follow(log, l.cachePath()); err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	last := l.known.Newest()
	var lines []*journal.Record
	for target := range targets {
		now := l.Now()
		last = journal.NewID(now, last)
		lines = append(lines, &journal.Record{ID: last, At: now.UTC(), Target: target, Kind: kind})
	}
	err = log.Write(&l.known, lines...)
	if err == nil && sync {
		err = log.Sync()
	}
	if err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	return nil
}

// settleSoon settles in a while, if no other edit comes. What goes wrong then is
// tried again, and told, by Close.
func (l *Ledger) settleSoon(ctx context.Context) {
	if l.timer == nil {
		l.timer = time.AfterFunc(settleAfter, func() { _ = l.Settle(ctx) })
		return
	}
	l.timer.Reset(settleAfter)
}

// Close settles what is left to settle. The ledger can be used after it, and
// closed again.
func (l *Ledger) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	if err := l.takeTurn(ctx); err != nil {
		return err
	}
	defer func() { <-l.turn }()
	if l.timer != nil {
		l.timer.Stop()
	}
	l.spares.clear()
	l.beside.Wait()
	return l.settle(ctx)
}

// mend puts in force again what a power cut has taken back from f, settles what
// that boot has left open, and journals what it finds changed.
func (l *Ledger) mend(ctx context.Context, f File) (err error) {
	unlock, err := l.lock(ctx, f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	w := &writing{l: l, file: f}
	defer w.end()
	if _, err := w.begin(); err != nil {
		return err
	}
	if states, boot := l.known.Unsettled(f.Target); states > 0 && boot != l.Boot {
		if err := durable.SyncFolder(filepath.Dir(w.real)); err != nil {
			return err
		}
		w.queue(&journal.Record{Kind: journal.Settled})
	}
	return w.flush()
}

// redo puts in force again what a power cut has taken back, if it has.
func (w *writing) redo(doc document.Doc) (document.Doc, error) {
	var written time.Time
	if w.disk.Info != nil {
		written = w.disk.Info.ModTime()
	}
	after, ok := w.l.known.TakenBack(w.file.Target, w.disk.Bytes, written, w.l.Boot)
	if !ok {
		return doc, nil
	}
	w.last = journal.NewID(w.l.Now(), w.last)
	staged, err := durable.Stage(w.real, w.last, after, w.disk.Info, durable.Spare{})
	if err != nil {
		return doc, fmt.Errorf("write beside %s: %w", w.real, err)
	}
	if err := staged.Sync(); err != nil {
		return doc, errors.Join(err, staged.Discard())
	}
	found, done, err := staged.Replace(w.disk)
	if !done {
		return doc, errors.Join(fmt.Errorf("replace %s: %w", w.real, err), staged.Discard())
	}
	if err == nil && string(found) != string(w.disk.Bytes) { // somebody has saved just now: theirs is the newer
		err = os.Rename(staged.Old, w.real)
	} else if staged.Old != "" {
		err = errors.Join(err, os.Remove(staged.Old))
	}
	if err = errors.Join(err, durable.SyncFolder(filepath.Dir(w.real))); err != nil {
		return doc, err
	}
	return w.load()
}
