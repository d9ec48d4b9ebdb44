package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/hermes-mcp/hermes-mcp/serve"
	"github.com/hermes-mcp/hermes-mcp/tools"
	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// unsafeID is what an id of a recorded session does not hold.
var unsafeID = regexp.MustCompile(`[^A-Za-z0-9:._@+/-]+`)

// recorded says which session session_record adds to: that of the caller's chat
// or session where it is known, else one for the life of this process.
func (a *app) recorded(how serving) func(ctx context.Context) transcript.Session {
	own := fmt.Sprintf("%s-%d", time.Now().UTC().Format("20060102T150405"), os.Getpid())
	return func(ctx context.Context) transcript.Session {
		id := unsafeID.ReplaceAllString(strings.TrimPrefix(how.who(ctx).ID, transcript.Recorded+":"), "-")
		if id = strings.TrimLeft(id, ":._@+/-"); id == "" {
			id = own
		}
		name, release := serve.ClientName(ctx)
		chat, _ := a.chatOf(ctx)
		return transcript.Session{ID: transcript.Recorded + ":" + id[:min(len(id), 200)], User: how.user, Chat: chat, Surface: name, Version: release}
	}
}

// recorder is session_record where it is asked for.
func (a *app) recorder(how serving, archive func(ctx context.Context) (*transcript.DB, error)) []server.ServerTool {
	if !how.record {
		return nil
	}
	return []server.ServerTool{tools.SessionRecord(archive, tools.RecordOptions{Session: a.recorded(how), ReadOnly: how.readOnly})}
}
