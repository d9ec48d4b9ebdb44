package holographic

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/hermes-mcp/hermes-mcp/provider/holographic/hrr"
	"github.com/hermes-mcp/hermes-mcp/provider/holographic/wording"
)

// The parts of a search's score.
const (
	byWords  = 0.4
	byBag    = 0.3
	byVector = 0.3
)

// scored bounds the rows that are ranked by their words: a question of frequent
// words alone would rank the whole store.
const scored = 1500

// search returns the facts that answer query, best first.
func (p *Provider) search(ctx context.Context, query string, f filter) (out []fact, err error) {
	f.limit = min(max(f.limit, 1), 100)
	err = p.read(ctx, func(r *reader) error {
		found, err := p.candidates(ctx, r, query, f)
		if err != nil || len(found) == 0 {
			return err
		}
		ids := make([]int64, 0, len(found))
		for id := range found {
			ids = append(ids, id)
		}
		out, err = r.some(ctx, ids)
		if err != nil {
			return err
		}
		asked, key := wording.Bag(query), r.space.Content(query)
		for i, x := range out {
			out[i].Score = p.score(x, found[x.ID], asked, key)
		}
		out = best(out, f)
		return nil
	})
	return out, err
}

// score is how well x answers: lexical is its share of the best match by
// words, from 0 to 1.
func (p *Provider) score(x fact, lexical float64, asked map[string]bool, key hrr.Vector) float64 {
	alike := 0.5
	if x.vector != nil {
		alike = (hrr.Similarity(key, x.vector) + 1) / 2
	}
	return (byWords*lexical + byBag*wording.Jaccard(asked, saying(x)) + byVector*alike) * x.Trust * p.decay(x)
}

// decay is 1 for a fact that does not age, and less for an old one.
func (p *Provider) decay(x fact) float64 {
	at := x.at()
	if p.HalfLife <= 0 || at.IsZero() {
		return 1
	}
	now := time.Now()
	if p.Now != nil {
		now = p.Now()
	}
	return math.Pow(0.5, max(0, float64(now.Sub(at))/float64(p.HalfLife)))
}

// best sorts what counts, best first, and cuts it to the limit.
func best(all []fact, f filter) []fact {
	all = slices.DeleteFunc(all, func(x fact) bool { return !f.takes(x) })
	sort.Slice(all, func(i, j int) bool {
		a, b := &all[i], &all[j]
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID)) < 0
	})
	return all[:min(len(all), f.limit)]
}

// candidates are the facts that may answer, with their lexical share.
func (p *Provider) candidates(ctx context.Context, r *reader, query string, f filter) (map[int64]float64, error) {
	found, err := r.byWords(ctx, wording.Terms(query), f)
	if err != nil {
		return nil, err
	}
	if asked := wording.Pairs(query); len(asked) > 0 {
		g, err := p.pairsOf(ctx, r, asked)
		if err != nil {
			return nil, err
		}
		for id, share := range g.Match(asked, 10*f.limit) {
			found[id] = max(found[id], share)
		}
	}
	return found, nil
}

// byWords finds facts by FTS5: rare words first, and frequent ones only while
// few rows are to be ranked.
func (r *reader) byWords(ctx context.Context, all []string, f filter) (map[int64]float64, error) {
	found := map[int64]float64{}
	match, wide, err := r.plan(ctx, all)
	if err != nil || match == "" {
		return found, err
	}
	rank, order, limit := "t.rank", " ORDER BY t.rank LIMIT ?", 3*f.limit
	if wide { // too many to rank: the newest, and what they say decides
		rank, order, limit = "1.0", " ORDER BY t.rowid DESC LIMIT ?", 100
	}
	text := "SELECT f.fact_id, " + rank + ` FROM facts_fts t CROSS JOIN facts f ON f.fact_id = t.rowid
		WHERE facts_fts MATCH ? AND f.trust_score >= ?`
	args := []any{match, f.minTrust}
	if f.category != "" {
		text, args = text+" AND f.category = ?", append(args, f.category)
	}
	rows, err := r.QueryContext(ctx, text+order, append(args, limit)...)
	if err != nil {
		return nil, err
	}
	top := 0.0
	for rows.Next() {
		var id int64
		var rank float64
		if err := rows.Scan(&id, &rank); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		found[id] = math.Abs(rank)
		top = max(top, math.Abs(rank))
	}
	for id := range found {
		if top > 0 {
			found[id] /= top
		}
	}
	return found, errors.Join(rows.Err(), rows.Close())
}

// plan makes the MATCH expression of the words worth looking for: an OR of
// the rarest that together match few rows. wide says that even the rarest
// matches many.
func (r *reader) plan(ctx context.Context, all []string) (match string, wide bool, err error) {
	if len(all) == 0 {
		return "", false, nil
	}
	if _, err := r.ExecContext(ctx, "CREATE VIRTUAL TABLE IF NOT EXISTS temp.fact_words USING fts5vocab('main', 'facts_fts', 'row')"); err != nil {
		return "", false, err
	}
	type term struct {
		text string
		rows int
	}
	var known []term
	for _, w := range all {
		t := term{text: w}
		for _, part := range wording.Parts(w) { // a word with a dot or a dash in it is several to FTS5
			var n int
			err := r.QueryRowContext(ctx, "SELECT doc FROM temp.fact_words WHERE term = ?", part).Scan(&n)
			if err != nil && !errors.Is(err, sql.ErrNoRows) {
				return "", false, err
			}
			if t.rows == 0 || n < t.rows {
				t.rows = n
			}
			if n == 0 {
				t.rows = 0
				break
			}
		}
		if t.rows > 0 {
			known = append(known, t)
		}
	}
	sort.SliceStable(known, func(i, j int) bool { return known[i].rows < known[j].rows })
	total := 0
	var taken []string
	for i, t := range known {
		if total += t.rows; i > 0 && total > scored {
			break
		}
		taken = append(taken, quote(t.text))
		wide = wide || t.rows > scored
	}
	if wide && len(known) > 1 { // both of the rarest may be rare together
		taken = append(taken[:1], "AND", quote(known[1].text))
		return strings.Join(taken, " "), true, nil
	}
	return strings.Join(taken, " OR "), wide, nil
}

// saying is the bag of a fact, its tags included, except the mark of an entry.
func saying(f fact) map[string]bool {
	set := wording.Bag(f.Content)
	for w := range wording.Bag(f.Tags) {
		if !strings.HasPrefix(w, mark) {
			set[w] = true
		}
	}
	return set
}

// quote makes an FTS5 string of s: its words in a row.
func quote(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
