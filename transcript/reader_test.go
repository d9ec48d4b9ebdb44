package transcript

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// Upstream #52900: one chat user found what another had said.
func TestAReaderSeesOnlyTheirOwnSessions(t *testing.T) {
	ctx := context.Background()
	db, err := Open(ctx, filepath.Join(t.TempDir(), "archive.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for _, s := range []Session{
		{ID: "hermes:anna-1", User: "anna"}, {ID: "hermes:anna-2", User: "anna", ParentID: "hermes:anna-1", Relation: Compaction},
		{ID: "hermes:tom-1", User: "tom", ParentID: "hermes:anna-1", Relation: Fork}, {ID: "hermes:nobody"}, {ID: "claude-code:laptop"},
	} {
		s.StartedAt, s.LastActive, s.Title = at, at, "Zebra title of "+s.ID
		if err := db.Put(ctx, s, []Message{{UID: "1", Role: UserRole, Content: "the zebra of " + s.ID, At: at}}); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		as   Reader
		want []string
	}{
		"who is nobody in particular sees all": {Reader{}, []string{"claude-code:laptop", "hermes:anna-1", "hermes:anna-2", "hermes:nobody", "hermes:tom-1"}},
		"a user sees what carries the user":    {Reader{User: "tom"}, []string{"hermes:tom-1"}},
		"and what their sources hold":          {Reader{User: "anna", Owns: []string{"claude-code"}}, []string{"claude-code:laptop", "hermes:anna-1", "hermes:anna-2"}},
		"a stranger sees nothing":              {Reader{User: "eve"}, nil},
	} {
		view := db.As(c.as)
		var recent, found []string
		all, err := view.Recent(ctx, Query{Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range all {
			if recent = append(recent, s.ID); !slices.Contains(c.want, s.ID) {
				t.Errorf("%s: %s is among the recent", name, s.ID)
			}
		}
		for _, word := range []string{"zebra", "title", "anna-2", "zebra OR tom-1"} {
			ans, err := view.Search(ctx, Query{Text: word, Limit: 10})
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range ans.Hits {
				if found = append(found, h.Session.ID); !slices.Contains(c.want, h.Session.ID) {
					t.Errorf("%s: %s is found by %q", name, h.Session.ID, word)
				}
			}
		}
		if len(c.want) > 0 && (len(found) == 0 || len(recent) == 0) {
			t.Errorf("%s: recent %q, found %q, want %q", name, recent, found, c.want)
		}
		for _, id := range []string{"claude-code:laptop", "hermes:anna-1", "hermes:anna-2", "hermes:nobody", "hermes:tom-1", "laptop", "tom"} {
			s, errSession := view.Session(ctx, id)
			if errSession == nil && !slices.Contains(c.want, s.ID) || errSession != nil && !errors.Is(errSession, ErrNotFound) {
				t.Errorf("%s: session %q is %q, %v", name, id, s.ID, errSession)
			}
			if _, _, _, err := view.Messages(ctx, id, Window{}); (err == nil) != slices.Contains(c.want, id) {
				t.Errorf("%s: messages of %s: %v", name, id, err)
			}
		}
		related, err := view.Lineage(ctx, "hermes:anna-1")
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range related[1:] {
			if !slices.Contains(c.want, id) {
				t.Errorf("%s: %s is named as related", name, id)
			}
		}
	}
}

// Upstream #10554, #88501: a chat found what was said in another one.
func TestAChatSeesOnlyItsOwnSessions(t *testing.T) {
	ctx := t.Context()
	db, err := Open(ctx, filepath.Join(t.TempDir(), "archive.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, s := range []Session{
		{ID: "hermes:dm", Chat: "agent:main:telegram:dm:7", User: "anna"}, {ID: "hermes:group", Chat: "agent:main:telegram:group:9", User: "anna"},
		{ID: "hermes:other", Chat: "agent:main:telegram:dm:7", User: "tom"}, {ID: "hermes:keyless", User: "anna"},
	} {
		if err := db.Put(ctx, s, []Message{{UID: "1", Role: UserRole, Content: "zebra"}}); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		as   Reader
		want []string
	}{
		"a key shows its chat and nothing without one": {Reader{Chat: "agent:main:telegram:dm:7"}, []string{"hermes:dm", "hermes:other"}},
		"key and user must both fit":                   {Reader{Chat: "agent:main:telegram:dm:7", User: "anna"}, []string{"hermes:dm"}},
		"a key that nobody has shows nothing":          {Reader{Chat: "agent:main:telegram:dm:70"}, nil},
	} {
		view := db.As(c.as)
		got, err := view.Search(ctx, Query{Text: "zebra", Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, h := range got.Hits {
			found = append(found, h.Session.ID)
		}
		recent, err := view.Recent(ctx, Query{Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(found)
		if !slices.Equal(found, c.want) || len(recent) != len(c.want) {
			t.Errorf("%s: found %v, listed %d, want %v", name, found, len(recent), c.want)
		}
		_, keyless := view.Session(ctx, "hermes:keyless")
		_, _, _, inside := view.Messages(ctx, "hermes:group", Window{})
		if !errors.Is(keyless, ErrNotFound) || !errors.Is(inside, ErrNotFound) {
			t.Errorf("%s: %v, %v", name, keyless, inside)
		}
	}
}
