package transcript

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
	"github.com/hermes-mcp/hermes-mcp/transcript/record"
)

// A Window selects a piece of a session.
type Window struct {
	Around int64 // message id; 0 means from From
	Before int   // how many before Around; with Around 0, unused
	After  int   // how many after Around, or from From; 0 with Around 0 means all
	From   int   // with Around 0: how many are passed over; -n begins with the last n
}

// membersOf lists a session's messages, its own and those it shares, in order.
const membersOf = `SELECT seq, id FROM message WHERE session = ?1 UNION ALL SELECT seq, message FROM member WHERE session = ?1`

// A Piece is part of a session, with how many messages stand before and after it.
type Piece struct {
	Messages      []Message
	Before, After int
}

// Messages returns a piece of a session in order, with how many messages stand
// before and after the piece. Errors: ErrNotFound when there is no such session
// or Around is not in it.
func (db *DB) Messages(ctx context.Context, sessionID string, w Window) (msgs []Message, before, after int, err error) {
	pieces, err := db.Pieces(ctx, sessionID, w)
	if err != nil {
		return nil, 0, 0, err
	}
	return pieces[0].Messages, pieces[0].Before, pieces[0].After, nil
}

// Pieces returns several pieces of a session, as Messages does each, and reads
// what they have in common once. Errors: those of Messages.
func (db *DB) Pieces(ctx context.Context, sessionID string, ws ...Window) ([]Piece, error) {
	pieces, err := db.windows(ctx, sessionID, ws)
	if err != nil {
		return nil, fmt.Errorf("messages of %s: %w", sessionID, db.explain(err))
	}
	return pieces, nil
}

func (db *DB) windows(ctx context.Context, sessionID string, ws []Window) ([]Piece, error) {
	var session int64
	var source, user, chat string
	err := db.often.Row(ctx, "SELECT id, source, user, chat FROM session WHERE name = ?", []any{sessionID}, &session, &source, &user, &chat)
	if noRows(err) || err == nil && !db.reader.sees(source, user, chat) {
		err = ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	ids, err := engine.Column[int64](db.often.Query(ctx, "SELECT id FROM ("+membersOf+") ORDER BY seq, id", session))
	if err != nil {
		return nil, err
	}
	var wanted []int64
	spans := make([][2]int, len(ws))
	known := make(map[int64]int, len(ids)) // index in wanted
	for i, w := range ws {
		from, to, err := w.of(ids)
		if err != nil {
			return nil, err
		}
		spans[i] = [2]int{from, to}
		for _, id := range ids[from:to] {
			if _, ok := known[id]; !ok {
				known[id] = len(wanted)
				wanted = append(wanted, id)
			}
		}
	}
	msgs, err := db.load(ctx, wanted)
	if err != nil {
		return nil, err
	}
	if len(msgs) != len(wanted) {
		return nil, fmt.Errorf("%d of %d messages are missing: %w", len(wanted)-len(msgs), len(wanted), ErrDamaged)
	}
	out := make([]Piece, len(ws))
	for i, s := range spans {
		out[i] = Piece{Messages: make([]Message, 0, s[1]-s[0]), Before: s[0], After: len(ids) - s[1]}
		for seq := s[0]; seq < s[1]; seq++ {
			m := msgs[known[ids[seq]]]
			m.Seq = seq
			out[i].Messages = append(out[i].Messages, m)
		}
	}
	return out, nil
}

// of tells which of a session's messages w selects, from one to before another.
func (w Window) of(ids []int64) (from, to int, err error) {
	to = len(ids)
	if w.Around != 0 {
		at := slices.Index(ids, w.Around)
		if at < 0 {
			return 0, 0, fmt.Errorf("message %d: %w", w.Around, ErrNotFound)
		}
		return max(0, at-max(0, w.Before)), min(to, at+max(0, w.After)+1), nil
	}
	if from = min(w.From, to); from < 0 {
		from = max(0, to+w.From)
	}
	if w.After > 0 && w.After < to-from {
		to = from + w.After
	}
	return from, to, nil
}

// load reads messages by id, in the order of ids; unknown ids are left out.
// SessionID is the owner's, Seq is not set.
func (db *DB) load(ctx context.Context, ids []int64) (out []Message, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := db.often.Query(ctx, `SELECT m.id, s.name, m.key, m.at, m.role, m.flags,
			coalesce(c.model, ''), coalesce(c.dir, ''), coalesce(c.branch, ''), m.body
		FROM json_each(?) j CROSS JOIN message m ON m.id = j.value
		JOIN session s ON s.id = m.session LEFT JOIN context c ON c.id = m.context ORDER BY j.key`, jsonIDs(ids))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	out = make([]Message, 0, len(ids))
	for rows.Next() {
		var m Message
		var flags int64
		var body []byte
		if err := rows.Scan(&m.ID, &m.SessionID, &m.Key, record.ScanTime(&m.At), &m.Role, &flags, &m.Model, &m.Dir, &m.Branch, &body); err != nil {
			return nil, err
		}
		record.SetFlags(&m, flags)
		if err := record.DecodeBody(body, &m); err != nil {
			return nil, fmt.Errorf("message %d: %w", m.ID, err)
		}
		out = append(out, m)
	}
	return out, rows.Err()
}

// jsonIDs writes ids as a JSON list, for json_each.
func jsonIDs(ids []int64) string {
	b := []byte{'['}
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Append(b, id)
	}
	return string(append(b, ']'))
}
