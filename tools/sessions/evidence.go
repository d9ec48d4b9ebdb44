package sessions

import (
	"encoding/json"

	"github.com/hermes-mcp/hermes-mcp/transcript"
	"github.com/hermes-mcp/hermes-mcp/transcript/digest"
)

// evidence is what was drawn out of a session for one query, every piece with
// the message it stands in.
type evidence struct {
	digest.Digest
}

// textShare is how much of a room goes into text, in percent; the rest is what
// the names of the fields and the ids take.
const textShare = 60

// showEvidence adds the digest, and with facts what was run, changed, decided
// and went wrong, while they fit into room.
func (s *search) showEvidence(h *hit, m *material, p *purse, room int, facts bool) {
	room = min(room, p.left)
	if room < 2*least || m.reading == nil {
		return
	}
	if facts {
		h.Digest = m.reading.Digest(room * textShare / 100)
		h.Goal, h.Outcome = nil, nil // the bookends show them
	} else {
		h.Digest.Lines = m.reading.Lines(room * textShare / 100)
	}
	for cost(h.evidence) > room && h.evidence.drop() {
	}
	p.left -= cost(h.evidence)
	before := len(h.Flagged)
	h.flag(h.evidence.texts()...)
	p.left -= len(h.Flagged) - before
}

// read looks for the query in what was loaded, and for the facts.
func (m *material) read(query string, facts bool) {
	if len(m.all) == 0 {
		return
	}
	m.reading = digest.Look(m.all, query)
	if facts {
		m.reading.Facts()
	}
}

// texts are all the texts of e.
func (e evidence) texts() []string {
	var all []string
	for _, lines := range [][]digest.Line{e.Lines, e.Decisions, e.URLs, e.Open} {
		for _, l := range lines {
			all = append(all, l.Text)
		}
	}
	for _, c := range e.Commands {
		all = append(all, c.Command)
	}
	for _, f := range e.Files {
		all = append(all, f.Path)
	}
	for _, p := range e.Errors {
		all = append(all, p.Error, p.Fix)
	}
	return all
}

// drop takes away the least telling piece; false when there is none.
func (e *evidence) drop() bool {
	switch {
	case len(e.URLs) > 0:
		e.URLs = e.URLs[:len(e.URLs)-1]
	case len(e.Files) > 3:
		e.Files = e.Files[:len(e.Files)-1]
	case len(e.Commands) > 3:
		e.Commands = e.Commands[1:]
	case len(e.Errors) > 2:
		e.Errors = e.Errors[1:]
	case len(e.Lines) > 1:
		e.Lines = e.Lines[:len(e.Lines)-1]
	case len(e.Open) > 0:
		e.Open = e.Open[:len(e.Open)-1]
	case len(e.Decisions)+len(e.Errors)+len(e.Commands)+len(e.Files) > 0:
		e.Facts = digest.Facts{}
	case len(e.Lines) > 0:
		e.Lines = nil
	default:
		return false
	}
	return true
}

// clean makes every message that was loaded, and the snippet, fit to leave the
// archive, before anything is drawn out of them: a secret that is cut in two is
// not recognised.
func (m *material) clean(v viewer) {
	if a := m.anchor(); a != nil && len(m.hit.Matches) > 0 {
		m.snippet = v.Snippet(m.hit.Matches[0].Snippet(*a), a.Content, snippetChars)
	}
	done := make(map[int64]transcript.Message) // messages stand in several of these
	for _, msgs := range [][]transcript.Message{m.all, m.msgs, m.head, m.tail} {
		for i := range msgs {
			x, ok := done[msgs[i].ID]
			if !ok {
				x = v.clean(msgs[i])
				done[x.ID] = x
			}
			msgs[i].Content, msgs[i].ToolCalls = x.Content, x.ToolCalls
		}
	}
}

// clean is m as it may leave the archive.
func (v viewer) clean(m transcript.Message) transcript.Message {
	m.Content = v.content(m)
	if len(m.ToolCalls) > 0 {
		calls := make([]transcript.ToolCall, len(m.ToolCalls))
		for i, c := range m.ToolCalls {
			c.Args = json.RawMessage(v.Text(string(c.Args)))
			calls[i] = c
		}
		m.ToolCalls = calls
	}
	return m
}
