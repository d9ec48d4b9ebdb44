package transcript

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// FileSize is how much the archive takes, in bytes: its file, without the log
// beside it, which comes and goes.
func (db *DB) FileSize(ctx context.Context) (n int64, err error) {
	return db.pages(ctx, "page_count")
}

// NetSize is what FileSize would be were the archive written anew: without what
// was freed in it.
func (db *DB) NetSize(ctx context.Context) (n int64, err error) {
	return db.pages(ctx, "page_count - freelist_count")
}

func (db *DB) pages(ctx context.Context, what string) (n int64, err error) {
	if err := db.read.QueryRowContext(ctx, "SELECT ("+what+") * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size").Scan(&n); err != nil {
		return 0, fmt.Errorf("measure archive: %w", db.explain(err))
	}
	return n, nil
}

// Spare chooses the sessions whose removal makes about so many bytes of room: of
// those that can be read again from a file that is there, the ones that were last
// active longest ago. gone also takes those that are only here. Databases of
// agents are no proof that a session is still in them.
func (db *DB) Spare(ctx context.Context, room int64, gone bool) (Chosen, error) {
	all, err := db.sessions(ctx, "ORDER BY active, id")
	if err != nil {
		return Chosen{}, fmt.Errorf("make room: %w", err)
	}
	size, err := db.NetSize(ctx)
	if err != nil {
		return Chosen{}, err
	}
	var text int64
	if err := db.read.QueryRowContext(ctx, "SELECT coalesce(sum(text), 0) FROM session").Scan(&text); err != nil {
		return Chosen{}, fmt.Errorf("make room: %w", db.explain(err))
	}
	each := float64(size) / float64(max(1, text)) // bytes on the disk for a byte of text
	chosen := make(map[string]bool)
	left := float64(room)
	for _, s := range all {
		if left <= 0 {
			break
		}
		if !gone && !readable(s) {
			continue
		}
		var own int64
		if err := db.read.QueryRowContext(ctx, "SELECT text FROM session WHERE name = ?", s.ID).Scan(&own); err != nil {
			return Chosen{}, fmt.Errorf("make room: %w", db.explain(err))
		}
		chosen[s.ID] = true
		left -= float64(own) * each
	}
	var out Chosen
	out.Sessions = slices.DeleteFunc(all, func(s Session) bool { return !chosen[s.ID] })
	return out, db.measure(ctx, &out, chosen)
}

// readable tells whether the file that s was read from is there, and is a file of
// its own kind rather than a database.
func readable(s Session) bool {
	switch strings.ToLower(filepath.Ext(s.SourcePath)) {
	case ".db", ".sqlite", ".sqlite3", ".vscdb", ".db3":
		return false
	}
	info, err := os.Stat(cmp.Or(s.SourcePath, "/nowhere"))
	return s.SourcePath != "" && err == nil && info.Mode().IsRegular()
}
