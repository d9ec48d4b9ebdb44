package summarizer

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// A pipeListener lets client and server meet in memory, so that a test in a
// synctest bubble decides what time it is.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// inMemory is an endpoint that lives in the bubble of the test, and a client
// that reaches it.
func inMemory(t *testing.T, h http.HandlerFunc) (base string, web *http.Client) {
	t.Helper()
	l := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	srv := &http.Server{Handler: h}
	var serving sync.WaitGroup
	serving.Go(func() { srv.Serve(l) })
	transport := &http.Transport{DialContext: l.dial}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		srv.Close()
		serving.Wait()
	})
	return "http://endpoint", &http.Client{Transport: transport}
}

// onLoopback is an endpoint on this machine.
func onLoopback(t *testing.T, h http.HandlerFunc) (base string, web *http.Client) {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.URL, srv.Client()
}

// A said is what a fake model answers.
type said struct {
	text    string
	calls   []string // arguments
	refusal string
	cut     bool
}

// shapes are how each kind of endpoint writes an answer.
var shapes = map[string]func(said) string{
	OpenAI: func(s said) string {
		message := map[string]any{"role": "assistant", "content": s.text}
		finish := "stop"
		if s.refusal != "" {
			message["refusal"], message["content"] = s.refusal, nil
		}
		var calls []any
		for i, args := range s.calls {
			calls = append(calls, map[string]any{"id": fmt.Sprint("call_", i), "type": "function", "function": map[string]any{"name": "memory", "arguments": args}})
			finish = "tool_calls"
		}
		if calls != nil {
			message["tool_calls"] = calls
		}
		if s.cut {
			finish = "length"
		}
		return encoded(map[string]any{
			"id": "1", "object": "chat.completion", "choices": []any{map[string]any{"index": 0, "finish_reason": finish, "message": message}},
			"usage": map[string]any{"prompt_tokens": 100, "completion_tokens": 20},
		})
	},
	Anthropic: func(s said) string {
		stop := "end_turn"
		blocks := []any{}
		if s.text != "" {
			blocks = append(blocks, map[string]any{"type": "text", "text": s.text})
		}
		for i, args := range s.calls {
			var input any = json.RawMessage(args)
			if !json.Valid([]byte(args)) {
				input = args
			}
			blocks = append(blocks, map[string]any{"type": "tool_use", "id": fmt.Sprint("toolu_", i), "name": "memory", "input": input})
			stop = "tool_use"
		}
		if s.refusal != "" {
			stop = "refusal"
		}
		if s.cut {
			stop = "max_tokens"
		}
		return encoded(map[string]any{
			"id": "1", "type": "message", "role": "assistant", "content": blocks, "stop_reason": stop,
			"usage": map[string]any{"input_tokens": 100, "output_tokens": 20},
		})
	},
}

func encoded(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// eachShape runs a test against both kinds of endpoint.
func eachShape(t *testing.T, run func(t *testing.T, provider string)) {
	t.Helper()
	for provider := range shapes {
		t.Run(provider, func(t *testing.T) { run(t, provider) })
	}
}

func body(t *testing.T, r *http.Request) string {
	t.Helper()
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	return string(raw)
}
