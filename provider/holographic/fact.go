package holographic

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hermes-mcp/hermes-mcp/provider/holographic/entity"
	"github.com/hermes-mcp/hermes-mcp/provider/holographic/hrr"
)

// A fact is one row. Its JSON names are the tools'.
type fact struct {
	ID       int64   `json:"fact_id"`
	Content  string  `json:"content"`
	Category string  `json:"category"`
	Tags     string  `json:"tags"`
	Trust    float64 `json:"trust_score"`
	Helpful  int     `json:"helpful_count"`
	Created  string  `json:"created_at"`
	Updated  string  `json:"updated_at"`
	Score    float64 `json:"score,omitempty"`

	vector hrr.Vector // nil when it has none
}

// at is when the fact was last confirmed or changed.
func (f fact) at() time.Time {
	for _, s := range []string{f.Updated, f.Created} {
		for _, layout := range []string{time.DateTime, time.RFC3339Nano, "2006-01-02T15:04:05.999999"} {
			if t, err := time.Parse(layout, s); err == nil {
				return t
			}
		}
	}
	return time.Time{}
}

// A filter says which facts count.
type filter struct {
	category string
	minTrust float64
	limit    int
}

func (f filter) takes(x fact) bool {
	return x.Trust >= f.minTrust && (f.category == "" || x.Category == f.category)
}

const columns = "fact_id, content, coalesce(category, ''), coalesce(tags, ''), coalesce(trust_score, 0), coalesce(helpful_count, 0), coalesce(CAST(created_at AS TEXT), ''), coalesce(CAST(updated_at AS TEXT), '')"

// facts reads rows. A vector that is none counts as absent.
func (r *reader) facts(ctx context.Context, where string, args ...any) (out []fact, err error) {
	rows, err := r.QueryContext(ctx, "SELECT "+columns+", "+r.vectors+" FROM facts "+where, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var f fact
		var blob sql.RawBytes
		if err := rows.Scan(&f.ID, &f.Content, &f.Category, &f.Tags, &f.Trust, &f.Helpful, &f.Created, &f.Updated, &blob); err != nil {
			return nil, err
		}
		f.vector, _ = hrr.Decode(blob, r.space.Dim())
		out = append(out, f)
	}
	return out, rows.Err()
}

// some reads the facts with these numbers, in no order.
func (r *reader) some(ctx context.Context, ids []int64) ([]fact, error) {
	var out []fact
	for part := range slices.Chunk(ids, 500) {
		args := make([]any, len(part))
		for i, id := range part {
			args[i] = id
		}
		got, err := r.facts(ctx, "WHERE fact_id IN (?"+strings.Repeat(",?", len(part)-1)+")", args...)
		if err != nil {
			return nil, err
		}
		out = append(out, got...)
	}
	return out, nil
}

// list is all facts that count, the most trusted first.
func (p *Provider) list(ctx context.Context, f filter) (out []fact, err error) {
	err = p.read(ctx, func(r *reader) (err error) {
		r.vectors = "NULL" // nobody asks for them
		where, args := "WHERE trust_score >= ?", []any{f.minTrust}
		if f.category != "" {
			where, args = where+" AND category = ?", append(args, f.category)
		}
		out, err = r.facts(ctx, where+" ORDER BY trust_score DESC, fact_id LIMIT ?", append(args, f.limit)...)
		return err
	})
	return out, err
}

// A writer is one change.
type writer struct {
	*sql.Tx
	shape *shape
	trust float64
}

var errNoFact = errors.New("no such fact")

// find returns the number of the fact with this content, 0 when there is none.
func (w *writer) find(ctx context.Context, content string) (id int64, err error) {
	err = w.QueryRowContext(ctx, "SELECT fact_id FROM facts WHERE content = ?", strings.TrimSpace(content)).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return id, err
}

// marked returns the number of the fact that was mirrored from the entry, 0
// when there is none.
func (w *writer) marked(ctx context.Context, hash string) (id int64, err error) {
	if hash == "" {
		return 0, nil
	}
	tag := mark + hash
	err = w.QueryRowContext(ctx, "SELECT fact_id FROM facts WHERE fact_id IN (SELECT rowid FROM facts_fts WHERE facts_fts MATCH ?) AND (tags = ? OR tags LIKE ?)",
		"tags : "+quote(tag), tag, tag+",%").Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return id, err
}

// add stores a fact. One with the same content stays as it is: its number is
// returned.
func (w *writer) add(ctx context.Context, content, category, tags string) (id int64, isNew bool, err error) {
	content = strings.TrimSpace(content)
	if id, err = w.find(ctx, content); err != nil || id != 0 {
		return id, false, err
	}
	res, err := w.ExecContext(ctx, "INSERT INTO facts (content, category, tags, trust_score) VALUES (?, ?, ?, ?)", content, category, tags, w.trust)
	if err != nil {
		return 0, false, err
	}
	if id, err = res.LastInsertId(); err != nil {
		return 0, false, err
	}
	return id, true, errors.Join(w.describe(ctx, id, content), w.dropBank(ctx, category))
}

// describe links a fact to its entities and gives it its vector.
func (w *writer) describe(ctx context.Context, id int64, content string) error {
	if _, err := w.ExecContext(ctx, "DELETE FROM fact_entities WHERE fact_id = ?", id); err != nil {
		return err
	}
	names := entity.Extract(content)
	for i, name := range names {
		e, known, err := w.resolve(ctx, name)
		if err != nil {
			return err
		}
		names[i] = known // the vector is made of the name that the link leads to
		if _, err := w.ExecContext(ctx, "INSERT OR IGNORE INTO fact_entities (fact_id, entity_id) VALUES (?, ?)", id, e); err != nil {
			return err
		}
	}
	v := w.shape.space.Fact(content, names)
	blob := hrr.Encode(v)
	if w.shape.raw {
		blob = hrr.EncodeRaw(v)
	}
	_, err := w.ExecContext(ctx, "UPDATE facts SET hrr_vector = ? WHERE fact_id = ?", blob, id)
	return err
}

// resolve returns the entity of this name or alias, made when there is none.
func (w *writer) resolve(ctx context.Context, name string) (id int64, known string, err error) {
	err = w.QueryRowContext(ctx, `SELECT entity_id, name FROM entities WHERE name = ?1 COLLATE NOCASE
		UNION ALL SELECT entity_id, name FROM entities WHERE aliases <> '' AND instr(',' || lower(replace(aliases, ', ', ',')) || ',', ',' || lower(?1) || ',') > 0
		LIMIT 1`, name).Scan(&id, &known)
	if err == nil || !errors.Is(err, sql.ErrNoRows) {
		return id, known, err
	}
	res, err := w.ExecContext(ctx, "INSERT INTO entities (name) VALUES (?)", name)
	if err != nil {
		return 0, "", err
	}
	id, err = res.LastInsertId()
	return id, name, err
}

func (w *writer) dropBank(ctx context.Context, category string) error {
	_, err := w.ExecContext(ctx, "DELETE FROM memory_banks WHERE bank_name = ?", "cat:"+category)
	return err
}

// A change is what an update changes; nil fields stay.
type change struct {
	content, tags, category *string
	trust                   float64 // is added
}

// update changes a fact. Errors: errNoFact.
func (w *writer) update(ctx context.Context, id int64, c change) error {
	var content, tags, category string
	var trust float64
	err := w.QueryRowContext(ctx, "SELECT content, coalesce(tags, ''), coalesce(category, ''), coalesce(trust_score, 0) FROM facts WHERE fact_id = ?", id).Scan(&content, &tags, &category, &trust)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w: %d", errNoFact, id)
	}
	if err != nil {
		return err
	}
	was, before := category, content
	for _, field := range []struct{ to, from *string }{{&content, c.content}, {&tags, c.tags}, {&category, c.category}} {
		if field.from != nil {
			*field.to = strings.TrimSpace(*field.from)
		}
	}
	trust = min(1, max(0, trust+c.trust))
	if _, err := w.ExecContext(ctx, "UPDATE facts SET content = ?, tags = ?, category = ?, trust_score = ?, updated_at = CURRENT_TIMESTAMP WHERE fact_id = ?",
		content, tags, category, trust, id); err != nil {
		return err
	}
	if content != before {
		err = w.describe(ctx, id, content)
	}
	return errors.Join(err, w.dropBank(ctx, was), w.dropBank(ctx, category))
}

// remove takes a fact away. Errors: errNoFact.
func (w *writer) remove(ctx context.Context, id int64) error {
	var category string
	err := w.QueryRowContext(ctx, "DELETE FROM facts WHERE fact_id = ? RETURNING coalesce(category, '')", id).Scan(&category)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w: %d", errNoFact, id)
	}
	if err != nil {
		return err
	}
	_, err = w.ExecContext(ctx, "DELETE FROM fact_entities WHERE fact_id = ?", id)
	return errors.Join(err, w.dropBank(ctx, category))
}

// Feedback, and what it does to a fact's trust.
const (
	helpfulTrust   = 0.05
	unhelpfulTrust = -0.10
)

// A verdict is the answer to feedback.
type verdict struct {
	ID      int64   `json:"fact_id"`
	Old     float64 `json:"old_trust"`
	New     float64 `json:"new_trust"`
	Helpful int     `json:"helpful_count"`
}

// feedback raises or lowers a fact's trust. Errors: errNoFact.
func (w *writer) feedback(ctx context.Context, id int64, helpful bool) (v verdict, err error) {
	v.ID = id
	delta, count := unhelpfulTrust, 0
	if helpful {
		delta, count = helpfulTrust, 1
	}
	err = w.QueryRowContext(ctx, "SELECT coalesce(trust_score, 0) FROM facts WHERE fact_id = ?", id).Scan(&v.Old)
	if errors.Is(err, sql.ErrNoRows) {
		return v, fmt.Errorf("%w: %d", errNoFact, id)
	}
	if err != nil {
		return v, err
	}
	err = w.QueryRowContext(ctx, "UPDATE facts SET trust_score = min(1.0, max(0.0, trust_score + ?)), helpful_count = coalesce(helpful_count, 0) + ?, updated_at = CURRENT_TIMESTAMP WHERE fact_id = ? RETURNING trust_score, helpful_count",
		delta, count, id).Scan(&v.New, &v.Helpful)
	return v, err
}
