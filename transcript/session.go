package transcript

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
)

// sessionColumns are the columns that sessionFields scans, in order.
const sessionColumns = `name, parent, relation, title, project, dir, branch, model, surface, user, version,
	started, ended, active, end_reason, path, gone, messages, preview`

func sessionFields(s *Session) []any {
	return []any{&s.ID, &s.ParentID, &s.Relation, &s.Title, &s.Project, &s.Dir, &s.Branch, &s.Model, &s.Surface, &s.User, &s.Version,
		stamp{&s.StartedAt}, stamp{&s.EndedAt}, stamp{&s.LastActive}, &s.EndReason, &s.SourcePath, &s.SourceGone, &s.Messages, &s.Preview}
}

// A stamp scans a column of Unix milliseconds.
type stamp struct{ t *time.Time }

// Scan implements sql.Scanner.
func (s stamp) Scan(v any) error {
	ms, ok := v.(int64)
	if !ok {
		return fmt.Errorf("time column holds %T", v)
	}
	*s.t = fromMillis(ms)
	return nil
}

// cutID splits a session id at its first colon; without one, source is "".
func cutID(id string) (source, bare string, ok bool) {
	source, bare, ok = strings.Cut(id, ":")
	if !ok {
		return "", id, false
	}
	return source, bare, true
}

// titleText is the title of a session and the name of its project.
func titleText(s *Session) string {
	project := s.Project
	if project == "" {
		project = s.Dir
	}
	text := s.Title
	if project != "" {
		text += "\n" + path.Base(strings.ReplaceAll(project, `\`, "/"))
	}
	return strings.TrimSpace(text)
}

// Session returns the session with id: "<source>:<id>", a bare id, or a unique
// prefix of either. Errors: ErrNotFound, ErrAmbiguous.
func (db *DB) Session(ctx context.Context, id string) (Session, error) {
	id = strings.TrimSpace(id)
	if id == "" {
		return Session{}, fmt.Errorf("session %q: %w", id, ErrNotFound)
	}
	// From exact to vague; the first that finds anything decides.
	for _, where := range []string{
		"name = ?1", "bare = ?1",
		"name >= ?1 AND name < ?1 || char(1114111)", "bare >= ?1 AND bare < ?1 || char(1114111)",
	} {
		found, err := db.sessions(ctx, "WHERE "+where+" LIMIT 4", id)
		switch {
		case err != nil:
			return Session{}, fmt.Errorf("session %q: %w", id, err)
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			var names []string
			for _, s := range found {
				names = append(names, s.ID)
			}
			return Session{}, fmt.Errorf("%w: %q fits %s; use more of the id", ErrAmbiguous, id, strings.Join(names, ", "))
		}
	}
	return Session{}, fmt.Errorf("session %q: %w", id, ErrNotFound)
}

// sessions runs a query for whole sessions; rest begins after the table.
func (db *DB) sessions(ctx context.Context, rest string, args ...any) (out []Session, err error) {
	rows, err := db.read.QueryContext(ctx, "SELECT "+sessionColumns+" FROM session "+rest, args...)
	if err != nil {
		return nil, db.explain(err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var s Session
		if err := rows.Scan(sessionFields(&s)...); err != nil {
			return nil, err
		}
		out = append(out, s)
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
		related, err := column[string](db.read.QueryContext(ctx,
			"SELECT name FROM session WHERE root = (SELECT root FROM session WHERE name = ?) ORDER BY id", id))
		if err != nil {
			return nil, fmt.Errorf("lineage of %s: %w", id, db.explain(err))
		}
		for _, r := range related {
			if !seen[r] {
				seen[r] = true
				out = append(out, r)
			}
		}
	}
	return out, nil
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
