package caller

import (
	"bytes"
	"testing"
)

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("12 (a) b) c) S 3 12 12 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 77 1 1"))
	f.Add([]byte("() S"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if r, ok := parseStat(raw); ok && !bytes.Contains(raw, []byte("("+r.name+")")) {
			t.Errorf("name %q out of %q", r.name, raw)
		}
	})
}

func TestANameWithParenthesesDoesNotShiftTheFields(t *testing.T) {
	r, ok := parseStat([]byte("12 (a) b) c) S 3 12 12 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 77 1 1"))
	if !ok || r.PID != 12 || r.parent != 3 || r.Start != 77 || r.name != "a) b) c" {
		t.Errorf("%+v %v", r, ok)
	}
}
