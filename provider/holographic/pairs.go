package holographic

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"unicode"
)

// grams says which facts hold a pair of letters of an unspaced script. FTS5
// cannot: it takes such a run for one word. It is made when it is first needed
// and again when the store has changed.
type grams struct {
	version int64
	facts   int
	has     map[string][]int64
}

// pairsOf returns the pairs of the store as it is now.
func (p *Provider) pairsOf(ctx context.Context, r *reader) (*grams, error) {
	p.mu.Lock()
	g := p.grams
	p.mu.Unlock()
	if g != nil && g.version == r.version {
		return g, nil
	}
	g = &grams{version: r.version, has: map[string][]int64{}}
	rows, err := r.QueryContext(ctx, "SELECT fact_id, content FROM facts")
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		var id int64
		var content string
		if err := rows.Scan(&id, &content); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		g.add(id, content)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.grams = g
	p.mu.Unlock()
	return g, nil
}

func (g *grams) add(id int64, content string) {
	if !hasUnspaced(content) {
		return
	}
	g.facts++
	note := func(key string) {
		if ids := g.has[key]; len(ids) == 0 || ids[len(ids)-1] != id {
			g.has[key] = append(ids, id)
		}
	}
	for _, pair := range pairs(content) {
		note(pair)
	}
	for _, r := range content {
		if unspaced(r) {
			note(string(r))
		}
	}
}

// match returns the facts that hold some of asked, and the share of asked that
// each holds, rare pairs counting more; at most limit.
func (g *grams) match(asked []string, limit int) map[int64]float64 {
	slices.Sort(asked)
	asked = slices.Compact(asked)
	sum, got := 0.0, map[int64]float64{}
	for _, pair := range asked {
		ids := g.has[pair]
		weight := math.Log(1 + float64(g.facts+1)/float64(len(ids)+1))
		sum += weight
		if len(ids) > g.facts/2 && g.facts > scored {
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

func letter(r rune) bool {
	return unicode.In(r, unicode.L, unicode.N, unicode.Co) || (unicode.Is(unicode.M, r) && !unspaced(r))
}
