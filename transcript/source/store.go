package source

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// storeState is how far a store was read: the sessions changed since then are
// read again, whole.
type storeState struct {
	Updated int64 `json:"updated"`
}

// readStore calls fn with each session that changed since from, and marks the
// store as read. The query gives id and time of the last change, in whatever
// form; sessions without one are always read.
func readStore(ctx context.Context, f transcript.File, from transcript.Cursor, sink transcript.Sink, query string, fn func(db *database, id string) (int, error)) error {
	db, err := openDatabase(ctx, f.Path)
	if err != nil {
		return err
	}
	defer db.Close()
	var st storeState
	if !state(from, &st) {
		st = storeState{}
	}
	latest := st.Updated
	var ids []string
	err = db.rowsOf(ctx, func(scan func(...any) error) error {
		var id string
		var updated sql.NullString
		if err := scan(&id, &updated); err != nil {
			return err
		}
		at := parseTime(updated.String)
		if at.IsZero() || at.UnixMilli() >= st.Updated {
			ids = append(ids, id)
		}
		if !at.IsZero() {
			latest = max(latest, at.UnixMilli())
		}
		return nil
	}, query)
	if err != nil {
		return err
	}
	count := 0
	for _, id := range ids {
		n, err := fn(db, id)
		if err != nil {
			return fmt.Errorf("session %s: %w", id, err)
		}
		count += n
	}
	if err := db.settled(); err != nil {
		return err
	}
	raw, err := marshal(storeState{Updated: latest})
	if err != nil {
		return err
	}
	return sink.Mark(transcript.Cursor{Offset: 1, State: raw}, transcript.Tally{Lines: count, Objects: count})
}
