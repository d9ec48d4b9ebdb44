package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hermes-mcp/hermes-mcp/memstore"
)

// An edit is a journal line as history prints it.
type edit struct {
	ID      string    `json:"id"`
	At      time.Time `json:"at"`
	Target  string    `json:"target"`
	Kind    string    `json:"kind"`
	Session string    `json:"session,omitempty"`
	Client  string    `json:"client,omitempty"`
	Origin  string    `json:"origin,omitempty"`
	Added   []string  `json:"added,omitempty"`
	Removed []string  `json:"removed,omitempty"`
	Aborted bool      `json:"aborted,omitempty"`
}

// history shows the edits that look finds.
func (m *memoryRun) history(ctx context.Context, limit int, look func(*memstore.Store, context.Context) ([]memstore.Edit, error)) error {
	if limit < 0 {
		return usage("--limit %d is negative", limit)
	}
	store, err := m.openStore(ctx, m.dir())
	if err != nil {
		return err
	}
	edits, err := look(store, ctx)
	if err != nil {
		return err
	}
	shown := []edit{}
	for _, e := range edits {
		shown = append(shown, edit{
			e.ID, e.At, string(e.Target), e.Kind, e.Caller.Session, e.Caller.Client, e.Caller.Origin, e.Added, e.Removed, e.Aborted,
		})
	}
	if m.json {
		return m.printJSON(shown)
	}
	for _, e := range shown {
		note := ""
		if e.Aborted {
			note = " (never reached the file)"
		}
		fmt.Fprintf(m.out, "%s  %s  %s %s %s%s\n", e.ID, e.At.Local().Format(time.DateTime), e.Target, e.Kind, e.Origin, note)
		for _, text := range e.Removed {
			fmt.Fprintf(m.out, "  - %s\n", strings.ReplaceAll(text, "\n", "\n    "))
		}
		for _, text := range e.Added {
			fmt.Fprintf(m.out, "  + %s\n", strings.ReplaceAll(text, "\n", "\n    "))
		}
	}
	return nil
}
