// Package conformance holds the tests that every provider must pass. It is
// for tests only, and is linked into no program.
package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/memstore/journal"
	"github.com/hermes-mcp/hermes-mcp/provider"
	"github.com/hermes-mcp/hermes-mcp/provider/outbox"
)

// Run checks a sound provider. open returns a new one each time, with nothing
// in its memory; Run closes it.
func Run(t *testing.T, open func(t *testing.T) provider.Provider) {
	t.Run("it has a name", func(t *testing.T) {
		p := open(t)
		closed(t, p)
		if !regexp.MustCompile(`^[a-z][a-z0-9-]{0,30}$`).MatchString(p.Name()) {
			t.Errorf("name %q", p.Name())
		}
	})
	t.Run("it closes without having been started", func(t *testing.T) { closed(t, open(t)) })
	t.Run("it ends when its caller does", func(t *testing.T) { cancelled(t, open(t)) })
	t.Run("it takes a whole life in order", func(t *testing.T) { life(t, open(t)) })
	t.Run("it serves several callers at once", func(t *testing.T) { crowd(t, open(t)) })
	t.Run("its tools answer", func(t *testing.T) { tools(t, open(t)) })
	t.Run("it mirrors edits under the entry's hash", func(t *testing.T) { mirror(t, open(t)) })
}

func closed(t *testing.T, p provider.Provider) {
	t.Helper()
	if err := p.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

var session = provider.Session{ID: "test:1", Source: "test"}

func guard(t *testing.T, p provider.Provider) *provider.Guard {
	t.Helper()
	g, err := provider.Open(p, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return g
}

// drained delivers all, or fails.
func drained(t *testing.T, g *provider.Guard) {
	t.Helper()
	if _, err := g.Drain(t.Context()); err != nil {
		t.Fatalf("deliver: %v", err)
	}
	if h := g.Health(t.Context()); h.Waiting != 0 || len(h.SetAside) != 0 || h.Failures != 0 || h.Problem != "" {
		t.Fatalf("after delivery: %+v", h)
	}
}

func cancelled(t *testing.T, p provider.Provider) {
	defer closed(t, p)
	if err := p.Start(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Recall(gone, session, "what is deployed on Fridays?"); err == nil {
		t.Error("a recall went on after its caller had gone")
	}
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	if _, err := p.Recall(ctx, session, "what is deployed on Fridays?"); err != nil {
		t.Errorf("a recall after one that was called off: %v", err)
	}
}

func life(t *testing.T, p provider.Provider) {
	g := guard(t, p)
	ctx := t.Context()
	next := provider.Session{ID: "test:2", Parent: session.ID, Source: "test"}
	for _, err := range []error{
		g.TurnEnded(ctx, provider.Turn{ID: "1", Session: session, User: "I drink tea", Assistant: "Noted."}),
		g.TurnEnded(ctx, provider.Turn{ID: "2", Session: session, User: "and coffee", Assistant: "As well."}),
		g.Compressing(ctx, provider.Compression{ID: "1", Session: session, Conversation: "user: I drink tea"}),
		g.Delegated(ctx, provider.Delegation{ID: "1", Session: session, Child: "test:3", Task: "count", Result: "3"}),
		g.SessionSwitched(ctx, provider.Switch{From: session, To: next, Reason: "reset", Reset: true}, ""),
		g.TurnEnded(ctx, provider.Turn{ID: "3", Session: next, User: "hello again", Assistant: "Hello."}),
		g.SessionEnded(ctx, next, ""),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	drained(t, g)
	if _, err := g.SystemBlock(ctx, next); err != nil {
		t.Errorf("system block: %v", err)
	}
	r, err := g.Recall(ctx, next, "what does the user drink in the morning?")
	if err != nil {
		t.Fatalf("recall: %v", err)
	}
	if fenced := strings.HasPrefix(r.Text, "<memory-context>"); fenced != (r.Count > 0) {
		t.Errorf("%d memories in %q", r.Count, r.Text)
	}
	if note := g.Notice(); note != "" {
		t.Errorf("a sound life ends with a notice: %s", note)
	}
}

func crowd(t *testing.T, p provider.Provider) {
	g := guard(t, p)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, err := g.Recall(t.Context(), session, "which port does the backend use?"); err != nil {
				t.Errorf("recall: %v", err)
			}
		})
	}
	for i := range 3 {
		if err := g.MemoryWritten(t.Context(), write("add", "", "The backend uses port 808"+string(rune('0'+i)))); err != nil {
			t.Error(err)
		}
	}
	if err := g.TurnEnded(t.Context(), provider.Turn{ID: "1", Session: session, User: "which port?", Assistant: "8080"}); err != nil {
		t.Error(err)
	}
	if _, err := g.Drain(t.Context()); err != nil {
		t.Errorf("deliver: %v", err)
	}
	all.Wait()
	drained(t, g)
}

// write is an edit of the memory, with an id that follows from it.
func write(action memstore.Action, old, now string) provider.Write {
	w := provider.Write{ID: string(action) + old + now, Session: session, Target: memstore.User, Action: action, Old: old, New: now}
	if old != "" {
		w.OldHash = journal.Hash([]byte(old))
	}
	if now != "" {
		w.NewHash = journal.Hash([]byte(now))
	}
	return w
}

func tools(t *testing.T, p provider.Provider) {
	g := guard(t, p)
	all, dropped, err := g.Tools(t.Context(), func(context.Context) provider.Session { return session })
	if err != nil {
		t.Fatal(err)
	}
	for _, why := range dropped {
		t.Errorf("left out: %s", why)
	}
	for _, tool := range all {
		for _, arguments := range []string{"", "{}", `{"action":"no such action","fact_id":"x"}`, `{"limit":1e400,"query":[]}`} {
			out, err := tool.Handle(t.Context(), json.RawMessage(arguments))
			if err != nil || !json.Valid(out) || out[0] != '{' {
				t.Errorf("%s %s: %s, %v", tool.Name, arguments, out, err)
			}
		}
	}
}

func mirror(t *testing.T, p provider.Provider) {
	m, ok := p.(provider.Mirror)
	if !ok {
		closed(t, p)
		t.Skip("it takes no edits")
	}
	g := guard(t, p)
	deliver := func(w provider.Write) {
		t.Helper()
		if err := g.MemoryWritten(t.Context(), w); err != nil {
			t.Fatal(err)
		}
		drained(t, g)
	}
	want := func(texts ...string) {
		t.Helper()
		if _, ok := p.(provider.Lister); !ok {
			return
		}
		facts, err := g.List(t.Context(), session)
		if errors.Is(err, provider.ErrUnsupported) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		held := map[string]string{}
		for _, f := range facts {
			held[f.Text] = f.Entry
		}
		if len(facts) != len(texts) {
			t.Fatalf("it holds %q, want %q", held, texts)
		}
		for _, text := range texts {
			if held[text] != journal.Hash([]byte(text)) {
				t.Errorf("%q is held under %q", text, held[text])
			}
		}
	}
	want()
	add := write("add", "", "Prefers tabs over spaces")
	deliver(add)
	want("Prefers tabs over spaces")
	deliver(write("add", "", "用户偏好简洁的中文回复"))
	deliver(write("replace", "Prefers tabs over spaces", "Prefers spaces over tabs"))
	want("Prefers spaces over tabs", "用户偏好简洁的中文回复")
	deliver(write("remove", "用户偏好简洁的中文回复", ""))
	want("Prefers spaces over tabs")
	deliver(write("remove", "was never there", ""))
	want("Prefers spaces over tabs")
	if r, ok := p.(provider.Repeater); ok && r.Repeatable(provider.KindWrite) {
		again := write("add", "", "Drinks tea")
		for range 2 {
			if err := m.MirrorWrite(t.Context(), again); err != nil {
				t.Errorf("the same edit again: %v", err)
			}
		}
		want("Prefers spaces over tabs", "Drinks tea")
	}
	if _, err := g.Recall(t.Context(), session, "does the user like tabs or spaces?"); err != nil {
		t.Errorf("recall: %v", err)
	}
}

// A Fault is a provider in trouble, and what must become of a turn that it is
// given.
type Fault struct {
	Name    string
	Open    func(t *testing.T) provider.Provider
	State   outbox.State // of the turn: Waiting, Unknown, Rejected; "" when it is delivered all the same
	Says    string       // part of what a user reads about the turn
	Recall  string       // part of what a user reads about a recall; "" when it works
	Timeout time.Duration
}

// Faults checks that trouble costs nothing but time: calls end, words say what
// is wrong, and the turn is still there.
func Faults(t *testing.T, faults []Fault) {
	for _, f := range faults {
		t.Run(f.Name, func(t *testing.T) {
			g := guard(t, f.Open(t))
			g.StartTimeout, g.RecallTimeout, g.DeliverTimeout = 10*time.Second, f.Timeout, f.Timeout
			if err := g.TurnEnded(t.Context(), provider.Turn{ID: "1", Session: session, User: "a question", Assistant: "an answer"}); err != nil {
				t.Fatal(err)
			}
			_, err := g.Drain(t.Context())
			h := g.Health(t.Context())
			state, words := outbox.State(""), h.LastError
			switch {
			case h.Waiting == 1:
				state = outbox.Waiting
				if err == nil || h.Blocked == "" {
					t.Errorf("blocked by %q, and delivering says %v", h.Blocked, err)
				}
			case len(h.SetAside) == 1:
				state = h.SetAside[0].State
			}
			if state != f.State || !strings.Contains(words, f.Says) {
				t.Errorf("the turn is %q because of %q; want %q because of %q", state, words, f.State, f.Says)
			}
			if notice := g.Notice(); (notice != "") != (f.Says != "") || !strings.Contains(notice, f.Says) {
				t.Errorf("notice %q", notice)
			}
			if notice := g.Notice(); notice != "" {
				t.Errorf("said twice: %q", notice)
			}
			_, err = g.Recall(t.Context(), session, "what do I drink?")
			if (err != nil) != (f.Recall != "") || (err != nil && !strings.Contains(err.Error(), f.Recall)) {
				t.Errorf("recall: %v; want %q", err, f.Recall)
			}
		})
	}
}
