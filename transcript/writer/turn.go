package writer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
	"github.com/hermes-mcp/hermes-mcp/transcript/record"
)

// ErrOthers is returned for a session that belongs to another user or chat.
var ErrOthers = errors.New("the session is another's")

// Turn adds one turn to the session s, which it makes when there is none: what
// the user said, and what came of it. The turn that is the session's latest is
// not added again, since a client that had no answer tells it twice: added is
// then false. It is durable when it returns. Errors: ErrOthers when the session
// has another user or chat, ErrForgotten.
func (w *Writer) Turn(ctx context.Context, s record.Session, text, outcome string, at time.Time) (added bool, err error) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d:%s%s", len(text), text, outcome))
	pair := hex.EncodeToString(sum[:16]) + "-"
	err = w.sqlite.Update(ctx, true, func(t *engine.Tx) error {
		st, err := newStore(t)
		if err != nil {
			return err
		}
		if st.graves[s.ID] {
			return ErrForgotten
		}
		last, err := st.latestOf(s)
		if added = !strings.HasPrefix(last, pair); err != nil || !added {
			return err
		}
		uid := pair + strconv.FormatInt(st.rev, 10) // no other turn of this archive has it
		in := newIntake(s.Source(), "", w.mask, func(b *batch) error {
			if err := prepareAll(b.drafts); err != nil {
				return err
			}
			return st.write(b, newReading(false))
		})
		if err := errors.Join(in.Session(s),
			in.Message(record.Message{SessionID: s.ID, UID: uid, Role: record.UserRole, Content: text, At: at}),
			in.Message(record.Message{SessionID: s.ID, UID: uid + "-outcome", ParentUID: uid, Role: record.Assistant, Content: outcome, At: at}),
			in.flush()); err != nil {
			return err
		}
		return st.finish()
	})
	if err != nil {
		return false, fmt.Errorf("add a turn to %s: %w", s.ID, err)
	}
	return added, nil
}

// latestOf is the uid of the last message of s, "" when there is none. Errors:
// ErrOthers.
func (s *store) latestOf(of record.Session) (uid string, err error) {
	var row, id int64
	var user, chat string
	err = s.Row("SELECT id, user, chat FROM session WHERE name = ?", []any{of.ID}, &row, &user, &chat)
	switch {
	case noRows(err):
		return "", nil
	case err != nil:
		return "", err
	case user != of.User || chat != of.Chat:
		return "", ErrOthers
	}
	err = s.Row("SELECT id FROM message WHERE session = ? ORDER BY seq DESC LIMIT 1", []any{row}, &id)
	if noRows(err) {
		return "", nil
	}
	var m record.Message
	if err == nil {
		_, err = s.load(id, &m)
	}
	return m.UID, err
}
