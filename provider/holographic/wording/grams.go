package wording

import (
	"cmp"
	"math"
	"slices"
)

// manyFacts is where a pair that stands nearly everywhere is no longer counted.
const manyFacts = 1500

// Grams says which texts hold a pair of letters of a script without blanks.
type Grams struct {
	texts int
	has   map[string][]int64
}

// NewGrams returns Grams of no texts.
func NewGrams() *Grams { return &Grams{has: map[string][]int64{}} }

// Add takes in the text with this number.
func (g *Grams) Add(id int64, text string) {
	if !hasUnspaced(text) {
		return
	}
	g.texts++
	note := func(key string) {
		if ids := g.has[key]; len(ids) == 0 || ids[len(ids)-1] != id {
			g.has[key] = append(ids, id)
		}
	}
	for _, pair := range Pairs(text) {
		note(pair)
	}
	for _, r := range text {
		if unspaced(r) {
			note(string(r))
		}
	}
}

// Match returns the texts that hold some of asked, and the share of asked that
// each holds, rare pairs counting more; at most limit.
func (g *Grams) Match(asked []string, limit int) map[int64]float64 {
	slices.Sort(asked)
	asked = slices.Compact(asked)
	sum, got := 0.0, map[int64]float64{}
	for _, pair := range asked {
		ids := g.has[pair]
		weight := math.Log(1 + float64(g.texts+1)/float64(len(ids)+1))
		sum += weight
		if len(ids) > g.texts/2 && g.texts > manyFacts {
			continue // nearly everywhere, and slow to count
		}
		for _, id := range ids {
			got[id] += weight
		}
	}
	if len(got) > limit {
		ids := make([]int64, 0, len(got))
		for id := range got {
			ids = append(ids, id)
		}
		slices.SortFunc(ids, func(a, b int64) int { return cmp.Or(cmp.Compare(got[b], got[a]), cmp.Compare(a, b)) })
		for _, id := range ids[limit:] {
			delete(got, id)
		}
	}
	for id := range got {
		got[id] /= sum
	}
	return got
}
