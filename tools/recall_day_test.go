package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/provider"
	"github.com/hermes-mcp/hermes-mcp/tools/sessions"
	"github.com/hermes-mcp/hermes-mcp/tools/wire"
	"github.com/hermes-mcp/hermes-mcp/tools/wire/wiretest"
	"github.com/hermes-mcp/hermes-mcp/transcript"
	"github.com/hermes-mcp/hermes-mcp/transcript/source"
)

// A diary recalls the same on every turn and keeps what it is told.
type diary struct {
	parrot
	mu   sync.Mutex
	told []string
}

func (d *diary) SyncTurn(_ context.Context, t provider.Turn) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.told = append(d.told, t.User+"\n"+t.Assistant)
	return nil
}

func (d *diary) MirrorWrite(_ context.Context, w provider.Write) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.told = append(d.told, w.New)
	return nil
}

// A day with a recall on every turn: the agent calls the tool, the transcript
// holds the answer, a hook put the same before the prompt, and the model
// quotes its fence. Afterwards neither the archive nor what the provider was
// told has the recalled word.
func TestWhatIsRecalledIsNotHistory(t *testing.T) {
	const recalledWord = "quagga"
	d := &diary{parrot: parrot{says: []provider.Memory{{Text: "the " + recalledWord + " is the mascot of the team"}}}}
	g := guarded(t, d)
	tool := Recall(g, whoever)
	memory := newShelf(t, MemoryOptions{}).ServerTool

	var lines []string
	line := func(uid, parent, kind string, message any) {
		raw, err := json.Marshal(map[string]any{
			"type": kind, "uuid": uid, "parentUuid": parent, "sessionId": "day-1", "cwd": "/home/demo/shop",
			"version": "2.0.0", "timestamp": fmt.Sprintf("2026-03-01T09:%02d:00Z", len(lines)%60), "message": message,
		})
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(raw))
	}
	parent := ""
	for i := range 12 {
		prompt := fmt.Sprintf("turn %d: which animal is on the team's banner?", i)
		out, failed := wiretest.Call(t, tool, fmt.Sprintf(`{"query":%q}`, prompt))
		if failed || !strings.Contains(out["recalled"].(string), recalledWord) {
			t.Fatalf("turn %d: %v", i, out)
		}
		result, err := wire.Encode(out)
		if err != nil {
			t.Fatal(err)
		}
		fenced := out["recalled"].(string)
		// A model that saves what it was told, fence and all, is refused.
		kept, failed := wiretest.Call(t, memory, fmt.Sprintf(`{"action":"add","content":%q}`, "Banner:\n"+fenced))
		if !failed || kept["code"] != "blocked" || !strings.Contains(fmt.Sprint(kept["findings"]), "prompt_markup") {
			t.Fatalf("turn %d: kept %v", i, kept)
		}
		id := func(k string) string { return fmt.Sprintf("%s-%d", k, i) }
		line(id("u"), parent, "user", map[string]any{"role": "user", "content": prompt + "\n\n" + fenced})
		line(id("c"), id("u"), "assistant", map[string]any{"id": id("msg"), "role": "assistant", "model": "m", "content": []any{
			map[string]any{"type": "tool_use", "id": id("call"), "name": "mcp__hermes__memory_recall", "input": map[string]any{"query": prompt}}}})
		line(id("r"), id("c"), "user", map[string]any{"role": "user", "content": []any{
			map[string]any{"type": "tool_result", "tool_use_id": id("call"), "content": []any{map[string]any{"type": "text", "text": string(result)}}}}})
		answer := fmt.Sprintf("Answer %d stands on the banner page.\n\n%s", i, fenced)
		line(id("a"), id("r"), "assistant", map[string]any{"id": id("end"), "role": "assistant", "model": "m", "content": []any{map[string]any{"type": "text", "text": answer}}})
		parent = id("a")
		if err := g.TurnEnded(t.Context(), provider.Turn{ID: id("u"), Session: whoever(t.Context()), User: prompt + "\n\n" + fenced, Assistant: answer}); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(t.TempDir(), "projects", "-home-demo-shop")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "day-1.jsonl"), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := transcript.Open(t.Context(), filepath.Join(t.TempDir(), "archive.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	ingest(t, db, dir)

	find := sessions.Search(func(context.Context) (*transcript.DB, error) { return db, nil }, sessions.Options{})
	if out, _ := wiretest.Call(t, find, `{"query":"banner page"}`); out["count"] != 1.0 {
		t.Fatalf("the day is not in the archive: %v", out)
	}
	if out, _ := wiretest.Call(t, find, `{"query":"`+recalledWord+` mascot"}`); strings.Contains(fmt.Sprint(out["results"]), recalledWord) {
		t.Errorf("the archive has it: %v", out["results"])
	}
	if out, _ := wiretest.Call(t, find, `{"session_id":"claude-code:day-1"}`); strings.Contains(fmt.Sprint(out["messages"]), recalledWord) {
		t.Errorf("the session shows it: %v", out["messages"])
	}
	if n, err := g.Drain(t.Context()); n != 12 || err != nil {
		t.Fatalf("delivered %d, %v", n, err)
	}
	for _, told := range d.told {
		if strings.Contains(told, recalledWord) {
			t.Errorf("the provider was told what it said: %s", told)
		}
	}
}

// ingest takes a folder of transcripts into the archive.
func ingest(t *testing.T, db *transcript.DB, dir string) {
	t.Helper()
	files, err := source.Recognise(t.Context(), dir)
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, src := range source.All() {
		if src.Name() != files[0].Source {
			continue
		}
		if r, err := db.Ingest(t.Context(), src, files, true, nil); err != nil || len(r.Problems) != 0 {
			t.Fatalf("%+v, %v", r, err)
		}
	}
}
