package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/hermes-mcp/hermes-mcp/summarizer"
	"github.com/hermes-mcp/hermes-mcp/transcript"
	"github.com/hermes-mcp/hermes-mcp/transcript/plain"
)

// found is the answer of discover: one result a lineage, the best first.
type found struct {
	Success bool   `json:"success"`
	Mode    mode   `json:"mode"`
	Query   string `json:"query"`
	Results []*hit `json:"results"`
	tail
}

// A hit is one result.
type hit struct {
	about
	Detail      string `json:"detail,omitempty"` // anchor or full: how much of it is shown
	MatchedRole string `json:"matched_role,omitempty"`
	MatchID     string `json:"match_message_id,omitempty"`
	Snippet     string `json:"snippet,omitempty"`
	// MatchedIn is the subagent whose messages matched, when the result is the
	// session that it worked for.
	MatchedIn *holder `json:"matched_in,omitempty"`
	// Summary stands beside the evidence, never in its place.
	Summary *summarizer.Summary `json:"summary,omitempty"`
	evidence
	BookendStart   []view `json:"bookend_start,omitempty"`
	Messages       []view `json:"messages,omitempty"`
	BookendEnd     []view `json:"bookend_end,omitempty"`
	MessagesBefore *int   `json:"messages_before,omitempty"`
	MessagesAfter  *int   `json:"messages_after,omitempty"`
}

const (
	shownWhole  = "full"
	shownAnchor = "anchor"
	// titleMatch is the matched_role of a session found by its title. One that is
	// there for something else has session_ with the reason.
	titleMatch = "session_title"
)

// A holder is a subagent's session.
type holder struct {
	SessionID string              `json:"session_id"`
	Title     string              `json:"title,omitempty"`
	Relation  transcript.Relation `json:"relation"`
}

// discover finds sessions.
func (s *search) discover(ctx context.Context, db *transcript.DB, k ask, end tail) (any, error) {
	k.find.Exclude = s.live(ctx)
	ans, err := db.Search(ctx, k.find)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	end.add(s.Line(ans.Note, 300))
	hits := ans.Hits[min(k.offset, len(ans.Hits)):]
	hits = hits[:min(k.limit, len(hits))]
	hits, loaded, err := s.loadAll(ctx, db, hits, k)
	if err != nil {
		return nil, err
	}
	if len(hits) == 0 && k.offset == 0 {
		end.add("No session matched: try fewer or other words, another language, a name or an error text; the recent sessions come without a query (in a terminal: hermes-mcp sessions)")
		end.add(s.misspelt(k))
	}
	f := &found{Success: true, Mode: discover, Query: plain.Clip(k.query, 200), Results: []*hit{}, tail: end}
	for i, h := range hits {
		out := s.entry(h, loaded[i])
		if k.detail == index {
			out.brief(ctx, db)
		}
		f.Results = append(f.Results, out)
	}
	shown := f.slim(k)
	if more := len(hits) - shown + ans.More; more > 0 {
		f.Next = k.onwards(shown)
		f.Truncated = shown < len(hits)
	}
	f.Count = shown
	if k.summarize && shown > 0 {
		if err := s.summarize(ctx, db, k, f, hits[:shown]); err != nil {
			return nil, err
		}
	}
	if k.detail != index {
		s.fill(f, k, loaded)
	}
	f.guard(k.detail.budget())
	return f, nil
}

// loadAll loads what is shown of every hit, several at once. Hits that were
// forgotten since they were found are left out of both.
func (s *search) loadAll(ctx context.Context, db *transcript.DB, hits []transcript.Hit, k ask) (kept []transcript.Hit, all []*material, err error) {
	loaded, errs := make([]*material, len(hits)), make([]error, len(hits))
	var tasks sync.WaitGroup
	slots := make(chan struct{}, 4)
	for i, h := range hits {
		tasks.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			inFull := k.detail == full || i == 0
			loaded[i], errs[i] = load(ctx, db, h, k.detail, inFull)
			if errs[i] != nil {
				errs[i] = fmt.Errorf("load a hit of %s: %w", h.Session.ID, errs[i])
				return
			}
			loaded[i].clean(s.viewer)
			loaded[i].read(k.query, inFull)
		})
	}
	tasks.Wait()
	for i, h := range hits {
		switch {
		case errs[i] == nil:
			kept, all = append(kept, h), append(all, loaded[i])
		case !errors.Is(errs[i], transcript.ErrNotFound):
			return nil, nil, errs[i]
		}
	}
	return kept, all, nil
}

// briefChars is how much of a title, or of the snippet in its place, an index
// shows.
const briefChars = 48

// brief leaves of a hit what tells it apart, in some thirty tokens: the beginning
// of its id, the day, the title or else the snippet, and where to read on.
func (h *hit) brief(ctx context.Context, db *transcript.DB) {
	h.about = about{
		SessionID: shortID(ctx, db, h.SessionID), Title: plain.Clip(h.Title, briefChars), When: h.When[:min(len(h.When), len("2006-01-02"))], Flagged: h.Flagged,
	}
	h.MatchedRole = ""
	if h.Snippet = plain.Clip(h.Snippet, briefChars); h.Title != "" {
		h.Snippet = ""
	}
	if h.MatchedIn != nil {
		h.MatchedIn.Title, h.MatchedIn.SessionID = "", shortID(ctx, db, h.MatchedIn.SessionID)
	}
}

// shortLengths are how much of an agent's id is tried: a UUID's parts, which are
// long enough that the next sessions hardly begin alike.
var shortLengths = []int{8, 13, 18, 23}

// shortID is the shortest beginning of a session's id that stands for it alone,
// and is worth it; else the id.
func shortID(ctx context.Context, db *transcript.DB, id string) string {
	source, bare, _ := strings.Cut(id, ":")
	for _, n := range shortLengths {
		if n+4 > len(bare) {
			break
		}
		short := source + ":" + bare[:n]
		if !utf8.ValidString(short) {
			continue
		}
		if s, err := db.Session(ctx, short); err == nil && s.ID == id {
			return short
		}
	}
	return id
}

// entry is what a result begins with.
func (s *search) entry(h transcript.Hit, m *material) *hit {
	out := &hit{about: s.about(h.Session), MatchedRole: titleMatch}
	if h.Why != "" {
		out.MatchedRole = "session_" + string(h.Why)
	}
	if h.Holder.ID != h.Session.ID {
		out.MatchedIn = &holder{h.Holder.ID, s.Line(h.Holder.Title, 80), h.Holder.Relation}
		out.flag(out.MatchedIn.Title)
	}
	if len(h.Matches) > 0 {
		out.MatchID, out.Snippet = messageID(h.Matches[0].MessageID), m.snippet
		if a := m.anchor(); a != nil {
			out.MatchedRole = string(a.Role)
		}
		out.flag(out.Snippet)
	}
	return out
}

// slim makes the results smaller, and at last fewer, until what is to be shown
// of each has room; it returns how many are left.
func (f *found) slim(k ask) int {
	room := k.detail.budget()
	if k.detail != index {
		room /= 2 // the rest is for the evidence
	}
	f.Next, f.Truncated = k.onwards(0), false
	defer func() { f.Next = nil }()
	for level := 1; cost(f) > room && level <= 3; level++ {
		for _, h := range f.Results {
			h.slim(level)
		}
	}
	for cost(f) > room && len(f.Results) > 1 {
		f.Results = f.Results[:len(f.Results)-1]
	}
	return len(f.Results)
}

// holder is the id of the session that holds the messages shown.
func (h *hit) holder() string {
	if h.MatchedIn != nil {
		return h.MatchedIn.SessionID
	}
	return h.SessionID
}

func (h *hit) slim(level int) {
	texts := []int{snippetChars, 120, 80, 60}[level]
	h.Snippet, h.Title = plain.Clip(h.Snippet, texts), plain.Clip(h.Title, texts)
	if h.MatchedIn != nil {
		h.MatchedIn.Title = plain.Clip(h.MatchedIn.Title, texts)
	}
	if level >= 2 {
		h.Link, h.Model, h.LastActive = "", "", ""
		h.Project = tailOf(h.Project, 40)
	}
}

// fill adds the evidence while there is room: to the first result and,
// shorter, to the others, or to all alike.
func (s *search) fill(f *found, k ask, loaded []*material) {
	left := k.detail.budget() - cost(f) - 400 // next, when it comes to name a message
	for i, h := range f.Results {
		share := left / (len(f.Results) - i)
		if k.detail == adaptive && i == 0 && len(f.Results) > 1 {
			share = left * 55 / 100
		}
		before := cost(h)
		if k.detail == full || i == 0 {
			s.fillWhole(h, loaded[i], share)
		} else {
			s.fillAnchor(h, loaded[i], share)
		}
		left -= cost(h) - before
	}
	if f.Next != nil {
		return
	}
	for _, h := range f.Results {
		for _, v := range h.Messages {
			if v.Match && v.Rest > 0 {
				f.Next, f.Truncated = k.goOn(h.holder(), v.ID, v.Rest), true
				return
			}
		}
	}
}

// fieldCost is what the name of a field takes, with its brackets.
const fieldCost = 24

// A purse is the room that a result has left.
type purse struct{ left int }

// buy views m, which is clean, within room characters of content, or tells
// that there is not enough left.
func (p *purse) buy(m transcript.Message, room int) (view, bool) {
	room = min(room, p.left)
	for room >= least {
		out := viewer{}.unlabelled(m, m.Content, 0, room)
		c := cost(out) + 1
		if c <= p.left {
			if out.label(); out.Flagged != "" {
				c = cost(out) + 1
			}
		}
		if c <= p.left {
			p.left -= c
			return out, true
		}
		room = min(room, cost(out.Content)) - (c - p.left)
	}
	return view{}, false
}

// fillAnchor shows the message that matched, and the digest.
func (s *search) fillAnchor(h *hit, m *material, share int) {
	p := &purse{share - 4*fieldCost}
	s.showAnchor(h, m, p, p.left*55/100)
	s.showEvidence(h, m, p, p.left, false)
	h.Detail = shownAnchor
}

// fillWhole shows the message that matched with its neighbours, how the
// session began and ended, the digest and the facts.
func (s *search) fillWhole(h *hit, m *material, share int) {
	p := &purse{share - 10*fieldCost}
	s.showAnchor(h, m, p, p.left*30/100)
	s.showEvidence(h, m, p, p.left*45/100, true)
	ends := p.left / 2
	rest := p.left - ends
	p.left = ends
	h.BookendStart = s.showEnds(m.head, p, ends/2)
	h.BookendEnd = s.showEnds(m.tail, p, p.left)
	p.left += rest
	s.showNeighbours(h, m, p)
	h.Detail = shownWhole
}

// showAnchor shows the message that matched.
func (s *search) showAnchor(h *hit, m *material, p *purse, room int) {
	a := m.anchor()
	if a == nil {
		return
	}
	if v, ok := p.buy(*a, room); ok {
		v.Match = true
		p.left -= len(`"match":true,`)
		h.Messages = []view{v}
	}
	before, after := m.before+m.at, m.after+len(m.msgs)-1-m.at
	h.MessagesBefore, h.MessagesAfter = &before, &after
}

// endChars is how much of a message at either end of a session is shown.
const endChars = 400

// showEnds shows messages while they fit into room.
func (s *search) showEnds(msgs []transcript.Message, p *purse, room int) []view {
	var out []view
	own := &purse{room}
	for _, m := range msgs {
		v, ok := own.buy(m, endChars)
		if !ok {
			break
		}
		out = append(out, v)
	}
	p.left -= room - own.left
	return out
}

// neighbourChars is how much of a message beside the match is shown.
const neighbourChars = 700

// showNeighbours shows what was said around the match, the nearest first.
func (s *search) showNeighbours(h *hit, m *material, p *purse) {
	if len(h.Messages) == 0 {
		return
	}
	show := func(i int) (view, bool) {
		if i < 0 || i >= len(m.msgs) || m.msgs[i].Role == transcript.Tool || empty(m.msgs[i]) {
			return view{}, false
		}
		return p.buy(m.msgs[i], neighbourChars)
	}
	for d := 1; d <= reach && p.left > least; d++ {
		if v, ok := show(m.at + d); ok {
			h.Messages = append(h.Messages, v)
		}
		if v, ok := show(m.at - d); ok {
			h.Messages = slices.Insert(h.Messages, 0, v)
		}
	}
}

// guard holds the budget whatever came before: it takes evidence from the last
// result first.
func (f *found) guard(budget int) {
	for i := len(f.Results) - 1; i >= 0 && cost(f) > budget; i-- {
		h := f.Results[i]
		for _, drop := range []func(){
			func() { h.BookendStart, h.BookendEnd = nil, nil },
			func() { h.Messages, h.MessagesBefore, h.MessagesAfter = nil, nil, nil },
			func() { h.evidence = evidence{} },
		} {
			drop()
			f.Truncated = true
			if cost(f) <= budget {
				return
			}
		}
	}
}
