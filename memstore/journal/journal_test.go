package journal

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hermes-mcp/hermes-mcp/memstore/document"
)

func TestIDsSortByTimeAndNeverRepeat(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	id := NewID(now, "")
	if at, ok := IDTime(id); !ok || !at.Equal(now) {
		t.Errorf("%s stands for %v", id, at)
	}
	last := id
	for _, step := range []time.Duration{0, 0, -time.Hour, time.Second} {
		now = now.Add(step)
		next := NewID(now, last)
		if next <= last || len(next) != idLen {
			t.Errorf("%s comes after %s", next, last)
		}
		last = next
	}
	for _, bad := range []string{"", "short", "0123456789i", "0123456789ab"} {
		if _, ok := IDTime(bad); ok {
			t.Errorf("%q is taken for an id", bad)
		}
	}
}

func TestAReaderFollowsTheLog(t *testing.T) {
	log := Log{filepath.Join(t.TempDir(), "j.jsonl")}
	var x, other Index
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	write := func(id, kind, before, after string) {
		t.Helper()
		w, err := log.Append()
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(&other, &Record{ID: id, At: at, Target: "memory", Kind: kind, Before: Text(before), After: Text(after)}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	facts := func(text string) []Fact {
		t.Helper()
		if err := x.Refresh(log, ""); err != nil {
			t.Fatal(err)
		}
		doc, err := document.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return x.Facts("memory", doc, true)
	}
	if got := facts("a"); !got[0].Updated.IsZero() {
		t.Errorf("no log tells %v", got)
	}
	write("1", Edit, "", "a")
	if got := facts("a"); !got[0].Updated.Equal(at) {
		t.Errorf("one line tells %v", got)
	}
	at = at.Add(time.Hour)
	write("2", Edit, "a", "a\n§\nb")
	if got := facts("a\n§\nb"); !got[0].Updated.Equal(at.Add(-time.Hour)) || !got[1].Updated.Equal(at) {
		t.Errorf("two lines tell %v", got)
	}
	if err := os.Remove(log.Path); err != nil {
		t.Fatal(err)
	}
	if got := facts("a"); !got[0].Updated.IsZero() {
		t.Errorf("a log that is gone tells %v", got)
	}
	write("9", Edit, "", "b\n§\na\n§\nc and much more than there was before, so that it is longer than the first one")
	if got := facts("b"); !got[0].Updated.Equal(at) {
		t.Errorf("another log tells %v", got)
	}
}

// FuzzRecord checks that any bytes come back from a line, that it is JSON, and
// that it is one line.
func FuzzRecord(f *testing.F) {
	f.Add([]byte("a\n§\n\"b\"\\ \x00\x1f\u2028<>&"), []byte("\xff"), "id")
	f.Fuzz(func(t *testing.T, before, after []byte, who string) {
		r := Record{ID: "1", Kind: Edit, Before: append(Text{}, before...), After: append(Text{}, after...), BeforeSHA: Hash(before), AfterSHA: Hash(after)}
		var err error
		if r.Who, err = json.Marshal(who); err != nil {
			t.Fatal(err)
		}
		line := r.line(nil)
		if bytes.ContainsAny(line, "\n\r") {
			t.Fatalf("more than one line: %q", line)
		}
		got, ok := decode(line)
		if !ok || !bytes.Equal(got.Before, before) || !bytes.Equal(got.After, after) || got.Before == nil {
			t.Fatalf("%q came back as %+v", line, got)
		}
	})
}

// FuzzDecode checks that no line of any kind is more than skipped.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"v":1,"id":"1","kind":"edit","before":{"base64":"/w=="},"after":""}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if r, ok := decode(line); ok && r.HasText() && Hash(r.After) != r.AfterSHA {
			t.Fatal("a damaged line was taken for sound")
		}
	})
}
