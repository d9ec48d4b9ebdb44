package memstore

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hermes-mcp/hermes-mcp/memstore/conflict"
)

// #61424, #30220: who says so, since when, from where.
func TestEntriesKnowWhereTheyComeFrom(t *testing.T) {
	s := open(t, "written by hand")
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	start := at
	s.Now = func() time.Time { return at }
	ctx := context.Background()
	by := Caller{Session: "claude-code:1", Origin: "tool"}
	op := Op{Action: Add, Content: "uses tabs", Source: UserExplicit, Confidence: Confirmed, Evidence: []string{"claude-code:1/m7"}}
	if _, err := s.Apply(ctx, by, Memory, op); err != nil {
		t.Fatal(err)
	}
	at = at.Add(time.Hour)
	res, err := s.Apply(ctx, Caller{Session: "codex:2"}, Memory, Op{Action: Replace, OldText: "tabs", Content: "uses tabs, 120 columns", Source: AgentObserved})
	if err != nil {
		t.Fatal(err)
	}
	check := func(st State) {
		t.Helper()
		e := st.Entries[1]
		if !e.CreatedAt.Equal(start) || !e.UpdatedAt.Equal(at) || e.Source != AgentObserved || e.Session != "codex:2" || e.EditID != res.EditID {
			t.Errorf("got %+v", e)
		}
		if hand := st.Entries[0]; hand.Source != "" || hand.CreatedAt.IsZero() || hand.Session != "" {
			t.Errorf("what was written by hand: %+v", hand)
		}
	}
	check(res.State)
	first := history(t, s)[1]
	if len(first.Ops) != 1 || !slices.Equal(first.Ops[0].Evidence, op.Evidence) {
		t.Errorf("the journal tells %+v", first)
	}
	seen, err := s.Apply(ctx, by, User, Op{Action: Add, Content: "likes tea", Evidence: []string{"claude-code:1/m8"}})
	if err != nil || !slices.Equal(seen.State.Entries[0].Evidence, []string{"claude-code:1/m8"}) {
		t.Errorf("evidence: %+v, %v", seen.State.Entries, err)
	}
	if res, err = s.Apply(ctx, by, Memory, remove("tabs")); err != nil {
		t.Fatal(err)
	}
	undo(t, s, res.EditID)
	res.EditID = history(t, s)[3].ID
	st, err := openHome(t, s.home).State(ctx, Memory)
	if err != nil {
		t.Fatal(err)
	}
	check(st) // an undo brings back what was known
	confirmed := at.Add(time.Hour)
	at = confirmed
	dup, err := s.Apply(ctx, by, Memory, Op{Action: Add, Content: "uses tabs, 120 columns", Confidence: Confirmed})
	if err != nil || dup.EditID != "" {
		t.Fatalf("%+v, %v", dup, err)
	}
	if e := dup.State.Entries[1]; !e.ConfirmedAt.Equal(confirmed) || e.Confidence != Confirmed || e.Source != AgentObserved || e.UpdatedAt.Equal(confirmed) {
		t.Errorf("said again: %+v", e)
	}
	for _, bad := range []Op{{Action: Add, Content: "x", Source: "hearsay"}, {Action: Add, Content: "x", Confidence: "sure"}, {Action: Add, Content: "x", Scope: "world"}} {
		refused(t, s, ErrInvalid, bad)
	}
}

// #23378, #60900: a full store says what could go.
func TestARefusalShowsWhereRoomIs(t *testing.T) {
	s := open(t, "")
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s.Now = func() time.Time { return at }
	s.MemoryLimit = 160
	apply(t, s, add("an old fact that nobody has looked at"))
	at = at.Add(100 * 24 * time.Hour)
	apply(t, s, add("the database is PostgreSQL 15 on port 5432"))
	res := apply(t, s, add("nothing like it at all here today"))
	if res.State.NearlyFull() {
		t.Error("118 of 160 is not nearly full")
	}
	e := refused(t, s, ErrFull, add("the database is PostgreSQL 16 on port 5433, with pgvector"))
	var names []string
	for _, r := range e.Room {
		names = append(names, r.Entry.Text)
	}
	if !slices.Equal(names, []string{"the database is PostgreSQL 15 on port 5432", "an old fact that nobody has looked at"}) {
		t.Fatalf("room: %q", names)
	}
	if r := e.Room[0]; r.Frees != len("the database is PostgreSQL 15 on port 5432")+3 || r.Stale || r.Overlap < 0.7 {
		t.Errorf("got %+v", r)
	}
	if !e.Room[1].Stale {
		t.Errorf("got %+v", e.Room[1])
	}
	res = apply(t, s, replace("PostgreSQL", "the database is PostgreSQL 16"+strings.Repeat("!", 30)))
	if !res.State.NearlyFull() {
		t.Errorf("%d of 160 is nearly full", res.State.Chars)
	}
}

// Contradictions are told with both dates; nothing is superseded silently.
func TestContradictionsAreTold(t *testing.T) {
	s := open(t, "")
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s.Now = func() time.Time { return at }
	apply(t, s, add("The project uses MySQL"), add("Prefers short answers"))
	old := at
	at = at.Add(time.Hour)
	res := apply(t, s, add("uses Postgres"))
	if len(res.Conflicts) != 1 || res.Conflicts[0].Entry.Text != "The project uses MySQL" || !res.Conflicts[0].Entry.UpdatedAt.Equal(old) || res.Conflicts[0].With != "uses Postgres" {
		t.Errorf("got %+v", res.Conflicts)
	}
	if res = apply(t, s, replace("MySQL", "The project uses Postgres 16")); len(res.Conflicts) != 0 {
		t.Errorf("got %+v", res.Conflicts)
	}
	if got := conflictsWith(res.State.Entries, " Prefers long answers ", conflict.Read); len(got) != 1 {
		t.Errorf("got %+v", got)
	}
	write(t, s, "No sudo for docker\n§\nUse sudo for docker")
	st, err := s.State(context.Background(), Memory)
	if err != nil {
		t.Fatal(err)
	}
	if got := Pairs(st.Entries); len(got) != 1 || got[0].Kind != "negated" {
		t.Errorf("got %+v", got)
	}
}
