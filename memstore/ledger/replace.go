package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hermes-mcp/hermes-mcp/memstore/durable"
	"github.com/hermes-mcp/hermes-mcp/memstore/journal"
)

// leftoverAge is how old a temporary file must be before its writer is taken
// for dead: far above what an edit takes.
const leftoverAge = time.Minute

// write journals what is queued and rec, and puts next in force. rec is nil
// when only a foreign text is given back. found is what was really replaced.
// meanwhile, if any, is run while the disk is busy with it.
func (w *writing) write(rec *journal.Record, next []byte, meanwhile func()) (found []byte, err error) {
	id := w.last
	if rec != nil {
		id = rec.ID
	}
	staged, err := durable.Stage(w.real, id, next, w.disk.Info, w.l.spares.take())
	if err != nil {
		return nil, fmt.Errorf("write beside %s: %w", w.real, err)
	}
	lines := w.extra
	if rec != nil {
		lines = append(lines, rec)
	}
	if err := w.log.Write(&w.l.known, lines...); err != nil {
		return nil, errors.Join(fmt.Errorf("write the journal: %w", err), staged.Discard())
	}
	w.extra = nil
	staged.Start()
	w.log.Start()
	synced := make(chan error, 1)
	refill, spent := w.l.spares.order(filepath.Dir(w.real)), w.l.spent()
	w.l.beside.Go(func() {
		synced <- w.log.Sync()
		refill() // for the next edit, by the thread that is awake
		free(spent)
	})
	if meanwhile != nil {
		meanwhile()
	}
	errFile := staged.Sync()
	if err := errors.Join(<-synced, errFile); err != nil {
		return nil, errors.Join(fmt.Errorf("sync: %w", err), w.abort(rec, staged))
	}
	found, done, err := staged.Replace(w.disk)
	switch {
	case errors.Is(err, durable.ErrNoRename):
		if found, done, err = w.inPlace(rec, next); done {
			err = errors.Join(err, staged.Discard())
		}
	case done:
		err = errors.Join(err, w.lasting(rec))
	}
	if !done {
		return nil, errors.Join(fmt.Errorf("replace %s: %w", w.real, err), w.abort(rec, staged))
	}
	if err != nil {
		return nil, fmt.Errorf("%s holds the edit, but is not known to be durable: %w", w.real, err)
	}
	return found, w.finish(staged.Old, next, found)
}

// lasting leaves the sync of the folder for later, or does it at once where too
// much is left already.
func (w *writing) lasting(rec *journal.Record) error {
	dir := filepath.Dir(w.real)
	states, _ := w.l.known.Unsettled(w.file.Target)
	if rec != nil && rec.Boot != "" && states < unsettledStates {
		w.l.unsettled[w.file.Target] = dir
		return nil
	}
	if err := durable.SyncFolder(dir); err != nil || states == 0 {
		return err
	}
	return w.mark(journal.Settled, rec)
}

// abort notes that rec never reached the disk. The staged file says the same,
// and goes only when the note is durable, or a power cut would bring back what
// the caller was told has failed.
func (w *writing) abort(rec *journal.Record, staged *durable.Next) error {
	if err := w.mark(journal.Abort, rec); err != nil {
		return err
	}
	if err := w.log.Sync(); err != nil {
		return err
	}
	return staged.Discard()
}

// inPlace writes next where no rename is possible. The journal is safe by now,
// so that a torn file can be made whole from it.
func (w *writing) inPlace(rec *journal.Record, next []byte) (found []byte, done bool, err error) {
	if err := errors.Join(w.mark(journal.InPlace, rec), w.log.Sync()); err != nil {
		return nil, false, err
	}
	now, err := durable.Read(w.real)
	if err != nil {
		return nil, false, err
	}
	if err := durable.WriteInPlace(w.real, next); err != nil {
		if back := durable.WriteInPlace(w.real, now.Bytes); back != nil {
			return now.Bytes, true, errors.Join(err, back) // half written: the next edit makes it whole
		}
		return nil, false, err
	}
	return now.Bytes, true, nil
}

// mark notes what became of rec.
func (w *writing) mark(kind string, rec *journal.Record) error {
	if rec == nil {
		return nil
	}
	w.queue(&journal.Record{Kind: kind, Of: rec.ID})
	lines := w.extra
	w.extra = nil
	return w.log.Write(&w.l.known, lines...)
}

// spent returns what edits have replaced, once that is much, for a free that
// nobody waits for: to free a file takes the disk as long as to sync one.
func (l *Ledger) spent() (files []durable.File) {
	if len(l.held) >= heldFiles {
		files, l.held = l.held, nil
	}
	return files
}

func free(files []durable.File) {
	for i := range files {
		files[i].Release()
	}
}

// finish tidies up after the new content is in force. old is a second name of
// what was replaced.
func (w *writing) finish(old string, next, found []byte) error {
	was := w.disk
	w.l.held = append(w.l.held, was)
	w.disk = durable.File{Bytes: next}
	if old != "" {
		w.stale = append(w.stale, old)
	}
	if !bytes.Equal(found, was.Bytes) { // not the end: what was found has to be journaled first
		var err error
		w.disk.Info, err = os.Stat(w.real)
		return err
	}
	for _, path := range w.stale {
		os.Remove(path) // what stays is swept by a later process
	}
	w.stale = nil
	return nil
}

// sweep looks, once a process, for what killed writers left beside the file.
func (w *writing) sweep() error {
	if w.l.swept[w.real] {
		return nil
	}
	w.l.swept[w.real] = true
	left, err := durable.Leftovers(w.real)
	if err != nil {
		return fmt.Errorf("look for leftovers: %w", err)
	}
	for _, l := range left {
		made, ok := journal.IDTime(l.ID)
		if !ok || w.l.Now().Sub(made) < leftoverAge {
			continue
		}
		if err := w.rescue(l); err != nil {
			return err
		}
	}
	return nil
}

// rescue removes a leftover, after its text is in the journal.
func (w *writing) rescue(l durable.Leftover) error {
	raw, err := os.ReadFile(l.Path)
	if err != nil {
		return fmt.Errorf("read a leftover: %w", err)
	}
	known := !l.Old // a new content that was not even journaled was never in the file
	if err := w.l.Log().All(func(r journal.Record) {
		if r.ID == l.ID {
			known = bytes.Equal(raw, r.Before) || bytes.HasPrefix(r.After, raw)
		}
	}); err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	if !known {
		w.queue(&journal.Record{Kind: journal.Rescued, Of: l.ID, Before: text(raw), After: text(w.disk.Bytes)})
	}
	w.stale = append(w.stale, l.Path)
	return nil
}
