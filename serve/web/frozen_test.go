package web

import (
	"context"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/server"

	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/resources"
	"github.com/hermes-mcp/hermes-mcp/serve"
	"github.com/hermes-mcp/hermes-mcp/tools"
)

// memoryServer is a server over the memory of home whose snapshots are frozen
// for the session of each client.
func memoryServer(t testing.TB, home string) *server.MCPServer {
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
	snapshot := func(ctx context.Context) (memstore.Snapshot, error) {
		return store.SessionSnapshot(ctx, Session(ctx))
	}
	return serve.New(serve.Parts{
		Name: "hermes-mcp", Version: "0.0.0-test",
		Tools:     []server.ServerTool{tools.Memory(store, tools.MemoryOptions{Snapshot: snapshot})},
		Resources: resources.Memory(store, snapshot),
		Instructions: func(ctx context.Context, client string) string {
			snap, err := snapshot(ctx)
			if err != nil {
				t.Error(err)
			}
			return resources.Instructions(snap, resources.InjectAuto, client, false)
		},
	})
}

func TestEverySessionKeepsItsSnapshotAlsoOverARestart(t *testing.T) {
	home := t.TempDir()
	start := func() *site {
		return (&desk{}).site(t, func(h *HTTP) { h.Grants[0].Server = memoryServer(t, home) })
	}
	const snapshot = `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"hermes://memory/snapshot"}}`
	modernSnapshot := strings.Replace(snapshot, `"}}`, `",`+modern+`}}`, 1)
	add := func(s *site, id, content string) {
		t.Helper()
		r := s.send("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory","arguments":{"action":"add","content":"`+content+`"}}}`, "Mcp-Session-Id", id)
		if !strings.Contains(r.body, "Entry added") {
			t.Fatalf("add: %+v", r)
		}
	}
	read := func(s *site, id string) string { return s.send("POST", "/mcp", snapshot, "Mcp-Session-Id", id).body }
	guest := func(s *site) string {
		return s.send("POST", "/mcp", modernSnapshot, modernHead, "2026-07-28", "Mcp-Method", "resources/read", "Mcp-Name", "hermes://memory/snapshot").body
	}

	s := start()
	first := s.hello()
	before, asGuest := read(s, first), guest(s)
	if !strings.Contains(before, "nothing has been saved yet") {
		t.Fatalf("snapshot: %s", before)
	}
	add(s, first, "Ports are 80xx")
	second := s.hello()
	if got := read(s, first); got != before {
		t.Errorf("the first session's snapshot thawed: %s", got)
	}
	if got := guest(s); got != asGuest {
		t.Errorf("the guest's snapshot thawed: %s", got)
	}
	later := read(s, second)
	if !strings.Contains(later, "Ports are 80xx") {
		t.Errorf("the second session: %s", later)
	}
	s.close()
	s = start()
	if got := read(s, first); got != before {
		t.Errorf("after a restart: %s", got)
	}
	if got := read(s, second); got != later {
		t.Errorf("after a restart, the second: %s", got)
	}
}
