package writer

import (
	"testing"

	"github.com/hermes-mcp/hermes-mcp/transcript/record"
)

// A batch is written while its source goes on counting.
func TestABatchKeepsTheCountsOfItsMark(t *testing.T) {
	var got *batch
	in := newIntake("x", "x.jsonl", nil, func(b *batch) error { got = b; return nil })
	counts := record.Tally{Lines: 1, Types: map[string]int{"user": 1}, Sessions: []string{"a"}}
	if err := in.Mark(record.Cursor{Offset: 5}, counts); err != nil {
		t.Fatal(err)
	}
	if err := in.flush(); err != nil {
		t.Fatal(err)
	}
	counts.Types["user"], counts.Sessions[0] = 2, "b"
	if got.tally.Types["user"] != 1 || got.tally.Sessions[0] != "a" {
		t.Errorf("%+v", got.tally)
	}
}
