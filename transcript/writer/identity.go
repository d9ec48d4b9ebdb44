package writer

import (
	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
	"github.com/hermes-mcp/hermes-mcp/transcript/record"
)

// identify returns the key of a draft and the id of the message that the
// archive holds under it, or 0.
func (s *store) identify(sess *sessionRow, d *draft) (key, id int64, err error) {
	d.told, d.adopts = false, false // of a try before
	if d.Key != 0 {                 // it comes from an archive that knew
		id, err = s.byKey(d.Key)
		return d.Key, id, err
	}
	mixed := sess.keyed|keyedBit(&d.Message) == keyedBoth
	if d.UID != "" {
		key = keyOf(uidName(&d.Message))
		if id, err = s.byKey(key); err != nil || id != 0 {
			return key, id, err
		}
		if d.Was != "" {
			if id, err = s.byKey(keyOf(d.SessionID + "\x00" + d.Was)); err != nil || id != 0 {
				d.told = true
				return key, id, err
			}
		}
		if d.Twin {
			return s.twin(sess, d, key)
		}
		if !mixed {
			return key, 0, nil
		}
		return s.adopt(sess, d, key)
	}
	k := nthKey{d.SessionID, d.sum}
	if _, ok := s.read.base[k]; s.read.onward && !ok {
		if s.read.base[k], err = s.equals(sess, d, mixed); err != nil {
			return 0, 0, err
		}
	}
	nth := s.read.base[k] + d.nth
	key = hashedKey(d.SessionID, d.sum, nth)
	if id, err = s.byKey(key); err != nil || id != 0 || !mixed {
		return key, id, err
	}
	twins, err := s.twinsOf(sess)
	if err == nil && nth < len(twins[d.sum]) {
		id = twins[d.sum][nth]
	}
	return key, id, err
}

func (s *store) byKey(key int64) (id int64, err error) {
	err = s.Row("SELECT id FROM message WHERE key = ?", []any{key}, &id)
	if noRows(err) {
		err = nil
	}
	return id, err
}

// equals counts the messages of sess that say what d says.
func (s *store) equals(sess *sessionRow, d *draft, mixed bool) (int, error) {
	if mixed {
		twins, err := s.twinsOf(sess)
		return len(twins[d.sum]), err
	}
	for n := 0; ; n++ {
		id, err := s.byKey(hashedKey(d.SessionID, d.sum, n))
		if err != nil || id == 0 {
			return n, err
		}
	}
}

// adopt gives a message without an id, which says what d says, the id of d:
// one session was read from two places.
func (s *store) adopt(sess *sessionRow, d *draft, key int64) (int64, int64, error) {
	twins, err := s.twinsOf(sess)
	if err != nil {
		return 0, 0, err
	}
	for n := range twins[d.sum] {
		id, err := s.byKey(hashedKey(d.SessionID, d.sum, n))
		if err != nil {
			return 0, 0, err
		}
		if id != 0 {
			return key, id, s.Exec("UPDATE message SET key = ? WHERE id = ?", key, id)
		}
	}
	return key, 0, nil
}

// twinsOf returns the messages of sess by what they say, in order, for a
// session that is known with ids from one place and without from another.
func (s *store) twinsOf(sess *sessionRow) (map[int64][]int64, error) {
	if t, ok := s.twins[sess.id]; ok {
		return t, nil
	}
	t := make(map[int64][]int64)
	err := s.eachOf(sess, func(id int64, m *record.Message) {
		sum := contentSum(m)
		t[sum] = append(t[sum], id)
	})
	if err != nil {
		return nil, err
	}
	s.twins[sess.id] = t
	return t, nil
}

// eachOf loads the messages of sess that are its own, in order.
func (s *store) eachOf(sess *sessionRow, do func(id int64, m *record.Message)) error {
	st, err := s.Stmt("SELECT id FROM message WHERE session = ? ORDER BY seq")
	if err != nil {
		return err
	}
	ids, err := engine.Column[int64](st.QueryContext(s.Ctx, sess.id))
	if err != nil {
		return err
	}
	for _, id := range ids {
		var m record.Message
		if _, err := s.load(id, &m); err != nil {
			return err
		}
		do(id, &m)
	}
	return nil
}

const keyedBoth = 3

func keyedBit(m *record.Message) int64 {
	if m.UID != "" {
		return 1
	}
	return 2
}
