package index

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript/analysis"
	"github.com/hermes-mcp/hermes-mcp/transcript/rank"
)

// A plan is a query on its way through the index.
type plan struct {
	query   analysis.Query
	terms   []term
	must    []int // terms that have to match
	not     []string
	dates   []analysis.Date
	speaker analysis.Speaker
}

// A term is one thing to look for, and what stands for it in an expression.
type term struct {
	analysis.Term
	phrases []string // as MATCH takes them; any of them is the term
	df      float64  // messages that hold it, known or estimated
	similar bool     // stands for a word that is nowhere
	told    bool     // comes from what the first answer says
}

// smallArchive is how many turns an archive may have for the characters of a
// pair to be looked for alone. It finds more, but reads a long list for each.
const smallArchive = 20000

func newPlan(q analysis.Query, turns int) *plan {
	p := &plan{query: q, dates: analysis.Dates(q.Raw), speaker: analysis.Points(q.Raw)}
	seen := make(map[string]int)
	add := func(t analysis.Term) int {
		key := phrase(t)
		if i, ok := seen[key]; ok {
			return i
		}
		seen[key] = len(p.terms)
		p.terms = append(p.terms, term{Term: t, phrases: []string{key}})
		return seen[key]
	}
	for _, t := range q.Terms {
		if t.Kind != analysis.Single || t.At >= 0 || turns <= smallArchive {
			add(t)
		}
	}
	for _, t := range q.Must {
		if i := add(t); !slices.Contains(p.must, i) {
			p.must = append(p.must, i)
		}
	}
	for _, t := range q.Not {
		p.not = append(p.not, phrase(t))
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

// expression is a MATCH expression whose first phrases stand for terms.
type expression struct {
	match string
	owner []int32 // the term of each of the first phrases
}

// matching writes the expression for rows that hold any of terms and, where led
// is not empty, one of the led terms, or all of them when every is true.
func (p *plan) matching(terms, led []int, every bool) expression {
	var e expression
	var all []string
	for _, i := range terms {
		all = append(all, p.terms[i].phrases...)
		for range p.terms[i].phrases {
			e.owner = append(e.owner, int32(i))
		}
	}
	e.match = "(" + strings.Join(all, " OR ") + ")"
	if len(led) > 0 {
		var list []string
		for _, i := range led {
			list = append(list, "("+strings.Join(p.terms[i].phrases, " OR ")+")")
		}
		op := " OR "
		if every {
			op = " AND "
		}
		e.match += " AND (" + strings.Join(list, op) + ")"
	}
	if len(p.not) > 0 {
		e.match = "(" + e.match + ") NOT (" + strings.Join(p.not, " OR ") + ")"
	}
	return e
}

// rarest returns the terms that are anywhere, the rarest first, and how many
// rows they stand in, added up.
func (p *plan) rarest() (order []int, rows float64) {
	for i, t := range p.terms {
		if t.df > 0 {
			order = append(order, i)
			rows += t.df
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.terms[a].df, p.terms[b].df) })
	return order, rows
}

const (
	singleWeight   = 0.5 // of a single character
	sequenceWeight = 0.5 // of words in a row, beside the words
	similarWeight  = 0.8 // of a word that is only spelled alike
	capitalWeight  = 1.3
	nameShare      = 0.1 // a capitalised word in more turns is a speaker's name
)

// model weighs the terms.
func (p *plan) model(c rank.Corpus) *rank.Model {
	out := make([]rank.Term, len(p.terms))
	turns := float64(c.Turns)
	for i, t := range p.terms {
		common := 0.0
		if len(t.Tokens) == 1 {
			common = analysis.Background(t.Tokens[0])
		}
		w := rank.IDF(turns+analysis.BackgroundTurns, min(t.df, turns)+common)
		switch {
		case t.Kind == analysis.Single:
			w *= singleWeight
		case len(t.Tokens) > 1 && t.At < 0:
			w *= sequenceWeight
		case t.Capital && t.df <= nameShare*turns:
			w *= capitalWeight
		}
		if t.similar {
			w *= similarWeight
		}
		out[i].Weight = w
		for j, next := range p.terms {
			if t.At >= 0 && next.At == t.At+1 {
				out[i].Next = append(out[i].Next, int32(j))
			}
		}
	}
	p.soften(out)
	return rank.NewModel(c, out)
}

// soften scales the terms that the first answer told down to their share of the
// whole.
func (p *plan) soften(terms []rank.Term) {
	var asked, told float64
	for i, t := range p.terms {
		if t.told {
			told += terms[i].Weight
		} else {
			asked += terms[i].Weight
		}
	}
	for i, t := range p.terms {
		if t.told {
			terms[i].Weight *= feedbackShare * asked / told
		}
	}
}

// How much what somebody says counts.
const (
	assistantFactor = 0.5
	toolFactor      = 0.35
	summaryFactor   = 0.5
	offPathFactor   = 0.5
	automaticFactor = 0.7
	pointedFactor   = 1.25
	dateWeight      = 0.6 // of the best score
)

// factor says how much what a message says counts.
func (p *plan) factor(m Slot) float64 {
	f := 1.0
	switch m.Role {
	case "assistant":
		f = assistantFactor
		if p.speaker == analysis.TheAssistant {
			f *= pointedFactor
		}
	case "user":
		if p.speaker == analysis.TheUser {
			f *= pointedFactor
		}
	case "tool":
		f = toolFactor
	case "summary":
		f = summaryFactor
	}
	if m.OffPath {
		f *= offPathFactor
	}
	return f
}

// nearness tells how well a session suits the dates that the query names.
func (p *plan) nearness(s *dirSession) float64 {
	var best float64
	for _, d := range p.dates {
		best = max(best, d.Nearness(seconds(s.started)))
	}
	return best
}
