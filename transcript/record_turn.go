package transcript

import (
	"context"
	"errors"
	"fmt"

	"github.com/hermes-mcp/hermes-mcp/transcript/writer"
)

// Recorded is the source of sessions that clients record turn by turn.
const Recorded = "recorded"

// Record adds one turn to a recorded session, durably: what the user said, and
// what came of it. The session's latest turn told again is not added, since that
// is a client's second try: added is then false. Errors: ErrNotFound when the
// session is another's, ErrForgotten.
func (db *DB) Record(ctx context.Context, s Session, text, outcome string) (added bool, err error) {
	added, err = db.writer.Masking(db.Mask).Turn(ctx, s, text, outcome, db.now())
	if errors.Is(err, writer.ErrOthers) {
		err = ErrNotFound
	}
	if err != nil {
		return false, fmt.Errorf("record in %s: %w", s.ID, err)
	}
	return added, nil
}
