package memstore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hermes-mcp/hermes-mcp/memstore/document"
	"github.com/hermes-mcp/hermes-mcp/memstore/journal"
)

// An Edit is one journal line.
type Edit struct {
	ID      string
	At      time.Time
	Target  Target
	Kind    string // edit, undo, restore, foreign (found on disk, made by somebody else), rescued (left by a killed writer)
	Of      string // undo and restore: the edit that was meant
	Caller  Caller
	Ops     []Op
	Added   []string // entries that are there after and were not before
	Removed []string // entries that were there before and are not after
	Aborted bool     // never reached the disk
}

// past reads the whole journal: every record of this store's targets that
// carries a text, oldest first, and which of them never reached the disk.
func (s *Store) past() (all []journal.Record, aborted map[string]bool, err error) {
	aborted = make(map[string]bool)
	err = s.ledger.Log().All(func(r journal.Record) {
		if r.Kind == journal.Abort {
			aborted[r.Of] = true
		}
		if t, ok := s.knows(r.Target); ok && r.HasText() {
			r.Target = string(t)
			all = append(all, r)
		}
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read the journal: %w", err)
	}
	return all, aborted, nil
}

// History returns the newest edits first, at most limit (all when 0), of one
// target or of all when t is "".
func (s *Store) History(ctx context.Context, t Target, limit int) ([]Edit, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	all, aborted, err := s.past()
	if err != nil {
		return nil, err
	}
	var edits []Edit
	for _, r := range slices.Backward(all) {
		if t != "" && Target(r.Target) != t {
			continue
		}
		e := edit(r)
		e.Aborted = aborted[r.ID]
		edits = append(edits, e)
		if len(edits) == limit {
			break
		}
	}
	return edits, nil
}

func edit(r journal.Record) Edit {
	e := Edit{ID: r.ID, At: r.At, Target: Target(r.Target), Kind: r.Kind, Of: r.Of}
	e.Added, e.Removed = document.Difference(document.EntriesOf(r.Before), document.EntriesOf(r.After))
	if r.Kind == journal.Rescued {
		e.Added = nil // what the file holds anyway
	}
	// Lines of a newer program may say more here than we can read; the texts
	// above are what matters.
	if json.Unmarshal(r.Ops, &e.Ops) != nil {
		e.Ops = nil
	}
	if json.Unmarshal(r.Who, &e.Caller) != nil {
		e.Caller = Caller{}
	}
	return e
}

// Lost returns entries that the journal put into t and that left the file
// without an op, for example through an editor that saved a stale buffer.
// Entries that were only reworded, merged or split do not count.
func (s *Store) Lost(ctx context.Context, t Target) ([]Entry, error) {
	p, err := s.place(t)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	lost, err := s.ledger.Lost(ctx, p.file)
	if err != nil {
		return nil, explain(err)
	}
	var all []Entry
	for _, l := range lost {
		e := entry(l.Text, l.Fact)
		e.LostBy = l.By
		s.judge(p.name, &e)
		all = append(all, e)
	}
	return all, nil
}

// Find returns the newest first of all entries that ever left a file, by an op
// or without, and hold text (any when ""), each with the edit that Restore can
// take back. A loss that no journal line tells of yet comes first, with the
// entry's hash for an id. At most limit (all when 0).
func (s *Store) Find(ctx context.Context, text string, limit int) ([]Edit, error) {
	edits, err := s.History(ctx, "", 0)
	if err != nil {
		return nil, err
	}
	for _, t := range []Target{User, Project, Memory} {
		if t == Project && s.Project == "" {
			continue
		}
		lost, err := s.Lost(ctx, t)
		if err != nil {
			return nil, err
		}
		for _, e := range lost {
			if e.LostBy == "" {
				edits = slices.Insert(edits, 0, Edit{ID: e.Hash, At: s.now(), Target: t, Kind: journal.Foreign, Removed: []string{e.Text}})
			}
		}
	}
	var hits []Edit
	for _, e := range edits {
		e.Removed = slices.DeleteFunc(e.Removed, func(gone string) bool { return !strings.Contains(strings.ToLower(gone), strings.ToLower(text)) })
		if len(e.Removed) == 0 || e.Aborted {
			continue
		}
		if hits = append(hits, e); len(hits) == limit {
			break
		}
	}
	return hits, nil
}
