package durable

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func stage(t *testing.T, path, id, data string, was File) *Next {
	t.Helper()
	n, err := Stage(path, id, []byte(data), was.Info, Spare{})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Sync(); err != nil {
		t.Fatal(err)
	}
	return n
}

func load(t *testing.T, path string) File {
	t.Helper()
	f, err := Hold(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Release)
	return f
}

func put(t *testing.T, path, data string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o640); err != nil {
		t.Fatal(err)
	}
}

func TestReplaceTellsWhatItReplaced(t *testing.T) {
	for name, tt := range map[string]struct {
		before  string
		between func(t *testing.T, path string)
		found   string
	}{
		"nobody in between":           {"a", nil, "a"},
		"an editor that writes in":    {"a", func(t *testing.T, p string) { put(t, p, "b") }, "b"},
		"an editor that renames over": {"a", func(t *testing.T, p string) { put(t, p+"~", "c"); os.Rename(p+"~", p) }, "c"},
		"an editor that makes it":     {"", func(t *testing.T, p string) { put(t, p, "d") }, "d"},
		"somebody removes it":         {"a", func(t *testing.T, p string) { os.Remove(p) }, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			if tt.before != "" {
				put(t, path, tt.before)
			}
			was := load(t, path)
			n := stage(t, path, "1", "new", was)
			if !Staged(path, "1") {
				t.Error("the staged file is not seen")
			}
			if tt.between != nil {
				tt.between(t, path)
			}
			found, done, err := n.Replace(was)
			if err != nil || !done || string(found) != tt.found {
				t.Fatalf("found %q, %v, %v", found, done, err)
			}
			now := load(t, path)
			if string(now.Bytes) != "new" || Staged(path, "1") {
				t.Errorf("now %q", now.Bytes)
			}
			if tt.before != "" && now.Info.Mode().Perm() != 0o640 {
				t.Errorf("rights %v", now.Info.Mode())
			}
			left, err := Leftovers(path)
			if err != nil || (n.Old == "") != (len(left) == 0) {
				t.Errorf("left: %v, %v", left, err)
			}
		})
	}
}

func TestDiscardLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	n := stage(t, path, "1", "new", File{})
	put(t, path+".other", "x")
	left, err := Leftovers(path)
	if err != nil || !slices.Equal(left, []Leftover{{Path: n.temp, ID: "1"}}) {
		t.Errorf("left: %v, %v", left, err)
	}
	if err := n.Discard(); err != nil {
		t.Fatal(err)
	}
	if left, err = Leftovers(path); err != nil || left != nil {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestLockExcludesAndGivesUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	unlock, err := Lock(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if _, err := Lock(short, path); !errors.Is(err, ErrBusy) {
		t.Errorf("a held lock: %v", err)
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Lock(gone, path); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that left: %v", err)
	}
	got := make(chan error, 1)
	go func() {
		unlock, err := Lock(context.Background(), path)
		if err == nil {
			err = unlock()
		}
		got <- err
	}()
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Errorf("after the holder and those who gave up: %v", err)
	}
}

func TestTorn(t *testing.T) {
	for _, tt := range []struct {
		name, now, before, after string
		want                     bool
	}{
		{"a beginning over the old one", "NEold text", "old text", "NEW", false},
		{"same length, part written", "NEW text", "old text", "NEW", true},
		{"grown, part written", "NEW longer te", "old", "NEW longer text", true},
		{"not cut yet", "NEW text", "old text", "NEW", true},
		{"something else", "other text", "old text", "NEW", false},
		{"something else, same length", "abc text", "old text", "NEW", false},
		{"shorter", "NE", "old text", "NEW", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Torn([]byte(tt.now), []byte(tt.before), []byte(tt.after)); got != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}
	before, after := "the old content", "a new one that is longer"
	for k := 1; k < len(after); k++ { // every point at which a kill can stop a write
		now := after[:k]
		if k < len(before) {
			now += before[k:]
		}
		if !Torn([]byte(now), []byte(before), []byte(after)) {
			t.Errorf("%q is not seen as torn", now)
		}
	}
}

func TestWriteInPlaceKeepsTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	put(t, path, "a longer text")
	was := load(t, path)
	if err := WriteInPlace(path, []byte("short")); err != nil {
		t.Fatal(err)
	}
	now := load(t, path)
	if string(now.Bytes) != "short" || !os.SameFile(was.Info, now.Info) {
		t.Errorf("now %q", now.Bytes)
	}
}
