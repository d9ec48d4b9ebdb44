package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/hermes-mcp/hermes-mcp/serve/wire"
)

// An answerWriter puts right what the engine writes: errors that should say
// something else, and ids that its arithmetic changed. It can
// also send notices before the answer, which then is the last event of a
// stream.
type answerWriter struct {
	http.ResponseWriter
	correction *wire.Correction
	id         json.RawMessage // as the client wrote it, when the engine would not
	patience   time.Duration   // with a client that does not take what is written

	mu        sync.Mutex
	begun     bool // something was written
	streaming bool // and it was a notice
}

// Unwrap lets a ResponseController reach the writer below.
func (w *answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush passes on what was written so far.
func (w *answerWriter) Flush() {
	// A writer that cannot flush is one that need not.
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}

// WriteHeader begins the answer, unless notices have.
func (w *answerWriter) WriteHeader(status int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.streaming {
		return
	}
	w.begun = true
	await(w.ResponseWriter, w.patience)
	if status == http.StatusOK && w.correction.BadRequest() {
		status = http.StatusBadRequest
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write takes one message of the engine's, whole.
func (w *answerWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begun = true
	await(w.ResponseWriter, w.patience)
	out := w.restore(w.correct(p))
	if w.streaming && bytes.HasPrefix(out, []byte("{")) {
		out = event(out)
	}
	if _, err := w.ResponseWriter.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// notice sends one notification ahead of the answer. One that cannot be sent is
// left out: the client is gone, or the answer has begun.
func (w *answerWriter) notice(text []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.begun && !w.streaming {
		return
	}
	control := http.NewResponseController(w.ResponseWriter)
	await(w.ResponseWriter, w.patience)
	if !w.streaming {
		w.begun, w.streaming = true, true
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("X-Accel-Buffering", "no")
		w.ResponseWriter.WriteHeader(http.StatusOK)
	}
	if _, err := w.ResponseWriter.Write(event(text)); err == nil {
		_ = control.Flush() // as in Flush
	}
}

// hasBegun tells whether the client has got something.
func (w *answerWriter) hasBegun() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.begun
}

// event is one message as an event of a stream.
func event(message []byte) []byte {
	return fmt.Appendf(nil, "event: message\ndata: %s\n\n", bytes.TrimRight(message, "\n"))
}

// takesStream tells whether the client takes a stream for an answer.
func takesStream(r *http.Request) bool {
	return strings.Contains(strings.ToLower(strings.Join(r.Header.Values("Accept"), ",")), "text/event-stream")
}

// correct is an error answer as it should be.
func (w *answerWriter) correct(p []byte) []byte {
	var answer struct {
		JSONRPC string                   `json:"jsonrpc"`
		ID      json.RawMessage          `json:"id"`
		Error   *mcp.JSONRPCErrorDetails `json:"error"`
	}
	if !w.correction.Correct(&mcp.JSONRPCErrorDetails{}) || json.Unmarshal(p, &answer) != nil || answer.Error == nil {
		return p
	}
	w.correction.Correct(answer.Error)
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
