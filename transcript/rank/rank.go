// Package rank orders sessions by how well they answer a query.
//
// It knows nothing of storage: a [Model] holds what a query asks and what the
// whole archive is like, and scores one session at a time from the places where
// the query's terms stand in its turns.
//
// A session's score is the sum of three scores of the same kind (bm25): of its
// best passage, of its best window of neighbouring passages, counted half, and
// of the session as a whole. A passage is a turn cut evenly into pieces of at
// most [PassageTokens]; so a long turn is not found for its length, and a short
// one is helped by what stands around it.
//
// Package rank is pure; a Model is safe for concurrent use once made.
package rank

import (
	"math"
	"slices"
)

// PassageTokens is the longest passage, in tokens.
const PassageTokens = 80

// The constants of bm25. They stand on a flat place: a tenth more or less moves
// nothing. Windows and sessions are as long as it happens, so their length is
// taken out whole; passages are cut to about one length.
const (
	k1       = 1.4
	bPassage = 0.85
	bWhole   = 1.0

	windowWeight  = 0.5
	sessionWeight = 1.0
	maxDistance   = 8 // tokens between neighbouring words of the query
)

// A Hit says that a term stands at a position of a turn.
type Hit struct{ Term, Pos int32 }

// A Turn is one message as ranking sees it.
type Turn struct {
	Tokens int
	Factor float64 // how much what this one says counts, 1 for people
	Hits   []Hit   // those of one term together, ascending
}

// A Corpus is what the whole archive is like.
type Corpus struct {
	Turns, Sessions, Passages int
	Tokens                    int
}

// Passages returns how many passages a turn of so many tokens has.
func Passages(tokens int) int { return (tokens + PassageTokens - 1) / PassageTokens }

// A Term is one thing that the query asks for.
type Term struct {
	Weight float64 // see IDF
	// Next holds the terms that follow this one in the query: standing close
	// to one of them counts.
	Next []int32
}

// A Model scores sessions for one query.
type Model struct {
	Terms []Term

	avgPassage, avgWindow, avgSession float64
}

// NewModel returns the model of a query with terms over c.
func NewModel(c Corpus, terms []Term) *Model {
	m := &Model{Terms: terms}
	m.avgPassage = ratio(c.Tokens, c.Passages)
	m.avgSession = ratio(c.Tokens, c.Sessions)
	m.avgWindow = max(m.avgPassage, 3*m.avgPassage-2*m.avgPassage*ratio(c.Sessions, c.Passages))
	return m
}

func ratio(a, b int) float64 {
	if a <= 0 || b <= 0 {
		return 1
	}
	return float64(a) / float64(b)
}

// IDF weighs a term that stands in df of the corpus' turns. It is positive
// also for words that are nearly everywhere.
func IDF(turns, df float64) float64 {
	return math.Log(1 + (turns-df+0.5)/(df+0.5))
}

// A Scored is a session's score with the turns that earned it.
type Scored struct {
	Score float64
	Best  []TurnScore // highest first, at most as many as asked for
}

// A TurnScore is the score of a turn's best passage.
type TurnScore struct {
	Turn  int // index in the turns scored
	Score float64
}

// passage is one passage with hits.
type passage struct {
	index  int // within the session
	turn   int
	tokens int
	tf     []float64 // by term
	score  float64
}

// Passage scores a passage of so many tokens alone, from the terms' frequencies
// in it: a first estimate of what Score will say.
func (m *Model) Passage(tf []float64, tokens int) float64 {
	return m.bm25(tf, float64(tokens)/m.avgPassage, bPassage)
}

// Session scores a session of so many tokens as a whole.
func (m *Model) Session(tf []float64, tokens int) float64 {
	return m.bm25(tf, float64(tokens)/m.avgSession, bWhole)
}

// Score scores a session of so many tokens from its turns in order; those
// without hits matter only for their length, and those far from any may be left
// out. keep bounds Best.
func (m *Model) Score(turns []Turn, tokens, keep int) Scored {
	hit, lens := m.passages(turns)
	var out Scored
	var bestPassage float64
	whole := make([]float64, len(m.Terms))
	for i := range hit {
		p := &hit[i]
		f := turns[p.turn].Factor
		p.score = (m.Passage(p.tf, p.tokens) + p.score) * f
		bestPassage = max(bestPassage, p.score)
		for t, n := range p.tf {
			whole[t] += n * f
		}
		out.keep(TurnScore{p.turn, p.score}, keep)
	}
	if len(hit) == 0 {
		return out
	}
	out.Score = bestPassage + windowWeight*m.bestWindow(turns, hit, lens) +
		sessionWeight*m.Session(whole, tokens)
	return out
}

// bm25 sums the terms' weights by their frequency in a unit; length is the
// unit's in proportion to the average, b how much it counts.
func (m *Model) bm25(tf []float64, length, b float64) float64 {
	norm := k1 * (1 - b + b*length)
	var sum float64
	for t, n := range tf {
		if n > 0 {
			sum += m.Terms[t].Weight * n * (k1 + 1) / (n + norm)
		}
	}
	return sum
}

// passages cuts the turns and returns those passages that have hits, with
// proximity as their first score, and the length of all passages.
func (m *Model) passages(turns []Turn) (hit []passage, lens []int) {
	for t := range turns {
		turn := &turns[t]
		first, pieces := len(lens), Passages(turn.Tokens)
		for i := range pieces {
			lens = append(lens, turn.Tokens*(i+1)/pieces-turn.Tokens*i/pieces)
		}
		if len(turn.Hits) == 0 || pieces == 0 {
			continue
		}
		from := len(hit)
		slot := make([]int, pieces) // 1 + index in hit, 0 for none
		for _, h := range turn.Hits {
			i := int(h.Pos) * pieces / turn.Tokens
			if i >= pieces { // beyond what counts, such as a title's
				continue
			}
			if slot[i] == 0 {
				hit = append(hit, passage{index: first + i, turn: t, tokens: lens[first+i], tf: make([]float64, len(m.Terms))})
				slot[i] = len(hit)
			}
			hit[slot[i]-1].tf[h.Term]++
		}
		m.proximity(turn, hit[from:], first)
		slices.SortFunc(hit[from:], func(a, b passage) int { return a.index - b.index })
	}
	return hit, lens
}

// proximity adds to each passage what words that stand together in the query
// and near each other in the passage are worth.
func (m *Model) proximity(turn *Turn, hit []passage, first int) {
	pieces := Passages(turn.Tokens)
	for a := range m.Terms {
		for _, next := range m.Terms[a].Next {
			x, y := ofTerm(turn.Hits, int32(a)), ofTerm(turn.Hits, next)
			if len(x) == 0 || len(y) == 0 {
				continue
			}
			for i := range hit {
				p := &hit[i]
				if p.tf[a] == 0 || p.tf[next] == 0 {
					continue
				}
				from, to := bounds(turn.Tokens, pieces, p.index-first)
				if d := distance(x, y, from, to); d <= maxDistance {
					p.score += min(m.Terms[a].Weight, m.Terms[next].Weight) / float64(d)
				}
			}
		}
	}
}

// bounds returns the positions that passage i of a turn holds: those p with
// p·pieces/tokens = i.
func bounds(tokens, pieces, i int) (from, to int32) {
	return int32((i*tokens + pieces - 1) / pieces), int32(((i+1)*tokens + pieces - 1) / pieces)
}

// ofTerm returns the hits of one term; they stand together.
func ofTerm(hits []Hit, term int32) []Hit {
	from := slices.IndexFunc(hits, func(h Hit) bool { return h.Term == term })
	if from < 0 {
		return nil
	}
	to := from
	for to < len(hits) && hits[to].Term == term {
		to++
	}
	return hits[from:to]
}

// distance returns the least distance between hits of two terms within
// [from, to), more than maxDistance for none.
func distance(x, y []Hit, from, to int32) int {
	best := maxDistance + 1
	for i, j := 0, 0; i < len(x) && j < len(y); {
		a, b := x[i].Pos, y[j].Pos
		if a >= from && b >= from && a < to && b < to && a != b {
			best = min(best, max(int(a-b), int(b-a)))
		}
		if a <= b {
			i++
		} else {
			j++
		}
	}
	return best
}

// bestWindow scores every passage together with its two neighbours, where that
// holds a hit.
func (m *Model) bestWindow(turns []Turn, hit []passage, lens []int) float64 {
	tf := make([]float64, len(m.Terms))
	var best float64
	lo := 0 // first hit that can be in the window
	done := -1
	for i := range hit {
		for center := max(hit[i].index-1, done+1); center <= hit[i].index+1; center++ {
			if center < 0 || center >= len(lens) {
				continue
			}
			done = center
			for lo < len(hit) && hit[lo].index < center-1 {
				lo++
			}
			clear(tf)
			var factor float64
			for j := lo; j < len(hit) && hit[j].index <= center+1; j++ {
				for t, n := range hit[j].tf {
					tf[t] += n
				}
				factor = max(factor, turns[hit[j].turn].Factor)
			}
			length := lens[center]
			if center > 0 {
				length += lens[center-1]
			}
			if center+1 < len(lens) {
				length += lens[center+1]
			}
			best = max(best, m.bm25(tf, float64(length)/m.avgWindow, bWhole)*factor)
		}
	}
	return best
}

// keep puts t among the best, one a turn.
func (s *Scored) keep(t TurnScore, limit int) {
	for i := range s.Best {
		if s.Best[i].Turn == t.Turn {
			if s.Best[i].Score >= t.Score {
				return
			}
			s.Best = append(s.Best[:i], s.Best[i+1:]...)
			break
		}
	}
	at := len(s.Best)
	for at > 0 && s.Best[at-1].Score < t.Score {
		at--
	}
	if at >= limit {
		return
	}
	s.Best = append(s.Best, TurnScore{})
	copy(s.Best[at+1:], s.Best[at:])
	s.Best[at] = t
	if len(s.Best) > limit {
		s.Best = s.Best[:limit]
	}
}
