package tools

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/tools/wire"
	"github.com/hermes-mcp/hermes-mcp/transcript/plain"
)

// A refusal is the answer to an edit that was not made: enough of the state to
// make the next call right.
type refusal struct {
	wire.Failure
	Done           bool            `json:"done,omitempty"` // stop trying
	Target         memstore.Target `json:"target"`
	Operation      int             `json:"operation,omitempty"` // from 1, of operations
	Usage          string          `json:"usage,omitempty"`
	Chars          int             `json:"chars,omitempty"`
	Limit          int             `json:"limit,omitempty"`
	ToFree         int             `json:"to_free,omitempty"`
	Room           []room          `json:"room,omitempty"` // entries that could make room, the most promising first
	Matches        []string        `json:"matches,omitempty"`
	CurrentEntries []string        `json:"current_entries,omitempty"`
	Findings       []finding       `json:"findings,omitempty"`
	Path           string          `json:"path,omitempty"`
}

// A room is an entry that could make room.
type room struct {
	Entry   string `json:"entry"` // its beginning
	Frees   int    `json:"frees"` // characters, when it is removed
	Overlap bool   `json:"overlaps,omitempty"`
	Stale   bool   `json:"stale,omitempty"` // not confirmed for 90 days
}

// overlaps is the share of its words that an entry shares with what was to be
// saved from which on the two are worth merging.
const overlaps = 0.4

// previewChars is how much of an entry is shown where several are to be told
// apart.
const previewChars = 80

// explain fills r: the code, and in Error what is wrong and what to call next.
func (r *refusal) explain(call edit, st memstore.State, op *memstore.OpError) {
	where := ""
	if call.batch && op.Op >= 0 {
		r.Operation = op.Op + 1
		where = fmt.Sprintf("Operation %d (%s): ", op.Op+1, cmp.Or(string(op.Action), "without an action"))
	}
	r.state(st)
	var next string
	switch {
	case errors.Is(op.Err, memstore.ErrInvalid):
		r.Code = wire.Invalid
		if op.Missing {
			r.list(st)
			next = "Call again with old_text set to a piece of the entry you mean, see current_entries."
		}
	case errors.Is(op.Err, memstore.ErrNoMatch):
		r.Code = wire.NoMatch
		r.list(st)
		next = "Use a piece of one of current_entries, word for word." + exists(call, st, op)
	case errors.Is(op.Err, memstore.ErrAmbiguous):
		r.Code = wire.Ambiguous
		for _, e := range op.Matches {
			r.Matches = append(r.Matches, plain.Clip(masked(st, e), previewChars))
		}
		next = "Use a longer piece of the one you mean, see matches." + exists(call, st, op)
	case errors.Is(op.Err, memstore.ErrFull):
		r.Code, r.ToFree = wire.Full, op.Over
		r.list(st)
		for _, e := range op.Room[:min(5, len(op.Room))] {
			r.Room = append(r.Room, room{plain.Clip(e.Entry.Shown, previewChars), e.Frees, e.Overlap >= overlaps, e.Stale})
		}
		next = fmt.Sprintf("Free at least %d characters and save in one call of operations: shorten or merge entries of current_entries (those in room first), or remove what is no longer true.", op.Over)
	case errors.Is(op.Err, memstore.ErrBlocked):
		r.Code, r.Findings = wire.Blocked, findings(op.Findings)
		next = "Memory is put into every later prompt, so such text is not kept. Say the fact in other words, or leave it."
	case errors.Is(op.Err, memstore.ErrUnreadable):
		r.Code, r.Path = wire.Unreadable, st.Path
		next = "The file was left as it is. Tell the user; hermes-mcp doctor says more."
	case errors.Is(op.Err, memstore.ErrReadOnly):
		r.Code, r.Path = wire.ReadOnly, st.Path
		next = "Whoever owns the file means it to stay as it is. Tell the user, if the fact matters."
	case errors.Is(op.Err, memstore.ErrBusy):
		r.Code = wire.Busy
		next = "Another program holds the lock. Try once more, then go on."
	default:
		next = "Tell the user that memory could not be written."
	}
	if r.Code == wire.Invalid && call.strange != "" {
		next = call.strange + " " + next
	}
	if call.batch {
		next = "None of the operations was applied. " + next
	} else {
		next = "Nothing was changed. " + next
	}
	r.Error = where + wire.Sentence(op.Reason) + " " + strings.TrimSpace(next)
}

// forPerson says in Error what a person who sees the listed entries can do.
func (r *refusal) forPerson(op *memstore.OpError) {
	next := "Nothing was changed."
	switch r.Code {
	case wire.NoMatch:
		if len(r.CurrentEntries) > 0 {
			next += " Give a piece of one of the entries above, word for word."
		}
	case wire.Ambiguous:
		next += " Give a longer piece of the one you mean."
	case wire.Full:
		next += fmt.Sprintf(" Free at least %d first: remove or shorten one of the entries above, or replace one by a text that says both.", op.Over)
	case wire.Blocked:
		next += " Memory is put into every later prompt, so such text is not kept."
	case wire.Unreadable:
		next += " hermes-mcp doctor says more."
	}
	r.Error = wire.Sentence(op.Reason) + " " + next
}

func (r *refusal) state(st memstore.State) {
	if st.Limit > 0 {
		r.Usage, r.Chars, r.Limit = st.Usage(), st.Chars, st.Limit
	}
}

func (r *refusal) list(st memstore.State) {
	r.CurrentEntries = []string{}
	for _, e := range st.Entries {
		r.CurrentEntries = append(r.CurrentEntries, e.Shown)
	}
}

// counts tells whether the failure is one that models repeat without end.
func (r *refusal) counts(op *memstore.OpError) bool {
	return r.Code == wire.Full || r.Code == wire.NoMatch || r.Code == wire.Ambiguous || r.Code == wire.Invalid && op.Missing
}

// exists warns that the text of a failed replace is an entry already: models
// that cannot find the old one add the new one a second time.
func exists(call edit, st memstore.State, op *memstore.OpError) string {
	if op.Op < 0 || op.Op >= len(call.ops) || call.ops[op.Op].Action != memstore.Replace {
		return ""
	}
	for _, e := range st.Entries {
		if e.Text == strings.TrimSpace(call.ops[op.Op].Content) {
			return " The new content is an entry already: do not add it."
		}
	}
	return ""
}

// masked is entry as it may be shown.
func masked(st memstore.State, entry string) string {
	for _, e := range st.Entries {
		if e.Text == entry {
			return e.Shown
		}
	}
	return entry
}

// streaks count failures in a row, one streak a session.
type streaks struct {
	mu    sync.Mutex
	all   map[string]*streak
	swept time.Time // when those that have ended were last dropped
}

// A streak belongs to one session. Calls of one session may overlap.
type streak struct {
	mu     *sync.Mutex
	failed int
	called time.Time
}

const (
	streakEnd  = 4                // the failure that ends the trying
	streakRest = 60 * time.Second // without a call: the model did something else
	maxStreaks = 64
)

func newStreaks() *streaks { return &streaks{all: map[string]*streak{}} }

// of returns the streak of a session and notes that it calls now.
func (s *streaks) of(session string) *streak {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if len(s.all) >= maxStreaks && now.Sub(s.swept) >= time.Second {
		s.swept = now
		for k, v := range s.all {
			if now.Sub(v.called) >= streakRest {
				delete(s.all, k)
			}
		}
	}
	one := s.all[session]
	if one == nil || now.Sub(one.called) >= streakRest {
		one = &streak{mu: &s.mu}
		s.all[session] = one
	}
	one.called = now
	return one
}

// fail counts a failure and tells whether the trying must end.
func (s *streak) fail() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed++
	return s.failed >= streakEnd
}

func (s *streak) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = 0
}
