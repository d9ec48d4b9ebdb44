package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/serve"
	"github.com/hermes-mcp/hermes-mcp/tools"
	"github.com/hermes-mcp/hermes-mcp/tools/sessions"
	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// A bed is a home with an archive, a store and the server that a client would
// talk to.
type bed struct {
	home   string
	temp   bool
	db     *transcript.DB
	store  *memstore.Store
	server *mcpserver.MCPServer
}

// newBed makes a bed in home, or in a temporary folder when home is "".
func newBed(ctx context.Context, home string) (_ *bed, err error) {
	b := &bed{home: home}
	if home == "" {
		if b.home, err = os.MkdirTemp("", "hermes-bench-"); err != nil {
			return nil, err
		}
		b.temp = true
	}
	mcp := filepath.Join(b.home, "mcp")
	if err = os.MkdirAll(mcp, 0o700); err == nil {
		b.db, err = transcript.Open(ctx, filepath.Join(mcp, "archive.db"))
	}
	if err == nil {
		b.store, err = memstore.Open(b.home)
	}
	if err != nil {
		return nil, closing(b, err)
	}
	b.store.MemoryLimit = 1 << 20
	began, err := b.store.Snapshot(ctx) // once, as a session has it
	if err != nil {
		return nil, closing(b, err)
	}
	b.server = serve.New(serve.Parts{Name: "hermes-bench", Version: "0", Tools: []mcpserver.ServerTool{
		tools.Memory(b.store, tools.MemoryOptions{
			Caller:   func(context.Context) memstore.Caller { return memstore.Caller{Origin: "bench"} },
			Snapshot: func(context.Context) (memstore.Snapshot, error) { return began, nil },
		}),
		sessions.Search(func(context.Context) (*transcript.DB, error) { return b.db, nil }, sessions.Options{
			Live:    func(context.Context) []string { return nil },
			Project: func(context.Context) string { return "" },
			Pending: func(context.Context) string { return "" },
			Redact:  true,
		}),
	}})
	return b, nil
}

// close closes what is open and removes a temporary home.
func (b *bed) close() error {
	var errs []error
	if b.db != nil {
		errs = append(errs, b.db.Close())
	}
	if b.temp {
		errs = append(errs, os.RemoveAll(b.home))
	}
	return errors.Join(errs...)
}

// closing closes b and returns err, or what closing said.
func closing(b *bed, err error) error { return errors.Join(err, b.close()) }

// call runs one tool call and decodes its answer into out.
func (b *bed) call(ctx context.Context, tool string, args map[string]any, out any) error {
	raw, err := json.Marshal(args)
	if err != nil {
		return err
	}
	result, failed, err := serve.Call(ctx, b.server, tool, raw)
	if err != nil {
		return err
	}
	if failed {
		return fmt.Errorf("%s failed: %s", tool, result)
	}
	return json.Unmarshal(result, out)
}

// search returns the ids of the sessions that session_search answers with.
func (b *bed) search(ctx context.Context, query string, limit int) ([]string, error) {
	var answer struct {
		Results []struct {
			SessionID string `json:"session_id"`
		} `json:"results"`
	}
	if err := b.call(ctx, "session_search", map[string]any{"query": query, "limit": limit}, &answer); err != nil {
		return nil, err
	}
	ids := make([]string, 0, len(answer.Results))
	for _, r := range answer.Results {
		ids = append(ids, r.SessionID)
	}
	return ids, nil
}
