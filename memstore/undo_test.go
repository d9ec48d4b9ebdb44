package memstore

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

func undo(t *testing.T, s *Store, id string) Result {
	t.Helper()
	res, err := s.Undo(context.Background(), Caller{Origin: "cli"}, id)
	if err != nil {
		t.Fatalf("Undo(%q): %v", id, err)
	}
	return res
}

func history(t *testing.T, s *Store) []Edit {
	t.Helper()
	all, err := s.History(context.Background(), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func lost(t *testing.T, s *Store) []string {
	t.Helper()
	all, err := s.Lost(context.Background(), Memory)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, e := range all {
		texts = append(texts, e.Text)
	}
	slices.Sort(texts)
	return texts
}

func TestUndoGoesBackToTheSameBytes(t *testing.T) {
	start := "\ufeffa\r\n\r\n§\r\nb\r\n"
	s := open(t, start)
	apply(t, s, remove("a"), add("c"))
	apply(t, s, replace("b", "B"))
	second := read(t, s)
	undo(t, s, "")
	undo(t, s, "")
	if got := read(t, s); got != start {
		t.Errorf("two undos give %q, want %q", got, start)
	}
	if _, err := s.Undo(context.Background(), Caller{}, ""); !errors.Is(err, ErrNotFound) {
		t.Errorf("a third: %v", err)
	}
	all := history(t, s)
	if all[0].Kind != "undo" || all[0].Of == "" || all[0].Caller.Origin != "cli" {
		t.Errorf("the undo is told as %+v", all[0])
	}
	undo(t, s, all[0].ID) // an undo can be undone
	undo(t, s, all[1].ID)
	if got := read(t, s); got != second {
		t.Errorf("undoing the undos gives %q, want %q", got, second)
	}
}

func TestUndoOfAnOlderEdit(t *testing.T) {
	s := open(t, "a\n§\nb\n§\nc")
	first := apply(t, s, replace("b", "B"), remove("c"))
	apply(t, s, add("d"))
	undo(t, s, first.EditID)
	if got := read(t, s); got != "a\n§\nb\n§\nd\n§\nc" {
		t.Errorf("got %q", got)
	}
	gone := apply(t, s, remove("d"))
	apply(t, s, add("d"), add("e"))
	undo(t, s, gone.EditID) // what it took away is back already
	if got := read(t, s); got != "a\n§\nb\n§\nc\n§\nd\n§\ne" {
		t.Errorf("got %q", got)
	}
}

func TestUndoNeverLosesALaterEdit(t *testing.T) {
	s := open(t, "a")
	first := apply(t, s, replace("a", "b"))
	later := apply(t, s, replace("b", "c"))
	_, err := s.Undo(context.Background(), Caller{}, first.EditID)
	var op *OpError
	if !errors.Is(err, ErrLaterEdit) || !errors.As(err, &op) || op.Edit != later.EditID {
		t.Fatalf("got %v, want the later edit %s named", err, later.EditID)
	}
	if got := read(t, s); got != "c" {
		t.Errorf("got %q", got)
	}
	if _, err := s.Undo(context.Background(), Caller{}, "nonesuch"); !errors.Is(err, ErrNotFound) {
		t.Errorf("an unknown edit: %v", err)
	}
}

// #35186: what was removed can be found and put back.
func TestRestore(t *testing.T) {
	s := open(t, "alpha fact\n§\nbeta fact")
	gone := apply(t, s, remove("alpha"))
	hits, err := s.Find(context.Background(), "ALPHA", 5)
	if err != nil || len(hits) != 1 || hits[0].ID != gone.EditID || !slices.Equal(hits[0].Removed, []string{"alpha fact"}) {
		t.Fatalf("Find: %+v, %v", hits, err)
	}
	if _, err := s.Restore(context.Background(), Caller{}, gone.EditID); err != nil {
		t.Fatal(err)
	}
	if got := read(t, s); got != "beta fact\n§\nalpha fact" {
		t.Errorf("got %q", got)
	}
	res, err := s.Restore(context.Background(), Caller{}, gone.EditID)
	if err != nil || res.EditID != "" || !res.Changes[0].Duplicate {
		t.Errorf("a second time: %+v, %v", res, err)
	}
	apply(t, s, remove("beta"))
	s.MemoryLimit = 12
	if _, err := s.Restore(context.Background(), Caller{}, hash("beta fact")); !errors.Is(err, ErrFull) {
		t.Errorf("restoring keeps to the budget: %v", err)
	}
	s.MemoryLimit = 0
	if _, err := s.Restore(context.Background(), Caller{}, hash("beta fact")); err != nil {
		t.Errorf("by its hash: %v", err)
	}
}

// An editor that saves a stale buffer over our add is noticed, and the entry
// can be put back.
func TestAStaleBufferIsNoticed(t *testing.T) {
	s := open(t, "a\n§\nb")
	buffer := read(t, s)
	apply(t, s, add("the port is 7523"))
	write(t, s, buffer)
	if got := lost(t, s); !slices.Equal(got, []string{"the port is 7523"}) {
		t.Fatalf("before the next edit lost is %q", got)
	}
	found, err := s.Find(context.Background(), "PORT", 0)
	if err != nil || len(found) != 1 || found[0].ID != hash("the port is 7523") {
		t.Fatalf("before the next edit found: %+v, %v", found, err)
	}
	apply(t, s, add("c"))
	all, err := s.Lost(context.Background(), Memory)
	if err != nil || len(all) != 1 || all[0].LostBy == "" {
		t.Fatalf("after it: %+v, %v", all, err)
	}
	h := history(t, s)
	if h[1].Kind != "foreign" || h[1].ID != all[0].LostBy || !slices.Equal(h[1].Removed, []string{"the port is 7523"}) {
		t.Errorf("the journal tells %+v", h[1])
	}
	if _, err := s.Restore(context.Background(), Caller{}, all[0].LostBy); err != nil {
		t.Fatal(err)
	}
	if got := read(t, s); got != "a\n§\nb\n§\nc\n§\nthe port is 7523" {
		t.Errorf("got %q", got)
	}
	if got := lost(t, s); got != nil {
		t.Errorf("still lost: %q", got)
	}
}

func TestHandEditsThatKeepTheWordsAreNoLoss(t *testing.T) {
	s := open(t, "")
	apply(t, s, add("the build runs on Debian 12 with Go"), add("staging is at 10.0.0.7 behind the VPN"))
	for name, edited := range map[string]string{
		"reordered":            "staging is at 10.0.0.7 behind the VPN\n§\nthe build runs on Debian 12 with Go",
		"merged":               "the build runs on Debian 12 with Go\nstaging is at 10.0.0.7 behind the VPN",
		"a typo":               "The build runs on Debian 13 with Go\n§\nstaging is at 10.0.0.7 behind the VPN",
		"split, with headings": "# Build\n§\nthe build runs on Debian 12\n§\nwith Go\n§\n# Staging\nstaging is at 10.0.0.7 behind the VPN",
	} {
		t.Run(name, func(t *testing.T) {
			write(t, s, edited)
			if got := lost(t, s); got != nil {
				t.Errorf("lost: %q", got)
			}
		})
	}
	write(t, s, "the build runs on Debian 12 with Go")
	if got := lost(t, s); len(got) != 1 {
		t.Errorf("one was deleted, lost is %q", got)
	}
}

// #2670: a late look at an old session cannot revert what is newer.
func TestALateWriterCannotRevertWhatIsNewer(t *testing.T) {
	s := open(t, "")
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s.Now = func() time.Time { return at }
	apply(t, s, add("deploys to AWS"))
	session := at.Add(time.Hour)
	at = at.Add(2 * time.Hour)
	apply(t, s, replace("AWS", "deploys to Azure"), add("uses Go"))
	late := replace("deploys", "deploys to AWS")
	late.NotAfter = session
	refused(t, s, ErrLaterEdit, late)
	apply(t, s, Op{Action: Add, Content: "likes short answers", NotAfter: session})
}

// #59184: what a replace overwrites is told, and can be put back.
func TestAReplaceTellsWhatItOverwrote(t *testing.T) {
	whole := "## Build\n\nmake all\n\n## Test\n\nmake test"
	s := open(t, whole+"\n§\nb")
	res := apply(t, s, replace("make all", "## Build\n\nmake"))
	if res.Changes[0].Old != whole {
		t.Errorf("told %q", res.Changes[0].Old)
	}
	undo(t, s, res.EditID)
	if got := read(t, s); got != whole+"\n§\nb" {
		t.Errorf("got %q", got)
	}
}

// #66025: writes are seen at once, whatever was frozen before.
func TestTheLiveStateIsNeverFrozen(t *testing.T) {
	s := open(t, "")
	snap, err := s.SessionSnapshot(context.Background(), "codex:1")
	if err != nil {
		t.Fatal(err)
	}
	apply(t, s, add("new"))
	live, err := openHome(t, s.home).State(context.Background(), Memory)
	if err != nil || len(live.Entries) != 1 {
		t.Errorf("live: %+v, %v", live, err)
	}
	if overlay, err := s.Overlay(context.Background(), snap); err != nil || len(overlay) != 1 || overlay[0].Added[0] != "new" {
		t.Errorf("overlay: %+v, %v", overlay, err)
	}
}
