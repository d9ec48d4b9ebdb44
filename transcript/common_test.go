package transcript

import (
	"context"
	"fmt"
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
