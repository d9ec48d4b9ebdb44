package web

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/hermes-mcp/hermes-mcp/serve/wire"
)

// A letter is what must be known of a message before the engine has it. One
// that is not JSON is empty: the engine says so.
type letter struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Meta      map[string]any  `json:"_meta"`
		RequestID json.RawMessage `json:"requestId"` // of notifications/cancelled
	} `json:"params"`
}

type letterKey struct{}

func open(body []byte) letter {
	var l letter
	if json.Unmarshal(body, &l) != nil {
		return letter{}
	}
	return l
}

func letterOf(ctx context.Context) letter {
	l, _ := ctx.Value(letterKey{}).(letter)
	return l
}

// homeless tells whether the message belongs to an era with sessions and
// names none, about which the engine is too lenient.
func (l letter) homeless(r *http.Request) bool {
	if l.Method == "" || l.Method == string(mcp.MethodInitialize) || r.Header.Get("Mcp-Session-Id") != "" ||
		mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)) {
		return false
	}
	version, _ := l.Params.Meta[mcp.MetaKeyProtocolVersion].(string)
	return !mcp.IsModernProtocol(version)
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

// An answerWriter puts right what the engine writes: the code of an answer
// that a resource is not there, and ids that its arithmetic changed.
type answerWriter struct {
	http.ResponseWriter
	missing *wire.NotFound
	id      json.RawMessage // as the client wrote it, when the engine would not
	begun   bool            // something was written
}

// Unwrap lets a ResponseController reach the writer below.
func (w *answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush passes on what was written so far.
func (w *answerWriter) Flush() {
	// A writer that cannot flush is one that need not.
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}

// WriteHeader begins the answer.
func (w *answerWriter) WriteHeader(status int) {
	w.begun = true
	var e mcp.JSONRPCErrorDetails
	if status == http.StatusOK && w.missing.Correct(&e) && e.Code == mcp.INVALID_PARAMS {
		status = http.StatusBadRequest
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write takes one message of the engine's, whole.
func (w *answerWriter) Write(p []byte) (int, error) {
	w.begun = true
	if _, err := w.ResponseWriter.Write(w.restore(w.correct(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// correct is an answer that a resource is not there as it should be.
func (w *answerWriter) correct(p []byte) []byte {
	var answer struct {
		JSONRPC string                   `json:"jsonrpc"`
		ID      json.RawMessage          `json:"id"`
		Error   *mcp.JSONRPCErrorDetails `json:"error"`
	}
	if !w.missing.Correct(&mcp.JSONRPCErrorDetails{}) || json.Unmarshal(p, &answer) != nil || answer.Error == nil {
		return p
	}
	w.missing.Correct(answer.Error)
	out, err := json.Marshal(answer)
	if err != nil {
		return p
	}
	return append(out, '\n')
}

// restore is an answer with the id that the client wrote.
func (w *answerWriter) restore(p []byte) []byte {
	const head = `{"jsonrpc":"2.0","id":`
	if w.id == nil {
		return p
	}
	before, after, ok := bytes.Cut(p, []byte(head))
	comma := bytes.IndexByte(after, ',')
	if !ok || comma < 0 || bytes.IndexByte(after[:comma], '"') >= 0 {
		return p
	}
	return bytes.Join([][]byte{before, []byte(head), w.id, after[comma:]}, nil)
}

// changing is id when it is a number that does not survive as a float.
func changing(id json.RawMessage) json.RawMessage {
	if len(id) == 0 || id[0] == '"' {
		return nil
	}
	var n float64
	if json.Unmarshal(id, &n) != nil {
		return nil
	}
	if again, err := json.Marshal(n); err == nil && bytes.Equal(again, id) && n < 1<<53 && n > -1<<53 {
		return nil
	}
	return id
}
