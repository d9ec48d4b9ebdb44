package transcript

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
	"github.com/hermes-mcp/hermes-mcp/transcript/record"
	"github.com/hermes-mcp/hermes-mcp/transcript/removal"
	"github.com/hermes-mcp/hermes-mcp/transcript/writer"
)

var (
	// ErrPinned is returned by Scrub when another process reads what was there
	// before, so that it still stands in the log.
	ErrPinned = engine.ErrPinned
	// ErrForgotten is returned by Put for a session that was forgotten.
	ErrForgotten = writer.ErrForgotten
)

// A Receipt says what left the archive, and where it stands outside. It never
// holds text.
type Receipt struct {
	ID       int64      `json:"id,string"`
	At       time.Time  `json:"at"`
	Done     bool       `json:"done"`           // false while some of the cleaning is left to do
	Room     bool       `json:"room,omitempty"` // they only made room and may come back
	Sessions []string   `json:"sessions"`
	Messages int        `json:"messages"`
	Moved    int        `json:"kept_by_others"` // messages that stay, since other sessions repeat them
	Bytes    int64      `json:"bytes"`
	Notes    int        `json:"session_notes,omitempty"` // entries of the memory that were kept for them alone, removed too
	First    time.Time  `json:"first,omitzero"`
	Last     time.Time  `json:"last,omitzero"`
	Files    []string   `json:"files"` // that were known to hold them
	Outside  []Standing `json:"outside"`
	Left     []string   `json:"left,omitempty"` // what is not cleaned yet
}

// A Standing is a place that still holds something of what was forgotten, and
// that is not the archive's to clean.
type Standing struct {
	Kind  string `json:"kind"` // source, export, memory, copy
	Where string `json:"where"`
}

// Forget takes sessions out of the archive, all or none, with what it knows of
// them: rows, index, statistics, cursors. With bury no source, import or backup
// brings them back. The receipt is kept, and Done is false: what was deleted
// still stands in the bytes of the file until Scrub.
func (db *DB) Forget(ctx context.Context, what Chosen, bury bool) (Receipt, error) {
	var names []string
	for _, s := range what.Sessions {
		names = append(names, s.ID)
	}
	r := Receipt{At: db.now().UTC(), Room: !bury, Sessions: names, First: what.First, Last: what.Last, Outside: []Standing{}}
	err := db.update(ctx, true, func(t *engine.Tx) error {
		gone, err := removal.Remove(t, names, bury, r.At)
		if err != nil {
			return err
		}
		r.Messages, r.Moved, r.Bytes, r.Files = gone.Messages, gone.Moved, gone.Bytes, gone.Files
		return r.insert(t)
	})
	if err != nil {
		return Receipt{}, fmt.Errorf("forget: %w", err)
	}
	return r, nil
}

func (r *Receipt) insert(t *engine.Tx) error {
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return t.Row("INSERT INTO receipt (at, done, body) VALUES (?, ?, ?) RETURNING id", []any{record.Millis(r.At), r.Done, string(body)}, &r.ID)
}

// Scrub rewrites the archive so that nothing which was deleted is left in the
// index, the file or the log. It takes about a minute a gigabyte and as much free space
// as the archive. Errors: ErrPinned.
func (db *DB) Scrub(ctx context.Context) error {
	if err := db.writer.Condense(ctx); err != nil {
		return fmt.Errorf("scrub: %w", err)
	}
	if err := db.sqlite.Scrub(ctx); err != nil {
		return fmt.Errorf("scrub: %w", err)
	}
	return nil
}

// SaveReceipt keeps what a receipt says now.
func (db *DB) SaveReceipt(ctx context.Context, r Receipt) error {
	body, err := json.Marshal(r)
	if err == nil {
		err = db.update(ctx, true, func(t *engine.Tx) error {
			return t.Exec("UPDATE receipt SET done = ?, body = ? WHERE id = ?", r.Done, string(body), r.ID)
		})
	}
	if err != nil {
		return fmt.Errorf("save receipt: %w", err)
	}
	return nil
}

// Receipts returns the kept receipts, the oldest first.
func (db *DB) Receipts(ctx context.Context) (out []Receipt, err error) {
	rows, err := db.read.QueryContext(ctx, "SELECT id, done, body FROM receipt ORDER BY id")
	if err != nil {
		return nil, fmt.Errorf("receipts: %w", db.explain(err))
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var r Receipt
		var id int64
		var done bool
		var body string
		if err := rows.Scan(&id, &done, &body); err != nil {
			return nil, fmt.Errorf("receipts: %w", db.explain(err))
		}
		if err := json.Unmarshal([]byte(body), &r); err != nil {
			return nil, fmt.Errorf("receipt %d: %w", id, err)
		}
		r.ID, r.Done = id, done
		out = append(out, r)
	}
	return out, db.explain(rows.Err())
}

// Forgotten returns the ids of the sessions that no source may bring back.
func (db *DB) Forgotten(ctx context.Context) ([]string, error) {
	names, err := engine.Column[string](db.read.QueryContext(ctx, "SELECT name FROM tombstone ORDER BY id"))
	if err != nil {
		return nil, fmt.Errorf("forgotten sessions: %w", db.explain(err))
	}
	return names, nil
}

// Exports returns the files that exports were written to.
func (db *DB) Exports(ctx context.Context) ([]string, error) {
	paths, err := engine.Column[string](db.read.QueryContext(ctx, "SELECT path FROM export ORDER BY path"))
	if err != nil {
		return nil, fmt.Errorf("exports: %w", db.explain(err))
	}
	return paths, nil
}

// NoteExport remembers that an export was written to path, for receipts.
func (db *DB) NoteExport(ctx context.Context, path string) error {
	err := db.update(ctx, true, func(t *engine.Tx) error {
		return t.Exec("INSERT INTO export (path, at) VALUES (?, ?) ON CONFLICT (path) DO UPDATE SET at = excluded.at", path, record.Millis(db.now()))
	})
	if err != nil {
		return fmt.Errorf("note export: %w", err)
	}
	return nil
}
