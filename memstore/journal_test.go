package memstore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hermes-mcp/hermes-mcp/memstore/journal"
)

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
