package scanner

import "strings"

// A match is a rule that holds in a view, and where.
type match struct {
	rule       *rule
	start, end int // in the view
}

// A matcher tries the rules on one reading after another. It keeps its buffers
// between them.
type matcher struct {
	*ruleset
	scope Scope
	s     stream
	hits  []hit
	done  []bool // by rule: it matched, and once is enough
	out   []match
}

// A conceptSet holds concepts as bits.
type conceptSet [4]uint64

func (c *conceptSet) add(n concept)      { c[n>>6] |= 1 << (n & 63) }
func (c *conceptSet) has(n concept) bool { return c[n>>6]>>(n&63)&1 != 0 }

func (c *conceptSet) meets(d *conceptSet) bool {
	return c[0]&d[0]|c[1]&d[1]|c[2]&d[2]|c[3]&d[3] != 0
}

// match tries every rule of the scope on v.
func (m *matcher) match(v view, glued [][2]int) []match {
	m.out = m.out[:0]
	m.s.tokenize(v, glued)
	m.hits = m.lex.find(&m.s, m.hits[:0])
	for i := 0; i < len(m.hits); {
		j, present := i, conceptSet{}
		sentence := m.s.toks[m.hits[i].first].sentence
		for ; j < len(m.hits) && m.s.toks[m.hits[j].first].sentence == sentence; j++ {
			present.add(m.hits[j].concept)
		}
		m.sentence(m.hits[i:j], &present)
		i = j
	}
	for _, r := range m.shapes {
		if r.scope > m.scope || m.done[r.n] {
			continue
		}
		if start, end, ok := r.shape(v.text); ok {
			m.done[r.n] = true
			m.out = append(m.out, match{r, start, end})
		}
	}
	return m.out
}

// sentence tries the rules on the hits of one sentence. Few sentences hold a
// word for every slot of any rule.
func (m *matcher) sentence(hits []hit, present *conceptSet) {
	for _, r := range m.sequences {
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
				m.out = append(m.out, match{r, int(m.s.toks[lo].off), int(end.off + end.end - end.start)})
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
	lo, hi = hits[i].first, hits[i].last
	var buf [6]int
	chosen := append(buf[:0], i)
	for k := range r.slots[1:] {
		j := r.nearest(s, hits, chosen, &r.slots[k+1], lo, hi)
		if j < 0 {
			return 0, 0, false
		}
		chosen = append(chosen, j)
		lo, hi = min(lo, hits[j].first), max(hi, hits[j].last)
	}
	return lo, hi, !r.excused(s, hits, i, lo, hi)
}

// excused tells whether a word of Not stands in the span from lo to hi or
// shortly before it.
func (r *rule) excused(s *stream, hits []hit, i int, lo, hi int32) bool {
	if r.not == (conceptSet{}) {
		return false
	}
	const before = 10 // five words: "the linter is set to"
	from := s.toks[lo].pos - before
	for j := i; j >= 0 && s.toks[hits[j].first].pos >= from; j-- {
		if r.not.has(hits[j].concept) {
			return true
		}
	}
	for j := i; j < len(hits) && hits[j].first <= hi; j++ {
		if r.not.has(hits[j].concept) {
			return true
		}
	}
	return false
}

// nearest finds the hit for slot that is closest to the span of tokens from lo
// to hi, or -1.
func (r *rule) nearest(s *stream, hits []hit, chosen []int, slot *conceptSet, lo, hi int32) int {
	window := int32(2 * r.Window)
	limit := s.toks[hi].pos + window
	for j := chosen[0] + 1; j < len(hits) && s.toks[hits[j].first].pos <= limit; j++ {
		if slot.has(hits[j].concept) && (hits[j].first > hi || !r.Ordered && apart(hits, chosen, j)) {
			return j
		}
	}
	if r.Ordered {
		return -1
	}
	limit = s.toks[lo].pos - window
	for j := chosen[0] - 1; j >= 0 && s.toks[hits[j].first].pos >= limit; j-- {
		if slot.has(hits[j].concept) && apart(hits, chosen, j) {
			return j
		}
	}
	return -1
}

// apart tells whether hit j shares no token with those chosen.
func apart(hits []hit, chosen []int, j int) bool {
	for _, c := range chosen {
		if hits[j].first <= hits[c].last && hits[c].first <= hits[j].last {
			return false
		}
	}
	return true
}

// shape tries the expression of r at each of its literals. The expressions
// stop at the next "<", so that no byte is tried twice.
func (r *rule) shape(text string) (start, end int, ok bool) {
	const reach = 400 // bytes that one match may span
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
