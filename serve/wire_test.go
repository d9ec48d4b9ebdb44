package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/resources"
	"github.com/hermes-mcp/hermes-mcp/serve"
	"github.com/hermes-mcp/hermes-mcp/tools"
	"github.com/hermes-mcp/hermes-mcp/tools/sessions"
	"github.com/hermes-mcp/hermes-mcp/transcript"
)

var update = flag.Bool("update", false, "write the golden files anew")

// A house is a server over a home of its own, as the command wires it.
type house struct {
	home  string
	store *memstore.Store
	*server.MCPServer
}

func newHouse(t *testing.T, session string) *house {
	t.Helper()
	home := t.TempDir()
	db, err := transcript.Open(t.Context(), filepath.Join(home, "archive.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	err = db.Put(t.Context(), transcript.Session{ID: "codex:abc-1", Title: "Redis dropped", Project: "/home/demo/shop", StartedAt: at, LastActive: at}, []transcript.Message{
		{UID: "1", Role: transcript.UserRole, Content: "Why does the shop use redis?", At: at},
		{UID: "2", Role: transcript.Assistant, Content: "We decided to drop redis.", At: at.Add(time.Minute)},
	})
	if err != nil {
		t.Fatal(err)
	}
	h := reopen(t, home, session, db)
	if _, err := h.store.Apply(t.Context(), memstore.Caller{}, memstore.Memory, memstore.Op{Action: memstore.Add, Content: "Deploys run from CI"}); err != nil {
		t.Fatal(err)
	}
	return h
}

// reopen is the server as a new process of the same home would have it.
func reopen(t *testing.T, home, session string, db *transcript.DB) *house {
	t.Helper()
	store, err := memstore.Open(home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	snapshot := func(ctx context.Context) (memstore.Snapshot, error) { return store.SessionSnapshot(ctx, session) }
	archive := func(context.Context) (*transcript.DB, error) { return db, nil }
	return &house{home, store, serve.New(serve.Parts{
		Name: "hermes-mcp", Version: "0.0.0-test",
		Tools: []server.ServerTool{tools.Memory(store, tools.MemoryOptions{Snapshot: snapshot}), sessions.Search(archive, sessions.Options{Redact: true})},
		Resources: append(resources.Memory(store, snapshot), resources.Status(func(context.Context) (any, error) {
			return map[string]bool{"well": true}, nil
		})),
		Templates: []server.ServerResourceTemplate{resources.Sessions(archive, true)},
		Prompts:   resources.Prompts(store, snapshot, archive),
		Complete:  resources.Complete(archive),
		Instructions: func(ctx context.Context, client string) string {
			snap, err := snapshot(ctx)
			if err != nil {
				t.Error(err)
			}
			return resources.Instructions(snap, resources.InjectAuto, client, false)
		},
		Bug: func(where string, err error) { t.Errorf("%s: %v", where, err) },
	})}
}

// talk sends lines one after the other, each after the answer to the one
// before, and returns what came back.
func (h *house) talk(t *testing.T, lines []string) []string {
	t.Helper()
	var all []string
	for _, l := range lines {
		var out bytes.Buffer
		if err := serve.Stdio(t.Context(), h.MCPServer, strings.NewReader(l), &out); err != nil {
			t.Fatal(err)
		}
		all = append(all, out.String())
	}
	return all
}

const envelope = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"claude-code","version":"2.1"}}`

// conversation is the main job in one era: begin opens it.
func conversation(begin string, meta string) []string {
	id := 0
	ask := func(method, params string) string {
		id++
		switch {
		case params != "" && meta != "":
			params += "," + meta
		case meta != "":
			params = meta
		}
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, id, method, params)
	}
	return []string{
		begin,
		ask("tools/list", ""),
		ask("tools/call", `"name":"memory","arguments":{"action":"read"}`),
		ask("tools/call", `"name":"memory","arguments":{"action":"add","target":"user","content":"prefers Go"}`),
		ask("tools/call", `"name":"memory","arguments":{"action":"remove","old_text":"nowhere"}`),
		ask("tools/call", `"name":"session_search","arguments":{"query":"why drop redis"}`),
		ask("tools/call", `"name":"session_search","arguments":{"session_id":"abc-1"}`),
		ask("resources/list", ""),
		ask("resources/templates/list", ""),
		ask("resources/read", `"uri":"hermes://memory/snapshot"`),
		ask("resources/read", `"uri":"hermes://memory/overlay"`),
		ask("resources/read", `"uri":"hermes://session/codex:abc-1"`),
		ask("resources/read", `"uri":"hermes://session/nobody:1"`),
		ask("resources/read", `"uri":"hermes://status"`),
		ask("prompts/list", ""),
		ask("prompts/get", `"name":"load_memory"`),
		ask("completion/complete", `"ref":{"type":"ref/resource","uri":"hermes://session/{id}"},"argument":{"name":"id","value":"abc"}`),
		ask("completion/complete", `"ref":{"type":"ref/prompt","name":"recall"},"argument":{"name":"topic","value":"redis"}`),
		ask("nobody/knows", ""),
	}
}

var (
	clock   = regexp.MustCompile(`20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z`)
	history = regexp.MustCompile(`2026-03-01T09:0[01]:00Z`)
)

func TestTheMainJobOnTheWire(t *testing.T) {
	for version, begin := range map[string]string{
		"2025-06-18": `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"codex-mcp-client","version":"1"}}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		"2026-07-28": `{"jsonrpc":"2.0","id":"hello","method":"server/discover","params":{` + envelope + `}}`,
	} {
		t.Run(version, func(t *testing.T) {
			h := newHouse(t, "test:1")
			meta := ""
			if version == "2026-07-28" {
				meta = envelope
			}
			lines := conversation(begin, meta)
			var got strings.Builder
			for i, answer := range h.talk(t, lines) {
				answer = strings.ReplaceAll(answer, h.home, "$HOME")
				answer = clock.ReplaceAllStringFunc(answer, func(s string) string {
					if history.MatchString(s) {
						return s
					}
					return "$NOW"
				})
				fmt.Fprintf(&got, "> %s\n< %s", lines[i], answer)
			}
			path := filepath.Join("testdata", "wire", version+".txt")
			if *update {
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if string(want) != got.String() {
				wants := strings.Split(string(want), "\n")
				for i, l := range strings.Split(got.String(), "\n") {
					if i >= len(wants) || wants[i] != l {
						t.Fatalf("line %d differs from %s (run with -update if it should):\n%s", i+1, path, l)
					}
				}
				t.Fatalf("%s has more lines", path)
			}
		})
	}
}

func TestToolsListIsSmall(t *testing.T) {
	h := newHouse(t, "test:1")
	out := h.talk(t, []string{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`})[0]
	if len(out) > 7<<10 {
		t.Errorf("tools/list has %d bytes", len(out))
	}
}

func TestThirtyPipelinedEditsThenTheEnd(t *testing.T) {
	h := newHouse(t, "test:1")
	h.store.MemoryLimit = 20_000
	var in strings.Builder
	for i := range 30 {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"memory","arguments":{"action":"add","content":"fact number %d"}}}`+"\n", i, i)
	}
	out := h.talk(t, []string{in.String()})[0]
	i := 0
	for l := range strings.Lines(out) {
		var a struct {
			ID     int
			Result mcp.CallToolResult
		}
		if err := json.Unmarshal([]byte(l), &a); err != nil || a.ID != i || a.Result.IsError {
			t.Fatalf("answer %d: %s %v", i, l, err)
		}
		i++
	}
	st, err := h.store.State(t.Context(), memstore.Memory)
	if err != nil || i != 30 || len(st.Entries) != 31 {
		t.Fatalf("%d answers, %d entries, %v", i, len(st.Entries), err)
	}
	for i, e := range st.Entries[1:] {
		if e.Text != fmt.Sprintf("fact number %d", i) {
			t.Errorf("entry %d is %q", i, e.Text)
		}
	}
}

func TestTheSnapshotIsTheSameBytesAfterWritesAndARestart(t *testing.T) {
	ask := []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"cursor","version":"1"}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"hermes://memory/snapshot"}}`,
	}
	h := newHouse(t, "test:1")
	before := strings.Join(h.talk(t, ask), "")
	h.talk(t, []string{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory","arguments":{"action":"add","content":"Ports are 80xx"}}}`})
	if after := strings.Join(h.talk(t, ask), ""); after != before {
		t.Errorf("after a write:\n%s", after)
	}
	again := reopen(t, h.home, "test:1", nil)
	if after := strings.Join(again.talk(t, ask), ""); after != before {
		t.Errorf("after a restart:\n%s", after)
	}
	overlay := again.talk(t, []string{`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"hermes://memory/overlay"}}`})[0]
	if !strings.Contains(overlay, "Ports are 80xx") {
		t.Errorf("overlay: %s", overlay)
	}
	next := reopen(t, h.home, "test:2", nil)
	if fresh := strings.Join(next.talk(t, ask), ""); fresh == before || strings.Count(fresh, "Ports are 80xx") != 2 {
		t.Errorf("the next session:\n%s", fresh)
	}
}
