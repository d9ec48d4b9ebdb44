package transcript

import (
	"context"
	"errors"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript/record"
)

// leastID is how long a word must be to be tried as the beginning of an id.
const leastID = 6

// named returns the session whose id, link, or beginning of an id is the whole
// query, and what is to be told of it; nil when it is none. Filters do not
// apply: a session that is named is meant.
func (db *DB) named(ctx context.Context, q Query) (*Hit, string, error) {
	word := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(q.Text), "hermes://session/"), "/")
	_, bare, full := record.CutID(word)
	switch {
	case strings.ContainsAny(word, " \t\n\"'()*"), len(bare) == 0, strings.HasPrefix(bare, "//"):
		return nil, "", nil
	case !full && (len(word) < leastID || !strings.ContainsAny(word, "0123456789")):
		return nil, "", nil
	}
	s, err := db.Session(ctx, word)
	switch {
	case errors.Is(err, ErrAmbiguous):
		return nil, err.Error(), nil
	case errors.Is(err, ErrNotFound):
		return nil, "", nil
	case err != nil:
		return nil, "", err
	}
	return &Hit{Session: s, Holder: s, Why: OfID}, "the query is the beginning of the first session's id", nil
}

// put sets a session that was named before what was found.
func (a *Answer) put(own *Hit, told string, limit int) {
	if told != "" && a.Note != "" {
		told += ". "
	}
	a.Note = told + a.Note
	if own == nil {
		return
	}
	hits := []Hit{*own}
	for _, h := range a.Hits {
		if h.Session.ID != own.Session.ID && len(hits) < limit {
			hits = append(hits, h)
		}
	}
	a.Hits = hits
}
