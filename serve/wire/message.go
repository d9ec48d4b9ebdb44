package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// A message is what the loop must know of one line before the engine has it.
type message struct {
	raw    json.RawMessage
	id     json.RawMessage // as the client wrote it; nil for a notification
	method string
	params json.RawMessage
	answer bool // it answers a request; we sent none
}

// parseMessage looks at one line. The second result, when not nil, is the
// error answer to send instead of going on.
func parseMessage(raw []byte) (message, []byte) {
	var head struct {
		ID     json.RawMessage `json:"id"`
		Method *string         `json:"method"`
		Params json.RawMessage `json:"params"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if raw[0] == '[' && json.Valid(raw) {
		return message{}, rpcError(nil, mcp.INVALID_REQUEST, "batches are not supported: send one message a line")
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		if json.Valid(raw) {
			return message{}, rpcError(nil, mcp.INVALID_REQUEST, "not a JSON-RPC message")
		}
		return message{}, rpcError(nil, mcp.PARSE_ERROR, "the line is not JSON")
	}
	m := message{raw: raw, id: head.ID, params: head.Params}
	if head.Method == nil {
		if m.answer = head.Result != nil || head.Error != nil; m.answer {
			return m, nil
		}
		return m, rpcError(usableID(head.ID), mcp.INVALID_REQUEST, "method is missing")
	}
	m.method = *head.Method
	if strings.HasPrefix(m.method, "notifications/") {
		m.id = nil
		return m, nil
	}
	if head.ID != nil && usableID(head.ID) == nil {
		return m, rpcError(nil, mcp.INVALID_REQUEST, "id must be a string or a number")
	}
	return m, nil
}

// usableID returns id when it is a string or a number, else nil.
func usableID(id json.RawMessage) json.RawMessage {
	if len(id) > 0 && (id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9') {
		return id
	}
	return nil
}

// IDKey names a request in the table of those under way: "1" and 1 differ, and
// a string is the same however it was escaped.
func IDKey(id json.RawMessage) string {
	var s string
	if json.Unmarshal(id, &s) == nil {
		return "s" + s
	}
	return string(bytes.TrimSpace(id))
}

// rpcError is an error answer as JSON; a nil id is sent as null. text is plain
// ASCII, so that Go's quoting is JSON's.
func rpcError(id json.RawMessage, code int, text string) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, id, code, text)
}

// respond has the engine handle m and returns the answer as JSON, nil when
// there is none to send. The id in it is byte for byte the client's: the
// engine's own goes through a float and changes large numbers.
func respond(ctx context.Context, s *server.MCPServer, m message) (answer []byte) {
	defer func() {
		if r := recover(); r != nil {
			answer = broken(ctx, s, m, fmt.Errorf("panic: %v\n%s", r, debug.Stack()))
		}
	}()
	if wrong := WrongCursor(s, m.raw); wrong != nil {
		return wrong
	}
	ctx, missing := WithNotFound(ctx)
	resp := unserved(m)
	if resp == nil {
		resp = s.HandleMessage(ctx, m.raw)
	}
	if m.id == nil || resp == nil {
		return nil
	}
	switch r := resp.(type) {
	case mcp.JSONRPCResponse:
		r.ID = mcp.NewRequestId(m.id)
		resp = r
	case mcp.JSONRPCError:
		r.ID = mcp.NewRequestId(m.id)
		missing.Correct(&r.Error)
		resp = r
	}
	answer, err := json.Marshal(resp)
	if err != nil {
		return broken(ctx, s, m, err)
	}
	return answer
}

// unserved is the answer to a request in a version that nobody serves, else
// nil. The engine looks for what else the request should carry before it looks
// at the version, so a client from the future would not learn which to use.
func unserved(m message) mcp.JSONRPCMessage {
	var p struct {
		Meta map[string]any `json:"_meta"`
	}
	if m.id == nil || json.Unmarshal(m.params, &p) != nil {
		return nil
	}
	version, _ := p.Meta[mcp.MetaKeyProtocolVersion].(string)
	if version == "" || mcp.IsValidProtocolVersion(version) {
		return nil
	}
	return mcp.UnsupportedProtocolVersionError{Version: version, Supported: mcp.ValidProtocolVersions}.JSONRPCError()
}

// ErrEngine marks what went wrong outside of any handler.
var ErrEngine = errors.New("protocol engine")

// InternalError is all that a client learns of a bug of ours.
const InternalError = "internal error of the memory server; nothing more was done"

// broken reports a bug of the engine or of a result that is not JSON, and
// returns what the client hears of it.
func broken(ctx context.Context, s *server.MCPServer, m message, err error) []byte {
	if hooks := s.GetHooks(); hooks != nil {
		for _, report := range hooks.OnError {
			report(ctx, nil, mcp.MCPMethod(m.method), nil, fmt.Errorf("%w: %w", ErrEngine, err))
		}
	}
	if m.id == nil {
		return nil
	}
	return rpcError(m.id, mcp.INTERNAL_ERROR, InternalError)
}

// The engine reports a handler's "no such resource" as an internal error, and
// never says which. A NotFound in the context carries both past it.
type (
	notFoundKey struct{}
	// A NotFound is what became of the reading of a resource.
	NotFound struct {
		code int // 0 when nothing was missing
		uri  string
	}
)

// WithNotFound returns a context for one request, and what Watch will tell
// of it.
func WithNotFound(ctx context.Context) (context.Context, *NotFound) {
	n := &NotFound{}
	return context.WithValue(ctx, notFoundKey{}, n), n
}

// Watch has the NotFound of every request filled in. Hooks that change the
// address of a resource are added after it.
func Watch(hooks *server.Hooks) {
	hooks.AddBeforeReadResource(func(ctx context.Context, _ any, m *mcp.ReadResourceRequest) {
		if n, ok := ctx.Value(notFoundKey{}).(*NotFound); ok {
			n.uri = m.Params.URI
		}
	})
	hooks.AddOnError(func(ctx context.Context, _ any, _ mcp.MCPMethod, _ any, err error) {
		n, ok := ctx.Value(notFoundKey{}).(*NotFound)
		if !ok || !errors.Is(err, server.ErrResourceNotFound) {
			return
		}
		n.code = mcp.RESOURCE_NOT_FOUND
		if mcp.IsModernProtocol(server.RequestProtocolVersion(ctx)) {
			n.code = mcp.INVALID_PARAMS
		}
	})
}

// Correct makes an error say what was not found; any other stays as it is. It
// tells whether it did.
func (n *NotFound) Correct(e *mcp.JSONRPCErrorDetails) bool {
	if n.code == 0 {
		return false
	}
	e.Code, e.Data = n.code, map[string]string{"uri": n.uri}
	return true
}

// Ask has the engine handle one request in process and returns the answer as
// JSON.
func Ask(ctx context.Context, s *server.MCPServer, request []byte) ([]byte, error) {
	m, bad := parseMessage(request)
	if bad != nil {
		return bad, nil
	}
	if m.id == nil {
		return nil, errors.New("not a request")
	}
	return respond(ctx, s, m), nil
}
