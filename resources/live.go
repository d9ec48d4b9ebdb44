package resources

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hermes-mcp/hermes-mcp/memstore"
)

// targets are the memories that store has for its caller.
func targets(store *memstore.Store) []memstore.Target {
	if store.Project == "" {
		return []memstore.Target{memstore.Memory, memstore.User}
	}
	return []memstore.Target{memstore.Memory, memstore.Project, memstore.User}
}

// label names a target as a reader knows it.
func label(t memstore.Target) string {
	switch t {
	case memstore.Memory, memstore.User:
		return string(t)
	case memstore.Project:
		return "memory, scope project"
	}
	return "memory, scope session"
}

// live lists every entry that is on disk now, with who said so and when. A
// file that cannot be read is said to be so.
func live(ctx context.Context, store *memstore.Store) (string, error) {
	var b strings.Builder
	err := each(ctx, store, func(t memstore.Target, st memstore.State, unreadable error) {
		if unreadable != nil {
			fmt.Fprintf(&b, "Target %s cannot be read: %v\n\n", label(t), unreadable)
			return
		}
		fmt.Fprintf(&b, "Target %s, %s:\n", label(t), st.Usage())
		for _, e := range st.Entries {
			fmt.Fprintf(&b, "- %s [%s]\n", indent(e.Shown), origin(e))
		}
		if len(st.Entries) == 0 {
			b.WriteString("- nothing saved yet\n")
		}
		b.WriteString("\n")
	})
	return strings.TrimSpace(b.String()), err
}

// doubtful lists what is worth a question: entries that contradict or repeat
// one another, and those that nothing has confirmed for long.
func doubtful(ctx context.Context, store *memstore.Store) (string, error) {
	var b strings.Builder
	now := time.Now()
	err := each(ctx, store, func(t memstore.Target, st memstore.State, _ error) {
		shown := map[string]string{}
		for _, e := range st.Entries {
			shown[e.Text] = e.Shown
		}
		for _, p := range memstore.Pairs(st.Entries) {
			fmt.Fprintf(&b, "- %s in %s: %q (%s) and %q\n", p.Kind, label(t), p.Entry.Shown, day(p.Entry.UpdatedAt), shown[p.With])
		}
		for _, e := range st.Entries {
			if e.Stale(now) {
				fmt.Fprintf(&b, "- not confirmed for long in %s: %q (%s)\n", label(t), e.Shown, day(e.UpdatedAt))
			}
		}
	})
	if b.Len() == 0 {
		return "- nothing", err
	}
	return strings.TrimSpace(b.String()), err
}

// each reads every target and hands it to see; unreadable is why it could not
// be read.
func each(ctx context.Context, store *memstore.Store, see func(t memstore.Target, st memstore.State, unreadable error)) error {
	for _, t := range targets(store) {
		st, err := store.State(ctx, t)
		if err != nil && !errors.Is(err, memstore.ErrUnreadable) {
			return fmt.Errorf("read the memory: %w", err)
		}
		see(t, st, err)
	}
	return nil
}

// origin says in a few words where an entry comes from.
func origin(e memstore.Entry) string {
	source := string(e.Source)
	if source == "" {
		source = "unknown"
	}
	words := []string{day(e.UpdatedAt), source}
	if e.Confidence != "" {
		words = append(words, string(e.Confidence))
	}
	if !e.CreatedAt.IsZero() && day(e.CreatedAt) != day(e.UpdatedAt) {
		words = append(words, "known since "+day(e.CreatedAt))
	}
	if e.ConfirmedAt.After(e.UpdatedAt) {
		words = append(words, "confirmed again "+day(e.ConfirmedAt))
	}
	if e.Session != "" {
		words = append(words, "session "+e.Session)
	}
	if len(e.Evidence) > 0 {
		words = append(words, "evidence "+strings.Join(e.Evidence, " "))
	}
	return strings.Join(words, ", ")
}

// indent keeps the lines of an entry together in a list.
func indent(entry string) string { return strings.ReplaceAll(entry, "\n", "\n  ") }

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
