package transcript

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/hermes-mcp/hermes-mcp/transcript/analysis"
	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
	"github.com/hermes-mcp/hermes-mcp/transcript/index"
	"github.com/hermes-mcp/hermes-mcp/transcript/record"
	"github.com/hermes-mcp/hermes-mcp/transcript/vector"
)

// An Embedder makes vectors of texts, see package vector.
type Embedder = vector.Embedder

// A VectorCoverage says how far an Embedder has come with an archive.
type VectorCoverage = vector.Coverage

// DefaultMeaningWeight is what meaning counts for beside words unless told
// otherwise: little, since it was chosen with a model that knows nothing but
// words. See vector.Fuse.
const DefaultMeaningWeight = 0.02

const (
	// mostNear is how many sessions are found by meaning.
	mostNear = 50
	// perNear is how many chunks of a session are kept as matches.
	perNear = 2
)

// Embed gives every session that has none yet, or has changed, its vectors, the
// newest first, until none is left or ctx ends. It can be stopped and killed at
// any time and goes on where it was. told is called now and then with how many
// sessions are done, and may be nil. Without an Embedder it does nothing.
func (db *DB) Embed(ctx context.Context, told func(sessions int)) error {
	if db.Embedder == nil {
		return nil
	}
	if err := db.vectors.Fill(ctx, db.Embedder, told); err != nil {
		return fmt.Errorf("embed: %w", db.explain(err))
	}
	return nil
}

// VectorCoverage tells how far the Embedder has come; it is zero without one.
func (db *DB) VectorCoverage(ctx context.Context) (VectorCoverage, error) {
	if db.Embedder == nil {
		return VectorCoverage{}, nil
	}
	c, err := db.vectors.Coverage(ctx, db.Embedder)
	if err != nil {
		return c, fmt.Errorf("coverage of vectors: %w", db.explain(err))
	}
	return c, nil
}

// own reads the messages that a session itself holds, in order.
func (db *DB) own(ctx context.Context, session int64) ([]record.Message, error) {
	ids, err := engine.Column[int64](db.read.QueryContext(ctx, "SELECT id FROM message WHERE session = ? AND role IN ('user', 'assistant') ORDER BY seq, id", session))
	if err != nil {
		return nil, err
	}
	return db.load(ctx, ids)
}

// A meaning is what a search by meaning found.
type meaning struct {
	sessions []index.Session // the nearest first, one a lineage
	note     string
}

// after puts what is to be said of meaning after what is said of words.
func (m meaning) after(note string) string {
	if note == "" || m.note == "" {
		return note + m.note
	}
	return note + ". " + m.note
}

// seek begins to look for what text means, beside the search for its words, and
// returns what waits for it. The caller always waits: a search that is not
// asked by meaning has an empty one at once. Whatever fails is a note.
func (db *DB) seek(ctx context.Context, q analysis.Query, f index.Filter) (wait func() meaning) {
	// What must or must not stand in a message is a matter of words.
	if db.Embedder == nil || q.Raw == "" || len(q.Must)+len(q.Not) > 0 {
		return func() meaning { return meaning{} }
	}
	found := make(chan meaning, 1)
	go func() { found <- db.near(ctx, q.Raw, f) }()
	return func() meaning { return <-found }
}

func (db *DB) near(ctx context.Context, text string, f index.Filter) (m meaning) {
	admits, err := db.index.Admits(ctx, f)
	if err != nil {
		return meaning{note: noMeaning(err)}
	}
	near, err := db.vectors.Near(ctx, db.Embedder, text, func(message int64) bool {
		_, ok := admits(message)
		return ok
	})
	if err != nil {
		return meaning{note: noMeaning(err)}
	}
	at := map[int64]int{} // by lineage
	for _, n := range near {
		s, ok := admits(n.Message)
		i, known := at[s.Root]
		switch {
		case !ok:
		case !known && len(m.sessions) < mostNear:
			at[s.Root] = len(m.sessions)
			s.Score, s.Matches = n.Score, []index.Match{{Message: n.Message}}
			m.sessions = append(m.sessions, s)
		case known && m.sessions[i].ID == s.ID && len(m.sessions[i].Matches) < perNear:
			m.sessions[i].Matches = append(m.sessions[i].Matches, index.Match{Message: n.Message})
		}
	}
	if embedded, sessions, err := db.vectors.Reach(ctx, db.Embedder); err == nil && vector.Partial(embedded, sessions) {
		m.note = fmt.Sprintf("meaning is known of %d of %d sessions so far", embedded, sessions)
	}
	return m
}

// noMeaning says that words alone were searched. What an endpoint says of its
// errors is for people, in status: here a model would read it.
func noMeaning(err error) string {
	if errors.Is(err, vector.ErrNone) || errors.Is(err, context.Canceled) {
		return ""
	}
	return "words alone were searched: what knows their meaning did not answer; hermes-mcp status says more"
}

// fuse ranks what words and meaning found together. A lineage that both found
// keeps the session that words credit.
func (db *DB) fuse(words []index.Session, m meaning) []index.Session {
	if len(m.sessions) == 0 {
		return words
	}
	if math.IsInf(db.MeaningWeight, 1) {
		return m.sessions
	}
	by := make(map[int64]index.Session, len(words)+len(m.sessions))
	for _, s := range m.sessions {
		by[s.Root] = s
	}
	for _, w := range words {
		if s, both := by[w.Root]; both && len(w.Matches) == 0 && s.ID == w.ID { // only its title had the words
			w.Matches = s.Matches
		}
		by[w.Root] = w
	}
	weight := db.MeaningWeight
	if weight <= 0 {
		weight = DefaultMeaningWeight
	}
	var out []index.Session
	for _, r := range vector.Fuse(ranked(words), ranked(m.sessions), weight) {
		s := by[r.Key]
		s.Score = r.Score
		out = append(out, s)
	}
	return out
}

func ranked(all []index.Session) []vector.Ranked {
	out := make([]vector.Ranked, len(all))
	for i, s := range all {
		out[i] = vector.Ranked{Key: s.Root, Score: s.Score}
	}
	return out
}
