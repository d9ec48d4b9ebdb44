package transcript

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hermes-mcp/hermes-mcp/transcript/analysis"
	"github.com/hermes-mcp/hermes-mcp/transcript/postings"
	"github.com/hermes-mcp/hermes-mcp/transcript/rank"
)

// A Sort orders hits.
type Sort string

const (
	ByRank   Sort = ""
	ByNewest Sort = "newest"
	ByOldest Sort = "oldest"
)

// A Query asks for sessions. Any Text is valid.
type Query struct {
	Text    string
	Roles   []Role   // all that are searched by default when empty
	Sources []string // all when empty
	Project string   // a path, or a name: the last element of the path
	Since   time.Time
	Until   time.Time
	Sort    Sort
	Limit   int // sessions; 5 when 0
	// Exclude holds session ids whose lineage is live in the caller's context:
	// left out, except what has left that context (compacted or reset).
	Exclude []string
}

// A Match is one message of a hit that bears on the query.
type Match struct {
	MessageID int64
	Role      Role
	Snippet   string // with the match marked >>>like this<<<
	Score     float64
}

// A Hit is one lineage, credited to the session that holds the best match.
type Hit struct {
	Session Session
	Score   float64
	Matches []Match // best first, at most 5; empty for a title match
}

// An Answer is what Search found.
type Answer struct {
	Hits []Hit
	More int    // further lineages that matched and were not returned
	Note string // what a reader must know, such as that recency was the ranking
}

const (
	defaultLimit = 5
	maxMatches   = 5
	// relevant is the share of the best score that a session must have to be
	// listed by time instead of by rank.
	relevant = 0.4
)

// Search finds sessions. It never fails because of the query's text.
func (db *DB) Search(ctx context.Context, q Query) (Answer, error) {
	a, err := db.search(ctx, q)
	if err != nil {
		return Answer{}, fmt.Errorf("search: %w", db.explain(err))
	}
	return a, nil
}

func (db *DB) search(ctx context.Context, q Query) (Answer, error) {
	if q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	if err := db.dir.refresh(ctx, db); err != nil {
		return Answer{}, err
	}
	f := newFilter(q)
	if err := db.exclude(ctx, &f, q.Exclude); err != nil {
		return Answer{}, err
	}
	p := newPlan(analysis.Parse(q.Text))
	found, note, err := db.candidates(ctx, p, &f)
	if err != nil {
		return Answer{}, err
	}
	lineages := fold(found)
	if q.Sort != ByRank {
		lineages = byTime(lineages, q.Sort)
	}
	answer := Answer{More: max(0, len(lineages)-q.Limit), Note: note}
	for _, c := range lineages[:min(q.Limit, len(lineages))] {
		h, err := db.hydrate(ctx, p, c)
		if err != nil {
			return Answer{}, err
		}
		answer.Hits = append(answer.Hits, h)
	}
	return answer, nil
}

// exclude resolves the sessions that are live in the caller's context.
func (db *DB) exclude(ctx context.Context, f *filter, ids []string) error {
	f.live = make(map[int64]bool)
	for _, id := range ids {
		roots, err := column[int64](db.read.QueryContext(ctx, "SELECT root FROM session WHERE name = ?", id))
		if err != nil {
			return err
		}
		for _, r := range roots {
			f.live[r] = true
		}
	}
	return nil
}

// A candidate is a session that matches, scored.
type candidate struct {
	id, root int64
	active   int64
	score    float64
	matches  []rowScore
}

type rowScore struct {
	row   postings.Row
	score float64
}

// candidates finds and scores the sessions that match p.
func (db *DB) candidates(ctx context.Context, p *plan, f *filter) ([]candidate, string, error) {
	if len(p.terms) == 0 {
		return nil, "", nil
	}
	c, err := db.collect(ctx, p.match(true))
	if err != nil {
		return nil, "", err
	}
	note := ""
	if len(c.Rows) == 0 && p.loosen() {
		if c, err = db.collect(ctx, p.match(false)); err != nil {
			return nil, "", err
		}
		if len(c.Rows) > 0 {
			note = "nothing matches all that was asked for; these match a part of it"
		}
	}
	if c.Stopped() {
		note = "very many messages match; the newest were looked at first"
	}
	p.rows = c
	db.dir.mu.RLock()
	defer db.dir.mu.RUnlock()
	return db.dir.rank(p, f), note, nil
}

const (
	maxRows    = 60000
	timeBudget = 60 * time.Millisecond
)

// collect runs one MATCH expression, newest messages first.
func (db *DB) collect(ctx context.Context, match string) (*postings.Collector, error) {
	c := &postings.Collector{Limit: maxRows, Deadline: time.Now().Add(timeBudget)}
	arg, release := c.Register()
	defer release()
	rows, err := db.read.QueryContext(ctx, `SELECT 1 FROM message_fts WHERE message_fts MATCH ? AND hermes_collect(message_fts, ?) ORDER BY rowid DESC`, match, arg)
	if err == nil {
		_, err = column[int64](rows, nil)
	}
	if c.Stopped() {
		err = ctx.Err()
	}
	return c, err
}

// rank scores the sessions of the rows that p collected.
func (d *directory) rank(p *plan, f *filter) []candidate {
	groups := make(map[int64][]postings.Row)
	df := make([]float64, len(p.terms))
	for _, row := range p.rows.Rows {
		m, session, s := d.at(row.ID)
		if s == nil {
			continue
		}
		last := int32(-1)
		for _, h := range p.rows.Of(row) {
			if t := p.termOf(h.Phrase); t >= 0 && t != last {
				df[t]++
				last = t
			}
		}
		if f.session(s) && f.message(s, m) {
			groups[session] = append(groups[session], row)
		}
	}
	model := rank.NewModel(d.corpus, p.weights(d.corpus, df))
	out := make([]candidate, 0, len(groups))
	for session, rows := range groups {
		s := d.sessions[session]
		turns, at := d.turns(p, s, rows)
		scored := model.Score(turns, maxMatches)
		c := candidate{id: session, root: s.root, active: s.active, score: scored.Score}
		if s.automatic {
			c.score *= automaticFactor
		}
		for _, b := range scored.Best {
			c.matches = append(c.matches, rowScore{at[b.Turn], b.Score})
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.active, a.active), cmp.Compare(b.id, a.id))
	})
	return out
}

// How much what somebody says counts.
const (
	assistantFactor = 0.5
	toolFactor      = 0.35
	summaryFactor   = 0.5
	offPathFactor   = 0.5
	automaticFactor = 0.7
)

// turns lists the indexed messages of s in order, with the hits of rows, and
// the row of each.
func (d *directory) turns(p *plan, s *dirSession, rows []postings.Row) ([]rank.Turn, []postings.Row) {
	slices.SortFunc(rows, func(a, b postings.Row) int { return cmp.Compare(a.ID, b.ID) })
	var turns []rank.Turn
	var at []postings.Row
	for _, b := range s.blocks {
		slots := d.blocks[b].slots
		for i := 0; i+slotSize <= len(slots); i += slotSize {
			m := readSlot(slots[i:])
			if m.state&slotIndexed == 0 || m.tokens == 0 {
				continue
			}
			id := b*blockSlots + int64(i/slotSize)
			turn := rank.Turn{ID: id, Tokens: m.tokens, Factor: p.factor(m)}
			var row postings.Row
			for len(rows) > 0 && rows[0].ID < id {
				rows = rows[1:]
			}
			if len(rows) > 0 && rows[0].ID == id {
				row = rows[0]
				turn.Hits = p.hits(row)
			}
			turns, at = append(turns, turn), append(at, row)
		}
	}
	return turns, at
}

// fold keeps the best session of each lineage, in order.
func fold(found []candidate) []candidate {
	seen := make(map[int64]bool, len(found))
	return slices.DeleteFunc(found, func(c candidate) bool {
		if seen[c.root] {
			return true
		}
		seen[c.root] = true
		return false
	})
}

// byTime orders those that are about as good as the best by time.
func byTime(found []candidate, order Sort) []candidate {
	if len(found) == 0 {
		return found
	}
	limit := found[0].score * relevant
	kept := slices.DeleteFunc(found, func(c candidate) bool { return c.score < limit })
	slices.SortStableFunc(kept, func(a, b candidate) int {
		if order == ByOldest {
			return cmp.Compare(a.active, b.active)
		}
		return cmp.Compare(b.active, a.active)
	})
	return kept
}

// hydrate reads what is returned of a candidate.
func (db *DB) hydrate(ctx context.Context, p *plan, c candidate) (Hit, error) {
	found, err := db.sessions(ctx, "WHERE id = ?", c.id)
	if err != nil {
		return Hit{}, err
	}
	if len(found) == 0 {
		return Hit{}, fmt.Errorf("session %d: %w", c.id, ErrNotFound)
	}
	h := Hit{Session: found[0], Score: c.score}
	var ids []int64
	for _, r := range c.matches {
		if r.row.ID%blockSlots != 0 || r.row.ID == 0 || !db.isHeader(r.row.ID) {
			ids = append(ids, r.row.ID)
		}
	}
	msgs, err := db.load(ctx, ids)
	if err != nil {
		return Hit{}, err
	}
	for i := range msgs {
		m := &msgs[i]
		for _, r := range c.matches {
			if r.row.ID == m.ID {
				h.Matches = append(h.Matches, Match{MessageID: m.ID, Role: m.Role, Score: r.score, Snippet: snippet(indexText(m), p.marks(r.row))})
			}
		}
	}
	return h, nil
}

func (db *DB) isHeader(id int64) bool {
	db.dir.mu.RLock()
	defer db.dir.mu.RUnlock()
	m, _, _ := db.dir.at(id)
	return m.header
}

// Recent returns the sessions last active, newest first, filtered by q
// (Text unused), lineages folded, with Preview set.
func (db *DB) Recent(ctx context.Context, q Query) ([]Session, error) {
	if q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	if err := db.dir.refresh(ctx, db); err != nil {
		return nil, fmt.Errorf("recent sessions: %w", err)
	}
	f := newFilter(q)
	if err := db.exclude(ctx, &f, q.Exclude); err != nil {
		return nil, fmt.Errorf("recent sessions: %w", db.explain(err))
	}
	var out []Session
	for _, id := range db.dir.recent(&f, q.Limit) {
		found, err := db.sessions(ctx, "WHERE id = ?", id)
		if err != nil {
			return nil, fmt.Errorf("recent sessions: %w", err)
		}
		out = append(out, found...)
	}
	return out, nil
}

// recent picks the newest session of each lineage, preferring one that a person
// took part in over a subagent's.
func (d *directory) recent(f *filter, limit int) []int64 {
	d.mu.RLock()
	defer d.mu.RUnlock()
	var all []int64
	for id, s := range d.sessions {
		if f.session(s) && (!f.live[s.root] || s.left) {
			all = append(all, id)
		}
	}
	slices.SortFunc(all, func(a, b int64) int {
		return cmp.Or(cmp.Compare(d.sessions[b].active, d.sessions[a].active), cmp.Compare(b, a))
	})
	var out []int64
	seen := make(map[int64]bool)
	for _, id := range all {
		if root := d.sessions[id].root; !seen[root] && len(out) < limit {
			seen[root] = true
			out = append(out, id)
		}
	}
	return out
}
