package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/serve"
	"github.com/hermes-mcp/hermes-mcp/serve/wire"
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
	client *wire.Session         // the one client that asks
	bug    atomic.Pointer[error] // the last that a handler had
}

// noteBug keeps what a client is not told.
func (b *bed) noteBug(where string, err error) {
	err = fmt.Errorf("%s: %w", where, err)
	b.bug.Store(&err)
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
	b.server = serve.New(serve.Parts{Name: "hermes-bench", Version: "0", Bug: b.noteBug, Tools: []mcpserver.ServerTool{
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
	b.client = wire.NewSession("bench")
	b.client.Initialize()
	return b, nil
}

// close closes what is open and removes a temporary home.
func (b *bed) close() error {
	var errs []error
	if b.db != nil {
		errs = append(errs, b.db.Close())
	}
	if b.store != nil {
		errs = append(errs, b.store.Close(context.Background()))
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
	request, err := ask(tool, args)
	if err != nil {
		return err
	}
	answer, err := b.answer(ctx, request)
	if err == nil {
		err = understand(tool, answer, out)
	}
	if bug := b.bug.Load(); err != nil && bug != nil {
		err = errors.Join(err, *bug)
	}
	return err
}

// ask is a tool call as a client sends it.
func ask(tool string, args map[string]any) ([]byte, error) {
	return json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": args},
	})
}

// answer has the server answer one request, all of it that is the server's.
func (b *bed) answer(ctx context.Context, request []byte) ([]byte, error) {
	return wire.Ask(b.server.WithContext(ctx, b.client), b.server, request)
}

// understand decodes the result of an answer.
func understand(tool string, answer []byte, out any) error {
	var got struct {
		Result struct {
			Content []struct{ Text string }
			IsError bool
		}
		Error *struct{ Message string }
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		return fmt.Errorf("%s: %w", tool, err)
	}
	if got.Error != nil || got.Result.IsError || len(got.Result.Content) == 0 {
		return fmt.Errorf("%s failed: %s", tool, answer)
	}
	return json.Unmarshal([]byte(got.Result.Content[0].Text), out)
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
