// Package index finds and scores the sessions of an archive for a query.
//
// It reads the archive's tables session, block, term, message_fts and
// session_fts, and holds in memory what it must know of every message: about
// ten bytes each, read at the first search and brought up to date at each. Where
// the query's terms stand comes from the index, not from what was said; only for
// the few best of a small result is that read, see feedback.
//
// # How a search goes
//
// The terms' document frequencies say whether every match can be looked at.
// When they are few, every match is. When not, the rare terms lead: messages
// that hold one of them, with all terms counted; and what only common words
// match is looked at from the newest back. A query of nothing but common words
// also asks the titles and first prompts of all sessions; one of a single common
// word, too, which sessions say it all the time. Candidates get a cheap
// score; the best are scored in full by package rank, after the index has been
// asked for all terms in their sessions. All limits count rows, not time, so the
// same archive gives the same answer on a busy machine.
//
// An Index is safe for concurrent use.
package index

import (
	"context"
	"fmt"
	"slices"

	"github.com/hermes-mcp/hermes-mcp/transcript/analysis"
	"github.com/hermes-mcp/hermes-mcp/transcript/date"
	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
)

// An Index searches one archive through a pool of connections that read. The
// connections must have been opened with package postings linked in.
type Index struct {
	read  *engine.Prepared
	texts Texts
	dir   directory
}

// Texts reads what was indexed of messages, by id, in order.
type Texts func(ctx context.Context, ids []int64) ([]string, error)

// New returns the index of the archive that read is connected to. texts is
// asked for a handful of messages a search; nil does without.
func New(read *engine.Prepared, texts Texts) *Index { return &Index{read: read, texts: texts} }

// A Match is a message that bears on the query.
type Match struct {
	Message int64
	Score   float64
	Marks   []int // positions of the tokens that matched, ascending
}

// A Session is a session that matches.
type Session struct {
	ID, Root int64 // rows of the table session
	Active   int64 // Unix seconds
	Score    float64
	Opening  uint64  // the same for sessions that began with the same words in the same project; 0 when that says nothing
	Matches  []Match // best first, at most MaxMatches; none when only its title matches
}

// MaxMatches is how many messages of a session are returned.
const MaxMatches = 5

// Found is what a search found.
type Found struct {
	Sessions []Session // best first
	// Partial says that the query insisted on something that nothing matches,
	// and was loosened.
	Partial bool
	// Recent says that too many messages match to look at all: the newest were.
	Recent bool
	// Similar holds the words, as typed, that are nowhere and were replaced by
	// similarly spelled ones.
	Similar []string
}

// Search finds the sessions that match q and pass f. Those of the times that the
// query names stand higher.
func (x *Index) Search(ctx context.Context, q analysis.Query, times []date.Span, f Filter) (Found, error) {
	if err := x.refresh(ctx); err != nil {
		return Found{}, fmt.Errorf("read directory: %w", err)
	}
	x.dir.mu.RLock()
	defer x.dir.mu.RUnlock()
	s := &search{x: x, dir: &x.dir, filter: f.resolve(&x.dir), plan: newPlan(q, times, x.dir.corpus.Turns)}
	if err := s.run(ctx); err != nil {
		return Found{}, err
	}
	return s.found, nil
}

// Recent returns the rows of the sessions last active that pass f, newest
// first, one a lineage.
func (x *Index) Recent(ctx context.Context, f Filter, limit int) ([]int64, error) {
	if err := x.refresh(ctx); err != nil {
		return nil, fmt.Errorf("read directory: %w", err)
	}
	x.dir.mu.RLock()
	defer x.dir.mu.RUnlock()
	r := f.resolve(&x.dir)
	var all []*dirSession
	for _, s := range x.dir.sessions {
		if r.session(s) && (!r.live[s.root] || s.left) {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b *dirSession) int { return newer(a.active, a.id, b.active, b.id) })
	var out []int64
	seen := make(map[int64]bool)
	for _, s := range all {
		if !seen[s.root] && len(out) < limit {
			seen[s.root] = true
			out = append(out, s.id)
		}
	}
	return out, nil
}
