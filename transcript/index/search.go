package index

import (
	"context"
	"slices"

	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
	"github.com/hermes-mcp/hermes-mcp/transcript/postings"
	"github.com/hermes-mcp/hermes-mcp/transcript/rank"
)

const (
	everyRow   = 12000 // when no more match, all are looked at
	leadRows   = 4000  // that hold a leading term
	commonRows = 1000  // that hold common terms only
	enoughRows = 300   // with fewer, common terms are asked too
	titleRows  = 1000  // sessions whose title or first prompt matches
	visitRows  = 60000 // looked at for a filter that lets few pass

	fullSessions = 60 // scored in full
	askSessions  = 6  // of these, asked for all terms when not every row was
	askAlone     = 4  // for a single term
	askDense     = 4  // for one, of those that say it all the time
	askPhrases   = 8  // with more, fewer sessions are asked
	askBlocks    = 40 // of one session

	// With two leading terms, one that stands in more than this share of the
	// messages says too little to be worth its cost.
	nothingShare = 0.25
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
	known   []uint64 // messages in rows: a word a block, a bit a slot
	whole   bool     // rows holds every message that matches
	since   int64    // of those from this one on; 0 for none that is told
	passing map[*dirSession]bool
}

// A row is a message that matches.
type row struct {
	id       int64
	slot     Slot
	session  *dirSession
	first, n int
	dense    bool // stands for a session that says the term all the time
}

func (s *search) run(ctx context.Context) error {
	if len(s.plan.terms) == 0 {
		return nil
	}
	s.known, s.passing = make([]uint64, len(s.dir.blocks)), make(map[*dirSession]bool)
	if err := s.frequencies(ctx); err != nil {
		return err
	}
	order, rows := s.plan.rarest()
	if len(order) == 0 {
		return nil
	}
	missing, err := s.gather(ctx, order, rows)
	if err != nil {
		return err
	}
	model := s.plan.model(s.dir.corpus)
	best := s.preselect(model)
	if len(missing) > 0 {
		if err := s.complete(ctx, best, missing); err != nil {
			return err
		}
	}
	s.score(model, best)
	if s.whole && s.dir.corpus.Turns <= smallArchive {
		return s.feedback(ctx, order)
	}
	return nil
}

// gather collects the rows that decide. It returns the terms, of those in
// order, of which there are more rows.
func (s *search) gather(ctx context.Context, order []int, rows float64) (missing []int, err error) {
	p := s.plan
	if len(p.must) > 0 {
		e, most := p.insisting(order), leadRows
		if len(p.covers) > 0 {
			most = commonRows
		}
		err := s.collect(ctx, e, most)
		s.found.Recent = len(s.rows) == commonRows && most == commonRows
		if err != nil || len(s.rows) > 0 {
			return nil, err
		}
		s.found.Partial = true
	}
	if min(rows, float64(s.dir.corpus.Turns)) <= everyRow {
		e := p.matching(order, "")
		if err := s.titles(ctx, e); err != nil {
			return nil, err
		}
		s.whole = true
		return nil, s.collect(ctx, e, 0)
	}
	lead := order[:0:0]
	var sum float64
	for _, i := range order {
		if sum += p.terms[i].df; sum > leadRows {
			break
		}
		lead = append(lead, i)
	}
	if len(lead) >= 2 {
		most := nothingShare * float64(s.dir.corpus.Turns)
		order = slices.DeleteFunc(order, func(i int) bool { return p.terms[i].df > most })
	}
	rest := order[len(lead):]
	if len(lead) == 0 {
		return rest, s.common(ctx, order, rest)
	}
	if err := s.titles(ctx, p.matching(lead, "")); err != nil {
		return nil, err
	}
	if err := s.collect(ctx, p.matching(order, p.joined(lead, " OR ")), 0); err != nil || len(s.rows) >= enoughRows {
		return rest, err
	}
	return rest, s.common(ctx, order, rest)
}

// common collects rows for terms of which there are too many to look at all:
// those that hold several of the rarest three, and only when these are few, the
// newest that hold any.
func (s *search) common(ctx context.Context, order, rest []int) error {
	if err := s.titles(ctx, s.plan.matching(order, "")); err != nil || len(rest) == 0 {
		return err
	}
	if len(order) == 1 {
		if err := s.dense(ctx, order[0]); err != nil {
			return err
		}
	}
	rest = rest[:min(3, len(rest))]
	steps := []expression{s.plan.matching(order, "")}
	switch len(rest) {
	case 2:
		steps = []expression{s.plan.holding(order, rest), steps[0]}
	case 3:
		steps = []expression{s.plan.holding(order, rest), s.plan.matching(order, s.plan.pairs(rest)), steps[0]}
	}
	before := len(s.rows)
	for i, e := range steps {
		had := len(s.rows)
		if err := s.collect(ctx, e, commonRows); err != nil {
			return err
		}
		full := len(s.rows)-had == commonRows
		s.found.Recent = full && before < enoughRows
		if full && i == len(steps)-1 {
			s.since = s.rows[len(s.rows)-1].id
		}
		if len(s.rows) >= enoughRows {
			break
		}
	}
	return nil
}

// collect adds the messages that match e: all of them when limit is 0, else the
// newest, at most so many. FTS5 walks its lists faster from their beginning.
func (s *search) collect(ctx context.Context, e expression, limit int) error {
	query := `SELECT 1 FROM message_fts WHERE message_fts MATCH ? AND hermes_collect(message_fts, ?) ORDER BY rowid`
	if limit > 0 {
		query = `SELECT 1 FROM message_fts WHERE message_fts MATCH ? AND hermes_collect(message_fts, ?) ORDER BY rowid DESC`
	}
	return s.ask(ctx, query, e, limit, func(id int64) int64 { return id })
}

// titles adds the sessions whose title or first prompt matches. The text of a
// prompt also stands in its message, so what is beyond the title only makes the
// session a candidate.
func (s *search) titles(ctx context.Context, e expression) error {
	return s.ask(ctx, `SELECT 1 FROM session_fts WHERE session_fts MATCH ? AND hermes_collect(session_fts, ?) ORDER BY rowid DESC`,
		e, titleRows, func(id int64) int64 {
			if d := s.dir.sessions[id]; d != nil && len(d.blocks) > 0 {
				return d.blocks[0] * BlockSlots
			}
			return -1
		})
}

// dense adds the sessions that say a term all the time, as candidates.
func (s *search) dense(ctx context.Context, term int) error {
	before := len(s.rows)
	err := s.titles(ctx, s.plan.dense(term))
	for i := range s.rows[before:] {
		s.rows[before+i].dense = true
	}
	return err
}

// ask runs one statement; message turns its row ids into those of messages.
func (s *search) ask(ctx context.Context, query string, e expression, limit int, message func(int64) int64, args ...any) error {
	c := &postings.Collector{Phrases: int32(len(e.owner)), Limit: limit, Keep: func(id int64) bool { return s.wanted(message(id)) }}
	if limit > 0 {
		c.Visit = visitRows
	}
	arg, release := c.Register()
	defer release()
	_, err := engine.Column[int64](s.x.read.Query(ctx, query, append([]any{e.match, arg}, args...)...))
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
		s.hits = append(s.hits[:out.first], s.plan.sequences(s.hits[out.first:])...)
		out.n = len(s.hits) - out.first
		s.known[id/BlockSlots] |= 1 << (id % BlockSlots)
		s.rows = append(s.rows, out)
	}
	return nil
}

// wanted tells whether a message is to be collected. One that the directory does
// not know, since it was written after that was read, is not.
func (s *search) wanted(id int64) bool {
	if _, session := s.dir.at(id); session == nil {
		return false
	}
	b := id / BlockSlots
	if b >= int64(len(s.known)) || s.known[b]&(1<<(id%BlockSlots)) != 0 {
		return false
	}
	if s.filter.open {
		return true
	}
	session := s.dir.blocks[b].session
	pass, ok := s.passing[session]
	if !ok {
		pass = s.filter.session(session)
		s.passing[session] = pass
	}
	if !pass {
		return false
	}
	m, _ := s.dir.at(id)
	return s.filter.message(session, m)
}

// complete asks the index for the missing terms in the sessions that stand
// first, unless every row of theirs was looked at.
func (s *search) complete(ctx context.Context, best []*hopeful, missing []int) error {
	missing = slices.DeleteFunc(missing, func(i int) bool { return s.plan.terms[i].dear })
	if len(missing) == 0 {
		return nil
	}
	e := s.plan.matching(missing, "")
	n := askSessions * askPhrases / max(askPhrases, len(e.owner))
	if len(s.plan.terms) == 1 { // it has been counted where it stands newest
		n = askAlone
	}
	dense := askDense
	for _, h := range best {
		left := &n
		if h.dense {
			left = &dense
		}
		if *left--; *left < 0 {
			continue
		}
		blocks := h.session.blocks
		if s.since > 0 && len(blocks) > 0 && blocks[0]*BlockSlots > s.since {
			continue
		}
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
