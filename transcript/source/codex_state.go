package source

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// stateOf finds the newest of Codex's own indexes in home: state_5.sqlite, of
// which the number grows.
func stateOf(home string) (transcript.File, bool) {
	paths, err := filepath.Glob(filepath.Join(globSafe(home), "state_*.sqlite"))
	if err != nil {
		return transcript.File{}, false
	}
	newest, at := "", -1
	for _, path := range paths {
		digits := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "state_"), ".sqlite")
		if n, err := strconv.Atoi(digits); err == nil && n > at {
			newest, at = path, n
		}
	}
	if newest == "" {
		return transcript.File{}, false
	}
	return databaseAt(Codex{}.Name(), newest)
}

// isState recognises that index.
func isState(ctx context.Context, f *sniff) bool {
	return isDatabase(f.path) && f.holds(ctx, "threads", "id", "rollout_path", "title")
}

// readState takes the titles that people gave their threads from Codex's index.
// A title that only repeats the first prompt says nothing, and a thread whose
// rollout is not there is not made up from its title.
func readState(ctx context.Context, f transcript.File, from transcript.Cursor, sink transcript.Sink) error {
	return readStore(ctx, f, from, sink, "SELECT id, updated_at FROM threads", func(db *database, id string) (int, error) {
		cols, err := db.columns(ctx, "threads")
		if err != nil {
			return 0, err
		}
		var title, rollout, prompt sql.NullString
		if err := db.QueryRowContext(ctx, "SELECT "+pick(cols, "title", "rollout_path", "first_user_message")+" FROM threads WHERE id = ?", id).
			Scan(&title, &rollout, &prompt); err != nil {
			return 0, err
		}
		name := clean(strings.TrimSpace(title.String))
		if name == "" || strings.HasPrefix(strings.TrimSpace(prompt.String), strings.TrimRight(name, ".…")) {
			return 0, nil
		}
		path := rollout.String
		if _, err := os.Stat(path); err != nil || !filepath.IsAbs(path) {
			path += ".zst" // packed since
			if _, err := os.Stat(path); err != nil || !filepath.IsAbs(path) {
				return 0, nil
			}
		}
		return 1, sink.Session(transcript.Session{ID: codexID(id), Title: name, SourcePath: path})
	})
}
