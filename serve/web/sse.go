package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/hermes-mcp/hermes-mcp/serve/wire"
)

// keepAlive is how often a silent stream says that it is there: proxies and
// clients drop one that is not.
const keepAlive = 25 * time.Second

// streams are the open SSE streams. Each is a loop like that of stdio: what a
// client posts are its lines, and its stream is the output. So calls that
// write keep their order, and what was accepted is carried out although the
// client leaves.
type streams struct {
	ctx  context.Context // ends when the server stops
	mu   sync.Mutex
	all  map[string]*stream
	open sync.WaitGroup
	shut bool
}

type stream struct {
	grant *grant
	lines chan wire.Line
	ended <-chan struct{}
}

func newStreams(ctx context.Context) *streams { return &streams{ctx: ctx, all: map[string]*stream{}} }

// wait refuses new streams and waits until those that are open have ended,
// which they do when the server stops.
func (s *streams) wait() {
	s.mu.Lock()
	s.shut = true
	s.mu.Unlock()
	s.open.Wait()
}

// add opens a stream, unless too many are or the server stops.
func (s *streams) add(id string, one *stream, most int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shut || len(s.all) >= most {
		return false
	}
	s.all[id] = one
	s.open.Add(1)
	return true
}

func (s *streams) remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, id)
	s.open.Done()
}

func (s *streams) get(id string) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[id]
}

// serveSSE opens a stream and serves it until the client or the server goes.
func (d *doors) serveSSE(w http.ResponseWriter, r *http.Request) {
	g := grantOf(r.Context())
	own := wire.NewSession("sse")
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	stop := context.AfterFunc(d.streams.ctx, cancel)
	defer stop()
	one := &stream{grant: g, lines: make(chan wire.Line), ended: ctx.Done()}
	if !d.streams.add(own.SessionID(), one, d.sessions.most) {
		w.Header().Set("Retry-After", "60")
		refuse(w, http.StatusServiceUnavailable, "too many streams are open: end some, or let http.max_sessions be more")
		return
	}
	defer d.streams.remove(own.SessionID())

	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	out := &events{w: w, control: http.NewResponseController(w), patience: d.answerTime()}
	if err := out.send("event: endpoint\ndata: /message?sessionId=" + own.SessionID() + "\n\n"); err != nil {
		return
	}
	var beating sync.WaitGroup
	beating.Go(func() { out.keepAlive(ctx, cancel) })
	// An error here is the client's going away, and there is nobody to tell.
	_ = wire.Run(d.enter(ctx, g), g.Server, own, one.lines, out)
	cancel()
	beating.Wait()
}

// serveMessage takes one message for a stream.
func (d *doors) serveMessage(w http.ResponseWriter, r *http.Request) {
	one := d.streams.get(r.URL.Query().Get("sessionId"))
	if one == nil || one.grant != grantOf(r.Context()) {
		refuse(w, http.StatusNotFound, "there is no such stream: open /sse first")
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		refuse(w, http.StatusBadRequest, "the body did not arrive")
		return
	}
	// The stream takes lines; a message may be written over several.
	var flat bytes.Buffer
	if json.Compact(&flat, body) == nil {
		body = flat.Bytes()
	}
	if body = bytes.TrimSpace(body); len(body) == 0 {
		refuse(w, http.StatusBadRequest, "the body is empty")
		return
	}
	select {
	case one.lines <- wire.Line{Text: body}:
		w.WriteHeader(http.StatusAccepted)
	case <-one.ended:
		refuse(w, http.StatusNotFound, "the stream has ended")
	case <-r.Context().Done():
	}
}

// events writes a stream.
type events struct {
	mu       sync.Mutex
	w        io.Writer
	control  *http.ResponseController
	patience time.Duration // with a client that does not take a message
}

// Write sends one message with its line end.
func (e *events) Write(p []byte) (int, error) {
	if err := e.send(fmt.Sprintf("event: message\ndata: %s\n\n", bytes.TrimSuffix(p, []byte("\n")))); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (e *events) send(text string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	// A client that stops reading must not hold the stream for ever. Not every
	// writer has deadlines; the server's own has.
	if err := e.control.SetWriteDeadline(time.Now().Add(e.patience)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := io.WriteString(e.w, text); err != nil {
		return err
	}
	return e.control.Flush()
}

// keepAlive sends comments until ctx is done; a client that is gone ends it.
func (e *events) keepAlive(ctx context.Context, gone func()) {
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if e.send(": here\n\n") != nil {
				gone()
				return
			}
		}
	}
}
