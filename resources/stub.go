package resources

import (
	"context"

	"github.com/mark3labs/mcp-go/server"

	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// A SnapshotFunc returns the frozen snapshot of the session that asks.
type SnapshotFunc func(ctx context.Context) (memstore.Snapshot, error)

// Memory is the snapshot (whole, and per file), the overlay and the live files.
func Memory(store *memstore.Store, snapshot SnapshotFunc) []server.ServerResource { return nil }

// Status is hermes://status; status returns a value that marshals to JSON.
func Status(status func(ctx context.Context) (any, error)) server.ServerResource {
	return server.ServerResource{}
}

// Sessions is the template hermes://session/{id}.
func Sessions(archive func(ctx context.Context) (*transcript.DB, error), redact bool) server.ServerResourceTemplate {
	return server.ServerResourceTemplate{}
}

// Prompts are load_memory, save_memory, recall and review_memory.
func Prompts(store *memstore.Store, snapshot SnapshotFunc, archive func(ctx context.Context) (*transcript.DB, error)) []server.ServerPrompt {
	return nil
}

// Inject says how the snapshot reaches the prompt (memory.inject).
type Inject string

// The values of memory.inject.
const (
	InjectAuto         Inject = "auto"
	InjectInstructions Inject = "instructions"
	InjectHook         Inject = "hook"
	InjectOff          Inject = "off"
)

// Instructions is what initialize and server/discover say: guidance and, as
// inject and the client ask for, the snapshot or a pointer to it. hooked says
// that our SessionStart hook is installed for this client.
func Instructions(snap memstore.Snapshot, inject Inject, client string, hooked bool) string {
	return ""
}
