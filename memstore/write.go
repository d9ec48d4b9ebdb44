package memstore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/hermes-mcp/hermes-mcp/memstore/document"
	"github.com/hermes-mcp/hermes-mcp/memstore/durable"
	"github.com/hermes-mcp/hermes-mcp/memstore/journal"
)

const (
	// mergeTries is how often an edit starts over when somebody without a lock
	// keeps writing into the file.
	mergeTries = 5
	// leftoverAge is how old a temporary file must be before its writer is
	// taken for dead: far above what an edit takes.
	leftoverAge = time.Minute
	// halfSaved is how long an empty file is given to become a saved one: some
	// editors empty or remove a file before they write it.
	halfSaved = 100 * time.Millisecond
)

// A plan makes the new content of a file out of its present one.
type plan func(document.Doc) (document.Doc, []Change, error)

// A request is an edit as the journal will name it.
type request struct {
	by   Caller
	kind string
	of   string
	ops  []Op
	plan plan
}

// A writing is one edit under way. All locks are held.
type writing struct {
	s     *Store
	place place
	real  string
	disk  durable.File
	log   *journal.Writer
	extra []*journal.Record // must be journaled before the edit
	last  string            // newest id given out
	stale []string          // files to be removed once extra is journaled
	made  Result            // State and Conflicts of what was last put in force

	reached bool // the journal's last edit had reached the disk
}

// edit runs req against target t, durably.
func (s *Store) edit(ctx context.Context, t Target, req request) (res Result, err error) {
	p, err := s.place(t)
	if err != nil {
		return Result{State: State{Target: t}}, err
	}
	unlock, err := s.lock(ctx, p)
	if err != nil {
		st, _ := s.State(context.WithoutCancel(ctx), t) // best effort beside the error that matters
		return Result{State: st}, err
	}
	defer func() {
		if e := unlock(); e != nil {
			err = errors.Join(err, e)
		}
	}()
	w := &writing{s: s, place: p}
	defer func() {
		w.disk.Release()
		if w.log != nil {
			w.log.Close() // synced where it matters
		}
	}()
	doc, err := w.begin()
	if err != nil {
		return Result{State: State{Target: t, Path: w.real, Limit: p.limit}}, fmt.Errorf("edit %s: %w", p.name, err)
	}
	doc, res.Changes, res.EditID, err = w.run(req, doc)
	if err != nil {
		res.Changes, res.EditID = nil, ""
	}
	if res.State, res.Conflicts = w.made.State, w.made.Conflicts; res.EditID == "" {
		res.Conflicts = nil
		res.State = s.state(p, w.real, w.disk.Info, doc, w.reached)
	}
	if e := s.known.Save(s.cachePath()); e != nil {
		res.State.Notes = append(res.State.Notes, "the cache of the journal could not be written: "+e.Error())
	}
	return res, err
}

// begin reads the file, and finds out what happened to it since the journal's
// last line.
func (w *writing) begin() (doc document.Doc, err error) {
	if doc, err = w.load(); err != nil {
		return doc, err
	}
	if w.log, err = w.s.log().Append(); err != nil {
		return doc, fmt.Errorf("open the journal: %w", err)
	}
	if err := w.s.known.Follow(w.log, w.s.cachePath()); err != nil {
		return doc, fmt.Errorf("read the journal: %w", err)
	}
	w.last = w.s.known.Newest()
	after, pending, torn := w.s.known.Before(string(w.place.target))
	if len(w.disk.Bytes) == 0 && (len(after) > 0 || pending != nil && len(pending.After) > 0) {
		for end := time.Now().Add(halfSaved); len(w.disk.Bytes) == 0 && time.Now().Before(end); time.Sleep(halfSaved / 20) {
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
	if w.real, err = durable.Resolve(w.place.path); err == nil {
		w.disk, err = durable.Hold(w.real)
	}
	if err != nil {
		return doc, unreadable(err)
	}
	return parse(w.real, w.disk.Bytes)
}

func (w *writing) queue(r *journal.Record) {
	now := w.s.now()
	w.last = journal.NewID(now, w.last)
	r.ID, r.At, r.Target = w.last, now.UTC(), string(w.place.target)
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

// sweep looks, once a process, for what killed writers left beside the file.
func (w *writing) sweep() error {
	if w.s.swept[w.real] {
		return nil
	}
	w.s.swept[w.real] = true
	left, err := durable.Leftovers(w.real)
	if err != nil {
		return fmt.Errorf("look for leftovers: %w", err)
	}
	for _, l := range left {
		made, ok := journal.IDTime(l.ID)
		if !ok || w.s.now().Sub(made) < leftoverAge {
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
	if err := w.s.log().All(func(r journal.Record) {
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

// run plans and writes until nobody has written in between. It returns what is
// on disk, also with an error.
func (w *writing) run(req request, doc document.Doc) (document.Doc, []Change, string, error) {
	for try := range mergeTries {
		next, changes, refused := req.plan(doc)
		if refused != nil {
			next = doc
		}
		if bytes.Equal(next.Bytes(), w.disk.Bytes) {
			if refused == nil {
				if err := w.confirm(req, changes); err != nil {
					return next, nil, "", err
				}
			}
			if try > 0 {
				refused = errors.Join(refused, w.flush())
			}
			return next, changes, "", refused
		}
		var rec *journal.Record
		id := ""
		if refused == nil {
			var err error
			if rec, err = w.record(req, doc.Bytes(), next.Bytes()); err != nil {
				return doc, nil, "", err
			}
			id = rec.ID
		}
		was := w.disk.Bytes
		found, err := w.write(rec, next.Bytes(), func() {
			w.made.State = w.s.state(w.place, w.real, nil, next, true)
			w.made.Conflicts = w.s.conflicts(w.made.State, changes)
		})
		if err != nil {
			return w.reread(doc), nil, "", errors.Join(refused, err)
		}
		if bytes.Equal(found, was) {
			return next, changes, id, refused
		}
		// Somebody without a lock has saved in between. Theirs came first, and
		// is what the ops have to be applied to.
		if rec != nil {
			w.queue(&journal.Record{Kind: journal.Abort, Of: rec.ID})
		}
		w.foreign(was, found)
		if doc, err = parse(w.real, found); err != nil {
			return w.giveBack(found, err)
		}
	}
	return doc, nil, "", &OpError{Err: ErrBusy, Op: -1, Reason: "another program keeps writing " + w.real + "; close it there and try again"}
}

// confirm notes that what the ops say was there already. It may be lost, so it
// is not synced.
func (w *writing) confirm(req request, changes []Change) error {
	var said []Op
	for _, c := range changes {
		if c.Duplicate && c.Op < len(req.ops) {
			said = append(said, req.ops[c.Op])
		}
	}
	if len(said) == 0 {
		return nil
	}
	r, err := w.record(request{by: req.by, kind: journal.Confirm, ops: said}, nil, nil)
	if err != nil {
		return err
	}
	r.Before, r.After = nil, nil
	w.extra = append(w.extra, r)
	if err := w.log.Write(&w.s.known, w.extra...); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	w.extra = nil
	return nil
}

// giveBack puts found, which is no text, in force again.
func (w *writing) giveBack(found []byte, reason error) (document.Doc, []Change, string, error) {
	_, err := w.write(nil, found, nil)
	return document.Doc{}, nil, "", errors.Join(reason, err)
}

// flush journals what is queued when no edit follows.
func (w *writing) flush() error {
	err := w.log.Write(&w.s.known, w.extra...)
	w.extra = nil
	return errors.Join(err, w.log.Sync())
}

func (w *writing) reread(otherwise document.Doc) document.Doc {
	if doc, err := w.load(); err == nil {
		return doc
	}
	return otherwise
}

func (w *writing) record(req request, before, after []byte) (*journal.Record, error) {
	now := w.s.now()
	w.last = journal.NewID(now, w.last)
	who, err := json.Marshal(struct {
		Caller
		PID int `json:"pid"`
	}{req.by, os.Getpid()})
	if err != nil {
		return nil, err
	}
	r := &journal.Record{
		ID: w.last, At: now.UTC(), Target: string(w.place.target), Kind: req.kind, Of: req.of,
		Before: text(before), After: text(after), Who: who,
	}
	if len(req.ops) > 0 {
		if r.Ops, err = json.Marshal(req.ops); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// write journals what is queued and rec, and puts next in force. rec is nil
// when only a foreign text is given back. found is what was really replaced.
// meanwhile, if any, is run while the disk is busy with it.
func (w *writing) write(rec *journal.Record, next []byte, meanwhile func()) (found []byte, err error) {
	id := w.last
	if rec != nil {
		id = rec.ID
	}
	staged, err := durable.Stage(w.real, id, next, w.disk.Info)
	if err != nil {
		return nil, fmt.Errorf("write beside %s: %w", w.real, err)
	}
	lines := w.extra
	if rec != nil {
		lines = append(lines, rec)
	}
	if err := w.log.Write(&w.s.known, lines...); err != nil {
		return nil, errors.Join(fmt.Errorf("write the journal: %w", err), staged.Discard())
	}
	w.extra = nil
	var syncs sync.WaitGroup
	var errLog error
	syncs.Go(func() { errLog = w.log.Sync() })
	errFile := staged.Sync()
	syncs.Wait()
	if err := errors.Join(errLog, errFile); err != nil {
		return nil, errors.Join(fmt.Errorf("sync: %w", err), w.abort(rec, staged))
	}
	found, done, err := staged.Replace(w.disk, func() {
		if meanwhile != nil {
			meanwhile()
		}
		w.s.free()
	})
	if errors.Is(err, durable.ErrNoRename) {
		if found, done, err = w.inPlace(rec, next); done {
			err = errors.Join(err, staged.Discard())
		}
	}
	if !done {
		return nil, errors.Join(fmt.Errorf("replace %s: %w", w.real, err), w.abort(rec, staged))
	}
	if err != nil {
		return nil, fmt.Errorf("%s holds the edit, but is not known to be durable: %w", w.real, err)
	}
	return found, w.finish(staged.Old, next, found)
}

// abort notes that rec never reached the disk. The staged file says the same,
// and goes only when the note is written.
func (w *writing) abort(rec *journal.Record, staged *durable.Next) error {
	if err := w.mark(journal.Abort, rec); err != nil {
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
	return w.log.Write(&w.s.known, lines...)
}

// free lets go of what the last edit replaced. To free a file takes the disk as
// long as to sync one, so nobody is made to wait for it.
func (s *Store) free() {
	for i := range s.held {
		s.held[i].Release()
	}
	s.held = nil
}

// finish tidies up after the new content is in force. old is a second name of
// what was replaced.
func (w *writing) finish(old string, next, found []byte) error {
	was := w.disk
	w.s.held = append(w.s.held, was)
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
