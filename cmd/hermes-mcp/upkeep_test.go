package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/settings"
	"github.com/hermes-mcp/hermes-mcp/curator"
	"github.com/hermes-mcp/hermes-mcp/summarizer"
	"github.com/hermes-mcp/hermes-mcp/transcript"
)

func TestASessionThatLiesStillIsFlushedOnceUntilItGoesOn(t *testing.T) {
	a := &app{home: settings.Home{Path: t.TempDir()}, config: settings.Defaults()}
	a.config.Exclude = []string{"codex"}
	a.config.Auxiliary.Tasks = map[string]settings.Task{summarizer.FlushMemories: {Model: "m", BaseURL: "http://127.0.0.1:1/v1"}}
	a.config.Provider.Name = "holographic"
	a.connect()
	a.archive.path = a.home.MCP("archive.db")
	if _, err := a.home.Make(); err != nil {
		t.Fatal(err)
	}
	w := a.worker()
	t.Cleanup(func() {
		if err := w.archive.close(); err != nil {
			t.Error(err)
		}
	})
	db, err := w.archive.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	put := func(id string, ago time.Duration, said int) {
		t.Helper()
		var msgs []transcript.Message
		for i := range said {
			msgs = append(msgs, transcript.Message{UID: fmt.Sprint(id, i), Role: transcript.UserRole, Content: fmt.Sprint("prompt ", i), At: time.Now().Add(-ago)})
		}
		if err := db.Put(t.Context(), transcript.Session{ID: id, StartedAt: time.Now().Add(-ago), LastActive: time.Now().Add(-ago)}, msgs); err != nil {
			t.Fatal(err)
		}
	}
	put("cursor:still", 2*time.Hour, 1)
	put("cursor:busy", time.Minute, 1)
	put("cursor:old", 48*time.Hour, 1)
	put("codex:excluded", 2*time.Hour, 1)

	seen, events := map[string]time.Time{}, 0
	for _, round := range []struct {
		before func()
		want   int
	}{{func() {}, 1}, {func() {}, 0}, {func() { put("cursor:still", 90*time.Minute, 2) }, 1}} {
		round.before()
		if err := w.queueIdle(t.Context(), seen); err != nil {
			t.Fatal(err)
		}
		told, err := a.external.Relay.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if events += round.want; told.Waiting != events {
			t.Errorf("%d events for the provider, want %d", told.Waiting, events)
		}
		jobs, err := a.queue().Jobs()
		if err != nil || len(jobs) != round.want {
			t.Fatalf("%+v, %v; want %d", jobs, err, round.want)
		}
		for _, j := range jobs {
			if j.Session != "cursor:still" || j.Kind != curator.FlushJob {
				t.Errorf("%+v", j)
			}
			if err := a.queue().Cancel(j.Kind, j.Session); err != nil {
				t.Fatal(err)
			}
		}
	}
}
