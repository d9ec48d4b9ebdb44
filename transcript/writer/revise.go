package writer

import (
	"maps"

	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
	"github.com/hermes-mcp/hermes-mcp/transcript/index"
	"github.com/hermes-mcp/hermes-mcp/transcript/record"
)

// A reading is what one pass over one file has come across, kept from batch to
// batch.
type reading struct {
	onward bool           // it began where an earlier one had ended
	base   map[nthKey]int // equal messages that an earlier reading had stored
	last   map[string]int // by session, how far in it the reading has come
	// dropped says that something was delivered which is forgotten.
	dropped bool
	// What follows is kept only once something was forgotten.
	revive   bool                      // it is to come back
	repeats  map[string]bool           // sessions that hold something of it
	lost     map[int64]bool            // messages that were left out, by key
	before   map[string]int64          // by session, what the last message said
	withheld map[string]record.Session // not there yet; nil where none are to wait
}

func newReading(onward bool) *reading {
	return &reading{onward: onward, base: make(map[nthKey]int), last: make(map[string]int),
		repeats: make(map[string]bool), lost: make(map[int64]bool), before: make(map[string]int64)}
}

// withholding lets sessions wait that nothing is known of but their names and
// titles.
func (r *reading) withholding() *reading {
	r.withheld = make(map[string]record.Session)
	return r
}

func (r *reading) clone() *reading {
	c := *r
	c.base, c.last = maps.Clone(r.base), maps.Clone(r.last)
	c.repeats, c.lost, c.before, c.withheld = maps.Clone(r.repeats), maps.Clone(r.lost), maps.Clone(r.before), maps.Clone(r.withheld)
	return &c
}

// begin notes where in sess the reading begins.
func (r *reading) begin(sess *sessionRow) {
	if _, ok := r.last[sess.ID]; ok {
		return
	}
	r.last[sess.ID] = -1
	if r.onward {
		r.last[sess.ID] = sess.Messages - 1
	}
}

func (r *reading) reached(sess *sessionRow, seq int) {
	r.last[sess.ID] = max(r.last[sess.ID], seq)
}

// A revision sets a flag on messages of a session that were delivered before:
// all, or those from uid on.
type revision struct {
	after        int // drafts of the batch
	session, uid string
	bit          int64
}

// revise carries out r on the messages that this reading has passed; what an
// earlier reading found behind them is not touched. Copied messages belong to
// another session and keep their state.
func (s *store) revise(r revision) error {
	sess, err := s.lookup(r.session)
	if err != nil || sess == nil {
		return err
	}
	s.read.begin(sess)
	from := 0
	if r.uid != "" {
		for _, global := range []bool{false, true} {
			m := record.Message{SessionID: r.session, UID: r.uid, Global: global}
			err := s.Row("SELECT seq FROM message WHERE key = ? AND session = ?", []any{keyOf(uidName(&m)), sess.id}, &from)
			if err == nil {
				break
			}
			if !noRows(err) {
				return err
			}
			from = -1
		}
		if from < 0 {
			return nil
		}
	}
	st, err := s.Stmt("UPDATE message SET flags = flags | ?1 WHERE session = ?2 AND seq BETWEEN ?3 AND ?4 AND flags & ?1 = 0 RETURNING id")
	if err != nil {
		return err
	}
	ids, err := engine.Column[int64](st.QueryContext(s.Ctx, r.bit, sess.id, from, s.read.last[r.session]))
	if err != nil {
		return err
	}
	sess.changed = sess.changed || len(ids) > 0
	return s.flagSlots(sess.id, ids, r.bit)
}

// flagSlots marks the slots of messages as their flags were.
func (s *store) flagSlots(session int64, ids []int64, bit int64) error {
	mark := byte(index.BitOffPath)
	if bit == record.FlagCompacted {
		mark = index.BitCompacted
	}
	for len(ids) > 0 {
		b, n := &block{id: ids[0] / index.BlockSlots, session: session}, 0
		open, ok := s.blocks[session]
		if ok && open.id == b.id {
			b = open
		} else if err := s.Row("SELECT slots FROM block WHERE id = ?", []any{b.id}, &b.slots); err != nil {
			return err
		}
		for ; n < len(ids) && ids[n]/index.BlockSlots == b.id; n++ {
			b.slots[int(ids[n]%index.BlockSlots)*index.SlotSize] |= mark
		}
		ids = ids[n:]
		if b != open {
			if err := s.writeBlock(b); err != nil {
				return err
			}
		}
	}
	return nil
}
