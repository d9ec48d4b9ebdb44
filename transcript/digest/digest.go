// Package digest says what stands in a session, without a model: the lines
// that bear on a question, the commands that were run and how they ended, the
// files that were touched, what was decided, what went wrong and what helped.
//
// Every piece is the session's own words and names the message it stands in.
// All functions are pure: the same messages and query give the same result.
// They read tool calls where the agent kept them, and the text where it did
// not. Messages that hermes-mcp itself put into a session are passed over.
//
// Secrets are the caller's business: pass messages whose text is masked.
package digest

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hermes-mcp/hermes-mcp/transcript"
	"github.com/hermes-mcp/hermes-mcp/transcript/digest/shell"
)

// A Line is a piece of a message.
type Line struct {
	Text      string          `json:"text"`
	Role      transcript.Role `json:"role,omitempty"`
	MessageID string          `json:"message_id"`
}

// A Command is one that was run, with the exit status where the agent tells
// it. Equal commands are folded: the status and message are the last one's.
type Command struct {
	Command   string `json:"command"`
	Exit      *int   `json:"exit,omitempty"`
	Times     int    `json:"times,omitempty"` // when more than once
	MessageID string `json:"message_id"`
}

// What was done to a file.
const (
	Read   = shell.Read
	Edit   = shell.Edit
	Write  = shell.Write
	Delete = shell.Delete
)

// A File is one that a tool or command read or changed, without failing. It is
// told once for each thing done to it.
type File struct {
	Path      string `json:"path"`
	Action    string `json:"action"`        // Read, Edit, Write or Delete
	Via       string `json:"via,omitempty"` // "shell" when a command line did it
	MessageID string `json:"message_id"`    // the first time
}

// A Problem is something that went wrong, and what was done before the same
// thing worked; Fix is "" when it never did.
type Problem struct {
	Error        string `json:"error"`
	Fix          string `json:"fix,omitempty"`
	MessageID    string `json:"message_id"`
	FixMessageID string `json:"fix_message_id,omitempty"`
}

// Facts are what a session did, in order.
type Facts struct {
	Commands  []Command `json:"commands,omitempty"`
	Files     []File    `json:"files,omitempty"` // changed ones before read ones
	Decisions []Line    `json:"decisions,omitempty"`
	Errors    []Problem `json:"errors,omitempty"`
	URLs      []Line    `json:"urls,omitempty"`
	Open      []Line    `json:"open,omitempty"` // what was left to do at the end
}

// A Digest is what bears on a query, and the facts.
type Digest struct {
	Lines   []Line `json:"digest,omitempty"` // in the order of the session
	Goal    *Line  `json:"goal,omitempty"`   // what was asked for first
	Outcome *Line  `json:"outcome,omitempty"`
	Facts
}

// Shares of a budget, in percent. What the facts and ends do not need, the
// lines get; of the facts, what one part leaves over goes to the next.
const (
	shareEnds     = 16
	shareFacts    = 40
	shareCommands = 35
	shareFiles    = 40
	shareErrors   = 50
	shareDecided  = 60
	shareOpen     = 50
)

// A Reading is what was found of a query in messages, of which pieces of any
// length can be shown. Not safe for concurrent use.
type Reading struct {
	msgs     []transcript.Message
	focus    focus
	passages []passage
	facts    *Facts // once asked for
}

// Look looks for query in msgs, which must not change afterwards.
func Look(msgs []transcript.Message, query string) *Reading {
	r := &Reading{msgs: msgs, focus: newFocus(query)}
	r.passages = r.focus.bearing(msgs)
	return r
}

// Facts returns what the session did, all of it.
func (r *Reading) Facts() Facts {
	if r.facts == nil {
		all := Extract(r.msgs)
		r.facts = &all
	}
	return *r.facts
}

// Digest returns a digest of at most budget characters of text. Of an empty query
// it holds the first and last words, and the facts.
func (r *Reading) Digest(budget int) Digest {
	var d Digest
	left, ends := budget, budget*shareEnds/100
	if d.Goal = goal(r.msgs, ends/2); d.Goal != nil {
		left -= runes(d.Goal.Text)
	}
	if d.Outcome = outcome(r.msgs, ends/2); d.Outcome != nil {
		left -= runes(d.Outcome.Text)
	}
	room := left
	if len(r.focus.terms) > 0 {
		room = budget * shareFacts / 100
	}
	var used int
	d.Facts, used = r.Facts().within(room, r.focus)
	d.Lines = r.Lines(left - used)
	return d
}

// Lines returns the passages that bear on the query and those beside them, at
// most budget characters, in the order of the session.
func (r *Reading) Lines(budget int) []Line {
	if budget <= 0 {
		return nil
	}
	return pick(r.msgs, r.passages, budget)
}

// within returns the facts that fit into room, those that bear on the focus
// first, and how much of the room they take.
func (all Facts) within(room int, f focus) (Facts, int) {
	var kept Facts
	left := room
	kept.Commands, left = fit(all.Commands, left, shareCommands, func(c Command) (int, bool) { return runes(c.Command), f.hits(c.Command) })
	kept.Files, left = fit(touched(all.Files), left, shareFiles, func(x File) (int, bool) {
		return runes(x.Path) + runes(x.Action), x.Action != Read || f.hits(x.Path)
	})
	kept.Errors, left = fit(all.Errors, left, shareErrors, func(p Problem) (int, bool) { return runes(p.Error) + runes(p.Fix), p.Fix != "" || f.hits(p.Error) })
	kept.Decisions, left = fit(all.Decisions, left, shareDecided, func(l Line) (int, bool) { return runes(l.Text), f.hits(l.Text) })
	kept.Open, left = fit(all.Open, left, shareOpen, func(l Line) (int, bool) { return runes(l.Text), true })
	kept.URLs, left = fit(all.URLs, left, 100, func(l Line) (int, bool) { return runes(l.Text), f.hits(l.Text) })
	return kept, room - left
}

// touched leaves out that a file was read when it was changed too.
func touched(files []File) []File {
	changed := map[string]bool{}
	for _, f := range files {
		changed[f.Path] = changed[f.Path] || f.Action != Read
	}
	var out []File
	for _, f := range files {
		if f.Action != Read || !changed[f.Path] {
			out = append(out, f)
		}
	}
	return out
}

// fit keeps what goes into a share of the room: first what is preferred, then
// from the end, since the last of its kind is how it ended; in order.
func fit[T any](all []T, left, percent int, weigh func(T) (cost int, preferred bool)) ([]T, int) {
	room := left * percent / 100
	keep := make([]bool, len(all))
	for _, wanted := range []bool{true, false} {
		for i := len(all) - 1; i >= 0; i-- {
			cost, preferred := weigh(all[i])
			if preferred == wanted && cost <= room {
				keep[i] = true
				room -= cost
				left -= cost
			}
		}
	}
	var kept []T
	for i, k := range keep {
		if k {
			kept = append(kept, all[i])
		}
	}
	return kept, left
}

func runes(s string) int { return utf8.RuneCountInString(s) }

func id(m transcript.Message) string { return strconv.FormatInt(m.ID, 10) }

// spoken tells whether m is something that a person or an agent said.
func spoken(m *transcript.Message) bool {
	return !m.OwnTrace && m.Kind == "" && m.Content != "" && (m.Role == transcript.UserRole || m.Role == transcript.Assistant)
}

// goal returns the first thing a person asked for.
func goal(msgs []transcript.Message, room int) *Line {
	for i := range msgs {
		if m := &msgs[i]; m.Role == transcript.UserRole && spoken(m) {
			return &Line{Text: cut(m.Content, room), Role: m.Role, MessageID: id(*m)}
		}
	}
	return nil
}

// outcome returns what the agent said last.
func outcome(msgs []transcript.Message, room int) *Line {
	for i := len(msgs) - 1; i >= 0; i-- {
		if m := &msgs[i]; m.Role == transcript.Assistant && spoken(m) {
			return &Line{Text: cut(m.Content, room), Role: m.Role, MessageID: id(*m)}
		}
	}
	return nil
}

// cut returns a text as one line of at most n characters, cut at a word.
func cut(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if runes(s) <= n {
		return s
	}
	if n < 2 {
		return ""
	}
	end, count := 0, 0
	for i := range s {
		if count == n-1 {
			end = i
			break
		}
		count++
	}
	if sp := strings.LastIndexByte(s[:end], ' '); sp > end*2/3 {
		end = sp
	}
	return s[:end] + "…"
}
