package transcript

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"
)

func openTest(t testing.TB) *DB {
	t.Helper()
	db, err := Open(context.Background(), filepath.Join(t.TempDir(), "mcp", "archive.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

var day = time.Date(2026, 5, 8, 12, 0, 0, 0, time.UTC)

// put stores a session whose messages alternate between user and assistant.
func put(t testing.TB, db *DB, id string, says ...string) {
	t.Helper()
	s := Session{ID: id, StartedAt: day}
	var msgs []Message
	for i, text := range says {
		role := UserRole
		if i%2 == 1 {
			role = Assistant
		}
		msgs = append(msgs, Message{Role: role, Content: text, At: day.Add(time.Duration(i) * time.Minute)})
	}
	if err := db.Put(context.Background(), s, msgs); err != nil {
		t.Fatal(err)
	}
}

func search(t testing.TB, db *DB, text string) Answer {
	t.Helper()
	a, err := db.Search(context.Background(), Query{Text: text})
	if err != nil {
		t.Fatalf("search %q: %v", text, err)
	}
	return a
}

func TestWhatIsPutCanBeReadAndFound(t *testing.T) {
	db := openTest(t)
	put(t, db, "test:one", "How do we rotate the signing keys?", "Run `make rotate` and restart the gateway.", "Thanks")
	put(t, db, "test:two", "Plan the garden", "Tomatoes need sun.")
	s, err := db.Session(context.Background(), "one")
	if err != nil || s.ID != "test:one" || s.Messages != 3 || s.Preview != "How do we rotate the signing keys?" {
		t.Fatalf("session %+v, %v", s, err)
	}
	msgs, before, after, err := db.Messages(context.Background(), "test:one", Window{})
	if err != nil || len(msgs) != 3 || before != 0 || after != 0 || msgs[1].Content != "Run `make rotate` and restart the gateway." || msgs[1].Seq != 1 {
		t.Fatalf("messages %+v %d %d %v", msgs, before, after, err)
	}
	a := search(t, db, "which command rotates a key")
	if len(a.Hits) == 0 || a.Hits[0].Session.ID != "test:one" || len(a.Hits[0].Matches) != 2 {
		t.Fatalf("answer %+v", a)
	}
	t.Log(a.Hits[0].Matches)
	if _, err := db.Session(context.Background(), "nobody"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
}
