package journal

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestWhatIsForgottenLeavesTheLogAndNothingElseDoes(t *testing.T) {
	log := Log{filepath.Join(t.TempDir(), "j.jsonl")}
	var x Index
	last, at := "", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	write := func(target, before, after string) {
		t.Helper()
		w, err := log.Append()
		if err != nil {
			t.Fatal(err)
		}
		at = at.Add(time.Second)
		last = NewID(at, last)
		if err := w.Write(&x, &Record{ID: last, At: at, Target: target, Kind: Edit, Before: Text(before), After: Text(after)}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	said := func() (all []string) {
		t.Helper()
		if err := log.All(func(r Record) {
			if r.HasText() {
				all = append(all, r.Target+": "+string(r.After))
			}
		}); err != nil {
			t.Fatal(err)
		}
		return all
	}
	// Two segments, one of them packed, and the newest file.
	write("session:a", "", "the quokkaflange")
	write("memory", "", "the walrus")
	for range 2 {
		if err := os.Rename(log.Path, log.segment(firstOf(t, log.Path))); err != nil {
			t.Fatal(err)
		}
		write("session:a", "the quokkaflange", "no quokkaflange")
		write("session:ab", "", "the walrus of ab")
	}
	older, err := log.segments()
	if err != nil || len(older) != 2 {
		t.Fatal(older, err)
	}
	if err := pack(older[0]); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(log.Path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, `{"v":1,"id":"cut","target":"session:a","after":"quokkafl`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	size := sizeOf(t, log.Path)
	var other Index // of a process that reads on afterwards
	if err := other.Refresh(log, ""); err != nil {
		t.Fatal(err)
	}
	lines, err := log.Forget([]string{"session:a"})
	if err != nil || lines != 4 {
		t.Fatalf("%d lines, %v", lines, err)
	}
	if now := sizeOf(t, log.Path); now != size {
		t.Errorf("%d bytes, there were %d", now, size)
	}
	for _, path := range append(older, log.Path) {
		if err := withSegment(path, func(r io.Reader) error {
			raw, err := io.ReadAll(r)
			if bytes.Contains(raw, []byte("quokkafl")) {
				t.Errorf("it stands in %s", path)
			}
			return err
		}); err != nil {
			t.Error(err)
		}
	}
	want := []string{"memory: the walrus", "session:ab: the walrus of ab", "session:ab: the walrus of ab"}
	if got := said(); len(got) != len(want) || got[0] != want[0] || got[2] != want[2] {
		t.Errorf("%q", got)
	}
	write("memory", "the walrus", "the walrus again")
	if err := other.Refresh(log, ""); err != nil {
		t.Fatal(err)
	}
	if after, pending, _ := other.Before("memory"); pending == nil || string(after) != "the walrus" || string(pending.After) != "the walrus again" {
		t.Errorf("%q, %+v", after, pending)
	}
	if lines, err := log.Forget([]string{"session:a"}); err != nil || lines != 0 {
		t.Errorf("once more: %d lines, %v", lines, err)
	}
}

func TestAReaderLetsGoOfWhatWasForgotten(t *testing.T) {
	log := Log{filepath.Join(t.TempDir(), "j.jsonl")}
	var x, other Index
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i, r := range []Record{{Kind: Edit, After: Text("the quokkaflange")}, {Kind: Forgotten}} {
		w, err := log.Append()
		if err != nil {
			t.Fatal(err)
		}
		r.ID, r.At, r.Target = NewID(at.Add(time.Duration(i)*time.Second), ""), at, "session:a"
		if err := w.Write(&x, &r); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := other.Refresh(log, ""); err != nil {
			t.Fatal(err)
		}
		if known := other.Knows("session:a", []byte("the quokkaflange")); known != (i == 0) {
			t.Errorf("after %s: known is %v", r.Kind, known)
		}
	}
}

func firstOf(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first, err := head(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return first
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// A kill while a segment is packed leaves it plain and packed, or half packed:
// what is forgotten stands in none of them.
func TestWhatIsForgottenLeavesEveryFormOfASegment(t *testing.T) {
	log := Log{filepath.Join(t.TempDir(), "j.jsonl")}
	w, err := log.Append()
	if err != nil {
		t.Fatal(err)
	}
	var x Index
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := w.Write(&x, &Record{ID: NewID(at, ""), At: at, Target: "session:a", Kind: Edit, After: Text("the quokkaflange")}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	plain, err := os.ReadFile(log.Path)
	if err != nil {
		t.Fatal(err)
	}
	path := log.segment(firstOf(t, log.Path))
	if err := os.Rename(log.Path, path); err != nil {
		t.Fatal(err)
	}
	if err := pack(path); err != nil {
		t.Fatal(err)
	}
	half := path + packed + unfinished
	for name, raw := range map[string][]byte{path: plain, half: plain} {
		if err := os.WriteFile(name, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if lines, err := log.Forget([]string{"session:a"}); err != nil || lines != 1 {
		t.Fatalf("%d lines, %v", lines, err)
	}
	if _, err := os.Stat(half); !os.IsNotExist(err) {
		t.Errorf("the half packed one: %v", err)
	}
	for range 2 { // plain, and then packed
		if err := withSegment(path, func(r io.Reader) error {
			raw, err := io.ReadAll(r)
			if bytes.Contains(raw, []byte("quokkaflange")) {
				t.Errorf("it still stands there: %q", raw)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(path)
	}
}
