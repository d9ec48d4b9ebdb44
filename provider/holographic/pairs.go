package holographic

import (
	"context"
	"errors"

	"github.com/hermes-mcp/hermes-mcp/provider/holographic/wording"
)

// grams are the pairs of letters of a store. FTS5 cannot find a part of a
// Chinese run, which it takes for one word. They are made when they are first
// needed, and again when the store has changed.
type grams struct {
	*wording.Grams
	version int64
}

// pairsOf returns the pairs of the store as it is now.
func (p *Provider) pairsOf(ctx context.Context, r *reader) (*grams, error) {
	p.mu.Lock()
	g := p.grams
	p.mu.Unlock()
	if g != nil && g.version == r.version {
		return g, nil
	}
	g = &grams{wording.NewGrams(), r.version}
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
		g.Add(id, content)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.grams = g
	p.mu.Unlock()
	return g, nil
}
