package transcript

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
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
	all := make(map[string]*SourceCoverage)
	of := func(source string) *SourceCoverage {
		if all[source] == nil {
			all[source] = &SourceCoverage{Source: source}
		}
		return all[source]
	}
	sources, err := column[string](db.read.QueryContext(ctx, "SELECT source FROM session UNION SELECT source FROM file"))
	if err != nil {
		return nil, fmt.Errorf("coverage: %w", db.explain(err))
	}
	for _, source := range sources {
		c := of(source)
		if err := db.read.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(messages), 0) FROM session WHERE source = ?`, source).
			Scan(&c.Sessions, &c.Messages); err != nil {
			return nil, fmt.Errorf("coverage of %s: %w", source, db.explain(err))
		}
		files, err := db.files(ctx, source)
		if err != nil {
			return nil, fmt.Errorf("coverage of %s: %w", source, err)
		}
		for _, f := range files {
			c.Files++
			if f.gone {
				c.Gone++
			} else if f.pending() {
				c.Pending++
			}
			c.Unreadable = append(c.Unreadable, f.problems...)
		}
		slices.SortFunc(c.Unreadable, func(a, b Problem) int {
			return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
		})
	}
	var out []SourceCoverage
	for _, source := range sources {
		out = append(out, *all[source])
	}
	return out, nil
}

// pending tells whether the file has something that was not read.
func (r fileRow) pending() bool {
	if r.size == unread {
		return true
	}
	info, err := os.Stat(r.path)
	if err != nil {
		return false
	}
	if database(r.path) { // its size includes a log that comes and goes
		return info.ModTime().UnixNano() > r.modified
	}
	return info.Size() > r.size || info.ModTime().UnixNano() != r.modified
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
