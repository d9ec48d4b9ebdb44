package web

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/hermes-mcp/hermes-mcp/serve/wire"
)

// A letter is what must be known of a message before the engine has it. One
// that is no message has nothing but its text.
type letter struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Meta      map[string]any  `json:"_meta"`
		RequestID json.RawMessage `json:"requestId"` // of notifications/cancelled
	} `json:"params"`
	raw []byte // all of it
}

type letterKey struct{}

func open(body []byte) letter {
	var l letter
	if json.Unmarshal(body, &l) != nil {
		return letter{raw: body}
	}
	l.raw = body
	return l
}

func letterOf(ctx context.Context) letter {
	l, _ := ctx.Value(letterKey{}).(letter)
	return l
}

// homeless tells whether the message belongs to an era with sessions and
// names none, about which the engine is too lenient.
func (l letter) homeless(r *http.Request) bool {
	return l.Method != "" && l.Method != string(mcp.MethodInitialize) && r.Header.Get("Mcp-Session-Id") == "" && !l.modern(r)
}

// modern tells whether the message belongs to the era without sessions.
func (l letter) modern(r *http.Request) bool {
	version, _ := l.Params.Meta[mcp.MetaKeyProtocolVersion].(string)
	return mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)) || mcp.IsModernProtocol(version)
}

// calls are the requests of sessions that are under way. A client of the era
// without sessions withdraws a request by hanging up.
type calls struct {
	mu  sync.Mutex
	all map[string]*call // by session and id
}

type call struct {
	cancel    context.CancelFunc
	withdrawn bool
}

func callKey(session string, id json.RawMessage) string { return session + "\x00" + wire.IDKey(id) }

// begin notes a request of a session. Its context ends when the client
// withdraws the request; end must be called, and tells whether it did.
func (c *calls) begin(ctx context.Context, session string, id json.RawMessage) (_ context.Context, end func() (withdrawn bool)) {
	ctx, cancel := context.WithCancel(ctx)
	key, one := callKey(session, id), &call{cancel: cancel}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all[key] = one
	return ctx, func() bool {
		cancel()
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.all[key] == one {
			delete(c.all, key)
		}
		return one.withdrawn
	}
}

// withdraw ends a request that is under way. The engine then writes nothing.
func (c *calls) withdraw(session string, id json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if one := c.all[callKey(session, id)]; one != nil {
		one.withdrawn = true
		one.cancel()
	}
}
