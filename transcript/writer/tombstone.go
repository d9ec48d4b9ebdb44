package writer

import (
	"errors"

	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
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

// buried tells whether a message that is not in the archive was forgotten as
// part of another session, whose history this one repeats.
func (s *store) buried(d *draft, key int64) (gone bool, err error) {
	if len(s.graves) == 0 || !d.Global {
		return false, nil
	}
	err = s.Row("SELECT EXISTS (SELECT 1 FROM tombstone_message WHERE key = ?)", []any{key}, &gone)
	s.read.dropped = s.read.dropped || gone
	return gone, err
}

// ErrForgotten is returned for a session that was forgotten.
var ErrForgotten = errors.New("the session was forgotten, and is not taken again")
