package rule

import (
	"strings"

	"github.com/hermes-mcp/hermes-mcp/scanner/reading"
)

// A Match is a rule that holds in a view, and where.
type Match struct {
	Rule       string // id
	Start, End int    // bytes of the view
}

// A Matcher tries the rules of a scope, and of those below it, on one reading
// of a text after another. Each rule matches once. It is not safe for
// concurrent use.
type Matcher struct {
	set   *set
	scope int
	s     stream
	hits  []hit
	done  []bool // by rule
	out   []Match
}

// NewMatcher returns a matcher for the scope: 0 all, 1 context, 2 strict.
func NewMatcher(scope int) *Matcher {
	s := rules()
	return &Matcher{set: s, scope: scope, done: make([]bool, len(s.rules))}
}

// A conceptSet holds concepts as bits.
type conceptSet [4]uint64

func (c *conceptSet) add(n concept)      { c[n>>6] |= 1 << (n & 63) }
func (c *conceptSet) has(n concept) bool { return c[n>>6]>>(n&63)&1 != 0 }

func (c *conceptSet) meets(d *conceptSet) bool {
	return c[0]&d[0]|c[1]&d[1]|c[2]&d[2]|c[3]&d[3] != 0
}

// Match returns what holds in r and has not matched before. The result is
// overwritten by the next call.
func (m *Matcher) Match(r reading.Reading) []Match {
	m.out = m.out[:0]
	m.s.tokenize(r.View, r.Glued)
	m.hits = m.set.lex.find(&m.s, m.hits[:0])
	for i := 0; i < len(m.hits); {
		j, present := i, conceptSet{}
		sentence := m.s.toks[m.hits[i].first].sentence
		for ; j < len(m.hits) && m.s.toks[m.hits[j].first].sentence == sentence; j++ {
			present.add(m.hits[j].concept)
		}
		m.sentence(m.hits[i:j], &present)
		i = j
	}
	for _, shape := range m.set.shapes {
		if shape.scope > m.scope || m.done[shape.n] {
			continue
		}
		if start, end, ok := shape.find(r.Text); ok {
			m.done[shape.n] = true
			m.out = append(m.out, Match{shape.ID, start, end})
		}
	}
	return m.out
}

// sentence tries the rules on the hits of one sentence. Few sentences hold a
// word for every slot of any rule.
func (m *Matcher) sentence(hits []hit, present *conceptSet) {
	for _, r := range m.set.sequences {
		if r.scope > m.scope || m.done[r.n] || !r.possible(present) {
			continue
		}
		for i := range hits {
			if !r.slots[0].has(hits[i].concept) {
				continue
			}
			if lo, hi, ok := r.sequence(&m.s, hits, i); ok {
				m.done[r.n] = true
				end := m.s.toks[hi]
				m.out = append(m.out, Match{r.ID, int(m.s.toks[lo].off), int(end.off + end.end - end.start)})
				break
			}
		}
	}
}

func (r *rule) possible(present *conceptSet) bool {
	for i := range r.slots {
		if !r.slots[i].meets(present) {
			return false
		}
	}
	return true
}

// sequence tries r with its first slot filled by hit i and returns the tokens
// that it spans.
func (r *rule) sequence(s *stream, hits []hit, i int) (lo, hi int32, ok bool) {
	var buf [6]int
	t := try{rule: r, s: s, hits: hits, chosen: append(buf[:0], i), lo: hits[i].first, hi: hits[i].last, langs: hits[i].langs}
	for k := range r.slots[1:] {
		if !t.fill(&r.slots[k+1]) {
			return 0, 0, false
		}
	}
	if first := s.toks[hits[i].first]; r.Lead > 0 && first.pos-first.begin > int32(2*r.Lead) {
		return 0, 0, false
	}
	return t.lo, t.hi, !t.excused()
}

// A try is a rule on its way to a match.
type try struct {
	*rule
	s      *stream
	hits   []hit // of the sentence
	chosen []int // by slot
	lo, hi int32 // tokens spanned
	langs  langs // shared by the chosen
}

// fill chooses the hit for the slot that is nearest to the span, after it
// first.
func (t *try) fill(want *slot) bool {
	limit := t.s.toks[t.hi].pos + want.window
	for j := t.chosen[0] + 1; j < len(t.hits) && t.s.toks[t.hits[j].first].pos <= limit; j++ {
		if want.has(t.hits[j].concept) && t.take(want, j) {
			return true
		}
	}
	const longest = 40 // half words in a phrase
	limit = t.s.toks[t.lo].pos - want.window
	for j := t.chosen[0] - 1; j >= 0 && t.s.toks[t.hits[j].first].pos >= limit-longest; j-- {
		if want.has(t.hits[j].concept) && t.s.toks[t.hits[j].last].pos >= limit && t.take(want, j) {
			return true
		}
	}
	return false
}

// take chooses hit j if it shares a language and no word with those chosen and
// stands where the order asks. Where verbs come last, order says nothing.
func (t *try) take(want *slot, j int) bool {
	h := t.hits[j]
	shared := t.langs & h.langs
	before := t.hits[t.chosen[len(t.chosen)-1]]
	if shared&anyLang == 0 || want.after && shared&verbFinal == 0 && h.first < before.first {
		return false
	}
	if !t.free(h) {
		return false
	}
	t.chosen = append(t.chosen, j)
	t.lo, t.hi = min(t.lo, h.first), max(t.hi, h.last)
	t.langs = shared
	return true
}

// excused tells whether a word of Not stands in the span or up to four words
// ahead of it in the clause: "never send", "the linter ignores". Where verbs
// come last, their negation follows them.
func (t *try) excused() bool {
	if t.not == (conceptSet{}) {
		return false
	}
	const ahead = 8
	first := t.s.toks[t.lo]
	from := max(first.begin, first.pos-ahead)
	i := t.chosen[0]
	for i > 0 && t.s.toks[t.hits[i-1].first].pos >= from {
		i--
	}
	to := t.s.toks[t.hi].pos
	if t.langs&verbFinal != 0 {
		to += ahead
	}
	for ; i < len(t.hits) && t.s.toks[t.hits[i].first].pos <= to; i++ {
		if h := t.hits[i]; t.not.has(h.concept) && h.langs&t.langs&anyLang != 0 && t.free(h) {
			return true
		}
	}
	return false
}

// free tells whether h shares no word with those chosen.
func (t *try) free(h hit) bool {
	for _, c := range t.chosen {
		if h.first <= t.hits[c].last && t.hits[c].first <= h.last {
			return false
		}
	}
	return true
}

// find tries the expression of r at each of its literals.
func (r *rule) find(text string) (start, end int, ok bool) {
	const reach = 80 // bytes that one match may span; more would be slow
	for _, lit := range r.Lit {
		for i := 0; ; {
			j := strings.Index(text[i:], lit)
			if j < 0 {
				break
			}
			i += j
			if m := r.re().FindStringIndex(text[i:min(len(text), i+reach)]); m != nil {
				return i, i + m[1], true
			}
			i += len(lit)
		}
	}
	return 0, 0, false
}
