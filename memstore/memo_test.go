package memstore

import (
	"strconv"
	"strings"
	"testing"
)

func TestAMemoFindsOutOnceAndDoesNotGrow(t *testing.T) {
	var m memo[int]
	asked := 0
	length := func(s string) int { asked++; return len(s) }
	for range 3 {
		if n := m.about("tea", length); n != 3 {
			t.Errorf("got %d", n)
		}
	}
	if asked != 1 {
		t.Errorf("found out %d times", asked)
	}
	long := strings.Repeat("x", memoBytes/10)
	for i := range 100 {
		m.about(strconv.Itoa(i)+long, length)
		held := 0
		for text := range m.of {
			held += len(text)
		}
		if held > memoBytes || held != m.bytes {
			t.Fatalf("%d bytes are held, %d counted", held, m.bytes)
		}
	}
	had := len(m.of)
	if m.about(strings.Repeat("y", memoBytes+1), length); len(m.of) != had {
		t.Errorf("%d texts, where there were %d and one was too long", len(m.of), had)
	}
}
