package transcript

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/hermes-mcp/hermes-mcp/transcript/analysis"
	"github.com/hermes-mcp/hermes-mcp/transcript/date"
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
	marks     []int // the tokens that matched
}

// Snippet cuts the place that matched out of the message, which is as Messages
// returns it, with what matched marked >>>like this<<<.
func (m Match) Snippet(message Message) string {
	return analysis.Snippet(record.IndexText(&message), m.marks)
}

// A Hit is one lineage, credited to the session that holds the best match, and
// where that is a subagent, to the session that it worked for.
type Hit struct {
	Session Session
	Holder  Session // holds the matches: Session, or a subagent of it
	Score   float64
	Matches []Match // best first, at most 5; empty for a title match, or with a Why
	Why     Why
}

// A Why says for what a session is found when not for its words.
type Why string

const (
	OfTime   Why = "time"   // the query names a time and nothing else
	OfID     Why = "id"     // the query is its id, or the beginning of it
	OfFilter Why = "filter" // the query has filters and no words
)

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
	// againFactor is what a session's score is taken by for every better one
	// that began with the same words, as runs of one schedule do.
	againFactor = 0.8
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
	left := db.applyFields(&q, &parsed)
	times := date.Find(parsed.Raw, db.now())
	answer, err := db.listed(ctx, q, parsed, times)
	if err != nil || len(answer.Hits) > 0 {
		return answer, err
	}
	own, told, err := db.named(ctx, q)
	if err != nil {
		return Answer{}, err
	}
	meant := db.seek(ctx, parsed, db.filter(q))
	found, err := db.index.Search(ctx, parsed, times, db.filter(q))
	near := meant()
	if err != nil {
		return Answer{}, err
	}
	lineages := db.fuse(fold(found.Sessions), near)
	if q.Sort != ByRank {
		lineages = byTime(lineages, q.Sort)
	} else {
		spread(lineages)
	}
	limit := limitOf(q)
	answer = Answer{More: max(0, len(lineages)-limit), Note: near.after(noteOf(found, parsed, times, left))}
	for _, s := range lineages[:min(limit, len(lineages))] {
		h, err := db.hydrate(ctx, s, q.Exclude)
		if errors.Is(err, ErrNotFound) {
			continue // forgotten since it was found
		}
		if err != nil {
			return Answer{}, err
		}
		answer.Hits = append(answer.Hits, h)
	}
	answer.put(own, told, limit)
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
	sort.SliceStable(kept, func(i, j int) bool {
		if order == ByOldest {
			return kept[i].Active < kept[j].Active
		}
		return kept[j].Active < kept[i].Active
	})
	return kept
}

// spread lowers sessions that began as a better one did, so that one task that
// was run every day does not fill the answer.
func spread(found []index.Session) {
	seen := make(map[uint64]float64)
	for i := range found {
		if k := found[i].Opening; k != 0 {
			if seen[k] == 0 {
				seen[k] = 1
			}
			found[i].Score *= seen[k]
			seen[k] *= againFactor
		}
	}
	sort.SliceStable(found, func(i, j int) bool { return found[j].Score < found[i].Score })
}

// credit returns the session that a subagent worked for; of any other, itself.
// A session that is live in the caller's context is not named.
func (db *DB) credit(ctx context.Context, s Session, live []string) (Session, error) {
	for range maxNesting {
		if s.Relation != Subagent && s.Relation != Delegate || s.ParentID == "" || slices.Contains(live, s.ParentID) {
			break
		}
		parents, err := db.sessions(ctx, "WHERE name = ?", s.ParentID)
		if err != nil || len(parents) == 0 {
			return s, err
		}
		s = parents[0]
	}
	return s, nil
}

// maxNesting is how deep subagents may stand below the session that counts.
const maxNesting = 8

// hydrate reads what is returned of a session.
func (db *DB) hydrate(ctx context.Context, s index.Session, live []string) (Hit, error) {
	found, err := db.sessions(ctx, "WHERE id = ?", s.ID)
	if err != nil {
		return Hit{}, err
	}
	if len(found) == 0 {
		return Hit{}, fmt.Errorf("session %d: %w", s.ID, ErrNotFound)
	}
	h := Hit{Holder: found[0], Score: s.Score}
	if h.Session, err = db.credit(ctx, found[0], live); err != nil {
		return Hit{}, err
	}
	for _, m := range s.Matches {
		h.Matches = append(h.Matches, Match{m.Message, m.Marks})
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

// applyFields moves the filters of the query's text to where the query has
// fields for them. It tells which make no sense and are left out.
func (db *DB) applyFields(q *Query, parsed *analysis.Query) (notes []string) {
	for _, f := range parsed.Filters {
		switch f.Field {
		case "role":
			switch r := Role(strings.ToLower(f.Value)); r {
			case UserRole, Assistant, Tool, System, Summary:
				q.Roles = append(q.Roles, r)
			default:
				notes = append(notes, fmt.Sprintf("role:%.40s is no role and was left out; there are user, assistant, tool, system and summary", f.Value))
			}
		case "source":
			q.Sources = append(q.Sources, f.Value)
		case "project":
			q.Project = f.Value
		case "since", "until":
			t, ok := date.Parse(f.Value, db.now(), f.Field == "until")
			if !ok {
				notes = append(notes, fmt.Sprintf("%s:%.40s is no time and was left out; say %s", f.Field, f.Value, date.Forms))
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
	return notes
}
