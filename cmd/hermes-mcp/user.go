package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"

	"go.yaml.in/yaml/v3"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/caller"
	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/serve"
	"github.com/hermes-mcp/hermes-mcp/serve/web"
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
// those without one where sources.owner says so. What says nothing is hidden.
func (a *app) archiveOf(user string) func(ctx context.Context) (*transcript.DB, error) {
	if user == "" {
		return a.archive.open
	}
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
		key, how := a.chatKey(serve.Meta(ctx)), "_meta of the request"
		if key == "" {
			key, how = a.sessionKey, "--session-key"
		}
		if key == "" {
			return now
		}
		return caller.Current{ID: "chat:" + key, Live: now.Live, How: how}
	}
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

// grants are what the tokens in mcp/tokens.yaml open: a list of {user, token}.
// A file that is there and cannot be understood lets nobody in.
func (a *app) grants(ctx context.Context, how serving) ([]web.Grant, error) {
	path := a.home.MCP("tokens.yaml")
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("tokens: %w", err)
	}
	var list []struct {
		User  string `yaml:"user"`
		Token string `yaml:"token"`
	}
	if err := yaml.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("%s is no list of user and token: %w", path, err)
	}
	var all []web.Grant
	tokens := map[string]bool{}
	for i, t := range list {
		if t.User == "" || checkUser(t.User) != nil || len(t.Token) < 32 || tokens[t.Token] {
			return nil, fmt.Errorf("%s, item %d: a token needs a user with a plain name, and at least 32 characters that no other has", path, i+1)
		}
		tokens[t.Token] = true
		how.user = t.User
		srv, err := a.server(ctx, how)
		if err != nil {
			return nil, err
		}
		all = append(all, web.Grant{Name: fmt.Sprintf("user %s, token %d", t.User, i+1), Token: t.Token, Server: srv})
	}
	return all, nil
}
