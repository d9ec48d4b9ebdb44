package memstore

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/hermes-mcp/hermes-mcp/memstore/document"
	"github.com/hermes-mcp/hermes-mcp/memstore/journal"
	"github.com/hermes-mcp/hermes-mcp/memstore/ledger"
)

// Undo takes back the edit id, or the last one of any target when id is "".
// Of the last edit it restores the bytes before it; of an older one it applies
// the inverse to the present file, or returns ErrLaterEdit naming the edit in
// the way. Repeated with id "" it goes further and further back; an undo is
// itself an edit that can be undone by its id.
func (s *Store) Undo(ctx context.Context, by Caller, id string) (Result, error) {
	all, aborted, err := s.past()
	if err != nil {
		return Result{}, err
	}
	r, err := undoable(all, aborted, id)
	if err != nil {
		return Result{}, err
	}
	p, err := s.place(Target(r.Target))
	if err != nil {
		return Result{}, err
	}
	return s.edit(ctx, p, by, ledger.Request{Kind: journal.Undo, Of: r.ID}, func(doc document.Doc) (document.Doc, []Change, error) {
		if bytes.Equal(doc.Bytes(), r.After) {
			back, err := document.Parse(r.Before)
			return back, changesOf(doc, back), err
		}
		next, err := inverse(doc, r, all)
		if err == nil {
			err = budget(p, nil, doc, next)
		}
		return next, changesOf(doc, next), err
	})
}

// undoable finds the edit to undo.
func undoable(all []journal.Record, aborted map[string]bool, id string) (journal.Record, error) {
	if id != "" {
		r, err := byID(all, id)
		if err == nil && (aborted[r.ID] || r.Kind == journal.Rescued) {
			err = &OpError{Err: ErrInvalid, Op: -1, Reason: fmt.Sprintf("edit %s changed nothing on disk, so there is nothing to undo; restore brings back its text", id)}
		}
		return r, err
	}
	undone := make(map[string]bool)
	for _, r := range slices.Backward(all) {
		switch {
		case aborted[r.ID]:
		case r.Kind == journal.Undo:
			undone[r.Of] = true
		case (r.Kind == journal.Edit || r.Kind == journal.Restore) && !undone[r.ID]:
			return r, nil
		}
	}
	return journal.Record{}, &OpError{Err: ErrNotFound, Op: -1, Reason: "there is no edit to undo"}
}

func byID(all []journal.Record, id string) (journal.Record, error) {
	for _, r := range slices.Backward(all) {
		if r.ID == id {
			return r, nil
		}
	}
	return journal.Record{}, &OpError{Err: ErrNotFound, Op: -1, Reason: fmt.Sprintf("the journal has no edit %q; history lists them", id)}
}

// inverse takes r back out of doc, which has changed since: entries it put in
// become what they replaced, or go; entries it took away return.
func inverse(doc document.Doc, r journal.Record, all []journal.Record) (document.Doc, error) {
	added, removed := document.Difference(document.EntriesOf(r.Before), document.EntriesOf(r.After))
	removed = slices.DeleteFunc(removed, func(e string) bool { return at(doc, e) >= 0 })
	for n, e := range added {
		i := at(doc, e)
		if i < 0 {
			return doc, laterEdit(r, e, all)
		}
		if n < len(removed) {
			doc = doc.Replace(i, removed[n])
		} else {
			doc = doc.Remove(i)
		}
	}
	for _, e := range removed[min(len(added), len(removed)):] {
		doc = doc.Append(e)
	}
	return doc, nil
}

// laterEdit names the edit that took entry away after r.
func laterEdit(r journal.Record, entry string, all []journal.Record) error {
	e := &OpError{Err: ErrLaterEdit, Op: -1, Reason: fmt.Sprintf("an entry of edit %s was changed since, outside this program: %q", r.ID, entry)}
	for _, later := range all {
		if later.ID <= r.ID || later.Target != r.Target {
			continue
		}
		if _, removed := document.Difference(document.EntriesOf(later.Before), document.EntriesOf(later.After)); slices.Contains(removed, entry) {
			e.Edit = later.ID
			e.Reason = fmt.Sprintf("edit %s changed what edit %s had written (%q); undo %s first", later.ID, r.ID, entry, later.ID)
		}
	}
	return e
}

// changesOf tells what became of the entries, for a Result.
func changesOf(was, next document.Doc) []Change {
	added, removed := document.Difference(was.Entries(), next.Entries())
	var all []Change
	for i := range max(len(added), len(removed)) {
		switch {
		case i >= len(removed):
			all = append(all, Change{Op: -1, Action: Add, New: added[i]})
		case i >= len(added):
			all = append(all, Change{Op: -1, Action: Remove, Old: removed[i]})
		default:
			all = append(all, Change{Op: -1, Action: Replace, Old: removed[i], New: added[i]})
		}
	}
	return all
}

// Restore puts a lost or removed text back: id is an edit whose Removed
// entries return (as adds, under the same budget), or the Hash of one entry
// that was ever in a file. Of an edit that never reached the disk, what it
// would have added returns.
func (s *Store) Restore(ctx context.Context, by Caller, id string) (Result, error) {
	all, aborted, err := s.past()
	if err != nil {
		return Result{}, err
	}
	target, of, texts, err := restorable(all, aborted, id)
	if err != nil {
		return Result{}, err
	}
	p, err := s.place(target)
	if err != nil {
		return Result{}, err
	}
	return s.edit(ctx, p, by, ledger.Request{Kind: journal.Restore, Of: of}, func(doc document.Doc) (document.Doc, []Change, error) {
		next := doc
		var changes []Change
		for i, e := range texts {
			there := at(next, e) >= 0
			changes = append(changes, Change{Op: i, Action: Add, New: e, Duplicate: there})
			if !there {
				next = next.Append(e)
			}
		}
		return next, changes, budget(p, nil, doc, next)
	})
}

// restorable finds what id means: the target, the edit, and the entries that
// are to return.
func restorable(all []journal.Record, aborted map[string]bool, id string) (Target, string, []string, error) {
	if len(id) == 64 {
		for _, r := range slices.Backward(all) {
			for _, e := range slices.Concat(document.EntriesOf(r.Before), document.EntriesOf(r.After)) {
				if hash(e) == id {
					return Target(r.Target), r.ID, []string{e}, nil
				}
			}
		}
	}
	r, err := byID(all, id)
	if err != nil {
		return "", "", nil, err
	}
	e := edit(r)
	texts := e.Removed
	if aborted[r.ID] {
		texts = e.Added
	}
	if len(texts) == 0 {
		return "", "", nil, &OpError{Err: ErrInvalid, Op: -1, Reason: fmt.Sprintf("edit %s took no entry away; undo takes back what it added", id)}
	}
	return e.Target, r.ID, texts, nil
}
