package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// A proposal is an edit that waits, as pending prints it.
type proposal struct {
	ID      string    `json:"id"`
	At      time.Time `json:"at"`
	Target  string    `json:"target"`
	Summary string    `json:"summary"`
	Session string    `json:"session,omitempty"`
	Client  string    `json:"client,omitempty"`
	Matched []string  `json:"matched,omitempty"` // the entries that would go
	Content []string  `json:"content,omitempty"` // the entries that would come
}

// pending lists what waits for a decision. Files that are no proposals are told
// beside the others.
func (m *memoryRun) pending(ctx context.Context) error {
	store, err := m.openStore(ctx, m.dir())
	if err != nil {
		return err
	}
	waiting, err := store.Proposals(ctx)
	shown := []proposal{}
	for _, p := range waiting {
		one := proposal{ID: p.ID, At: p.At, Target: string(p.Target), Summary: p.Summary, Session: p.Caller.Session, Client: p.Caller.Client}
		for i, op := range p.Ops {
			if op.Content != "" {
				one.Content = append(one.Content, op.Content)
			}
			if i < len(p.Matched) && p.Matched[i] != "" {
				one.Matched = append(one.Matched, p.Matched[i])
			}
		}
		shown = append(shown, one)
	}
	if m.json {
		if jerr := m.printJSON(shown); jerr != nil {
			return jerr
		}
		return err
	}
	for _, p := range shown {
		fmt.Fprintf(m.out, "%s  %s  %s  %s\n", p.ID, p.At.Local().Format(time.DateTime), p.Target, p.Client)
		for _, text := range p.Matched {
			fmt.Fprintf(m.out, "  - %s\n", strings.ReplaceAll(text, "\n", "\n    "))
		}
		for _, text := range p.Content {
			fmt.Fprintf(m.out, "  + %s\n", strings.ReplaceAll(text, "\n", "\n    "))
		}
	}
	if len(shown) == 0 && err == nil {
		fmt.Fprintln(m.out, "nothing waits")
	}
	return err
}

func (m *memoryRun) reject(ctx context.Context, id string) error {
	store, err := m.openStore(ctx, m.dir())
	if err != nil {
		return err
	}
	if err := store.Reject(ctx, id); err != nil {
		return err
	}
	if m.json {
		return m.printJSON(map[string]any{"success": true, "rejected": id})
	}
	fmt.Fprintf(m.out, "dropped %s\n", id)
	return nil
}
