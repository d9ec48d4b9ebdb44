package index

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript/analysis"
	"github.com/hermes-mcp/hermes-mcp/transcript/date"
	"github.com/hermes-mcp/hermes-mcp/transcript/rank"
)

// A plan is a query on its way through the index.
type plan struct {
	query   analysis.Query
	terms   []term
	must    []int          // terms that have to match
	covers  map[int][]part // of terms in must: common words that are looked for only there
	not     []string
	dates   []date.Span
	speaker analysis.Speaker
}

// A term is one thing to look for, and what stands for it in an expression.
type term struct {
	analysis.Term
	phrases []string // as MATCH takes them; any of them is the term
	derived []part   // of a sequence: found from where its words stand
	df      float64  // messages that hold it, known or estimated
	similar bool     // stands for a word that is nowhere
	dear    bool     // asking for it costs the same for one session as for all
	told    bool     // comes from what the first answer says
}

// A part is a word of a sequence, and how far from the first it stands.
type part struct {
	term   int32
	offset int32
}

// smallArchive is how many turns an archive may have for searches that read
// much for what they find: of the characters of a pair alone, and feedback.
const smallArchive = 20000

func newPlan(q analysis.Query, dates []date.Span, turns int) *plan {
	p := &plan{query: q, dates: dates, speaker: analysis.Points(q.Raw)}
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
	p.derive()
	for _, t := range q.Must {
		i := add(t)
		p.terms[i].phrases, p.terms[i].derived = []string{phrase(t)}, nil
		if !slices.Contains(p.must, i) {
			p.must = append(p.must, i)
		}
	}
	for _, t := range q.Not {
		p.not = append(p.not, phrase(t))
	}
	return p
}

// derive turns the sequences that stand beside their words into something that
// is found from the words' positions. Asking the index for them too would make
// it walk the lists of words as common as src and go.
func (p *plan) derive() {
	of := make(map[string]int32)
	for i, t := range p.terms {
		if len(t.Tokens) == 1 && !t.Prefix {
			of[t.Tokens[0]] = int32(i)
		}
	}
	for i := range p.terms {
		t := &p.terms[i]
		if len(t.Tokens) == 1 {
			continue
		}
		t.phrases = nil
		for offset, tok := range t.Tokens {
			if j, ok := of[tok]; ok { // a stop word is not looked for
				t.derived = append(t.derived, part{j, int32(offset)})
			}
		}
	}
}

// manyHits is beyond what a message holds that is about what was asked.
const manyHits = 1000

// sequences appends to hits, of one row and grouped by term, those of derived
// terms and of words that a phrase covers.
func (p *plan) sequences(hits []rank.Hit) []rank.Hit {
	n := len(hits)
	if n > manyHits {
		return hits
	}
	for m, parts := range p.covers {
		for _, q := range parts {
			for _, h := range hits[:n] {
				if h.Term == int32(m) {
					hits = append(hits, rank.Hit{Term: q.term, Pos: h.Pos + q.offset})
				}
			}
		}
	}
	for i, t := range p.terms {
		if len(t.derived) < 2 {
			continue
		}
		for _, h := range hits[:n] {
			if h.Term == t.derived[0].term && p.follow(hits[:n], t.derived[1:], h.Pos-t.derived[0].offset) {
				hits = append(hits, rank.Hit{Term: int32(i), Pos: h.Pos})
			}
		}
	}
	return hits
}

// follow tells whether each part has a hit at its place after start.
func (p *plan) follow(hits []rank.Hit, parts []part, start int32) bool {
	for _, q := range parts {
		if !slices.Contains(hits, rank.Hit{Term: q.term, Pos: start + q.offset}) {
			return false
		}
	}
	return true
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

// matching writes the expression for rows that hold any of terms and, where it
// is not empty, also match only.
func (p *plan) matching(terms []int, only string) expression {
	var all []string
	for _, i := range terms {
		all = append(all, p.terms[i].phrases...)
	}
	match := "(" + strings.Join(all, " OR ") + ")"
	if only != "" {
		match += " AND (" + only + ")"
	}
	return p.express(match, terms)
}

// DenseMark begins a word that a session says all the time, in its row of the
// index of sessions: such a word is found only when it is asked for as one.
const DenseMark = "·"

// dense writes the expression for the sessions that say a term all the time.
func (p *plan) dense(term int) expression {
	var all []string
	var e expression
	for _, s := range p.terms[term].phrases {
		all = append(all, `"`+DenseMark+s[1:])
		e.owner = append(e.owner, int32(term))
	}
	e.match = strings.Join(all, " OR ")
	return e
}

// holding writes the expression for rows that hold all of some, of which all
// terms are collected.
func (p *plan) holding(terms, some []int) expression {
	all := p.joined(some, " AND ")
	for _, i := range terms {
		if !slices.Contains(some, i) {
			return p.matching(terms, all)
		}
	}
	return p.express("("+all+")", some) // each list is walked once, not twice
}

// express finishes an expression that begins with the phrases of terms.
func (p *plan) express(match string, terms []int) expression {
	e := expression{match: match}
	for _, i := range terms {
		for range p.terms[i].phrases {
			e.owner = append(e.owner, int32(i))
		}
	}
	if len(p.not) > 0 {
		e.match = "(" + e.match + ") NOT (" + strings.Join(p.not, " OR ") + ")"
	}
	return e
}

// insisting writes the expression for rows that match all that has to. A common
// word of a phrase that has to match is found where the phrase is: walking its
// own list would take far longer than the phrase's.
func (p *plan) insisting(order []int) expression {
	p.covers = make(map[int][]part)
	asked := slices.DeleteFunc(slices.Clone(order), func(i int) bool {
		t := p.terms[i]
		if len(t.Tokens) != 1 || t.Prefix || t.df <= leadRows {
			return false
		}
		for _, m := range p.must {
			if at := slices.Index(p.terms[m].Tokens, t.Tokens[0]); at >= 0 && m != i && len(p.terms[m].Tokens) > 1 {
				p.covers[m] = append(p.covers[m], part{int32(i), int32(at)})
				return true
			}
		}
		return false
	})
	if !slices.ContainsFunc(asked, func(i int) bool { return !slices.Contains(p.must, i) }) && len(p.must) == 1 {
		return p.matching(p.must, "") // said once, it is looked for once
	}
	return p.matching(asked, p.joined(p.must, " AND "))
}

// joined writes terms with an operator between them.
func (p *plan) joined(terms []int, op string) string {
	var list []string
	for _, i := range terms {
		list = append(list, "("+strings.Join(p.terms[i].phrases, " OR ")+")")
	}
	return strings.Join(list, op)
}

// pairs writes the expression for rows that hold two of three terms.
func (p *plan) pairs(terms []int) string {
	var list []string
	for i := range terms {
		for j := range i {
			list = append(list, "("+p.joined([]int{terms[j], terms[i]}, " AND ")+")")
		}
	}
	return strings.Join(list, " OR ")
}

// rarest returns the terms to ask the index for that are anywhere, the rarest
// first, and how many rows they stand in, added up.
func (p *plan) rarest() (order []int, rows float64) {
	for i, t := range p.terms {
		if t.df > 0 && len(t.phrases) > 0 {
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
	scheduledFactor = 0.7
	unseenFactor    = 0.85
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
	case "tool", "system":
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
		best = max(best, d.Nearness(seconds(s.started), seconds(s.active)))
	}
	return best
}
