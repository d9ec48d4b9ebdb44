package transcript

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Recorded is the source of sessions that clients record turn by turn.
const Recorded = "recorded"

// Record adds one turn to a recorded session, durably: what the user said, and
// what came of it. A turn that says the same is in a session once: added is then
// 0. Errors: ErrNotFound when the session is another's, ErrForgotten.
func (db *DB) Record(ctx context.Context, s Session, text, outcome string) (added int, err error) {
	var user, chat string
	err = db.read.QueryRowContext(ctx, "SELECT user, chat FROM session WHERE name = ?", s.ID).Scan(&user, &chat)
	switch {
	case err != nil && !noRows(err):
		return 0, fmt.Errorf("record in %s: %w", s.ID, db.explain(err))
	case err == nil && (user != s.User || chat != s.Chat):
		return 0, fmt.Errorf("record in %s: %w", s.ID, ErrNotFound)
	}
	sum := sha256.Sum256([]byte(text))
	turn := hex.EncodeToString(sum[:16])
	now := db.now()
	added, err = db.writer.Masking(db.Mask).Add(ctx, s, []Message{
		{UID: turn, Role: UserRole, Content: text, At: now},
		{UID: turn + "-outcome", ParentUID: turn, Role: Assistant, Content: outcome, At: now},
	})
	if err != nil {
		return 0, fmt.Errorf("record in %s: %w", s.ID, err)
	}
	return added, nil
}
