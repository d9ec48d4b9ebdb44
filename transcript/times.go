package transcript

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hermes-mcp/hermes-mcp/transcript/analysis"
	"github.com/hermes-mcp/hermes-mcp/transcript/date"
	"github.com/hermes-mcp/hermes-mcp/transcript/index"
)

// Recent returns the sessions last active, newest first, filtered by q
// (Text unused), lineages folded, with Preview set.
func (db *DB) Recent(ctx context.Context, q Query) ([]Session, error) {
	return db.recent(ctx, db.filter(q), limitOf(q))
}

func (db *DB) recent(ctx context.Context, f index.Filter, limit int) ([]Session, error) {
	ids, err := db.index.Recent(ctx, f, limit)
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

// listed answers a query that asks for no words, with sessions as they are, the
// newest first: one that names a time and nothing else, such as "what did we do
// last week", or one of filters alone. It has no hits when the query is another
// one, or there is no such session.
func (db *DB) listed(ctx context.Context, q Query, parsed analysis.Query, times []date.Span) (Answer, error) {
	why, note := OfFilter, "the query has filters and no words: these are the sessions that pass, newest first"
	switch {
	case len(q.Roles) > 0:
		return Answer{}, nil
	case len(times) > 0 && analysis.Vague(date.Without(parsed.Raw, times)):
		from, to := q.within(times, db.now())
		why, note = OfTime, "the query names only a time: these are the sessions of "+span(from, to)+", newest first"
	case len(parsed.Filters) == 0 || len(parsed.Terms)+len(parsed.Must)+len(parsed.Not) > 0:
		return Answer{}, nil
	}
	limit := limitOf(q)
	f := db.filter(q)
	f.Dated = why == OfTime
	found, err := db.recent(ctx, f, limit+1)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Note: note}
	for _, s := range found[:min(limit, len(found))] {
		a.Hits = append(a.Hits, Hit{Session: s, Holder: s, Why: why})
	}
	a.More = len(found) - len(a.Hits)
	return a, nil
}

// within narrows q to times, and returns what they cover.
func (q *Query) within(times []date.Span, now time.Time) (from, to time.Time) {
	from, to = times[0].Bounds(now)
	for _, s := range times[1:] {
		f, t := s.Bounds(now)
		from, to = earlier(from, f), earlier(t, to)
	}
	if q.Since.IsZero() || q.Since.Before(from) {
		q.Since = from
	}
	if last := to.Add(-time.Second); q.Until.IsZero() || q.Until.After(last) {
		q.Until = last
	}
	return from, to
}

// span says from when to when in words.
func span(from, to time.Time) string { return date.Span{From: from, To: to}.String() }

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// noteOf says what the reader of an answer must know.
func noteOf(f index.Found, q analysis.Query, times []date.Span, notes []string) string {
	if len(q.Terms)+len(q.Must) == 0 {
		notes = append(notes, "the query has no letters and no digits to look for")
	}
	if len(f.Similar) > 0 {
		notes = append(notes, "nothing holds "+strings.Join(f.Similar, ", ")+"; words spelled alike were searched instead")
	}
	if f.Partial && len(f.Sessions) > 0 {
		notes = append(notes, "nothing matches all that was asked for; these match a part of it")
	}
	if f.Recent {
		notes = append(notes, "the words are too common to look at every message; titles, first prompts, words said all the time and the newest messages decide")
	}
	if len(times) > 0 && len(f.Sessions) > 0 {
		var told []string
		for _, s := range times[:min(3, len(times))] {
			told = append(told, fmt.Sprintf("%q as %s", s.Words, s))
		}
		notes = append(notes, strings.Join(told, ", ")+": sessions of that time stand higher; since and until would keep to it")
	} else if q.Idle && len(f.Sessions) > 0 {
		notes = append(notes, "the query holds only words that say little; a name, an error text or a time would tell sessions apart")
	}
	return strings.Join(notes, ". ")
}
