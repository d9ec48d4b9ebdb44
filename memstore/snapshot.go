package memstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hermes-mcp/hermes-mcp/memstore/document"
)

// A Snapshot is the curated memory as one session was told it. It is a value:
// taken once, it cannot change.
type Snapshot struct {
	Session  string    `json:"session,omitempty"`
	FrozenAt time.Time `json:"frozen_at"`
	Memory   string    `json:"memory"` // the rendered block with upstream's header lines; "" when empty
	User     string    `json:"user"`
	Project  string    `json:"project,omitempty"` // the block of the project it was taken in
	// The entries as they were, unmasked, for the overlay; never shown.
	MemoryEntries []string `json:"memory_entries"`
	UserEntries   []string `json:"user_entries"`
	// Of the project, and which one it was.
	ProjectEntries []string `json:"project_entries,omitempty"`
	ProjectKey     string   `json:"project_key,omitempty"`
	// How full the files were.
	MemoryChars int `json:"memory_chars"`
	UserChars   int `json:"user_chars"`

	ProjectChars int `json:"project_chars,omitempty"`
}

// String is the prompt block: MEMORY, then PROJECT MEMORY, then USER PROFILE; a
// plain sentence when all are empty. Always the same bytes for the same Snapshot.
func (s Snapshot) String() string {
	blocks := slices.DeleteFunc([]string{s.Memory, s.Project, s.User}, func(b string) bool { return b == "" })
	if len(blocks) == 0 {
		return "The memory is empty: nothing has been saved yet."
	}
	return strings.Join(blocks, "\n\n")
}

// Hash is a short hex digest of String.
func (s Snapshot) Hash() string {
	sum := sha256.Sum256([]byte(s.String()))
	return hex.EncodeToString(sum[:8])
}

// Snapshot takes a snapshot of now, tied to no session, and notes what was
// written outside. A file that cannot be
// read gives a block that says so: a prompt without memory must not look like
// an empty memory.
func (s *Store) Snapshot(ctx context.Context) (Snapshot, error) {
	snap := Snapshot{FrozenAt: s.now().UTC().Truncate(time.Second), ProjectKey: s.Project}
	for _, b := range []struct {
		target  Target
		title   string
		block   *string
		entries *[]string
		chars   *int
	}{
		{Memory, "MEMORY (your personal notes)", &snap.Memory, &snap.MemoryEntries, &snap.MemoryChars},
		{Project, "PROJECT MEMORY (this project only)", &snap.Project, &snap.ProjectEntries, &snap.ProjectChars},
		{User, "USER PROFILE (who the user is)", &snap.User, &snap.UserEntries, &snap.UserChars},
	} {
		if b.target == Project && s.Project == "" {
			continue
		}
		// What cannot be noted now is noted by the next reading; the prompt matters more.
		_ = s.Note(ctx, b.target)
		st, err := s.State(ctx, b.target)
		if ctx.Err() != nil {
			return Snapshot{}, ctx.Err()
		}
		if err != nil {
			*b.block = header(b.title, "unreadable") + err.Error()
			continue
		}
		*b.chars = st.Chars
		shown := make([]string, 0, len(st.Entries))
		for _, e := range st.Entries {
			*b.entries = append(*b.entries, e.Text)
			shown = append(shown, e.Shown)
		}
		if len(shown) > 0 {
			*b.block = header(b.title, st.Usage()) + strings.Join(shown, document.Delimiter)
		}
	}
	return snap, nil
}

func header(title, usage string) string {
	rule := strings.Repeat("═", 46)
	return fmt.Sprintf("%s\n%s [%s]\n%s\n", rule, title, usage, rule)
}

// Usage says how full the target is, for example "67% — 1,474/2,200 chars".
func (s State) Usage() string {
	percent := 100
	if s.Limit > 0 {
		percent = min(100, s.Chars*100/s.Limit)
	}
	return fmt.Sprintf("%d%% — %s/%s chars", percent, thousands(s.Chars), thousands(s.Limit))
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// An Overlay is what changed since a snapshot.
type Overlay struct {
	Target  Target
	Added   []string
	Removed []string
}

// Overlay compares the files with snap. Entries that the scanner blocks are
// masked as in a snapshot. Targets without a difference are left out, and those
// of except, for which see OverlayOf. What the session has kept for itself
// counts as added.
func (s *Store) Overlay(ctx context.Context, snap Snapshot, except ...Target) ([]Overlay, error) {
	var all []Overlay
	targets := []Target{Memory, User}
	if s.Project != "" && s.Project == snap.ProjectKey {
		targets = append(targets, Project)
	}
	if snap.Session != "" {
		targets = append(targets, SessionTarget(snap.Session))
	}
	for _, t := range targets {
		if slices.Contains(except, t) {
			continue
		}
		st, err := s.State(ctx, t)
		if err != nil {
			return nil, err
		}
		if o := s.OverlayOf(snap, st); o.Changed() {
			all = append(all, o)
		}
	}
	return all, nil
}

// OverlayOf compares st, a state of this store, with snap.
func (s *Store) OverlayOf(snap Snapshot, st State) Overlay {
	var was []string
	switch st.Target {
	case Memory:
		was = snap.MemoryEntries
	case User:
		was = snap.UserEntries
	case Project:
		if s.Project != snap.ProjectKey {
			return Overlay{Target: st.Target} // the snapshot is of elsewhere
		}
		was = snap.ProjectEntries
	}
	var now []string
	fit := make(map[string]string) // a text → what may be shown of it
	for _, e := range st.Entries {
		now = append(now, e.Text)
		fit[e.Text] = e.Shown
	}
	o := Overlay{Target: st.Target}
	added, removed := document.Difference(was, now)
	if len(added)+len(removed) == 0 {
		return o
	}
	p, err := s.place(st.Target)
	if err != nil {
		return o // no target of this store
	}
	o.Added, o.Removed = s.masked(p, fit, added), s.masked(p, nil, removed)
	return o
}

// Changed tells whether there is a difference.
func (o Overlay) Changed() bool { return len(o.Added)+len(o.Removed) > 0 }

// masked are the entries as a prompt may hold them: fit knows of those in the
// file what a person allowed.
func (s *Store) masked(p place, fit map[string]string, entries []string) []string {
	var all []string
	for _, e := range entries {
		shown, ok := fit[e]
		if !ok {
			_, shown = s.verdict(p.name, e)
		}
		all = append(all, shown)
	}
	return all
}
