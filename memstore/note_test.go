package memstore

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"
	"time"
)

// saved is an editor that saved content some time ago.
func saved(t *testing.T, s *Store, content string) {
	t.Helper()
	write(t, s, content)
	then := time.Now().Add(-time.Minute)
	if err := os.Chtimes(path(s), then, then); err != nil {
		t.Fatal(err)
	}
}

// What one editor wrote and another replaced before any edit of ours can be put
// back, once it was read.
func TestWhatAnotherEditorReplacedCanBePutBack(t *testing.T) {
	ctx := context.Background()
	for _, tt := range []struct {
		name string
		read func(t *testing.T, s *Store)
	}{
		{"noted", func(t *testing.T, s *Store) {
			if err := s.Note(ctx, Memory); err != nil {
				t.Fatal(err)
			}
		}},
		{"in a snapshot", func(t *testing.T, s *Store) {
			if _, err := s.Snapshot(ctx); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, "")
			apply(t, s, add("ours"))
			saved(t, s, "ours\n§\nthe first editor's own words")
			tt.read(t, s)
			tt.read(t, s) // a second time tells nothing new
			saved(t, s, "ours\n§\nthe second's")
			s = openHome(t, s.home)
			if got := lost(t, s); !slices.Equal(got, []string{"the first editor's own words"}) {
				t.Fatalf("lost: %q", got)
			}
			if h := history(t, s); len(h) != 2 || h[0].Kind != "foreign" {
				t.Errorf("the journal tells %+v", h)
			}
			if _, err := s.Restore(ctx, Caller{}, hash("the first editor's own words")); err != nil {
				t.Fatal(err)
			}
			if got := read(t, s); got != "ours\n§\nthe second's\n§\nthe first editor's own words" {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestANoteLeavesAloneWhatMayBeHalfSaved(t *testing.T) {
	ctx := context.Background()
	s := open(t, "by hand")
	if err := s.Note(ctx, Memory); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.own()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a reading made %s: %v", s.own(), err)
	}
	apply(t, s, add("ours"))
	write(t, s, "by ha")
	if err := s.Note(ctx, Memory); err != nil {
		t.Fatal(err)
	}
	if h := history(t, s); len(h) != 2 {
		t.Errorf("the journal tells %+v", h)
	}
}

// Who takes the right to write their memory away means it.
func TestAReadOnlyFileIsNotReplaced(t *testing.T) {
	s := open(t, "mine")
	first := apply(t, s, add("b"))
	if err := os.Chmod(path(s), 0o444); err != nil {
		t.Fatal(err)
	}
	refused(t, s, ErrReadOnly, add("c"))
	refused(t, s, ErrReadOnly, remove("mine"))
	if _, err := s.Undo(context.Background(), Caller{}, first.EditID); !errors.Is(err, ErrReadOnly) {
		t.Errorf("undo: %v", err)
	}
	apply(t, s, add("mine")) // changes nothing
	if got := read(t, s); got != "mine\n§\nb" {
		t.Errorf("got %q", got)
	}
	if err := os.Chmod(path(s), 0o640); err != nil {
		t.Fatal(err)
	}
	apply(t, s, add("c"))
	if info, err := os.Stat(path(s)); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("rights are %v, %v", info.Mode(), err)
	}
}
