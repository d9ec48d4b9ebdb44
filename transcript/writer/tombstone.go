package writer

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
	"github.com/hermes-mcp/hermes-mcp/transcript/record"
)

// gravesOf returns the names of the sessions that were forgotten.
func gravesOf(t *engine.Tx) (map[string]bool, error) {
	st, err := t.Stmt("SELECT name FROM tombstone")
	if err != nil {
		return nil, err
	}
	names, err := engine.Column[string](st.QueryContext(t.Ctx))
	if err != nil || len(names) == 0 {
		return nil, err
	}
	graves := make(map[string]bool, len(names))
	for _, name := range names {
		graves[name] = true
	}
	return graves, nil
}

// forgotten tells whether the session of that name was forgotten, and notes that
// what is read holds it.
func (s *store) forgotten(name string) bool {
	if !s.graves[name] {
		return false
	}
	s.read.dropped = true
	return true
}

// An echo of a message says what it says at the same time, whatever session and
// id it is told under; where no time is known, behind the same message.
func echoOf(source string, m *record.Message, sum, before int64) int64 {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], uint64(sum))
	if !m.At.IsZero() {
		binary.LittleEndian.PutUint64(b[8:], uint64(record.Millis(m.At)))
		return keyOf(source, "@", string(b[:]))
	}
	binary.LittleEndian.PutUint64(b[8:], uint64(before))
	return keyOf(source, ">", string(b[:]))
}

// titleKey is how the title of a forgotten session is known again.
func titleKey(source, title string) int64 { return keyOf(source, "title", title) }

// gone tells whether d, of which the archive holds nothing, was forgotten as part
// of another session, whose history this one repeats. rest are the drafts behind
// it.
func (s *store) gone(d *draft, rest []*draft) (bool, error) {
	if len(s.graves) == 0 || s.read.revive {
		return false, nil
	}
	before, told := s.read.before[d.SessionID]
	if !told && s.read.onward {
		before = unknownBefore
	}
	s.read.before[d.SessionID] = d.sum
	hit, err := s.buried(d, before)
	if d.UID != "" && s.read.lost[keyOf(uidName(&d.Message))] { // more of a message that was left out
		hit, told = true, true
	}
	if err != nil || !hit {
		return false, err
	}
	if d.At.IsZero() && !told && !d.Global {
		// A new session may well begin with words that were said before.
		for _, next := range rest {
			if next.SessionID != d.SessionID {
				continue
			}
			if hit, err = s.buried(next, d.sum); err != nil || !hit {
				return false, err
			}
			break
		}
	}
	sess, err := s.lookup(d.SessionID)
	if err != nil {
		return false, err
	}
	if sess == nil {
		sess = &sessionRow{Session: record.Session{ID: d.SessionID}}
	}
	if _, id, err := s.identify(sess, d); err != nil || id != 0 {
		return false, err
	}
	s.read.dropped = true
	s.read.repeats[d.SessionID] = true
	if d.UID != "" {
		s.read.lost[keyOf(uidName(&d.Message))] = true
	}
	s.buriedNow++
	return true, nil
}

// unknownBefore stands for a message that nothing is known of.
const unknownBefore = -1

// buried tells whether a message was forgotten that is d, or that d is an echo of.
func (s *store) buried(d *draft, before int64) (bool, error) {
	source, _, _ := record.CutID(d.SessionID)
	keys := []int64{echoOf(source, &d.Message, d.sum, before)}
	switch {
	case d.Key != 0:
		keys = append(keys, d.Key)
	case d.Global:
		keys = append(keys, keyOf(uidName(&d.Message)))
	}
	for _, key := range keys {
		if hit, err := s.inGrave(key); err != nil || hit {
			return hit, err
		}
	}
	return false, nil
}

func (s *store) inGrave(key int64) (hit bool, err error) {
	err = s.Row("SELECT EXISTS (SELECT 1 FROM tombstone_message WHERE key = ?)", []any{key}, &hit)
	return hit, err
}

// announce takes in what is told of a session. Once something was forgotten, a
// session that is not there yet waits for a message that was not: its title may
// be that of what was.
func (s *store) announce(told *record.Session) error {
	if len(s.graves) > 0 {
		r, err := s.lookup(told.ID)
		if err != nil {
			return err
		}
		if r == nil && s.read.withheld != nil {
			w, ok := s.read.withheld[told.ID]
			if !ok {
				s.read.withheld[told.ID] = *told
				return nil
			}
			record.UnionSession(&w, told)
			w.SourceGone = w.SourceGone || told.SourceGone
			s.read.withheld[told.ID] = w
			return nil
		}
		if told.Title != "" && s.read.repeats[told.ID] {
			hit, err := s.inGrave(titleKey(told.Source(), told.Title))
			if err != nil {
				return err
			}
			if hit {
				told.Title = ""
			}
		}
	}
	r, err := s.session(told.ID)
	if err != nil {
		return err
	}
	if r.fresh && told.SourceGone { // told by an export
		r.SourceGone = true
	}
	if s.imports && !r.fresh {
		r.changed = unionKept(&r.Session, told) || r.changed
		return nil
	}
	r.changed = record.UnionSession(&r.Session, told) || r.changed
	return nil
}

// release takes in what was told of a session that is there now.
func (s *store) release(r *sessionRow) {
	w, ok := s.read.withheld[r.ID]
	if !ok {
		return
	}
	delete(s.read.withheld, r.ID)
	if s.read.repeats[r.ID] {
		w.Title = "" // of what was forgotten
	}
	r.SourceGone = r.SourceGone || w.SourceGone
	record.UnionSession(&r.Session, &w)
}

// releaseAll takes in, at the end of a reading, the sessions in which nothing was
// said, unless they only repeat what was forgotten.
func (s *store) releaseAll(read *reading) error {
	s.read = read
	for _, id := range slices.Sorted(maps.Keys(read.withheld)) {
		told := read.withheld[id]
		hit := read.repeats[id]
		if told.Title != "" && !hit {
			var err error
			if hit, err = s.inGrave(titleKey(told.Source(), told.Title)); err != nil {
				return err
			}
		}
		if hit {
			delete(read.withheld, id)
			continue
		}
		if _, err := s.session(id); err != nil {
			return err
		}
	}
	return nil
}

// ErrForgotten is returned for a session that was forgotten.
var ErrForgotten = errors.New("the session was forgotten, and is not taken again")
