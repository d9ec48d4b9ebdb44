package memstore

import (
	"strings"
	"sync"
)

// memoBytes is how much text a memo holds: the files of many projects and users.
const memoBytes = 1 << 20

// A memo keeps what was found out about texts. It forgets all of it when the
// texts become too much, so that a server may take edits for months. Safe for
// concurrent use; the zero value is empty.
type memo[T any] struct {
	mu    sync.Mutex
	bytes int
	of    map[string]T
}

// about returns what is kept about text, or else what find finds out, and keeps
// that.
func (m *memo[T]) about(text string, find func(string) T) T {
	m.mu.Lock()
	v, ok := m.of[text]
	m.mu.Unlock()
	if !ok {
		v = find(text)
		m.keep(text, v)
	}
	return v
}

func (m *memo[T]) keep(text string, v T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.of[text]; ok || len(text) > memoBytes {
		return
	}
	if m.bytes += len(text); m.of == nil || m.bytes > memoBytes {
		m.of, m.bytes = make(map[string]T), len(text)
	}
	m.of[strings.Clone(text)] = v // it may be a piece of a whole file
}
