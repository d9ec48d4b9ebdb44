package provider

import (
	"context"
)

// Recall asks the provider what it knows about query, the user's own words.
// What comes back is scanned, dated, labelled and fenced; it is for one turn
// and must not be stored. A trivial query is not asked. Errors: ErrPaused,
// ctx's, and whatever the provider failed with; all in words for a user.
func (g *Guard) Recall(ctx context.Context, s Session, query string) (Recalled, error) {
	if g == nil {
		return Recalled{Skipped: "no provider is configured"}, nil
	}
	query = outgoing(query, maxQuery)
	if trivial(query) {
		return Recalled{Provider: g.p.Name(), Skipped: "there is nothing in these words to recall for"}, nil
	}
	var found []Memory
	err := g.ask(ctx, s, g.recallTime(), func(ctx context.Context) (err error) {
		found, err = g.p.Recall(ctx, s, query)
		return err
	})
	if err != nil {
		return Recalled{Provider: g.p.Name()}, err
	}
	return incoming(g.p.Name(), found, or(g.MaxRecall, 6000)), nil
}
