// Package resources is what a client may read, the prompts it may use, and the
// instructions it is given.
//
// The snapshot is frozen per session: its resources, its prompt and the
// instructions give the same bytes however often memory is written meanwhile.
// What was written is in the overlay and in the live resource. Every resource
// is one text; an empty memory says so in words.
//
// All words for a model are .md files, embedded. Text of the archive is shown
// through transcript/plain, with secrets masked where asked for.
package resources

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/hermes-mcp/hermes-mcp/memstore"
)

// A SnapshotFunc returns the frozen snapshot of the session that asks.
type SnapshotFunc func(ctx context.Context) (memstore.Snapshot, error)

// The addresses of the memory.
const (
	snapshotURI = "hermes://memory/snapshot"
	memoryURI   = "hermes://memory/MEMORY.md"
	userURI     = "hermes://memory/USER.md"
	overlayURI  = "hermes://memory/overlay"
	liveURI     = "hermes://memory/live"
	statusURI   = "hermes://status"
)

const markdown = "text/markdown"

// Memory is the snapshot (whole, and per file), the overlay and the live files.
func Memory(store *memstore.Store, snapshot SnapshotFunc) []server.ServerResource {
	frozen := func(uri, name, description, empty string, block func(memstore.Snapshot) string) server.ServerResource {
		return resource(uri, name, description, markdown, func(ctx context.Context) (string, map[string]any, error) {
			snap, err := snapshot(ctx)
			if err != nil {
				return "", nil, fmt.Errorf("take the snapshot: %w", err)
			}
			text := block(snap)
			if text == "" {
				text = empty
			}
			return text, map[string]any{"hash": snap.Hash(), "frozen_at": stamp(snap.FrozenAt)}, nil
		})
	}
	return []server.ServerResource{
		frozen(snapshotURI, "memory-snapshot", "MEMORY and USER PROFILE as frozen at the start of this session", "",
			memstore.Snapshot.String),
		frozen(memoryURI, "MEMORY.md", "Facts of the work, as frozen at the start of this session", "MEMORY is empty: nothing has been saved yet.",
			func(s memstore.Snapshot) string { return s.Memory }),
		frozen(userURI, "USER.md", "Who the user is, as frozen at the start of this session", "USER PROFILE is empty: nothing has been saved yet.",
			func(s memstore.Snapshot) string { return s.User }),
		resource(overlayURI, "memory-overlay", "What was saved and removed since the snapshot", markdown,
			func(ctx context.Context) (string, map[string]any, error) {
				snap, err := snapshot(ctx)
				if err != nil {
					return "", nil, fmt.Errorf("take the snapshot: %w", err)
				}
				text, err := overlay(ctx, store, snap)
				return text, map[string]any{"hash": snap.Hash(), "frozen_at": stamp(snap.FrozenAt)}, err
			}),
		resource(liveURI, "memory-live", "Every entry as it is on disk now, with date and source", markdown,
			func(ctx context.Context) (string, map[string]any, error) {
				text, err := live(ctx, store)
				return text, nil, err
			}),
	}
}

// Status is hermes://status; status returns a value that marshals to JSON.
func Status(status func(ctx context.Context) (any, error)) server.ServerResource {
	return resource(statusURI, "status", "What is archived, what is pending, and what needs attention", "application/json",
		func(ctx context.Context) (string, map[string]any, error) {
			v, err := status(ctx)
			if err != nil {
				return "", nil, fmt.Errorf("status: %w", err)
			}
			text, err := json.MarshalIndent(v, "", "  ")
			if err != nil {
				return "", nil, fmt.Errorf("status: %w", err)
			}
			return string(text), nil, nil
		})
}

// resource is one text at a fixed address.
func resource(uri, name, description, kind string, read func(ctx context.Context) (string, map[string]any, error)) server.ServerResource {
	return server.ServerResource{
		Resource: mcp.NewResource(uri, name, mcp.WithResourceDescription(description), mcp.WithMIMEType(kind)),
		Handler: func(ctx context.Context, _ mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			text, meta, err := read(ctx)
			if err != nil {
				return nil, err
			}
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: uri, MIMEType: kind, Text: text, Meta: meta}}, nil
		},
	}
}

// overlay says what changed since snap, in words.
func overlay(ctx context.Context, store *memstore.Store, snap memstore.Snapshot) (string, error) {
	all, err := store.Overlay(ctx, snap)
	if err != nil {
		return "", fmt.Errorf("compare with the snapshot: %w", err)
	}
	if len(all) == 0 {
		return "Nothing has changed since the snapshot of " + stamp(snap.FrozenAt) + ".", nil
	}
	var b strings.Builder
	b.WriteString("Since the snapshot of " + stamp(snap.FrozenAt) + ":\n")
	for _, o := range all {
		for _, e := range o.Added {
			fmt.Fprintf(&b, "\nadded to %s:\n%s\n", label(o.Target), e)
		}
		for _, e := range o.Removed {
			fmt.Fprintf(&b, "\nno longer in %s:\n%s\n", label(o.Target), e)
		}
	}
	return b.String(), nil
}

// stamp is t as RFC 3339 in UTC.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
