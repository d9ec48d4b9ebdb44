package memstore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hermes-mcp/hermes-mcp/memstore/document"
	"github.com/hermes-mcp/hermes-mcp/memstore/journal"
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

// A killed writer leaves its line and its temporary file; the next one marks
// the edit as aborted.
func TestAKilledEditIsMarkedAborted(t *testing.T) {
	s := open(t, "a")
	apply(t, s, add("b"))
	killed(t, s, "0zzzzzzzzz1", "a\n§\nb", "a\n§\nb\n§\nnever acknowledged")
	s = openHome(t, s.home)
	if got := lost(t, s); got != nil {
		t.Errorf("an edit that was never made counts as lost: %q", got)
	}
	apply(t, s, add("c"))
	var aborted []string
	for _, e := range history(t, s) {
		if e.Aborted {
			aborted = append(aborted, e.ID)
		}
	}
	if !slices.Equal(aborted, []string{"0zzzzzzzzz1"}) {
		t.Errorf("aborted: %q", aborted)
	}
	if got := lost(t, s); got != nil {
		t.Errorf("lost: %q", got)
	}
	if _, err := s.Undo(context.Background(), Caller{}, "0zzzzzzzzz1"); !errors.Is(err, ErrInvalid) {
		t.Errorf("undo of it: %v", err)
	}
	if _, err := s.Restore(context.Background(), Caller{}, "0zzzzzzzzz1"); err != nil {
		t.Fatal(err)
	}
	if got := read(t, s); got != "a\n§\nb\n§\nc\n§\nnever acknowledged" {
		t.Errorf("got %q", got)
	}
}

// killed leaves what a writer leaves that dies between journal and rename.
func killed(t *testing.T, s *Store, id, before, after string) {
	t.Helper()
	log, err := s.ledger.Log().Append()
	if err != nil {
		t.Fatal(err)
	}
	var other journal.Index
	if err := log.Write(&other, &journal.Record{ID: id, At: time.Now(), Target: "memory", Kind: journal.Edit, Before: journal.Text(before), After: journal.Text(after)}); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(strings.Replace(path(s), "MEMORY.md", ".MEMORY.md."+id+".hermes-mcp", 1), []byte(after), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A text that a killed writer had replaced, and had no time to compare, is
// rescued from its second name.
func TestLeftoversAreRescued(t *testing.T) {
	s := open(t, "a")
	apply(t, s, add("b"))
	id := history(t, s)[0].ID
	old := strings.Replace(path(s), "MEMORY.md", ".MEMORY.md."+id+".old.hermes-mcp", 1)
	if err := os.WriteFile(old, []byte("a\n§\nsaved by an editor in between"), 0o600); err != nil {
		t.Fatal(err)
	}
	part := strings.Replace(path(s), "MEMORY.md", ".MEMORY.md.0abcdefghjk.hermes-mcp", 1)
	if err := os.WriteFile(part, []byte("half a tex"), 0o600); err != nil {
		t.Fatal(err)
	}
	s = openHome(t, s.home)
	s.Now = func() time.Time { return time.Now().Add(time.Hour) }
	apply(t, s, add("c"))
	if got := lost(t, s); !slices.Equal(got, []string{"saved by an editor in between"}) {
		t.Errorf("lost: %q", got)
	}
	for _, p := range []string{old, part} {
		if _, err := os.Stat(p); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", p, err)
		}
	}
	if _, err := s.Restore(context.Background(), Caller{}, hash("saved by an editor in between")); err != nil {
		t.Fatal(err)
	}
}

func TestATornJournalLineIsSkipped(t *testing.T) {
	s := open(t, "")
	apply(t, s, add("a"))
	f, err := os.OpenFile(s.ledger.Log().Path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"v":1,"id":"0zzzzzzzzz1","at":"2026-01-0`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	s = openHome(t, s.home)
	apply(t, s, add("b"))
	h := history(t, s)
	if len(h) != 2 || h[0].Added[0] != "b" || h[1].Added[0] != "a" {
		t.Errorf("got %+v", h)
	}
	raw, err := os.ReadFile(s.ledger.Log().Path)
	if err != nil || bytes.Count(raw, []byte("\n")) != 3 || !bytes.HasSuffix(raw, []byte("}\n")) {
		t.Errorf("the journal is %q, %v", raw, err)
	}
}

// The journal's format is fixed: programs of years to come read it.
func TestJournalFormat(t *testing.T) {
	s := open(t, "a")
	s.Now = func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
	when := s.Now()
	if err := os.Chtimes(path(s), when, when); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Apply(context.Background(), Caller{Session: "claude-code:1", Client: "x 1", Origin: "tool"}, Memory, add("<b> & \"c\"\n\td")); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(s.ledger.Log().Path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(raw), []byte("\n"))
	if len(lines) != 2 {
		t.Fatalf("got %d lines: %s", len(lines), raw)
	}
	var line map[string]any
	if err := json.Unmarshal(lines[1], &line); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"v": 1.0, "at": "2026-01-02T03:04:05Z", "target": "memory", "kind": "edit",
		"before": "a", "after": "a\n§\n<b> & \"c\"\n\td",
		"before_sha256": journal.Hash([]byte("a")),
	} {
		if line[key] != want {
			t.Errorf("%s is %v, want %v", key, line[key], want)
		}
	}
	who := line["who"].(map[string]any)
	if who["session"] != "claude-code:1" || who["pid"] != float64(os.Getpid()) {
		t.Errorf("who is %v", who)
	}
	if at, ok := journal.IDTime(line["id"].(string)); !ok || at.Sub(when) > time.Second {
		t.Errorf("id %v stands for %v", line["id"], at)
	}
	if !bytes.Contains(lines[0], []byte(`"kind":"foreign"`)) || !bytes.Contains(lines[0], []byte(`"file_time":"2026-01-02T03:04:05Z"`)) {
		t.Errorf("what was there before is told as %s", lines[0])
	}
}

// The cache spares a fresh process the journal, and may vanish or rot.
func TestTheCacheMayBeLost(t *testing.T) {
	s := open(t, "")
	s.MemoryLimit = 1 << 20
	for range 40 {
		apply(t, s, add(strings.Repeat("word ", 2000)), remove("word"), add("kept"))
		apply(t, s, remove("kept"))
		apply(t, s, add(strings.Repeat("word ", 2000)))
		apply(t, s, remove("word"))
	}
	apply(t, s, add("last § \"quoted\" <b>"))
	if _, err := os.Stat(s.own("memory-meta.json")); err != nil {
		t.Fatal(err)
	}
	want, err := s.State(context.Background(), Memory)
	if err != nil {
		t.Fatal(err)
	}
	for _, damage := range []func() error{
		func() error { return nil },
		func() error { return os.WriteFile(s.own("memory-meta.json"), []byte(`{"v":1,"at":{`), 0o600) },
		func() error { return os.Remove(s.own("memory-meta.json")) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		fresh := openHome(t, s.home)
		got, err := fresh.State(context.Background(), Memory)
		if gone := lost(t, fresh); gone != nil {
			t.Errorf("lost: %q", gone)
		}
		if err != nil || len(got.Entries) != 1 || !got.Entries[0].UpdatedAt.Equal(want.Entries[0].UpdatedAt) {
			t.Errorf("got %+v, %v", got, err)
		}
	}
}

// For any sequence of ops, hand edits and undos: what was acknowledged is in
// the file or in the journal, and undo gives the bytes before.
func TestAnySequence(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	s := open(t, "\ufeffseed one\r\n§\r\nseed two\r\n")
	s.MemoryLimit = 600
	words := strings.Fields("alpha beta gamma delta 修改 服务 port tabs spaces go rust 8080")
	entry := func() string {
		var b []string
		for range 1 + rng.IntN(4) {
			b = append(b, words[rng.IntN(len(words))])
		}
		return strings.Join(b, " ")
	}
	var acknowledged, made []string
	for range 300 {
		before := read(t, s)
		if rng.IntN(12) == 0 {
			write(t, s, before+"\n\n§\n"+entry()+"\n")
			continue
		}
		var ops []Op
		for range 1 + rng.IntN(3) {
			ops = append(ops, []Op{add(entry()), remove(words[rng.IntN(len(words))]), replace(words[rng.IntN(len(words))], entry())}[rng.IntN(3)])
		}
		res, err := s.Apply(context.Background(), Caller{}, Memory, ops...)
		if err != nil {
			if read(t, s) != before {
				t.Fatalf("%v, and the file has changed", err)
			}
			continue
		}
		for _, c := range res.Changes {
			if c.New != "" {
				acknowledged = append(acknowledged, c.New)
			}
		}
		if res.EditID != "" {
			made = append(made, res.EditID)
		}
		if len(made) > 0 && rng.IntN(6) == 0 { // an older one: no entry that it did not bring may go
			id := made[rng.IntN(len(made))]
			before := document.EntriesOf([]byte(read(t, s)))
			edit := history(t, s)[slices.IndexFunc(history(t, s), func(e Edit) bool { return e.ID == id })]
			_, err := s.Undo(context.Background(), Caller{}, id)
			after := document.EntriesOf([]byte(read(t, s)))
			for _, e := range before {
				if !slices.Contains(after, e) && (err != nil || !slices.Contains(edit.Added, e)) {
					t.Fatalf("undo of %+v took %q away (%v)", edit, e, err)
				}
			}
			continue
		}
		if res.EditID != "" && rng.IntN(5) == 0 {
			undo(t, s, res.EditID)
			if got := read(t, s); got != before {
				t.Fatalf("undo of %v gives %q, want %q", ops, got, before)
			}
		}
	}
	var known strings.Builder
	if err := s.ledger.Log().All(func(r journal.Record) { known.Write(r.After); known.Write(r.Ops) }); err != nil {
		t.Fatal(err)
	}
	for _, e := range acknowledged {
		if !strings.Contains(strings.ReplaceAll(known.String(), "\r\n", "\n"), e) {
			t.Errorf("%q was acknowledged and is nowhere", e)
		}
	}
}

// The journal is put aside in parts when it grows, and nothing in it is lost.
func TestTheJournalRotates(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 25 MB")
	}
	s := open(t, "")
	s.MemoryLimit = 1 << 20
	reader := openHome(t, s.home)
	const edits = 30
	for i := range edits {
		big := fmt.Sprintf("number %d %s", i, strings.Repeat(fmt.Sprintf("word%d ", i), 40000))
		if i == 0 {
			apply(t, s, add(big))
		} else {
			apply(t, s, replace("number", big))
		}
		if i%7 == 0 {
			if st, err := reader.State(context.Background(), Memory); err != nil || st.Entries[0].EditID == "" {
				t.Fatalf("after %d edits: %+v, %v", i, st.Notes, err)
			}
		}
	}
	parts, err := filepath.Glob(s.own("memory-journal-*"))
	if err != nil || len(parts) < 2 {
		t.Fatalf("parts: %q, %v", parts, err)
	}
	for _, p := range parts {
		if info, err := os.Stat(p); !strings.HasSuffix(p, ".jsonl.zst") || err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", p, info, err)
		}
	}
	for _, s := range []*Store{s, reader, openHome(t, s.home)} {
		h := history(t, s)
		if len(h) != edits || !strings.HasPrefix(h[edits-1].Added[0], "number 0 ") {
			t.Fatalf("%d of %d edits are known", len(h), edits)
		}
		if got := lost(t, s); got != nil {
			t.Errorf("%d lost", len(got))
		}
	}
	if err := os.Remove(s.own("memory-meta.json")); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	first := history(t, s)[edits-1]
	s = openHome(t, s.home)
	s.MemoryLimit = 1 << 20
	if _, err := s.Restore(context.Background(), Caller{}, hash(first.Added[0])); err != nil {
		t.Fatal(err)
	}
	if h := history(t, s); len(h) != edits+1 {
		t.Errorf("%d edits are known", len(h))
	}
}

// A kill while a part is being packed leaves both, or the plain one; either is
// read once.
func TestAHalfPackedJournalIsReadOnce(t *testing.T) {
	s := open(t, "")
	apply(t, s, add("a"))
	id := history(t, s)[0].ID
	if err := os.Rename(s.ledger.Log().Path, s.own("memory-journal-"+id+".jsonl")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.own("memory-journal-"+id+".jsonl.zst.tmp"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	apply(t, s, add("b"))
	for _, s := range []*Store{s, openHome(t, s.home)} {
		if h := history(t, s); len(h) != 2 || h[0].Kind != "edit" {
			t.Errorf("got %+v", h)
		}
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
