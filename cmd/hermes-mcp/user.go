package main

import (
	"context"
	"fmt"
	"regexp"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/caller"
	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/resources"
	"github.com/hermes-mcp/hermes-mcp/serve"
	"github.com/hermes-mcp/hermes-mcp/transcript"
	"github.com/hermes-mcp/hermes-mcp/transcript/source"
)

var userName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// checkUser judges the name of a user, which is part of a path; "" is nobody in
// particular.
func checkUser(name string) error {
	if name != "" && !userName.MatchString(name) {
		return fmt.Errorf("user %q is no name: letters, digits, dot, dash and underscore, at most 64", name)
	}
	return nil
}

// archiveOf opens the archive as user sees it: sessions that carry the user, and
// those without one where sources.owner says so. What says nothing is hidden, and
// so is what is not known to be of the chat that a request comes from.
func (a *app) archiveOf(user string) func(ctx context.Context) (*transcript.DB, error) {
	as := transcript.Reader{User: user}
	for _, src := range source.All() {
		if a.config.Owns(user, src.Name()) {
			as.Owns = append(as.Owns, src.Name())
		}
	}
	return func(ctx context.Context) (*transcript.DB, error) {
		db, err := a.archive.open(ctx)
		if err != nil {
			return nil, err
		}
		as := as
		as.Chat, _ = a.chatOf(ctx)
		return db.As(as), nil
	}
}

// Names in _meta by which a gateway says which chat a request belongs to: the
// key itself, or what it is made of.
const (
	metaKey  = "hermes/session_key"
	metaChat = "hermes/chat"
)

// inChat lets the caller's chat stand for its session where one is told: by
// _meta with the request, else by --session-key. The sessions that are live in
// the caller's context stay what they are.
func (a *app) inChat(who func(ctx context.Context) caller.Current) func(ctx context.Context) caller.Current {
	return func(ctx context.Context) caller.Current {
		now := who(ctx)
		key, how := a.chatOf(ctx)
		if key == "" {
			return now
		}
		return caller.Current{ID: "chat:" + key, Live: now.Live, How: how}
	}
}

// chatOf is the key of the chat that a request comes from, "" when none is told,
// and how it is known.
func (a *app) chatOf(ctx context.Context) (key, how string) {
	if key := a.chatKey(serve.Meta(ctx)); key != "" {
		a.chats.Store(true)
		return key, "_meta of the request"
	}
	return a.sessionKey, "--session-key"
}

// chatKey is the key that the fields of a _meta name or describe, or "".
func (a *app) chatKey(meta map[string]any) string {
	if key, ok := meta[metaKey].(string); ok && key != "" {
		return key
	}
	about, ok := meta[metaChat].(map[string]any)
	if !ok {
		return ""
	}
	field := func(name string) string {
		switch v := about[name].(type) {
		case string:
			return v
		case float64: // ids of chats are numbers on some platforms
			return fmt.Sprintf("%.0f", v)
		}
		return ""
	}
	return memstore.Chat{
		Namespace: field("namespace"), Platform: field("platform"), Type: field("chat_type"), ChatID: field("chat_id"),
		ThreadID: field("thread_id"), UserID: field("user_id"), UserIDAlt: field("user_id_alt"),
	}.Key(a.config.GroupPerUser, a.config.ThreadPerUser)
}

// proposals completes arguments from the archive. A completion does not carry the
// chat that it is for, so where chats are told apart it proposes nothing.
func (a *app) proposals(archive func(ctx context.Context) (*transcript.DB, error)) func(ctx context.Context, of, argument, value string) ([]string, error) {
	complete := resources.Complete(archive)
	return func(ctx context.Context, of, argument, value string) ([]string, error) {
		if a.chats.Load() && a.sessionKey == "" {
			return nil, nil
		}
		return complete(ctx, of, argument, value)
	}
}
