package writer

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript/record"
)

// A said is a message of a session that is known from two places, of which one
// has no ids.
type said struct {
	id   int64
	made bool // its id is one that the source made of what it says
}

// twin finds the message of sess that d is, told by the other place under another
// id. One with an id of its own takes the place of one without.
func (s *store) twin(sess *sessionRow, d *draft, key int64) (int64, int64, error) {
	all, err := s.saidIn(sess)
	if err != nil {
		return 0, 0, err
	}
	these := all[spokenSum(&d.Message)]
	if n, made := madeID(d.UID); made {
		if n >= len(these) {
			return key, 0, nil
		}
		d.told = true
		return key, these[n].id, nil
	}
	for i := range these {
		if these[i].made {
			these[i].made, d.adopts = false, true
			return key, these[i].id, s.Exec("UPDATE message SET key = ? WHERE id = ?", key, these[i].id)
		}
	}
	return key, 0, nil
}

// saidIn returns the messages of sess by what they say, in order.
func (s *store) saidIn(sess *sessionRow) (map[int64][]said, error) {
	if t, ok := s.said[sess.id]; ok {
		return t, nil
	}
	t := make(map[int64][]said)
	err := s.eachOf(sess, func(id int64, m *record.Message) {
		sum := spokenSum(m)
		_, made := madeID(m.UID)
		t[sum] = append(t[sum], said{id, made})
	})
	if err != nil {
		return nil, err
	}
	s.said[sess.id] = t
	return t, nil
}

// madeID tells whether a source made uid of what the message says, and how many
// equal ones came before it.
func madeID(uid string) (before int, made bool) {
	rest, ok := strings.CutPrefix(uid, "h")
	hash, count, dot := strings.Cut(rest, ".")
	if !ok || !dot {
		return 0, false
	}
	if _, err := strconv.ParseUint(hash, 16, 64); err != nil {
		return 0, false
	}
	n, err := strconv.Atoi(count)
	return n - 1, err == nil && n > 0
}

// spokenSum hashes what a message says, whatever ids its calls have and however
// it is spaced.
func spokenSum(m *record.Message) int64 {
	text := m.Content
	if text == "" {
		text = m.Reasoning
	}
	parts := []string{string(m.Role), strings.Join(strings.Fields(text), " ")}
	for _, c := range m.ToolCalls {
		args := string(c.Args)
		var v any
		if json.Unmarshal(c.Args, &v) == nil {
			if raw, err := json.Marshal(v); err == nil { // its keys in order
				args = string(raw)
			}
		}
		parts = append(parts, c.Name, args)
	}
	return keyOf(parts...)
}
