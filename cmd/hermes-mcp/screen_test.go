package main

import (
	"bytes"
	"fmt"
	"testing"
)

func TestNoTerminalCodeReachesTheScreen(t *testing.T) {
	var shown bytes.Buffer
	s := screen{&shown}
	const entry = "a\x1b]0;title\x07b\x1b[2Jc\td\u009b1me\r\x00 用户 👩‍👩‍👧\n"
	n, err := fmt.Fprint(s, entry)
	if err != nil || n != len(entry) {
		t.Errorf("wrote %d of %d: %v", n, len(entry), err)
	}
	if want := "abc\tde 用户 👩‍👩‍👧\n"; shown.String() != want {
		t.Errorf("shown %q, want %q", shown.String(), want)
	}
}
