package scanner

import (
	"slices"
	"strings"
)

// A match is a rule that holds in a view, and where.
type match struct {
	rule       *rule
	start, end int // in the view
}

// match tries every rule of the scope on v. Each rule matches once at most.
func (rs *ruleset) match(v view, glued [][2]int, scope Scope) []match {
	s := tokenize(v, glued)
	hits := rs.lex.find(s)
	var out []match
	done := map[*rule]bool{}
	for i, h := range hits {
		for _, r := range rs.anchors[h.concept] {
			if r.scope > scope || done[r] {
				continue
			}
			if lo, hi, ok := r.sequence(s, hits, i); ok {
				done[r] = true
				end := s.toks[hi]
				out = append(out, match{r, int(s.toks[lo].off), int(end.off + end.end - end.start)})
			}
		}
	}
	for _, r := range rs.shapes {
		if r.scope > scope {
			continue
		}
		if start, end, ok := r.shape(v.text); ok {
			out = append(out, match{r, start, end})
		}
	}
	return out
}

// sequence tries r with its first slot filled by hit i and returns the tokens
// that it spans.
func (r *rule) sequence(s stream, hits []hit, i int) (lo, hi int32, ok bool) {
	lo, hi = hits[i].first, hits[i].last
	var buf [6]int
	chosen := append(buf[:0], i)
	for _, slot := range r.slots[1:] {
		j := r.nearest(s, hits, chosen, slot, lo, hi)
		if j < 0 {
			return 0, 0, false
		}
		chosen = append(chosen, j)
		lo, hi = min(lo, hits[j].first), max(hi, hits[j].last)
	}
	if r.not == nil {
		return lo, hi, true
	}
	const before = 6 // three words ahead of the span: "do not", "never"
	from := s.toks[lo].pos - before
	for j := i; j >= 0 && s.toks[hits[j].first].pos >= from; j-- {
		if slices.Contains(r.not, hits[j].concept) {
			return 0, 0, false
		}
	}
	for j := i; j < len(hits) && hits[j].first <= hi; j++ {
		if slices.Contains(r.not, hits[j].concept) {
			return 0, 0, false
		}
	}
	return lo, hi, true
}

// nearest finds the hit for slot that is closest to the span of tokens from lo
// to hi, or -1.
func (r *rule) nearest(s stream, hits []hit, chosen []int, slot []concept, lo, hi int32) int {
	window := int32(2 * r.Window)
	limit := s.toks[hi].pos + window
	for j := chosen[0] + 1; j < len(hits) && s.toks[hits[j].first].pos <= limit; j++ {
		if hits[j].first > hi && slices.Contains(slot, hits[j].concept) {
			return j
		}
		if !r.Ordered && slices.Contains(slot, hits[j].concept) && apart(hits, chosen, j) {
			return j
		}
	}
	if r.Ordered {
		return -1
	}
	limit = s.toks[lo].pos - window
	for j := chosen[0] - 1; j >= 0 && s.toks[hits[j].first].pos >= limit; j-- {
		if slices.Contains(slot, hits[j].concept) && apart(hits, chosen, j) {
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

// shape tries the expression of r at each of its literals.
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
