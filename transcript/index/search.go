package index

import (
	"cmp"
	"context"
	"slices"

	"github.com/hermes-mcp/hermes-mcp/transcript/postings"
	"github.com/hermes-mcp/hermes-mcp/transcript/rank"
)

const (
	everyRow   = 12000 // when no more match, all are looked at
	leadRows   = 6000  // that hold a leading term
	commonRows = 3000  // that hold common terms only
	enoughRows = 300   // with fewer, common terms are asked too
	titleRows  = 2000  // sessions whose title or first prompt matches
	visitRows  = 60000 // looked at for a filter that lets few pass

	fullSessions = 60 // scored in full
	askSessions  = 24 // of these, asked for all terms when not every row was
	askBlocks    = 40 // of one session
)

// A search is one run through the index. The directory is locked for reading
// while it lasts.
type search struct {
	x      *Index
	dir    *directory
	filter *filter
	plan   *plan
	found  Found

	rows    []row
	hits    []rank.Hit
	known   map[int64]bool // messages in rows
	passing map[*dirSession]bool
}

// A row is a message that matches.
type row struct {
	id       int64
	slot     Slot
	session  *dirSession
	first, n int
}

func (s *search) run(ctx context.Context) error {
	if len(s.plan.terms) == 0 {
		return nil
	}
	s.known, s.passing = make(map[int64]bool), make(map[*dirSession]bool)
	if err := s.frequencies(ctx); err != nil {
		return err
	}
	if len(s.plan.must) > 0 {
		if err := s.collect(ctx, s.plan.matching(s.plan.must, true), leadRows); err != nil {
			return err
		}
		if len(s.rows) == 0 {
			s.found.Partial = true
		}
	}
	whole := len(s.rows) > 0
	if !whole {
		var err error
		if whole, err = s.gather(ctx); err != nil {
			return err
		}
	}
	model := s.plan.model(s.dir.corpus)
	best := s.preselect(model)
	if !whole {
		if err := s.complete(ctx, best); err != nil {
			return err
		}
	}
	s.score(model, best)
	return nil
}

// gather collects the rows that decide and tells whether they are all.
func (s *search) gather(ctx context.Context) (whole bool, err error) {
	var total float64
	order := make([]int, len(s.plan.terms)) // rarest first
	for i, t := range s.plan.terms {
		total += t.df
		order[i] = i
	}
	if err := s.titles(ctx); err != nil {
		return false, err
	}
	if total <= everyRow {
		return true, s.collect(ctx, s.plan.matching(nil, false), 0)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.plan.terms[a].df, s.plan.terms[b].df) })
	var lead []int
	var sum float64
	for _, i := range order {
		if sum += s.plan.terms[i].df; sum > leadRows {
			break
		}
		lead = append(lead, i)
	}
	if len(lead) > 0 {
		if err := s.collect(ctx, s.plan.matching(lead, false), leadRows); err != nil || len(s.rows) >= enoughRows {
			return false, err
		}
	} else {
		s.found.Recent = true
		if len(order) > 1 {
			if err := s.collect(ctx, s.plan.matching(order[:min(3, len(order))], true), commonRows); err != nil {
				return false, err
			}
		}
	}
	return false, s.collect(ctx, s.plan.matching(nil, false), commonRows)
}

// collect adds the messages that match e, newest first, at most limit when that
// is not 0.
func (s *search) collect(ctx context.Context, e expression, limit int) error {
	return s.ask(ctx, `SELECT 1 FROM message_fts WHERE message_fts MATCH ? AND hermes_collect(message_fts, ?) ORDER BY rowid DESC`, e, limit,
		func(id int64) int64 { return id })
}

// titles adds the sessions whose title or first prompt matches. The text of a
// prompt also stands in its message, so what is beyond the title only makes the
// session a candidate.
func (s *search) titles(ctx context.Context) error {
	return s.ask(ctx, `SELECT 1 FROM session_fts WHERE session_fts MATCH ? AND hermes_collect(session_fts, ?) ORDER BY rowid DESC`,
		s.plan.matching(nil, false), titleRows, func(id int64) int64 {
			if d := s.dir.sessions[id]; d != nil && len(d.blocks) > 0 {
				return d.blocks[0] * BlockSlots
			}
			return -1
		})
}

// ask runs one statement; message turns its row ids into those of messages.
func (s *search) ask(ctx context.Context, query string, e expression, limit int, message func(int64) int64, args ...any) error {
	c := &postings.Collector{Phrases: int32(len(e.owner)), Limit: limit, Keep: func(id int64) bool { return s.wanted(message(id)) }}
	if limit > 0 {
		c.Visit = visitRows
	}
	arg, release := c.Register()
	defer release()
	_, err := column[int64](s.x.read.QueryContext(ctx, query, append([]any{e.match, arg}, args...)...))
	if c.Stopped() {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	for _, r := range c.Rows {
		id := message(r.ID)
		slot, session := s.dir.at(id)
		out := row{id: id, slot: slot, session: session, first: len(s.hits)}
		for _, h := range c.Of(r) {
			s.hits = append(s.hits, rank.Hit{Term: e.owner[h.Phrase], Pos: h.Pos})
		}
		out.n = len(s.hits) - out.first
		s.known[id] = true
		s.rows = append(s.rows, out)
	}
	return nil
}

// wanted tells whether a message is to be collected.
func (s *search) wanted(id int64) bool {
	m, session := s.dir.at(id)
	if session == nil || s.known[id] {
		return false
	}
	pass, ok := s.passing[session]
	if !ok {
		pass = s.filter.session(session)
		s.passing[session] = pass
	}
	return pass && s.filter.message(session, m)
}

// complete asks the index for all terms in the sessions that stand first.
func (s *search) complete(ctx context.Context, best []*hopeful) error {
	e := s.plan.matching(nil, false)
	for _, h := range best[:min(askSessions, len(best))] {
		blocks := h.session.blocks
		if len(blocks) > askBlocks {
			blocks = blocks[len(blocks)-askBlocks:]
		}
		for len(blocks) > 0 {
			n := 1
			for n < len(blocks) && blocks[n] == blocks[n-1]+1 {
				n++
			}
			if err := s.ask(ctx, `SELECT 1 FROM message_fts WHERE message_fts MATCH ? AND hermes_collect(message_fts, ?) AND rowid BETWEEN ? AND ?`,
				e, 0, func(id int64) int64 { return id }, blocks[0]*BlockSlots, blocks[n-1]*BlockSlots+BlockSlots-1); err != nil {
				return err
			}
			blocks = blocks[n:]
		}
	}
	return nil
}
