// Package curator decides when a session is worth a second look, and applies
// what is proposed then.
//
// A flush looks at what a session said since the last look before its context
// is lost; a review looks at a session that goes on and in which nothing was
// saved for a while. Both read the archive, ask the auxiliary model which edits
// the curated memory lacks, judge each, and apply it, stage it for a person, or
// drop it. Neither is ever part of an agent's turn, and neither leaves a trace
// in a transcript.
//
// # What is applied
//
// An edit names the messages that it rests on. It is applied only if one of
// them is a person's own prompt whose own words say it: what was pasted or
// quoted does not count, nor does what an agent or a tool said. Everything else
// waits for a person, with its evidence. A flush may replace or remove an entry
// that it names without doubt and that is not newer than the evidence; those of
// a review always wait.
//
// # Jobs
//
// What is due is written into a folder as a [Job] and finished by whoever comes
// next; see [Queue]. One process of a home works at a time.
//
// Without a model nothing is proposed: a review that is due is then a reminder
// to the agent.
package curator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/summarizer"
	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// A Curator looks at sessions of one home. Set the fields before first use;
// safe for concurrent use.
type Curator struct {
	Archive *transcript.DB
	Store   *memstore.Store
	// The models; nil where none is named.
	FlushModel, ReviewModel *summarizer.Client
	// Interval is after how many prompts without a memory write a review is
	// due; 0 turns reviews off. MinTurns is how many prompts a flush needs, 1
	// when 0.
	Interval, MinTurns int
	// Enabled names the targets that may be edited; nil means both.
	Enabled map[memstore.Target]bool
	// Approve says that every edit waits for a person.
	Approve bool
}

// A Judged is one proposed edit and what became of it.
type Judged struct {
	Target  memstore.Target `json:"target"`
	Op      memstore.Op     `json:"op"`
	Pending string          `json:"pending_id,omitempty"` // where it waits
	Why     string          `json:"why,omitempty"`        // why it waits, or was dropped
}

// An Outcome is what a look at a session did.
type Outcome struct {
	Session string `json:"session"`
	Prompts int    `json:"prompts"` // that were due to be looked at
	Asked   bool   `json:"asked"`   // the model was
	// Remind says that a review is due and there is no model for it.
	Remind  bool     `json:"remind,omitempty"`
	Applied []Judged `json:"applied,omitempty"`
	Staged  []Judged `json:"staged,omitempty"`
	Dropped []Judged `json:"dropped,omitempty"`
	Notes   []string `json:"notes,omitempty"` // what of the answer was not understood
}

// Flush looks at what session said since the last look. Without a model, or
// with too little said, it does nothing. Errors: transcript.ErrNotFound, those
// of summarizer.Client.Propose, and of the stores; then nothing is marked, and
// the same flush can be tried again.
func (c *Curator) Flush(ctx context.Context, session string) (Outcome, error) {
	v, err := c.view(ctx, session)
	if err != nil {
		return Outcome{Session: session}, err
	}
	out := Outcome{Session: session, Prompts: v.prompts()}
	if c.FlushModel == nil || c.leaves(v) || out.Prompts < max(1, c.MinTurns) {
		return out, nil
	}
	return c.look(ctx, summarizer.Flush, c.FlushModel, v, out)
}

// Review looks at session if enough was said since the last look and the last
// memory write; asked says that a person wants it in any case. Errors as Flush.
func (c *Curator) Review(ctx context.Context, session string, asked bool) (Outcome, error) {
	v, err := c.view(ctx, session)
	if err != nil {
		return Outcome{Session: session}, err
	}
	written, err := c.lastWrite(ctx, v.session.ID)
	if err != nil {
		return Outcome{Session: session}, err
	}
	out := Outcome{Session: session, Prompts: v.promptsAfter(written)}
	if !asked && (c.Interval <= 0 || c.leaves(v) || out.Prompts < c.Interval) {
		return out, nil
	}
	if c.ReviewModel == nil {
		out.Remind = true
		return out, c.mark(ctx, transcript.Reviewed, v)
	}
	if asked {
		v.since = 0
	}
	return c.look(ctx, summarizer.Review, c.ReviewModel, v, out)
}

// A view is a session as it stands in the archive.
type view struct {
	session transcript.Session
	msgs    []transcript.Message // its own, in order
	since   int64                // covered by earlier looks
	last    int64                // the newest id
}

func (c *Curator) view(ctx context.Context, id string) (view, error) {
	s, err := c.Archive.Session(ctx, id)
	if err != nil {
		return view{}, err
	}
	all, _, _, err := c.Archive.Messages(ctx, s.ID, transcript.Window{})
	if err != nil {
		return view{}, err
	}
	v := view{session: s}
	for _, m := range all {
		v.last = max(v.last, m.ID)
		if m.SessionID == s.ID { // what a fork or a resumed copy repeats is the business of the first
			v.msgs = append(v.msgs, m)
		}
	}
	for _, mark := range []transcript.Mark{transcript.Flushed, transcript.Reviewed} {
		at, err := c.Archive.Mark(ctx, s.ID, mark)
		if err != nil {
			return view{}, err
		}
		v.since = max(v.since, at)
	}
	return v, nil
}

// fresh are the messages that no earlier look has covered.
func (v view) fresh() []transcript.Message {
	var out []transcript.Message
	for _, m := range v.msgs {
		if m.ID > v.since {
			out = append(out, m)
		}
	}
	return out
}

// prompts counts all that no earlier look has covered.
func (v view) prompts() int {
	n := 0
	for _, m := range v.fresh() {
		if Human(m) {
			n++
		}
	}
	return n
}

// promptsAfter counts the prompts since t and since the last call that edits the
// memory: a client may edit it without telling for which session.
func (v view) promptsAfter(t time.Time) int {
	n := 0
	for _, m := range v.fresh() {
		if slices.ContainsFunc(m.ToolCalls, edits) {
			n = 0
		}
		if Human(m) && (m.At.IsZero() || m.At.After(t)) {
			n++
		}
	}
	return n
}

// edits tells whether a call edits the curated memory.
func edits(call transcript.ToolCall) bool {
	var args struct {
		Action string `json:"action"`
	}
	return strings.HasSuffix(call.Name, "memory") && json.Unmarshal(call.Args, &args) == nil && args.Action != "read"
}

// leaves tells whether a session is none of ours to look at: no person speaks in
// it, or one whose memory is not in this store.
func (c *Curator) leaves(v view) bool {
	switch v.session.Relation {
	case transcript.Subagent, transcript.Delegate:
		return true
	}
	return v.session.Surface == "cron" || v.session.User != "" && v.session.User != c.Store.User
}

// lastWrite is when session last edited the memory, by any way.
func (c *Curator) lastWrite(ctx context.Context, session string) (time.Time, error) {
	edits, err := c.Store.History(ctx, "", 0)
	if err != nil {
		return time.Time{}, err
	}
	for _, e := range edits {
		if e.Caller.Session == session && !e.Aborted {
			return e.At, nil
		}
	}
	return time.Time{}, nil
}

// mark says that everything in v was looked at.
func (c *Curator) mark(ctx context.Context, m transcript.Mark, v view) error {
	if v.last == 0 {
		return nil
	}
	return c.Archive.SetMark(ctx, v.session.ID, m, v.last)
}

// look asks the model about what is fresh, and does what it proposes.
func (c *Curator) look(ctx context.Context, why summarizer.Occasion, model *summarizer.Client, v view, out Outcome) (Outcome, error) {
	states, err := c.states(ctx)
	if err != nil {
		return out, err
	}
	msgs := v.fresh()
	answer, err := model.Propose(ctx, why, msgs, states)
	if err != nil {
		return out, fmt.Errorf("%s of %s: %w", why, v.session.ID, err)
	}
	out.Asked, out.Notes = true, answer.Dropped
	var failed error
	for _, p := range answer.Proposals {
		failed = errors.Join(failed, c.do(ctx, why, v.session.ID, msgs, p, &out))
	}
	if failed != nil {
		return out, fmt.Errorf("%s of %s: %w", why, v.session.ID, failed)
	}
	m := transcript.Flushed
	if why == summarizer.Review {
		m = transcript.Reviewed
	}
	return out, c.mark(ctx, m, v)
}

// states are the files that may be edited, as they are now.
func (c *Curator) states(ctx context.Context) ([]memstore.State, error) {
	var all []memstore.State
	for _, t := range []memstore.Target{memstore.Memory, memstore.User} {
		if c.Enabled != nil && !c.Enabled[t] {
			continue
		}
		st, err := c.Store.State(ctx, t)
		if err != nil {
			return nil, err
		}
		all = append(all, st)
	}
	return all, nil
}
