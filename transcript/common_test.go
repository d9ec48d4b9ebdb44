package transcript

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// A crowd is a source of many short sessions that name one word in passing.
type crowd int

func (c crowd) Name() string { return "crowd" }

func (c crowd) Find(context.Context, Places) ([]File, error) { return nil, nil }

func (c crowd) FindIn(context.Context, string) ([]File, error) { return nil, nil }

func (c crowd) Read(_ context.Context, _ File, _ Cursor, _ bool, sink Sink) error {
	for i := range int(c) {
		id, at := fmt.Sprintf("crowd:%d", i), time.Date(2026, 1, 1, 0, i, 0, 0, time.UTC)
		if err := sink.Session(Session{ID: id, StartedAt: at}); err != nil {
			return err
		}
		if err := sink.Message(Message{SessionID: id, UID: id, At: at, Role: Assistant, Content: fmt.Sprintf("in passing %d I name the gateway among many other things of the day", i)}); err != nil {
			return err
		}
	}
	return sink.Mark(Cursor{Offset: 1}, Tally{})
}

// A word that stands in more messages than a search looks at still finds the old
// sessions that are about it, by their title and by what was asked first; and that
// the newest messages decide among the others is said.
func TestACommonWordFindsWhatIsAboutIt(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of sessions")
	}
	db := openTest(t)
	for id, about := range map[string][2]string{"t:titled": {"Gateway", "please look at this"}, "t:asked": {"", "the gateway breaks when it starts, why"}} {
		msgs := []Message{spoke(UserRole, about[1])}
		for i := range 30 {
			msgs = append(msgs, spoke(Assistant, fmt.Sprintf("the gateway is what the gateway of step %d needs, so the gateway it is", i)))
		}
		tell(t, db, Session{ID: id, Title: about[0], StartedAt: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)}, msgs...)
	}
	src := crowd(12_500)
	if r, err := db.Ingest(context.Background(), src, []File{{Source: src.Name(), Path: t.TempDir(), Size: 1}}, true, nil); err != nil || r.Messages != int(src) {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, query := range []string{"gateway", "gateway of"} {
		a := search(t, db, query)
		if got := hitIDs(a); len(got) < 2 || !strings.HasPrefix(got[0], "t:") || !strings.HasPrefix(got[1], "t:") || !strings.Contains(a.Note, "too common") {
			t.Errorf("%s: %v; %s", query, got, a.Note)
		}
	}
}

// So does how often they say it: nothing but that tells the session that is about
// the word from those which name it, when neither title nor first prompt hold it.
// It counts what a session held when it came and what it has grown by since.
func TestACommonWordFindsWhatSaysItAllTheTime(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of sessions")
	}
	ctx, db := context.Background(), openTest(t)
	begun := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	dense := func(from, to int) (msgs []Message) {
		for i := from; i < to; i++ {
			m := spoke(Assistant, fmt.Sprintf("step %d goes on as was planned, with the pump and the valve of part %d", i, i*7))
			if i == 0 {
				m = spoke(UserRole, "please look at this")
			} else if i%4 != 0 {
				m.Content = fmt.Sprintf("the gateway answers %d times before its queue is full", i)
			}
			m.UID = fmt.Sprint(i)
			msgs = append(msgs, m)
		}
		return msgs
	}
	tell(t, db, Session{ID: "t:whole", StartedAt: begun}, dense(0, 40)...)
	for i := range 40 {
		if err := db.Put(ctx, Session{ID: "t:grown", StartedAt: begun}, dense(i, i+1)); err != nil {
			t.Fatal(err)
		}
	}
	tell(t, db, Session{ID: "t:renamed", StartedAt: begun}, dense(0, 40)...)
	tell(t, db, Session{ID: "t:renamed", Title: "Monday", StartedAt: begun})
	if err := db.Tend(ctx, false); err != nil {
		t.Fatal(err)
	}
	src := crowd(12_500)
	if r, err := db.Ingest(ctx, src, []File{{Source: src.Name(), Path: t.TempDir(), Size: 1}}, true, nil); err != nil || r.Messages != int(src) {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, query := range []string{"gateway", "gateway of"} {
		a, err := db.Search(ctx, Query{Text: query, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		got := hitIDs(a)
		for _, want := range []string{"t:whole", "t:grown", "t:renamed"} {
			if !slices.Contains(got, want) {
				t.Errorf("%s: %s is not among %v", query, want, got)
			}
		}
	}
}
