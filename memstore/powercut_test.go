package memstore

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hermes-mcp/hermes-mcp/memstore/journal"
)

// A cut is a file that a power cut may have put back: what it held and when
// that was written.
type cut struct {
	content string
	at      time.Time
}

// state is the file as a power cut may leave it.
func state(t *testing.T, s *Store) cut {
	t.Helper()
	info, err := os.Stat(path(s))
	if err != nil {
		t.Fatal(err)
	}
	return cut{read(t, s), info.ModTime()}
}

// back puts the file back to c, as a folder does that had not been synced.
func (c cut) back(t *testing.T, s *Store) {
	t.Helper()
	write(t, s, c.content)
	if err := os.Chtimes(path(s), c.at, c.at); err != nil {
		t.Fatal(err)
	}
}

// started is a store of the home after the machine was started anew.
func started(t *testing.T, home string) *Store {
	t.Helper()
	s := openHome(t, home)
	s.ledger.Boot = "another"
	return s
}

func entries(t *testing.T, s *Store) []string {
	t.Helper()
	st, err := s.State(context.Background(), Memory)
	if err != nil || len(st.Notes) > 0 {
		t.Fatal(err, st.Notes)
	}
	return texts(st)
}

// needsBoots skips where boots cannot be told apart, so that nothing is left to
// a power cut.
func needsBoots(t *testing.T, s *Store) {
	t.Helper()
	if s.ledger.Boot == "" {
		t.Skip("this system does not name its boots")
	}
}

func TestWhatAPowerCutTookBackIsPutInForceAgain(t *testing.T) {
	for _, tt := range []struct {
		name string
		look func(t *testing.T, s *Store) []string
		want []string
	}{
		{"by a read", entries, []string{"a", "b", "c", "d"}},
		{"by an edit", func(t *testing.T, s *Store) []string {
			return texts(apply(t, s, add("e")).State)
		}, []string{"a", "b", "c", "d", "e"}},
		{"by a snapshot", func(t *testing.T, s *Store) []string {
			snap, err := s.Snapshot(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			return snap.MemoryEntries
		}, []string{"a", "b", "c", "d"}},
	} {
		for _, from := range []int{0, 1, 2} { // how many of the three edits outlived it
			t.Run(tt.name, func(t *testing.T) {
				s := open(t, "a")
				needsBoots(t, s)
				states := []cut{state(t, s)}
				for _, e := range []string{"b", "c", "d"} {
					apply(t, s, add(e))
					states = append(states, state(t, s))
				}
				last := history(t, s)[0].ID
				states[from].back(t, s)
				// A rename that was taken back leaves the new content under its
				// temporary name.
				staged := filepath.Join(filepath.Dir(path(s)), ".MEMORY.md."+last+".hermes-mcp")
				if err := os.WriteFile(staged, []byte(states[3].content), 0o600); err != nil {
					t.Fatal(err)
				}
				s = started(t, s.home)
				if got := tt.look(t, s); !slices.Equal(got, tt.want) {
					t.Errorf("got %q, want %q", got, tt.want)
				}
				if want := strings.Join(tt.want, "\n§\n"); read(t, s) != want {
					t.Errorf("the file holds %q, want %q", read(t, s), want)
				}
				if gone := lost(t, s); gone != nil {
					t.Errorf("lost: %q", gone)
				}
				for _, e := range history(t, s) {
					if e.Aborted {
						t.Errorf("edit %s counts as one that never reached the disk", e.ID)
					}
				}
			})
		}
	}
}

func TestAFileThatAPowerCutTookAwayReturns(t *testing.T) {
	s := open(t, "")
	needsBoots(t, s)
	apply(t, s, add("a"))
	if err := os.Remove(path(s)); err != nil {
		t.Fatal(err)
	}
	if got := entries(t, started(t, s.home)); !slices.Equal(got, []string{"a"}) {
		t.Errorf("got %q", got)
	}
}

func TestWhatAPersonPutsBackStays(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, s *Store, was cut) *Store
	}{
		{"in the same boot, with the old time", func(t *testing.T, s *Store, was cut) *Store {
			was.back(t, s)
			return openHome(t, s.home)
		}},
		{"in another boot, once settled", func(t *testing.T, s *Store, was cut) *Store {
			if err := s.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
			was.back(t, s)
			return started(t, s.home)
		}},
		{"in another boot, written after the edit", func(t *testing.T, s *Store, was cut) *Store {
			write(t, s, was.content)
			return started(t, s.home)
		}},
		{"in another boot, after it was looked at", func(t *testing.T, s *Store, was cut) *Store {
			s = started(t, s.home)
			entries(t, s)
			was.back(t, s)
			s = openHome(t, s.home)
			s.ledger.Boot = "a third"
			return s
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, "a")
			needsBoots(t, s)
			was := state(t, s)
			apply(t, s, add("b"))
			s = tt.do(t, s, was)
			if got := entries(t, s); !slices.Equal(got, []string{"a"}) {
				t.Errorf("got %q", got)
			}
			if got := lost(t, s); !slices.Equal(got, []string{"b"}) {
				t.Errorf("lost: %q", got)
			}
			if apply(t, s, add("c")); read(t, s) != "a\n§\nc" {
				t.Errorf("the next edit makes it %q", read(t, s))
			}
		})
	}
}

func TestAnEditThatFailedIsNotMadeByAPowerCut(t *testing.T) {
	s := open(t, "a")
	needsBoots(t, s)
	apply(t, s, add("b"))
	killed(t, s, "0zzzzzzzzz1", "a\n§\nb", "a\n§\nb\n§\nrefused")
	log, err := s.ledger.Log().Append()
	if err != nil {
		t.Fatal(err)
	}
	var other journal.Index
	if err := log.Write(&other, &journal.Record{ID: "0zzzzzzzzz2", At: time.Now(), Target: "memory", Kind: journal.Abort, Of: "0zzzzzzzzz1"}); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if got := entries(t, started(t, s.home)); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("got %q", got)
	}
}

func TestManyEditsLeaveLittleToAPowerCut(t *testing.T) {
	s := open(t, "")
	needsBoots(t, s)
	s.MemoryLimit = 1 << 20
	for range 100 {
		apply(t, s, add("a"))
		apply(t, s, remove("a"))
	}
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	edits := 0
	if err := s.ledger.Log().All(func(r journal.Record) {
		if edits++; r.Kind == journal.Settled {
			edits = 0
		}
		if edits > 60 {
			t.Error("more than 60 edits in a row are left to a power cut")
		}
	}); err != nil || edits != 0 {
		t.Errorf("closing left %d edits, %v", edits, err)
	}
}

// Where boots cannot be told apart, nothing is left to a power cut.
func TestWithoutBootsTheFolderIsSyncedAtOnce(t *testing.T) {
	s := open(t, "")
	s.ledger.Boot = ""
	apply(t, s, add("a"))
	raw, err := os.ReadFile(s.ledger.Log().Path)
	if err != nil || bytes.Contains(raw, []byte(`"boot"`)) {
		t.Errorf("the journal is %s, %v", raw, err)
	}
}
