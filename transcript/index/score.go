package index

import (
	"cmp"
	"slices"
	"sort"

	"github.com/hermes-mcp/hermes-mcp/transcript/rank"
)

// A hopeful is a session on its way to being scored.
type hopeful struct {
	session *dirSession
	score   float64   // of the best message
	tf      []float64 // of the session, by term
	dense   bool      // says the term all the time
}

// preselect scores every session that matches in a cheap way, its best message
// and its terms taken together, and returns them best first.
func (s *search) preselect(model *rank.Model) []*hopeful {
	of := make(map[*dirSession]*hopeful)
	var all []*hopeful
	terms := len(s.plan.terms)
	var arena []float64
	tf := make([]float64, terms)
	for _, r := range s.rows {
		h := of[r.session]
		if h == nil {
			if len(arena) < terms {
				arena = make([]float64, 256*terms)
			}
			h = &hopeful{session: r.session, tf: arena[:terms:terms]}
			arena = arena[terms:]
			of[r.session] = h
			all = append(all, h)
		}
		h.dense = h.dense || r.dense
		clear(tf)
		f := s.plan.factor(r.slot)
		for _, hit := range s.hits[r.first : r.first+r.n] {
			tf[hit.Term]++
			h.tf[hit.Term] += f
		}
		h.score = max(h.score, f*model.Passage(tf, min(r.slot.Tokens, rank.PassageTokens)))
	}
	for _, h := range all {
		h.score += model.Session(h.tf, h.session.tokens)
		h.score *= h.session.factor
	}
	slices.SortFunc(all, func(a, b *hopeful) int {
		return cmp.Or(cmp.Compare(b.score, a.score), newer(a.session.active, a.session.id, b.session.active, b.session.id))
	})
	return all
}

// score scores the best in full and lists the others behind them.
func (s *search) score(model *rank.Model, all []*hopeful) {
	full := all[:min(fullSessions, len(all))]
	of := make(map[*dirSession][]row, len(full))
	for _, h := range full {
		of[h.session] = nil
	}
	for _, r := range s.rows {
		if rows, ok := of[r.session]; ok {
			of[r.session] = append(rows, r)
		}
	}
	var top, last float64
	out := make([]Session, 0, len(all))
	for _, h := range full {
		d := h.session
		turns, at := s.turns(d, of[d])
		scored := model.Score(turns, d.tokens, MaxMatches)
		found := Session{ID: d.id, Root: d.root, Active: d.active, Opening: d.opening, Score: scored.Score}
		found.Score *= d.factor
		for _, b := range scored.Best {
			if r := at[b.Turn]; r != nil && !r.slot.Header {
				found.Matches = append(found.Matches, Match{Message: r.id, Score: b.Score, Marks: s.marks(r)})
			}
		}
		top = max(top, found.Score)
		out = append(out, found)
	}
	for i, h := range full {
		out[i].Score += dateWeight * top * s.plan.nearness(h.session)
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := &out[i], &out[j]
		return cmp.Or(cmp.Compare(b.Score, a.Score), newer(a.Active, a.ID, b.Active, b.ID)) < 0
	})
	if len(out) > 0 {
		last = out[len(out)-1].Score
	}
	for _, h := range all[len(full):] {
		out = append(out, Session{ID: h.session.id, Root: h.session.root, Active: h.session.active, Opening: h.session.opening, Score: min(last, h.score)})
	}
	s.found.Sessions = out
}

// turns lists the indexed messages of d in order, with the hits of rows, and
// the row of each. Blocks far from any hit are left out.
func (s *search) turns(d *dirSession, rows []row) ([]rank.Turn, []*row) {
	sort.Slice(rows, func(i, j int) bool { return rows[i].id < rows[j].id })
	turns := make([]rank.Turn, 0, len(rows)*3)
	at := make([]*row, 0, len(rows)*3)
	next := 0
	for i, b := range d.blocks {
		for next < len(rows) && rows[next].id < b*BlockSlots {
			next++
		}
		if !near(d.blocks, i, rows, next) {
			continue
		}
		slots := s.dir.blocks[b].slots
		for j := 0; j+SlotSize <= len(slots); j += SlotSize {
			m := decodeSlot(slots[j:])
			if !m.Indexed || m.Tokens == 0 {
				continue
			}
			id := b*BlockSlots + int64(j/SlotSize)
			turn := rank.Turn{Tokens: m.Tokens, Factor: s.plan.factor(m)}
			var r *row
			for next < len(rows) && rows[next].id < id {
				next++
			}
			if next < len(rows) && rows[next].id == id {
				r = &rows[next]
				turn.Hits = s.hits[r.first : r.first+r.n]
			}
			turns, at = append(turns, turn), append(at, r)
		}
	}
	return turns, at
}

// near tells whether block i of a session or one beside it has a row; next is
// the first row from block i on.
func near(blocks []int64, i int, rows []row, next int) bool {
	lo, hi := blocks[max(0, i-1)]*BlockSlots, blocks[min(len(blocks)-1, i+1)]*BlockSlots+BlockSlots
	return next < len(rows) && rows[next].id < hi || next > 0 && rows[next-1].id >= lo
}

// marks returns the positions of a row's tokens that matched.
func (s *search) marks(r *row) []int {
	var out []int
	for _, h := range s.hits[r.first : r.first+r.n] {
		if s.plan.terms[h.Term].told { // nobody asked for it
			continue
		}
		for i := range s.plan.terms[h.Term].Tokens {
			out = append(out, int(h.Pos)+i)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
