package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"unicode/utf8"

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
	if len(raw) > 0 && raw[0] == '[' && json.Valid(raw) {
		return message{}, rpcError(nil, mcp.INVALID_REQUEST, "batches are not supported: send one message at a time")
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		if json.Valid(raw) { // and what of it could be taken was
			return message{}, rpcError(usableID(head.ID), mcp.INVALID_REQUEST, "not a JSON-RPC message")
		}
		return message{}, rpcError(nil, mcp.PARSE_ERROR, "the message is not JSON")
	}
	if at := notUTF8(raw); at >= 0 { // or what is saved would silently be other characters
		return message{}, rpcError(usableID(head.ID), mcp.PARSE_ERROR,
			fmt.Sprintf("the message is not UTF-8: byte %d (0x%02x, counted from 0) begins no character; nothing was done, send it again as UTF-8", at, raw[at]))
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

// notUTF8 returns the first byte of raw that is not UTF-8, counted from 0, else -1.
func notUTF8(raw []byte) int {
	if utf8.Valid(raw) {
		return -1
	}
	for at := 0; ; {
		r, n := utf8.DecodeRune(raw[at:])
		if r == utf8.RuneError && n <= 1 {
			return at
		}
		at += n
	}
}

// usableID returns id when it is a string or a number that an answer can carry,
// else nil.
func usableID(id json.RawMessage) json.RawMessage {
	if len(id) > 0 && utf8.Valid(id) && (id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9') {
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
	if strings.HasSuffix(m.method, "/list") { // no other request is worth the look
		if wrong := WrongCursor(s, m.raw); wrong != nil {
			return wrong
		}
	}
	ctx, correction := WithCorrection(ctx)
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
		correction.Correct(&r.Error)
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

// The engine reports a handler's "no such resource" as an internal error and
// never says which, and of parameters of the wrong form it tells what Go thinks
// of them, as if the message were none. A Correction in the context carries both
// past it.
type (
	correctionKey struct{}
	// A Correction is what the error answer to one request should say.
	Correction struct {
		code    int    // 0 when nothing is wrong with what the engine says
		message string // "" when it is the engine's
		data    any
		modern  bool
		uri     string // of the resource that was asked for
	}
)

// WithCorrection returns a context for one request, and what Watch will tell
// of it.
func WithCorrection(ctx context.Context) (context.Context, *Correction) {
	c := &Correction{}
	return context.WithValue(ctx, correctionKey{}, c), c
}

// Watch has the Correction of every request filled in. Hooks that change the
// address of a resource are added after it.
func Watch(hooks *server.Hooks) {
	hooks.AddBeforeReadResource(func(ctx context.Context, _ any, m *mcp.ReadResourceRequest) {
		if c, ok := ctx.Value(correctionKey{}).(*Correction); ok {
			c.uri = m.Params.URI
		}
	})
	hooks.AddOnError(func(ctx context.Context, _ any, method mcp.MCPMethod, _ any, err error) {
		c, ok := ctx.Value(correctionKey{}).(*Correction)
		if !ok {
			return
		}
		c.modern = mcp.IsModernProtocol(server.RequestProtocolVersion(ctx))
		var wrongForm *server.UnparsableMessageError
		switch {
		case errors.As(err, &wrongForm):
			c.code, c.message = mcp.INVALID_PARAMS, "the params of "+string(method)+" do not have the form that the protocol gives them"
		case errors.Is(err, server.ErrResourceNotFound):
			c.code, c.data = mcp.RESOURCE_NOT_FOUND, map[string]string{"uri": c.uri}
			if c.modern {
				c.code = mcp.INVALID_PARAMS
			}
		}
	})
}

// Correct makes an error say what it should; any other stays as it is. It
// tells whether it did.
func (c *Correction) Correct(e *mcp.JSONRPCErrorDetails) bool {
	if c.code == 0 {
		return false
	}
	e.Code, e.Data = c.code, c.data
	if c.message != "" {
		e.Message = c.message
	}
	return true
}

// BadRequest tells whether the answer goes with the HTTP status of a bad
// request, which the era without sessions asks for.
func (c *Correction) BadRequest() bool { return c.modern && c.code == mcp.INVALID_PARAMS }

// Misfit is the answer to a text that is not one JSON-RPC message, else nil.
func Misfit(text []byte) []byte {
	_, bad := parseMessage(bytes.TrimSpace(text))
	return bad
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
