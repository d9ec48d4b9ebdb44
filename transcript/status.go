package transcript

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
)

// A SourceCoverage says what the archive holds of one source.
type SourceCoverage struct {
	Source     string
	Files      int // known
	Gone       int // of those, not on disk any more: only here
	Sessions   int
	Messages   int
	Pending    int // files known to have bytes not yet read
	Unreadable []Problem
}

// Coverage says what is archived, pending and unreadable, by source.
func (db *DB) Coverage(ctx context.Context) ([]SourceCoverage, error) {
	sources, err := engine.Column[string](db.read.QueryContext(ctx, "SELECT source FROM session UNION SELECT source FROM file"))
	if err != nil {
		return nil, fmt.Errorf("coverage: %w", db.explain(err))
	}
	var out []SourceCoverage
	for _, source := range sources {
		known, err := db.writer.Known(ctx, source)
		if err != nil {
			return nil, fmt.Errorf("coverage of %s: %w", source, err)
		}
		c := SourceCoverage{Source: source, Files: known.Files, Gone: known.Gone, Pending: known.Pending, Unreadable: known.Problems}
		if err := db.read.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(messages), 0) FROM session WHERE source = ?`, source).
			Scan(&c.Sessions, &c.Messages); err != nil {
			return nil, fmt.Errorf("coverage of %s: %w", source, db.explain(err))
		}
		out = append(out, c)
	}
	return out, nil
}

// Seen counts the sessions and messages that db's reader sees, by source; files,
// whose they may be is not known, are left out.
func (db *DB) Seen(ctx context.Context) (out []SourceCoverage, err error) {
	rows, err := db.read.QueryContext(ctx, "SELECT source, user, chat, count(*), coalesce(sum(messages), 0) FROM session GROUP BY source, user, chat ORDER BY source")
	if err != nil {
		return nil, fmt.Errorf("count what is seen: %w", db.explain(err))
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var source, user, chat string
		var sessions, messages int
		if err := rows.Scan(&source, &user, &chat, &sessions, &messages); err != nil {
			return nil, fmt.Errorf("count what is seen: %w", err)
		}
		if !db.reader.sees(source, user, chat) {
			continue
		}
		if len(out) == 0 || out[len(out)-1].Source != source {
			out = append(out, SourceCoverage{Source: source})
		}
		out[len(out)-1].Sessions += sessions
		out[len(out)-1].Messages += messages
	}
	return out, rows.Err()
}

// Sizes says what the archive weighs, in bytes.
type Sizes struct {
	Text  int64 // UTF-8 of content, reasoning, tool arguments and results
	DB    int64 // file and WAL
	Index int64 // of that, the full-text index and the words for spelling
}

// Sizes measures the archive; it walks page lists, so it is for status and bench.
func (db *DB) Sizes(ctx context.Context) (Sizes, error) {
	var s Sizes
	err := errors.Join(
		db.read.QueryRowContext(ctx, "SELECT coalesce(sum(text), 0) FROM session").Scan(&s.Text),
		db.read.QueryRowContext(ctx, "SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE aggregate = 1 AND (name LIKE 'message_fts%' OR name = 'term')").Scan(&s.Index),
	)
	for _, suffix := range []string{"", "-wal"} {
		info, statErr := os.Stat(db.sqlite.Path + suffix)
		if statErr == nil {
			s.DB += info.Size()
		} else if !os.IsNotExist(statErr) {
			err = errors.Join(err, statErr)
		}
	}
	if err != nil {
		return s, fmt.Errorf("measure archive: %w", db.explain(err))
	}
	return s, nil
}

// Unread returns those of files of a source that were not read to their end as
// they are now.
func (db *DB) Unread(ctx context.Context, source string, files []File) ([]File, error) {
	out, err := db.writer.Unread(ctx, source, files)
	if err != nil {
		return nil, fmt.Errorf("what is not archived of %s: %w", source, err)
	}
	return out, nil
}
