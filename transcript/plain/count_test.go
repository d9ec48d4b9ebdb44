package plain

import "testing"

func TestOneIsNotMany(t *testing.T) {
	for _, c := range []struct {
		n         int
		one, want string
	}{{0, "session", "0 sessions"}, {1, "session", "1 session"}, {2, "new message", "2 new messages"}, {1, "entry", "1 entry"}, {3, "entry", "3 entries"}} {
		if got := Count(c.n, c.one); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
