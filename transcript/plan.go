package transcript

import (
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript/analysis"
	"github.com/hermes-mcp/hermes-mcp/transcript/postings"
	"github.com/hermes-mcp/hermes-mcp/transcript/rank"
)

// A plan is a query on its way through the index: its terms once each, and
// which phrase of the MATCH expression stands for which.
type plan struct {
	query analysis.Query
	terms []analysis.Term
	rows  *postings.Collector
}

func newPlan(q analysis.Query) *plan {
	p := &plan{query: q}
	seen := make(map[string]bool)
	for _, t := range append(q.Terms[:len(q.Terms):len(q.Terms)], q.Must...) {
		if key := phrase(t); !seen[key] {
			seen[key] = true
			p.terms = append(p.terms, t)
		}
	}
	return p
}

// phrase writes a term for MATCH. Tokens hold neither quotes nor spaces.
func phrase(t analysis.Term) string {
	s := `"` + strings.Join(t.Tokens, " ") + `"`
	if t.Prefix {
		s += "*"
	}
	return s
}

func phrases(terms []analysis.Term, op string) string {
	var list []string
	for _, t := range terms {
		list = append(list, phrase(t))
	}
	return "(" + strings.Join(list, op) + ")"
}

// match is the expression for p: any of the terms, and, when strict, what the
// query insists on. The terms are its first phrases, in order.
func (p *plan) match(strict bool) string {
	m := phrases(p.terms, " OR ")
	if strict && len(p.query.Must) > 0 {
		m = "(" + m + " AND " + phrases(p.query.Must, " AND ") + ")"
	}
	if len(p.query.Not) > 0 {
		m += " NOT " + phrases(p.query.Not, " OR ")
	}
	return m
}

// loosen tells whether the query insists on something that it can give up.
func (p *plan) loosen() bool { return len(p.query.Must) > 0 }

// termOf returns the term that a phrase of match stands for, -1 for none.
func (p *plan) termOf(phrase int32) int32 {
	if int(phrase) < len(p.terms) {
		return phrase
	}
	return -1
}

// hits returns the hits of a row by term.
func (p *plan) hits(row postings.Row) []rank.Hit {
	var out []rank.Hit
	for _, h := range p.rows.Of(row) {
		if t := p.termOf(h.Phrase); t >= 0 {
			out = append(out, rank.Hit{Term: t, Pos: h.Pos})
		}
	}
	return out
}

const (
	singleWeight   = 0.5 // of a single character
	sequenceWeight = 0.5 // of words in a row, beside the words
	capitalWeight  = 1.3
	nameShare      = 0.1 // a capitalised word in more turns is a speaker's name
)

// weights gives each term its weight.
func (p *plan) weights(c rank.Corpus, df []float64) []rank.Term {
	out := make([]rank.Term, len(p.terms))
	for i, t := range p.terms {
		w := rank.IDF(float64(c.Turns), min(df[i], float64(c.Turns)))
		switch {
		case t.Kind == analysis.Single:
			w *= singleWeight
		case len(t.Tokens) > 1 && t.At < 0:
			w *= sequenceWeight
		case t.Capital && df[i] <= nameShare*float64(c.Turns):
			w *= capitalWeight
		}
		out[i].Weight = w
		for j, next := range p.terms {
			if t.At >= 0 && next.At == t.At+1 {
				out[i].Next = append(out[i].Next, int32(j))
			}
		}
	}
	return out
}

// factor says how much what a message says counts.
func (p *plan) factor(m slot) float64 {
	f := 1.0
	switch m.role {
	case Assistant:
		f = assistantFactor
	case Tool:
		f = toolFactor
	case Summary:
		f = summaryFactor
	}
	if m.state&slotOffPath != 0 {
		f *= offPathFactor
	}
	return f
}

// marks returns the positions of a row's tokens that matched.
func (p *plan) marks(row postings.Row) map[int]bool {
	out := make(map[int]bool)
	for _, h := range p.hits(row) {
		for i := range p.terms[h.Term].Tokens {
			out[int(h.Pos)+i] = true
		}
	}
	return out
}
