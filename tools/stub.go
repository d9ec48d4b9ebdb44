package tools

import (
	"context"

	"github.com/mark3labs/mcp-go/server"

	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// An Archive opens the archive on first use, so that a client's initialize is
// answered before the database is touched. Safe for concurrent use.
type Archive func(ctx context.Context) (*transcript.DB, error)

// MemoryOptions are what the memory tool needs beside its store.
type MemoryOptions struct {
	Caller   func(ctx context.Context) memstore.Caller // who calls now
	ReadOnly bool                                      // every edit answers code read_only
	Enabled  map[memstore.Target]bool                  // nil means both; a disabled one answers code disabled
	// Snapshot returns the caller's frozen snapshot, for masking and overlay lines.
	Snapshot func(ctx context.Context) (memstore.Snapshot, error)
}

// Memory is the tool that edits the curated memory.
func Memory(store *memstore.Store, o MemoryOptions) server.ServerTool { return server.ServerTool{} }

// SearchOptions are what session_search needs beside the archive.
type SearchOptions struct {
	Live           func(ctx context.Context) []string // ids of the sessions that are live in the caller's context
	Project        func(ctx context.Context) string   // the caller's project, for project: "current"; "" when there is none
	Limit          int                                // default limit; 5 when 0
	DefaultProject bool                               // search the caller's project unless told otherwise
	Redact         bool                               // mask secrets in what leaves the archive
	Pending        func(ctx context.Context) string   // "" or what is not archived yet, in words
}

// SessionSearch is the tool that finds and shows what happened in past sessions.
func SessionSearch(archive Archive, o SearchOptions) server.ServerTool { return server.ServerTool{} }
