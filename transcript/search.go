package transcript

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hermes-mcp/hermes-mcp/transcript/analysis"
	"github.com/hermes-mcp/hermes-mcp/transcript/index"
	"github.com/hermes-mcp/hermes-mcp/transcript/record"
)

// A Sort orders hits.
type Sort string

const (
	ByRank   Sort = ""
	ByNewest Sort = "newest"
	ByOldest Sort = "oldest"
)

// A Query asks for sessions. Any Text is valid.
type Query struct {
	Text    string
	Roles   []Role   // all that are searched by default when empty
	Sources []string // all when empty
	Project string   // a path, or a name: the last element of the path
	Since   time.Time
	Until   time.Time
	Sort    Sort
	Limit   int // sessions; 5 when 0
	// Exclude holds session ids whose lineage is live in the caller's context:
	// left out, except what has left that context (compacted or reset).
	Exclude []string
}

// A Match is one message of a hit that bears on the query.
type Match struct {
	MessageID int64
	Role      Role
	Snippet   string // with the match marked >>>like this<<<
	Score     float64
}

// A Hit is one lineage, credited to the session that holds the best match.
type Hit struct {
	Session Session
	Score   float64
	Matches []Match // best first, at most 5; empty for a title match
}

// An Answer is what Search found.
type Answer struct {
	Hits []Hit
	More int    // further lineages that matched and were not returned
	Note string // what a reader must know, such as that recency was the ranking
}

const (
	defaultLimit = 5
	// relevant is the share of the best score that a session must have to be
	// listed by time instead of by rank.
	relevant = 0.4
)

// Search finds sessions. It never fails because of the query's text.
func (db *DB) Search(ctx context.Context, q Query) (Answer, error) {
	a, err := db.search(ctx, q)
	if err != nil {
		return Answer{}, fmt.Errorf("search: %w", db.explain(err))
	}
	return a, nil
}

func (db *DB) search(ctx context.Context, q Query) (Answer, error) {
	parsed := analysis.Parse(q.Text)
	db.applyFields(&q, &parsed)
	found, err := db.index.Search(ctx, parsed, db.filter(q))
	if err != nil {
		return Answer{}, err
	}
	lineages := fold(found.Sessions)
	if q.Sort != ByRank {
		lineages = byTime(lineages, q.Sort)
	}
	limit := limitOf(q)
	answer := Answer{More: max(0, len(lineages)-limit), Note: noteOf(found)}
	for _, s := range lineages[:min(limit, len(lineages))] {
		h, err := db.hydrate(ctx, s)
		if errors.Is(err, ErrNotFound) {
			continue // forgotten since it was found
		}
		if err != nil {
			return Answer{}, err
		}
		answer.Hits = append(answer.Hits, h)
	}
	return answer, nil
}

func limitOf(q Query) int {
	if q.Limit <= 0 {
		return defaultLimit
	}
	return q.Limit
}

func (db *DB) filter(q Query) index.Filter {
	f := index.Filter{Sources: q.Sources, Project: q.Project, Live: q.Exclude}
	if !db.reader.all() {
		f.Sees = db.reader.sees
	}
	for _, r := range q.Roles {
		f.Roles = append(f.Roles, string(r))
	}
	if !q.Since.IsZero() {
		f.Since = q.Since.Unix()
	}
	if !q.Until.IsZero() {
		f.Until = q.Until.Unix()
	}
	return f
}

// noteOf says what the reader of an answer must know.
func noteOf(f index.Found) string {
	var notes []string
	if len(f.Similar) > 0 {
		notes = append(notes, "nothing holds "+strings.Join(f.Similar, ", ")+"; words spelled alike were searched instead")
	}
	if f.Partial && len(f.Sessions) > 0 {
		notes = append(notes, "nothing matches all that was asked for; these match a part of it")
	}
	if f.Recent {
		notes = append(notes, "the words are too common to look at every message; titles, first prompts and the newest messages decide")
	}
	return strings.Join(notes, ". ")
}

// fold keeps the best session of each lineage, in order.
func fold(found []index.Session) []index.Session {
	seen := make(map[int64]bool, len(found))
	return slices.DeleteFunc(found, func(s index.Session) bool {
		if seen[s.Root] {
			return true
		}
		seen[s.Root] = true
		return false
	})
}

// byTime orders those that are about as good as the best by time.
func byTime(found []index.Session, order Sort) []index.Session {
	if len(found) == 0 {
		return found
	}
	limit := found[0].Score * relevant
	kept := slices.DeleteFunc(found, func(s index.Session) bool { return s.Score < limit })
	slices.SortStableFunc(kept, func(a, b index.Session) int {
		if order == ByOldest {
			return cmp.Compare(a.Active, b.Active)
		}
		return cmp.Compare(b.Active, a.Active)
	})
	return kept
}

// hydrate reads what is returned of a session.
func (db *DB) hydrate(ctx context.Context, s index.Session) (Hit, error) {
	found, err := db.sessions(ctx, "WHERE id = ?", s.ID)
	if err != nil {
		return Hit{}, err
	}
	if len(found) == 0 {
		return Hit{}, fmt.Errorf("session %d: %w", s.ID, ErrNotFound)
	}
	h := Hit{Session: found[0], Score: s.Score}
	ids := make([]int64, len(s.Matches))
	for i, m := range s.Matches {
		ids[i] = m.Message
	}
	msgs, err := db.load(ctx, ids)
	if err != nil {
		return Hit{}, err
	}
	for i, m := range s.Matches {
		if i >= len(msgs) || msgs[i].ID != m.Message {
			return Hit{}, fmt.Errorf("message %d: %w", m.Message, ErrNotFound)
		}
		text := record.IndexText(&msgs[i])
		h.Matches = append(h.Matches, Match{MessageID: m.Message, Role: msgs[i].Role, Score: m.Score, Snippet: analysis.Snippet(text, m.Marks)})
	}
	return h, nil
}

// indexTexts returns what is indexed of messages, by id.
func (db *DB) indexTexts(ctx context.Context, ids []int64) ([]string, error) {
	msgs, err := db.load(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(msgs))
	for i := range msgs {
		out[i] = record.IndexText(&msgs[i])
	}
	return out, nil
}

// Recent returns the sessions last active, newest first, filtered by q
// (Text unused), lineages folded, with Preview set.
func (db *DB) Recent(ctx context.Context, q Query) ([]Session, error) {
	ids, err := db.index.Recent(ctx, db.filter(q), limitOf(q))
	if err != nil {
		return nil, fmt.Errorf("recent sessions: %w", db.explain(err))
	}
	var out []Session
	for _, id := range ids {
		found, err := db.sessions(ctx, "WHERE id = ?", id)
		if err != nil {
			return nil, fmt.Errorf("recent sessions: %w", err)
		}
		out = append(out, found...)
	}
	return out, nil
}

// applyFields moves the filters of the query's text to where the query has
// fields for them. What a filter's value does not make sense as, is words.
func (db *DB) applyFields(q *Query, parsed *analysis.Query) {
	for _, f := range parsed.Filters {
		switch f.Field {
		case "role":
			q.Roles = append(q.Roles, Role(f.Value))
		case "source":
			q.Sources = append(q.Sources, f.Value)
		case "project":
			q.Project = f.Value
		case "since", "until":
			t, ok := ParseTime(f.Value, db.now())
			if !ok {
				continue
			}
			if f.Field == "since" {
				q.Since = t
			} else {
				q.Until = t
			}
		case "tool", "file":
			parsed.Require(f.Value)
		}
	}
}

// ParseTime understands a point in time as a person writes it: a date, RFC 3339,
// or an age such as 90m, 12h, 7d, 2w, seen from now.
func ParseTime(text string, now time.Time) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04", time.DateOnly, "2006/01/02", "2006-01"} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, true
		}
	}
	if len(text) < 2 {
		return time.Time{}, false
	}
	n, err := strconv.Atoi(text[:len(text)-1])
	unit, ok := map[byte]time.Duration{'m': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}[text[len(text)-1]]
	if err != nil || !ok || n < 0 || n > 100000 {
		return time.Time{}, false
	}
	return now.Add(-time.Duration(n) * unit), true
}
