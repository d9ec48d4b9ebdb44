package relay

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hermes-mcp/hermes-mcp/provider"
	"github.com/hermes-mcp/hermes-mcp/transcript"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func message(id int64, role transcript.Role, text string, minute int) transcript.Message {
	return transcript.Message{ID: id, UID: fmt.Sprint("m", id), SessionID: "test:1", Role: role, Content: text, At: noon.Add(time.Duration(minute) * time.Minute)}
}

func TestWhichTurnsAreFinished(t *testing.T) {
	asked, answered := message(1, transcript.UserRole, "which port?", 0), message(2, transcript.Assistant, "8080.", 1)
	again := message(3, transcript.UserRole, "and the host?", 2)
	rewound, notice, recalled := again, again, answered
	rewound.Rewound, notice.Kind, recalled.OwnTrace = true, "notice", true
	foreign := again
	foreign.SessionID = "test:0"
	at := func(minute int) time.Time { return noon.Add(time.Duration(minute) * time.Minute) }
	for _, test := range []struct {
		name string
		msgs []transcript.Message
		e    Event
		want string
	}{
		{"a prompt and its answer", []transcript.Message{asked, answered}, Event{Kind: Turn, At: at(5)}, "which port?|8080."},
		{"an answer that is not written down yet is waited for", []transcript.Message{asked}, Event{Kind: Turn, At: at(5)}, ""},
		{"the words that the hook brought are the answer", []transcript.Message{asked}, Event{Kind: Turn, Said: "8080.", At: at(5)}, "which port?|8080."},
		{"and are not said twice", []transcript.Message{asked, answered}, Event{Kind: Turn, Said: "8080.", At: at(5)}, "which port?|8080."},
		{"and end an answer that began earlier", []transcript.Message{asked, answered}, Event{Kind: Turn, Said: "Done.", At: at(5)}, "which port?|8080.\n\nDone."},
		{"a session that is over is told whole", []transcript.Message{asked, answered, again}, Event{Kind: End, At: at(5)}, "which port?|8080. & and the host?|"},
		{"a prompt that came after the event is the next one's", []transcript.Message{asked, answered, again}, Event{Kind: Turn, At: at(1)}, "which port?|8080."},
		{"a prompt that was broken off is told with the next", []transcript.Message{asked, again, answered}, Event{Kind: Turn, At: at(5)}, "which port?| & and the host?|8080."},
		{"what was taken back was no turn", []transcript.Message{asked, answered, rewound}, Event{Kind: End, At: at(5)}, "which port?|8080."},
		{"nor is what no person wrote", []transcript.Message{asked, answered, notice}, Event{Kind: End, At: at(5)}, "which port?|8080."},
		{"nor what another session owns", []transcript.Message{asked, answered, foreign}, Event{Kind: End, At: at(5)}, "which port?|8080."},
		{"our own results are no answer", []transcript.Message{asked, recalled}, Event{Kind: Turn, At: at(5)}, ""},
		{"nothing", nil, Event{Kind: End, At: at(5)}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, turn := range finished(test.msgs, "test:1", test.e) {
				got = append(got, turn.user+"|"+turn.answer)
			}
			if text := strings.Join(got, " & "); text != test.want {
				t.Errorf("%q, want %q", text, test.want)
			}
		})
	}
}

// A listener keeps what it is told, in order.
type listener struct{ told []string }

func (l *listener) Name() string                                  { return "listener" }
func (l *listener) Start(context.Context, provider.Session) error { return nil }
func (l *listener) Close() error                                  { return nil }

func (l *listener) Recall(context.Context, provider.Session, string) ([]provider.Memory, error) {
	return nil, nil
}

func (l *listener) SyncTurn(_ context.Context, t provider.Turn) error {
	l.told = append(l.told, "turn "+t.User)
	return nil
}

func (l *listener) EndSession(_ context.Context, s provider.Session) error {
	l.told = append(l.told, "end "+s.ID)
	return nil
}

func (l *listener) SwitchSession(_ context.Context, s provider.Switch) error {
	l.told = append(l.told, "switch "+s.From.ID+" "+s.To.ID)
	return nil
}

// A shelf is an archive that nothing has to be brought to.
type shelf struct {
	db  *transcript.DB
	err error // of bringing
}

func (s *shelf) Bring(context.Context, string, ...string) error       { return s.err }
func (s *shelf) Open(context.Context) (*transcript.DB, error)         { return s.db, nil }
func (s *shelf) put(t *testing.T, id string, m ...transcript.Message) { put(t, s.db, id, m) }

func put(t *testing.T, db *transcript.DB, id string, msgs []transcript.Message) {
	t.Helper()
	for i := range msgs {
		msgs[i].ID, msgs[i].SessionID = 0, ""
	}
	if err := db.Put(t.Context(), transcript.Session{ID: id, StartedAt: noon, LastActive: noon}, msgs); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T) (*Relay, *listener, *shelf) {
	t.Helper()
	db, err := transcript.Open(t.Context(), filepath.Join(t.TempDir(), "archive.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	l, dir := &listener{}, t.TempDir()
	g, err := provider.Open(l, dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Open(g, dir)
	if err != nil {
		t.Fatal(err)
	}
	r.Now = func() time.Time { return noon.Add(time.Hour) }
	return r, l, &shelf{db: db}
}

// heard works everything off and returns what the provider was told.
func heard(t *testing.T, r *Relay, l *listener, s *shelf) string {
	t.Helper()
	if err := r.Work(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Guard.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	told := strings.Join(l.told, ", ")
	l.told = nil
	return told
}

func tell(t *testing.T, r *Relay, events ...Event) {
	t.Helper()
	if err := r.Put(t.Context(), events...); err != nil {
		t.Fatal(err)
	}
}

func TestEachTurnIsToldOnceAlthoughItsHookWasKilled(t *testing.T) {
	r, l, s := open(t)
	s.put(t, "test:1", message(1, transcript.UserRole, "one", 0), message(2, transcript.Assistant, "a", 0))
	tell(t, r, Event{Kind: Turn, Session: "test:1"}, Event{Kind: Turn, Session: "test:1"})
	if told := heard(t, r, l, s); told != "turn one" {
		t.Error(told)
	}
	// The hooks of two turns did not live to tell of them.
	s.put(t, "test:1", message(3, transcript.UserRole, "two", 1), message(4, transcript.Assistant, "b", 1),
		message(5, transcript.UserRole, "three", 2), message(6, transcript.Assistant, "c", 2),
		message(7, transcript.UserRole, "four", 3), message(8, transcript.Assistant, "d", 3))
	tell(t, r, Event{Kind: Turn, Session: "test:1"})
	if told := heard(t, r, l, s); told != "turn two, turn three, turn four" {
		t.Error(told)
	}
}

func TestAnEndIsToldOnceAndBeforeWhatComesInItsPlace(t *testing.T) {
	r, l, s := open(t)
	s.put(t, "test:1", message(1, transcript.UserRole, "one", 0), message(2, transcript.Assistant, "a", 0))
	tell(t, r, Event{Kind: End, Session: "test:1"}, Event{Kind: End, Session: "test:1"},
		Event{Kind: Switch, Session: "test:2", From: "test:1", Reason: "clear"})
	if told := heard(t, r, l, s); told != "turn one, end test:1, switch test:1 test:2" {
		t.Error(told)
	}
	// Of a session without a transcript there is only the end.
	tell(t, r, Event{Kind: Switch, Session: "test:4", From: "test:3", Reason: "resume"})
	if told := heard(t, r, l, s); told != "end test:3, switch test:3 test:4" {
		t.Error(told)
	}
}

func TestWhatWasSaidBeforeTheProviderWasNamedIsNotTold(t *testing.T) {
	r, l, s := open(t)
	if err := r.Begin(); err != nil {
		t.Fatal(err)
	}
	s.put(t, "test:1", message(1, transcript.UserRole, "old", 0), message(2, transcript.Assistant, "a", 0),
		message(3, transcript.UserRole, "older still going on", 1), message(4, transcript.Assistant, "b", 58))
	tell(t, r, Event{Kind: Turn, Session: "test:1"})
	if told := heard(t, r, l, s); told != "turn older still going on" {
		t.Error(told)
	}
	// One that lies still is no news; one whose hook brings its answer is.
	s.put(t, "test:2", message(1, transcript.UserRole, "old too", 0), message(2, transcript.Assistant, "a", 0))
	tell(t, r, Event{Kind: Turn, Session: "test:2"})
	if told := heard(t, r, l, s); told != "" {
		t.Error(told)
	}
	tell(t, r, Event{Kind: Turn, Session: "test:2", Said: "b"})
	if told := heard(t, r, l, s); told != "turn old too" {
		t.Error(told)
	}
}

func TestAnEventThatCannotBeWorkedOffIsSetAsideInTheEnd(t *testing.T) {
	r, l, s := open(t)
	s.put(t, "test:1", message(1, transcript.UserRole, "one", 0), message(2, transcript.Assistant, "a", 0))
	tell(t, r, Event{ID: "bad", Kind: Turn, Session: "test:1"})
	s.err = errors.New("disk")
	for range mostTries - 1 {
		if err := r.Work(t.Context(), s); err == nil {
			t.Fatal("no error")
		}
	}
	if err := r.Work(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	st, err := r.Status(t.Context())
	if err != nil || st.Waiting != 0 || len(st.SetAside) != 1 || !strings.Contains(st.SetAside[0].Error, "disk") {
		t.Fatalf("%+v, %v", st, err)
	}
	s.err = nil
	if err := r.Settle(t.Context(), "bad", true); err != nil {
		t.Fatal(err)
	}
	if told := heard(t, r, l, s); told != "turn one" {
		t.Error(told)
	}
}

func TestWithoutAProviderNothingIsKept(t *testing.T) {
	dir := t.TempDir()
	r, err := Open(nil, dir)
	if err != nil {
		t.Fatal(err)
	}
	tell(t, r, Event{Kind: Turn, Session: "test:1"})
	if err := errors.Join(r.Begin(), r.Work(t.Context(), nil)); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}
