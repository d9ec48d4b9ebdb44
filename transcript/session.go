package transcript

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
	"github.com/hermes-mcp/hermes-mcp/transcript/record"
)

// Session returns the session with id: "<source>:<id>", a bare id, or a unique
// prefix of either. Errors: ErrNotFound, ErrAmbiguous.
func (db *DB) Session(ctx context.Context, id string) (Session, error) {
	id = strings.TrimSpace(id)
	if id == "" {
		return Session{}, fmt.Errorf("session %q: %w", id, ErrNotFound)
	}
	few := " LIMIT 4"
	if !db.reader.all() {
		few = "" // the first may all be somebody else's
	}
	// From exact to vague; the first that finds anything decides.
	for _, where := range []string{
		"name = ?1", "bare = ?1",
		"name >= ?1 AND name < ?1 || char(1114111)", "bare >= ?1 AND bare < ?1 || char(1114111)",
	} {
		found, err := db.sessions(ctx, "WHERE "+where+few, id)
		switch {
		case err != nil:
			return Session{}, fmt.Errorf("session %q: %w", id, err)
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			var names []string
			for _, s := range found[:min(4, len(found))] {
				names = append(names, s.ID)
			}
			return Session{}, fmt.Errorf("%w: %q fits %s; use more of the id", ErrAmbiguous, id, strings.Join(names, ", "))
		}
	}
	return Session{}, fmt.Errorf("session %q: %w", id, ErrNotFound)
}

// sessions runs a query for whole sessions; rest begins after the table.
func (db *DB) sessions(ctx context.Context, rest string, args ...any) (out []Session, err error) {
	rows, err := db.often.Query(ctx, "SELECT "+record.SessionColumns+" FROM session "+rest, args...)
	if err != nil {
		return nil, db.explain(err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var s Session
		if err := rows.Scan(record.SessionFields(&s)...); err != nil {
			return nil, err
		}
		if db.reader.Sees(s) {
			out = append(out, s)
		}
	}
	return out, db.explain(rows.Err())
}

// Lineage returns the ids of all sessions related to the given ones: parents,
// children, and so on, the given ones included. Ids that are not archived stand
// for themselves.
func (db *DB) Lineage(ctx context.Context, sessionIDs ...string) ([]string, error) {
	var out []string
	seen := make(map[string]bool)
	for _, id := range sessionIDs {
		if seen[id] {
			continue
		}
		seen[id] = true
		out = append(out, id)
		related, err := engine.Column[string](db.read.QueryContext(ctx,
			"SELECT name FROM session WHERE root = (SELECT root FROM session WHERE name = ?) ORDER BY id", id))
		if err != nil {
			return nil, fmt.Errorf("lineage of %s: %w", id, db.explain(err))
		}
		for _, r := range related {
			if !seen[r] && db.there(ctx, r) {
				seen[r] = true
				out = append(out, r)
			}
		}
	}
	return out, nil
}

// there tells whether the reader may know of a session. One that cannot be read
// is not there.
func (db *DB) there(ctx context.Context, id string) bool {
	if db.reader.all() {
		return true
	}
	found, err := db.sessions(ctx, "WHERE name = ?", id)
	return err == nil && len(found) == 1
}

// A Mark names how far something has come in a session.
type Mark string

const (
	Flushed  Mark = "flushed"  // what may be lost has been saved to memory
	Reviewed Mark = "reviewed" // looked at for facts
	Synced   Mark = "synced"   // told to the provider
)

// Mark returns the id of the last message that m covers in a session, 0 when
// nothing is covered.
func (db *DB) Mark(ctx context.Context, sessionID string, m Mark) (int64, error) {
	var id int64
	err := db.read.QueryRowContext(ctx,
		"SELECT message FROM mark WHERE session = (SELECT id FROM session WHERE name = ?) AND name = ?", sessionID, string(m)).Scan(&id)
	if noRows(err) {
		return 0, nil
	}
	return id, db.explain(err)
}

// SetMark moves m forward to a message, durably; it never moves back.
// Errors: ErrNotFound.
func (db *DB) SetMark(ctx context.Context, sessionID string, m Mark, messageID int64) error {
	err := db.update(ctx, true, func(t *engine.Tx) error {
		var session int64
		if err := t.Row("SELECT id FROM session WHERE name = ?", []any{sessionID}, &session); err != nil {
			if noRows(err) {
				return ErrNotFound
			}
			return err
		}
		return t.Exec("INSERT INTO mark (session, name, message) VALUES (?, ?, ?) ON CONFLICT (session, name) DO UPDATE SET message = max(message, excluded.message)",
			session, string(m), messageID)
	})
	if err != nil {
		return fmt.Errorf("mark %s of %s: %w", m, sessionID, err)
	}
	return nil
}
