package holographic

import (
	"context"
	"errors"

	"github.com/hermes-mcp/hermes-mcp/provider/holographic/wording"
)

// grams are the pairs of letters of a store. FTS5 cannot find a part of a
// Chinese run, which it takes for one word. The first question after a change
// looks only for its own pairs, which is all that a hook ever asks; the second
// one makes the pairs of all facts, for itself and those that follow.
type grams struct {
	*wording.Grams // nil when one question has been asked
	version        int64
}

// pairsOf returns the pairs of the store as it is now, those that are asked
// for at least.
func (p *Provider) pairsOf(ctx context.Context, r *reader, asked []string) (*wording.Grams, error) {
	p.mu.Lock()
	known := p.grams
	p.mu.Unlock()
	if known != nil && known.version == r.version && known.Grams != nil {
		return known.Grams, nil
	}
	made := grams{version: r.version}
	g := wording.NewGrams(asked...)
	if known != nil && known.version == r.version {
		g = wording.NewGrams()
		made.Grams = g
	}
	rows, err := r.QueryContext(ctx, "SELECT fact_id, content FROM facts WHERE length(CAST(content AS BLOB)) > length(content)")
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
	p.grams = &made
	p.mu.Unlock()
	return g, nil
}
