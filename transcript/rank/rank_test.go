package rank

import (
	"math"
	"testing"
)

func model(weights ...float64) *Model {
	terms := make([]Term, len(weights))
	for i, w := range weights {
		terms[i].Weight = w
		if i+1 < len(weights) {
			terms[i].Next = []int32{int32(i + 1)}
		}
	}
	return NewModel(Corpus{Turns: 100, Sessions: 10, Passages: 150, Tokens: 6000}, terms)
}

func turn(tokens int, factor float64, hits ...Hit) Turn {
	return Turn{Tokens: tokens, Factor: factor, Hits: hits}
}

func TestBetterSessionsScoreHigher(t *testing.T) {
	m := model(3, 3)
	near := []Hit{{0, 4}, {1, 5}}
	far := []Hit{{0, 4}, {1, 30}}
	one := []Hit{{0, 4}}
	score := func(turns ...Turn) float64 {
		tokens := 0
		for _, x := range turns {
			tokens += x.Tokens
		}
		return m.Score(turns, tokens, 5).Score
	}
	for _, c := range []struct {
		name          string
		better, worse float64
	}{
		{"near words over far ones", score(turn(40, 1, near...)), score(turn(40, 1, far...))},
		{"two words over one", score(turn(40, 1, far...)), score(turn(40, 1, one...))},
		{"a person over a tool", score(turn(40, 1, one...)), score(turn(40, 0.35, one...))},
		{"a short turn over a long one", score(turn(20, 1, one...)), score(turn(70, 1, one...))},
		{"words in neighbouring turns over words far apart",
			score(turn(40, 1, Hit{0, 1}), turn(40, 1, Hit{1, 1}), turn(40, 1), turn(40, 1)),
			score(turn(40, 1, Hit{0, 1}), turn(40, 1), turn(40, 1), turn(40, 1, Hit{1, 1}))},
		{"one passage over two of one long turn", score(turn(160, 1, Hit{0, 1}, Hit{1, 5})), score(turn(160, 1, Hit{0, 1}, Hit{1, 150}))},
	} {
		if c.better <= c.worse {
			t.Errorf("%s: %v, %v", c.name, c.better, c.worse)
		}
	}
	if s := score(turn(40, 1)); s != 0 {
		t.Errorf("a session without a hit scores %v", s)
	}
}

func TestTheBestTurnsAreNamedOnceEach(t *testing.T) {
	m := model(1, 2)
	got := m.Score([]Turn{turn(40, 1, Hit{0, 1}), turn(200, 1, Hit{1, 10}, Hit{1, 190}), turn(40, 1)}, 280, 5).Best
	if len(got) != 2 || got[0].Turn != 1 || got[1].Turn != 0 || got[0].Score <= got[1].Score {
		t.Errorf("%v", got)
	}
	if got := m.Score([]Turn{turn(40, 1, Hit{0, 1}), turn(40, 1, Hit{1, 1})}, 80, 1).Best; len(got) != 1 || got[0].Turn != 1 {
		t.Errorf("%v", got)
	}
}

func TestWeightsAreAlwaysPositive(t *testing.T) {
	for _, df := range []float64{0, 1, 50, 100} {
		if w := IDF(100, df); w <= 0 || math.IsNaN(w) {
			t.Errorf("df %v: %v", df, w)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		x, y []int32
		want int
	}{{[]int32{1, 20}, []int32{22}, 2}, {[]int32{5}, []int32{3}, 2}, {[]int32{5}, []int32{90}, 9}, {[]int32{5}, []int32{5}, 9}, {nil, []int32{1}, 9}, {[]int32{70}, []int32{71}, 9}} {
		of := func(pos []int32) (out []Hit) {
			for _, p := range pos {
				out = append(out, Hit{0, p})
			}
			return out
		}
		if got := distance(of(c.x), of(c.y), 0, 60); got != c.want {
			t.Errorf("%v %v: %d", c.x, c.y, got)
		}
	}
}

func FuzzScoreIsFinite(f *testing.F) {
	f.Add(uint(40), uint(200), uint(3), uint(7))
	f.Fuzz(func(t *testing.T, x, y, p, q uint) {
		a, b := int(x%3000), int(y%3000)
		m := model(1, 2, 3)
		s := m.Score([]Turn{turn(a, 1, Hit{0, int32(p % 4000)}), turn(b, 0.5, Hit{1, int32(q % 4000)}, Hit{2, int32(p % 4000)})}, a+b, 3)
		if math.IsNaN(s.Score) || math.IsInf(s.Score, 0) || s.Score < 0 {
			t.Errorf("%v", s)
		}
	})
}
