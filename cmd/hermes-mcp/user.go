package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/caller"
	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/resources"
	"github.com/hermes-mcp/hermes-mcp/serve"
	"github.com/hermes-mcp/hermes-mcp/tools/wire"
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
		if err := a.admit(ctx); err != nil {
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
	if key, err := a.chatKey(serve.Meta(ctx)); err == nil && key != "" {
		a.chats.Store(true)
		return key, "_meta of the request"
	}
	return a.sessionKey, "--session-key"
}

// admit refuses a request that tells its chat in a way that is not understood:
// taken for one without a chat, it would be shown the sessions of every chat.
func (a *app) admit(ctx context.Context) error {
	if _, err := a.chatKey(serve.Meta(ctx)); err != nil {
		a.chats.Store(true) // whoever sent it keeps chats apart
		return err
	}
	return nil
}

// admitting has tools answer what admit refuses.
func (a *app) admitting(all []server.ServerTool) []server.ServerTool {
	all = slices.Clone(all)
	for i := range all {
		handle := all[i].Handler
		all[i].Handler = func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if err := a.admit(ctx); err != nil {
				return wire.Fail(wire.Failure{Code: wire.Invalid, Error: err.Error() + ". Nothing was done."})
			}
			return handle(ctx, req)
		}
	}
	return all
}

// chatKey is the key that the fields of a _meta name or describe, "" when they
// tell of no chat. The error says what is expected.
func (a *app) chatKey(meta map[string]any) (string, error) {
	named, told := meta[metaKey]
	key, ok := named.(string)
	if told && (!ok || strings.TrimSpace(key) == "") {
		return "", fmt.Errorf("_meta %s must be the key of the chat, a text that is not empty", metaKey)
	}
	described, there := meta[metaChat]
	if !there {
		return key, nil
	}
	about, ok := described.(map[string]any)
	if !ok {
		return "", fmt.Errorf("_meta %s must be an object with platform and chat_id", metaChat)
	}
	var wrong error
	field := func(name string) string {
		text, err := chatField(about[name])
		if err != nil && wrong == nil {
			wrong = fmt.Errorf("_meta %s: %s %w", metaChat, name, err)
		}
		return text
	}
	chat := memstore.Chat{
		Namespace: field("namespace"), Platform: field("platform"), Type: field("chat_type"), ChatID: field("chat_id"),
		ThreadID: field("thread_id"), UserID: field("user_id"), UserIDAlt: field("user_id_alt"),
	}
	direct := (chat.Type == "" || chat.Type == "dm") && chat.UserID+chat.UserIDAlt != ""
	switch {
	case wrong != nil:
		return "", wrong
	case chat.Platform == "" || chat.ChatID == "" && !direct:
		return "", fmt.Errorf("_meta %s must have platform and chat_id", metaChat)
	case key != "":
		return key, nil
	}
	return chat.Key(a.config.GroupPerUser, a.config.ThreadPerUser), nil
}

// chatField is one field of a chat; ids are numbers on some platforms. What is
// beyond 2^53 has lost its last digits by now, and may be another's.
func chatField(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case float64:
		if v != math.Trunc(v) || math.Abs(v) >= 1<<53 {
			return "", errors.New("is no whole number below 2^53: send it as text")
		}
		return strconv.FormatInt(int64(v), 10), nil
	}
	return "", errors.New("must be a text or a whole number")
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
