package memstore

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

func scoped(scope Scope, content string) Op { return Op{Action: Add, Content: content, Scope: scope} }

func TestScopes(t *testing.T) {
	ctx := context.Background()
	s := open(t, "global fact")
	by := Caller{Session: "claude-code:1"}
	if _, err := s.Apply(ctx, by, Memory, scoped(ProjectOnly, "x")); !errors.Is(err, ErrInvalid) {
		t.Errorf("without a project: %v", err)
	}
	if _, err := s.Apply(ctx, Caller{}, Memory, scoped(SessionOnly, "x")); !errors.Is(err, ErrInvalid) {
		t.Errorf("without a session: %v", err)
	}
	s.Project = "abc123"
	snap, err := s.SessionSnapshot(ctx, by.Session)
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Apply(ctx, by, Memory, scoped(ProjectOnly, "builds with make"))
	if err != nil || res.State.Target != Project || res.State.Limit != 1100 || !strings.Contains(res.State.Path, "abc123") {
		t.Fatalf("%+v, %v", res, err)
	}
	if _, err := s.Apply(ctx, by, Memory, scoped(SessionOnly, "trying the new parser")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Apply(ctx, by, Memory, scoped(ProjectOnly, "a"), scoped(Global, "b")); !errors.Is(err, ErrInvalid) {
		t.Errorf("two scopes in one call: %v", err)
	}
	if got := read(t, s); got != "global fact" {
		t.Errorf("MEMORY.md holds %q", got)
	}
	overlay, err := s.Overlay(ctx, snap)
	if err != nil || len(overlay) != 2 || overlay[0].Target != Project || !slices.Equal(overlay[1].Added, []string{"trying the new parser"}) {
		t.Errorf("overlay: %+v, %v", overlay, err)
	}
	fresh, err := s.Snapshot(ctx)
	if err != nil || !strings.Contains(fresh.String(), "PROJECT MEMORY (this project only) [1% — 16/1,100 chars]") {
		t.Errorf("snapshot: %v, %v", fresh, err)
	}

	other := openHome(t, s.home)
	other.Project = "def456"
	if snap, err := other.Snapshot(ctx); err != nil || strings.Contains(snap.String(), "make") {
		t.Errorf("another project sees %v, %v", snap, err)
	}
	if _, err := other.Undo(ctx, Caller{}, res.EditID); !errors.Is(err, ErrNotFound) {
		t.Errorf("another project undoes it: %v", err)
	}
	if _, err := s.Undo(ctx, Caller{}, res.EditID); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"../x", "a/b", "..", ""} {
		other.Project = bad
		if _, err := other.State(ctx, Project); !errors.Is(err, ErrInvalid) {
			t.Errorf("project %q: %v", bad, err)
		}
	}
}

// #52900: one user never sees what another has.
func TestUsersAreApart(t *testing.T) {
	ctx := context.Background()
	s := open(t, "")
	anna, tom := openHome(t, s.home), openHome(t, s.home)
	anna.User, tom.User = "anna", "tom"
	res, err := anna.Apply(ctx, Caller{}, User, add("is called Anna"))
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []*Store{tom, s} {
		st, err := other.State(ctx, User)
		if err != nil || len(st.Entries) != 0 {
			t.Errorf("seen: %+v, %v", st, err)
		}
		if h := history(t, other); len(h) != 0 {
			t.Errorf("history: %+v", h)
		}
		for _, id := range []string{res.EditID, hash("is called Anna")} {
			if _, err := other.Restore(ctx, Caller{}, id); !errors.Is(err, ErrNotFound) {
				t.Errorf("restored: %v", err)
			}
		}
		if hits, err := other.Find(ctx, "", 0); err != nil || len(hits) != 0 {
			t.Errorf("found: %+v, %v", hits, err)
		}
	}
	if h := history(t, anna); len(h) != 1 || h[0].Target != User {
		t.Errorf("her own history: %+v", h)
	}
	// Nor in what waits, in a session that both name alike, or in its snapshot.
	if _, err := anna.Propose(ctx, Caller{}, User, add("is forty")); err != nil {
		t.Fatal(err)
	}
	by := Caller{Session: "hermes:1"}
	note := Op{Action: Add, Content: "Anna's own note", Scope: SessionOnly}
	if _, err := anna.Apply(ctx, by, Memory, note); err != nil {
		t.Fatal(err)
	}
	if snap, err := anna.SessionSnapshot(ctx, by.Session); err != nil || !strings.Contains(snap.String(), "Anna") {
		t.Errorf("her snapshot: %v %v", snap, err)
	}
	for _, other := range []*Store{tom, s} {
		if all, err := other.Proposals(ctx); err != nil || len(all) != 0 {
			t.Errorf("waits: %+v, %v", all, err)
		}
		if st, err := other.State(ctx, SessionTarget(by.Session)); err != nil || len(st.Entries) != 0 {
			t.Errorf("notes: %+v, %v", st, err)
		}
		if h := history(t, other); len(h) != 0 {
			t.Errorf("history of notes: %+v", h)
		}
		if snap, err := other.SessionSnapshot(ctx, by.Session); err != nil || strings.Contains(snap.String(), "Anna") {
			t.Errorf("snapshot: %v %v", snap, err)
		}
	}
	if all, err := anna.Proposals(ctx); err != nil || len(all) != 1 {
		t.Errorf("hers: %+v, %v", all, err)
	}
	tom.User = "../anna"
	if _, err := tom.Apply(ctx, Caller{}, User, add("x")); !errors.Is(err, ErrInvalid) {
		t.Errorf("a name that leads elsewhere: %v", err)
	}
}

func TestChatKeys(t *testing.T) {
	for _, tt := range []struct {
		name          string
		chat          Chat
		group, thread bool
		want          string
	}{
		{"a direct message goes by its chat", Chat{Platform: "telegram", ChatID: "7"}, true, false, "agent:main:telegram:dm:7"},
		{"and its thread", Chat{Platform: "telegram", ChatID: "7", ThreadID: "2"}, true, false, "agent:main:telegram:dm:7:2"},
		{"without a chat by who writes", Chat{Platform: "sms", UserID: "u", UserIDAlt: "alt"}, true, false, "agent:main:sms:dm:alt"},
		{"without either it is shared", Chat{Platform: "sms"}, true, false, "agent:main:sms:dm"},
		{"a group goes by who writes", Chat{Platform: "discord", Type: "group", ChatID: "9", UserID: "u"}, true, false, "agent:main:discord:group:9:u"},
		{"unless it is shared", Chat{Platform: "discord", Type: "group", ChatID: "9", UserID: "u"}, false, false, "agent:main:discord:group:9"},
		{"a thread is shared", Chat{Platform: "discord", Type: "group", ChatID: "9", ThreadID: "3", UserID: "u"}, true, false, "agent:main:discord:group:9:3"},
		{"unless it is not", Chat{Platform: "discord", Type: "group", ChatID: "9", ThreadID: "3", UserID: "u"}, true, true, "agent:main:discord:group:9:3:u"},
		{"a profile has its own", Chat{Namespace: "work", Platform: "slack", ChatID: "1"}, true, false, "work:slack:dm:1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.chat.Key(tt.group, tt.thread); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// #30220: nothing is written before somebody says yes, and the yes is for the
// entry it was asked about.
func TestApproval(t *testing.T) {
	ctx := context.Background()
	s := open(t, "uses MySQL\n§\nb")
	by := Caller{Session: "claude-code:1", Origin: "review"}
	p, err := s.Propose(ctx, by, Memory, replace("MySQL", "uses Postgres"), add("c"))
	if err != nil || p.ID == "" || p.Matched[0] != "uses MySQL" {
		t.Fatalf("%+v, %v", p, err)
	}
	if got := read(t, s); got != "uses MySQL\n§\nb" {
		t.Fatalf("written before the yes: %q", got)
	}
	for _, bad := range []Op{remove("nonesuch"), add(strings.Repeat("x", 3000)), add("")} {
		if _, err := s.Propose(ctx, by, Memory, bad); err == nil {
			t.Errorf("%v was staged", bad)
		}
	}
	s = openHome(t, s.home)
	all, err := s.Proposals(ctx)
	if err != nil || len(all) != 1 || all[0].Caller != by || len(all[0].Ops) != 2 || all[0].Hermes || all[0].Summary == "" {
		t.Fatalf("%+v, %v", all, err)
	}

	write(t, s, "uses MySQL 8\n§\nb")
	if _, err := s.Approve(ctx, p.ID); !errors.Is(err, ErrLaterEdit) {
		t.Errorf("its entry has changed: %v", err)
	}
	write(t, s, "b\n§\nuses MySQL\n§\nwas uses MySQL")
	res, err := s.Approve(ctx, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, s); got != "b\n§\nuses Postgres\n§\nwas uses MySQL\n§\nc" {
		t.Errorf("got %q", got)
	}
	if h := history(t, s); h[0].ID != res.EditID || h[0].Of != p.ID || h[0].Caller.Session != by.Session {
		t.Errorf("the journal tells %+v", h[0])
	}
	if all, err = s.Proposals(ctx); err != nil || len(all) != 0 {
		t.Errorf("still waiting: %+v, %v", all, err)
	}
	if _, err := s.Approve(ctx, p.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("approved twice: %v", err)
	}

	if p, err = s.Propose(ctx, by, Memory, remove("b")); err != nil {
		t.Fatal(err)
	}
	if err := s.Reject(ctx, p.ID); err != nil {
		t.Fatal(err)
	}
	if all, err = s.Proposals(ctx); err != nil || len(all) != 0 {
		t.Errorf("still waiting: %+v, %v", all, err)
	}
}

// Records that Hermes Agent has staged can be decided here.
func TestApprovalOfHermesRecords(t *testing.T) {
	ctx := context.Background()
	s := open(t, "a\n§\nb")
	if err := os.MkdirAll(s.hermesPending(), 0o700); err != nil {
		t.Fatal(err)
	}
	put := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(s.hermesPending()+"/"+name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("0a1b2c3d.json", `{"id":"0a1b2c3d","subsystem":"memory","action":"replace","summary":"replace a","origin":"background_review","created_at":1764000000.5,"payload":{"action":"replace","target":"memory","old_text":"a","content":"A","matched_entry":"a"}}`)
	put("11111111.json", `{"id":"11111111","subsystem":"memory","action":"batch","created_at":"2025-12-01T10:00:00Z","payload":{"target":"memory","operations":[{"action":"add","new_text":"c"},{"action":"remove","old_text":"b"}]}}`)
	put("22222222.json", `not JSON`)
	all, err := s.Proposals(ctx)
	if err == nil || len(all) != 2 || !all[0].Hermes || all[0].ID != "0a1b2c3d" || all[0].Caller.Origin != "background_review" || all[0].At.Year() != 2025 {
		t.Fatalf("%+v, %v", all, err)
	}
	for _, p := range all {
		if _, err := s.Approve(ctx, p.ID); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, s); got != "A\n§\nc" {
		t.Errorf("got %q", got)
	}
	if _, err := os.Stat(s.hermesPending() + "/0a1b2c3d.json"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the record is still there: %v", err)
	}
}
