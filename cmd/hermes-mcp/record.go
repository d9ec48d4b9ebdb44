package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
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

var (
	// unsafeID is what an id of a recorded session does not hold.
	unsafeID = regexp.MustCompile(`[^A-Za-z0-9:._@+/-]+`)
	// hashedID is the end of an id that stands for more than it says.
	hashedID = regexp.MustCompile(`@[0-9a-f]{12}$`)
)

// longestID is how long an id of a recorded session may be, without its source.
const longestID = 200

// recorded says which session session_record adds to: that of the caller's chat
// or session where it is known, else one for the life of this process.
func (a *app) recorded(how serving) func(ctx context.Context) transcript.Session {
	own := fmt.Sprintf("%s-%d", time.Now().UTC().Format("20060102T150405"), os.Getpid())
	return func(ctx context.Context) transcript.Session {
		id := strings.TrimPrefix(how.who(ctx).ID, transcript.Recorded+":")
		if id == "" {
			id = own
		}
		name, release := serve.ClientName(ctx)
		chat, _ := a.chatOf(ctx)
		return transcript.Session{ID: transcript.Recorded + ":" + recordedID(how.user, id), User: how.user, Chat: chat, Surface: name, Version: release}
	}
}

// recordedID is the id of the session that is recorded for a user and the key of
// a chat or session, never that of another pair: a hash of both follows where the
// key alone does not say everything.
func recordedID(user, key string) string {
	id := strings.TrimLeft(unsafeID.ReplaceAllString(key, "-"), ":._@+/-")
	if user == "" && id == key && len(id) <= longestID && !hashedID.MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte(user + "\x00" + key)) // a name of a user holds no NUL
	hash := hex.EncodeToString(sum[:6])
	return cmp.Or(id[:min(len(id), longestID-1-len(hash))], "chat") + "@" + hash
}

// recorder is session_record where it is asked for.
func (a *app) recorder(how serving, archive func(ctx context.Context) (*transcript.DB, error)) []server.ServerTool {
	if !how.record {
		return nil
	}
	return []server.ServerTool{tools.SessionRecord(archive, tools.RecordOptions{Session: a.recorded(how), ReadOnly: how.readOnly})}
}
