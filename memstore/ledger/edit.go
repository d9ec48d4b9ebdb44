package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hermes-mcp/hermes-mcp/memstore/document"
	"github.com/hermes-mcp/hermes-mcp/memstore/durable"
	"github.com/hermes-mcp/hermes-mcp/memstore/journal"
)

// mergeTries is how often an edit starts over when somebody without a lock
// keeps writing into the file.
const mergeTries = 5

// A Request is an edit as the journal will name it.
type Request struct {
	Kind string // journal.Edit, Undo or Restore
	Of   string // the edit that is undone or restored
	Ops  any    // as asked for; nil when there are none
	Who  any    // the caller
	// Plan makes the new content out of the present one. It may be called more
	// than once; the last call counts.
	Plan func(document.Doc) (document.Doc, error)
	// Again returns the ops that asked for what is there already, nil when
	// none did. It is called when the plan changes nothing.
	Again func() any
	// Meanwhile is run while the disk is busy, with what will be there when the
	// edit succeeds.
	Meanwhile func(View)
}

// A writing is one edit under way. All locks are held.
type writing struct {
	l     *Ledger
	file  File
	real  string
	disk  durable.File
	log   *journal.Writer
	extra []*journal.Record // must be journaled before the edit
	last  string            // newest id given out
	stale []string          // files to be removed once extra is journaled

	reached bool // the journal's last edit had reached the disk
}

// Edit runs req on f, durably, before it returns. The View is what is on disk,
// also with an error; id is "" when nothing was written. Errors: what the plan
// returned, durable.ErrBusy, durable.ErrRefused, document.ErrNotText, those of
// the file system, and ctx's while waiting for the locks.
func (l *Ledger) Edit(ctx context.Context, f File, req Request) (v View, id string, err error) {
	unlock, err := l.lock(ctx, f)
	if err != nil {
		return View{Real: f.Path}, "", err
	}
	defer func() {
		if e := unlock(); e != nil {
			err = errors.Join(err, e)
		}
	}()
	w := &writing{l: l, file: f}
	defer w.end()
	doc, err := w.begin()
	if err != nil {
		return View{Real: w.real}, "", err
	}
	doc, id, err = w.run(req, doc)
	if err != nil {
		id = ""
	}
	if len(l.unsettled)+len(l.held) > 0 {
		l.settleSoon(context.WithoutCancel(ctx))
	}
	v = w.view(doc, w.reached || id != "")
	if e := l.known.Save(l.cachePath()); e != nil {
		v.Journal = fmt.Errorf("write the journal's cache: %w", e)
	}
	return v, id, err
}

// end lets go of what is open, but not of the locks.
func (w *writing) end() {
	w.disk.Release()
	if w.log != nil {
		w.log.Close() // synced where it matters
	}
}

func (w *writing) view(doc document.Doc, reached bool) View {
	return View{Real: w.real, Info: w.disk.Info, Doc: doc, Facts: w.l.known.Facts(w.file.Target, doc, reached), reached: reached}
}

// begin reads the file, and finds out what happened to it since the journal's
// last line.
func (w *writing) begin() (doc document.Doc, err error) {
	if doc, err = w.load(); err != nil {
		return doc, err
	}
	if w.log, err = w.l.Log().Append(); err != nil {
		return doc, fmt.Errorf("open the journal: %w", err)
	}
	if err := w.l.known.Follow(w.log, w.l.cachePath()); err != nil {
		return doc, fmt.Errorf("read the journal: %w", err)
	}
	w.last = w.l.known.Newest()
	if doc, err = w.redo(doc); err != nil {
		return doc, err
	}
	after, pending, torn := w.l.known.Before(w.file.Target)
	if len(w.disk.Bytes) == 0 && (len(after) > 0 || pending != nil && len(pending.After) > 0) {
		for end := time.Now().Add(durable.HalfSaved); len(w.disk.Bytes) == 0 && time.Now().Before(end); time.Sleep(durable.HalfSaved / 20) {
			if doc, err = w.load(); err != nil {
				return doc, err
			}
		}
	}
	now := w.disk.Bytes
	w.reached = true
	switch {
	case pending == nil:
	case bytes.Equal(now, pending.After):
		after = pending.After
	case torn && durable.Torn(now, pending.Before, pending.After):
		if err := durable.WriteInPlace(w.real, pending.After); err != nil {
			return doc, fmt.Errorf("finish the last edit: %w", err)
		}
		if doc, err = w.load(); err != nil {
			return doc, err
		}
		after, now = pending.After, w.disk.Bytes
	case durable.Staged(w.real, pending.ID):
		w.reached = false
		w.queue(&journal.Record{Kind: journal.Abort, Of: pending.ID})
	default: // it was there, and somebody has changed or taken back what it wrote
		after = pending.After
	}
	if !bytes.Equal(now, after) {
		w.foreign(after, now)
	}
	return doc, w.sweep()
}

// load reads the file anew.
func (w *writing) load() (doc document.Doc, err error) {
	w.disk.Release()
	if w.real, err = durable.Resolve(w.file.Path); err == nil {
		w.disk, err = durable.Hold(w.real)
	}
	if err != nil {
		return doc, err
	}
	return parse(w.real, w.disk.Bytes)
}

func (w *writing) queue(r *journal.Record) {
	now := w.l.Now()
	w.last = journal.NewID(now, w.last)
	r.ID, r.At, r.Target = w.last, now.UTC(), w.file.Target
	w.extra = append(w.extra, r)
}

func (w *writing) foreign(before, after []byte) {
	r := &journal.Record{Kind: journal.Foreign, Before: text(before), After: text(after)}
	if w.disk.Info != nil {
		r.FileTime = w.disk.Info.ModTime().UTC()
	}
	w.queue(r)
}

// text makes bytes a journaled text, which is never nil.
func text(b []byte) journal.Text { return append(journal.Text{}, b...) }

// run plans and writes until nobody has written in between. It returns what is
// on disk, also with an error.
func (w *writing) run(req Request, doc document.Doc) (document.Doc, string, error) {
	for try := range mergeTries {
		next, refused := req.Plan(doc)
		if refused == nil && !bytes.Equal(next.Bytes(), w.disk.Bytes) {
			refused = w.disk.Writable(w.real)
		}
		if refused != nil {
			next = doc
		}
		if bytes.Equal(next.Bytes(), w.disk.Bytes) {
			if refused == nil {
				refused = w.again(req)
			}
			if try > 0 {
				refused = errors.Join(refused, w.flush())
			}
			return next, "", refused
		}
		var rec *journal.Record
		id := ""
		if refused == nil {
			var err error
			if rec, err = w.record(req, doc.Bytes(), next.Bytes()); err != nil {
				return doc, "", err
			}
			id = rec.ID
		}
		was := w.disk.Bytes
		found, err := w.write(rec, next.Bytes(), func() {
			if req.Meanwhile != nil && rec != nil {
				req.Meanwhile(View{Real: w.real, Info: w.disk.Info, Doc: next, Facts: w.l.known.Soon(w.file.Target, next), reached: true})
			}
		})
		if err != nil {
			return w.reread(doc), "", errors.Join(refused, err)
		}
		if bytes.Equal(found, was) {
			return next, id, refused
		}
		// Somebody without a lock has saved in between. Theirs came first, and
		// is what the plan has to start from.
		if rec != nil {
			w.queue(&journal.Record{Kind: journal.Abort, Of: rec.ID})
		}
		w.foreign(doc.Bytes(), found) // not was, which in a later try the journal takes for aborted
		if doc, err = parse(w.real, found); err != nil {
			_, back := w.write(nil, found, nil) // no text: in force again as it was
			return document.Doc{}, "", errors.Join(err, back)
		}
	}
	return doc, "", fmt.Errorf("%w: another program keeps writing %s; close it there", durable.ErrBusy, w.real)
}

// again notes that what req asks for was there already. The note may be lost,
// so it is not synced.
func (w *writing) again(req Request) error {
	if req.Again == nil {
		return nil
	}
	ops := req.Again()
	if ops == nil {
		return nil
	}
	r, err := w.record(Request{Kind: journal.Confirm, Ops: ops, Who: req.Who}, nil, nil)
	if err != nil {
		return err
	}
	r.Before, r.After = nil, nil
	w.extra = append(w.extra, r)
	if err := w.log.Write(&w.l.known, w.extra...); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	w.extra = nil
	return nil
}

// flush journals what is queued when no edit follows.
func (w *writing) flush() error {
	err := w.log.Write(&w.l.known, w.extra...)
	w.extra = nil
	return errors.Join(err, w.log.Sync())
}

func (w *writing) reread(otherwise document.Doc) document.Doc {
	if doc, err := w.load(); err == nil {
		return doc
	}
	return otherwise
}

func (w *writing) record(req Request, before, after []byte) (*journal.Record, error) {
	now := w.l.Now()
	w.last = journal.NewID(now, w.last)
	r := &journal.Record{
		ID: w.last, At: now.UTC(), Target: w.file.Target, Kind: req.Kind, Of: req.Of,
		Before: text(before), After: text(after),
	}
	if req.Kind != journal.Confirm {
		r.Boot = w.l.Boot
	}
	var err error
	if r.Who, err = json.Marshal(req.Who); err == nil && req.Ops != nil {
		r.Ops, err = json.Marshal(req.Ops)
	}
	if err != nil {
		return nil, fmt.Errorf("journal the edit: %w", err)
	}
	return r, nil
}
