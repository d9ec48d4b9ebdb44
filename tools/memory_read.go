package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/tools/wire"
)

// A reading is what one target holds.
type reading struct {
	Success    bool            `json:"success"`
	Target     memstore.Target `json:"target"`
	Entries    []readEntry     `json:"entries"`
	EntryCount int             `json:"entry_count"`
	Usage      string          `json:"usage"`
	Chars      int             `json:"chars"`
	Limit      int             `json:"limit"`
	Path       string          `json:"path"`
	Changed    *changed        `json:"changed_since_snapshot,omitempty"`
	Lost       []readEntry     `json:"lost,omitempty"`
	Unusual    []string        `json:"unusual,omitempty"` // in the file, and how it was read
	Note       string          `json:"note,omitempty"`
	// The other memories, when no target was named: readings or failures.
	Project any `json:"project,omitempty"`
	User    any `json:"user,omitempty"`
	Session any `json:"session,omitempty"` // what the caller's session keeps for itself, when there is something
}

type readEntry struct {
	Text        string   `json:"text"`
	Source      string   `json:"source"` // "unknown" of what was not written through a tool
	Confidence  string   `json:"confidence,omitempty"`
	CreatedAt   string   `json:"created_at,omitempty"`
	UpdatedAt   string   `json:"updated_at,omitempty"` // the file's time when nothing better is known
	ConfirmedAt string   `json:"confirmed_at,omitempty"`
	Session     string   `json:"session_id,omitempty"` // that wrote it
	Evidence    []string `json:"evidence,omitempty"`
	Stale       bool     `json:"stale,omitempty"`   // not confirmed for 90 days
	Blocked     string   `json:"blocked,omitempty"` // the rule because of which the text is masked
	Restore     string   `json:"restore,omitempty"` // of a lost entry: what to give to memory restore
}

// changed is what differs from the block in the caller's context.
type changed struct {
	Added   []string `json:"added,omitempty"`
	Removed []string `json:"removed,omitempty"`
}

// readAll answers a read without a target: memory, and user beside it, so
// that one call shows all there is.
func (m *memory) readAll(ctx context.Context, session memstore.Target) (*mcp.CallToolResult, error) {
	switch {
	case m.disabled(memstore.Memory) && m.disabled(memstore.User):
		return wire.Fail(wire.Failure{Code: wire.Disabled, Error: "memory is turned off in the configuration of this server. Go on without it."})
	case m.disabled(memstore.Memory):
		return m.read(ctx, memstore.User)
	case m.disabled(memstore.User):
		return m.read(ctx, memstore.Memory)
	}
	first, bad := m.look(ctx, memstore.Memory)
	if bad != nil {
		return wire.Fail(bad)
	}
	beside := func(t memstore.Target) any {
		r, bad := m.look(ctx, t)
		if bad != nil {
			return bad
		}
		return r
	}
	if m.store.Project != "" {
		first.Project = beside(memstore.Project)
	}
	first.User = beside(memstore.User)
	if session != "" {
		if own, bad := m.look(ctx, session); bad != nil {
			first.Session = bad
		} else if own.EntryCount > 0 {
			first.Session = own
		}
	}
	return wire.Succeed(first)
}

func (m *memory) read(ctx context.Context, t memstore.Target) (*mcp.CallToolResult, error) {
	r, bad := m.look(ctx, t)
	if bad != nil {
		return wire.Fail(bad)
	}
	return wire.Succeed(r)
}

// look reads one target.
func (m *memory) look(ctx context.Context, t memstore.Target) (*reading, *refusal) {
	noted := m.store.Note(ctx, t)
	st, err := m.store.State(ctx, t)
	if err != nil {
		bad := &refusal{Failure: wire.Failure{Code: wire.IO}, Target: t}
		var op *memstore.OpError
		if !errors.As(err, &op) {
			op = &memstore.OpError{Err: err, Op: -1, Reason: err.Error()}
		}
		bad.explain(edit{target: t, read: true}, st, op)
		if m.Person {
			bad.forPerson(op)
		}
		return nil, bad
	}
	r := &reading{
		Success: true, Target: t, Entries: readEntries(st.Entries), EntryCount: len(st.Entries),
		Usage: st.Usage(), Chars: st.Chars, Limit: st.Limit, Path: st.Path, Unusual: st.Notes,
	}
	if noted != nil {
		r.Note += fmt.Sprintf("What was written outside is not noted: %v. ", noted)
	}
	if m.Snapshot != nil {
		if err := r.compare(ctx, m, t); err != nil {
			r.Note += fmt.Sprintf("What changed since the snapshot is not known: %v. ", err)
		}
	}
	lost, err := m.store.Lost(ctx, t)
	switch {
	case err != nil:
		r.Note += fmt.Sprintf("Whether entries were lost is not known: %v. ", err)
	case len(lost) > 0:
		r.Lost = readEntries(lost)
		for i, e := range lost {
			r.Lost[i].Restore = cmp.Or(e.LostBy, e.Hash)
		}
		r.Note += "The entries in lost were saved and then left the file without an edit of ours, as when an editor saves an old copy: tell the user, or add them again if they still hold (hermes-mcp memory restore with the id in restore does it too). "
	}
	return r, nil
}

func (r *reading) compare(ctx context.Context, m *memory, t memstore.Target) error {
	snap, err := m.Snapshot(ctx)
	if err != nil {
		return err
	}
	all, err := m.store.Overlay(ctx, snap)
	if err != nil {
		return err
	}
	for _, o := range all {
		if o.Target == t {
			r.Changed = &changed{Added: o.Added, Removed: o.Removed}
		}
	}
	return nil
}

func readEntries(entries []memstore.Entry) []readEntry {
	now := time.Now()
	out := make([]readEntry, 0, len(entries))
	for _, e := range entries {
		one := readEntry{
			Text: e.Shown, Source: cmp.Or(string(e.Source), "unknown"), Confidence: string(e.Confidence),
			UpdatedAt: wire.Stamp(e.UpdatedAt), Session: e.Session, Evidence: e.Evidence,
			Stale: e.Stale(now), Blocked: e.Blocked,
		}
		// Said only where they say something else.
		if !e.CreatedAt.Equal(e.UpdatedAt) {
			one.CreatedAt = wire.Stamp(e.CreatedAt)
		}
		if !e.ConfirmedAt.Equal(e.UpdatedAt) {
			one.ConfirmedAt = wire.Stamp(e.ConfirmedAt)
		}
		out = append(out, one)
	}
	return out
}
