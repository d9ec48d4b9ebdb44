package wording

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// manyFacts is where a pair that stands nearly everywhere is no longer counted.
const manyFacts = 1500

// Grams says which texts hold a pair of letters of a script without blanks.
type Grams struct {
	texts int
	only  map[rune][]string // by first letter what alone is looked for; nil: everything
	has   map[string][]int64
}

// NewGrams returns Grams of no texts. With only, they know of these pairs and
// single letters alone, and a text costs a tenth.
func NewGrams(only ...string) *Grams {
	g := &Grams{has: map[string][]int64{}}
	for _, pair := range only {
		if g.only == nil {
			g.only = map[rune][]string{}
		}
		first, _ := utf8.DecodeRuneInString(pair)
		g.only[first] = append(g.only[first], pair)
	}
	return g
}

// Add takes in the text with this number.
func (g *Grams) Add(id int64, text string) {
	if !hasUnspaced(text) {
		return
	}
	g.texts++
	if g.only != nil {
		for i, r := range text {
			for _, pair := range g.only[r] {
				if strings.HasPrefix(text[i:], pair) {
					g.note(pair, id)
				}
			}
		}
		return
	}
	for _, pair := range Pairs(text) {
		g.note(pair, id)
	}
	for _, r := range text {
		if unspaced(r) {
			g.note(string(r), id)
		}
	}
}

func (g *Grams) note(key string, id int64) {
	if ids := g.has[key]; len(ids) == 0 || ids[len(ids)-1] != id {
		g.has[key] = append(ids, id)
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
