package writer

import (
	"strconv"
	"strings"
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

// A document is marked once, at its end, and may hold a million messages.
func TestWhatIsNotMarkedIsDeliveredInPieces(t *testing.T) {
	var got []int
	in := newIntake("x", "x.json", nil, func(b *batch) error { got = append(got, len(b.drafts)); return nil })
	for i := range 2*batchMessages + 1 {
		if err := in.Message(record.Message{SessionID: "x:a", UID: strconv.Itoa(i), Content: "words"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := in.Message(record.Message{SessionID: "x:a", UID: "long", Content: strings.Repeat("words ", batchBytes)}); err != nil {
		t.Fatal(err)
	}
	if err := in.flush(); err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0] != 2*batchMessages || got[1] != 2 {
		t.Errorf("%v", got)
	}
}
