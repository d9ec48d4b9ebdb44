// Package wire serves one client with lines of JSON-RPC.
//
// [Run] is the loop: it takes lines from a channel, has the engine handle them
// and writes the answers. What the lines come from and the answers go to is
// the caller's: standard input and output, or the posts and the stream of SSE.
//
// # Promises
//
// Every request that was taken is answered, also when the input ends or the
// process is told to stop, unless the client cancelled it. Calls of tools that
// write run one by one in the order received; tools that are marked read-only
// run beside them. A call that takes long says so, if its client asked for that,
// and says nothing after its answer: see [Progress]. Nothing but JSON-RPC is written to the output. A panic is
// answered with [InternalError].
//
// # Limits
//
// A line may have 8 MiB; a longer one is answered with an error and skipped
// without being held in memory. A message that is not UTF-8 is answered with a
// parse error that names the byte: JSON would have other characters in its place,
// and nobody would be told that something else was saved. At most 64 MiB or
// 1,024 requests are under way at once; beyond that no more lines are taken.
package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

const (
	maxCalls      = 1024     // requests under way or queued
	maxCallBytes  = 64 << 20 // the bytes of those
	parallelReads = 8        // read-only calls that run at once
)

// Run serves the client of one session: lines are taken until one of them
// ends the input or ctx is done, then what was taken is answered. The messages
// for the client are written to out, one with its line end a Write.
func Run(ctx context.Context, s *server.MCPServer, own *Session, lines <-chan Line, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	l := &loop{
		server:  s,
		session: own,
		calls:   map[string]*call{},
		streams: map[*call]bool{},
		writes:  make(chan *call, maxCalls),
		reads:   make(chan struct{}, parallelReads),
		room:    newRoom(maxCalls, maxCallBytes),
		out:     newOutbox(out, stop),
	}
	// Handlers outlive ctx: what was read is answered after it ends.
	l.ctx, l.hangUp = context.WithCancel(s.WithContext(context.WithoutCancel(ctx), l.session))
	defer l.hangUp()
	if err := s.RegisterSession(l.ctx, l.session); err != nil {
		return errors.Join(fmt.Errorf("register the client: %w", err), l.out.close())
	}
	defer s.UnregisterSession(l.ctx, l.session.SessionID())

	l.tasks.Go(l.runWrites)
	quiet := make(chan []byte)
	forwarded := make(chan struct{})
	go func() { defer close(forwarded); l.forward(l.session, quiet) }()

	readErr := l.take(ctx, lines)
	close(l.writes)
	l.endStreams()
	l.tasks.Wait()
	close(quiet)
	<-forwarded
	return errors.Join(readErr, l.out.close())
}

// A loop serves one client.
type loop struct {
	server  *server.MCPServer
	session *Session
	ctx     context.Context // of every handler; ends after the last answer
	hangUp  context.CancelFunc
	out     *outbox
	room    *room
	tasks   sync.WaitGroup
	writes  chan *call    // calls that run one by one in order
	reads   chan struct{} // one slot a call that runs beside them

	mu      sync.Mutex
	calls   map[string]*call // under way or queued, by IDKey
	streams map[*call]bool   // those that end only when cancelled
	over    bool             // no new streams
}

// A call is one request under way or queued.
type call struct {
	message
	ctx       context.Context
	cancel    context.CancelFunc
	cancelled bool // by the client: must not be answered
}

// take accepts lines until one ends the input or ctx is done.
func (l *loop) take(ctx context.Context, lines <-chan Line) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case next := <-lines:
			if errors.Is(next.Err, io.EOF) {
				return nil
			}
			if next.Err != nil {
				return fmt.Errorf("read a request: %w", next.Err)
			}
			l.accept(next)
		}
	}
}

// accept answers one line, or has it answered.
func (l *loop) accept(in Line) {
	if in.TooLong {
		l.refuse(rpcError(in.ID, mcp.INVALID_REQUEST,
			fmt.Sprintf("the line is longer than %d MiB and was not read: send less at once", MaxLine>>20)))
		return
	}
	m, bad := parseMessage(in.Text)
	switch {
	case bad != nil:
		l.refuse(bad)
	case m.answer:
	case m.method == string(mcp.MethodNotificationCancelled):
		l.cancel(m.params)
	case m.id == nil:
		respond(l.ctx, l.server, m)
	default:
		l.start(m)
	}
}

// start runs a request: writes in order, slow reads beside them, and
// everything else here and now, so that it is done before the next line.
func (l *loop) start(m message) {
	c := &call{message: m}
	c.ctx, c.cancel = context.WithCancel(l.ctx)
	l.room.take(len(m.raw))
	l.mu.Lock()
	l.calls[IDKey(m.id)] = c
	l.mu.Unlock()
	switch mcp.MCPMethod(m.method) {
	case mcp.MethodToolsCall:
		if l.ordered(m.params) {
			l.writes <- c
			return
		}
		l.beside(c)
	case mcp.MethodResourcesRead, mcp.MethodPromptsGet, mcp.MethodCompletionComplete:
		l.beside(c)
	case mcp.MethodSubscriptionsListen:
		l.listen(c)
	default:
		l.finish(c, respond(c.ctx, l.server, c.message))
	}
}

// ordered tells whether a tool call may write: anything not marked read-only.
func (l *loop) ordered(params json.RawMessage) bool {
	var p struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(params, &p) != nil {
		return false
	}
	t := l.server.GetTool(p.Name)
	return t != nil && (t.Tool.Annotations.ReadOnlyHint == nil || !*t.Tool.Annotations.ReadOnlyHint)
}

// runWrites is the one goroutine that runs calls which may write.
func (l *loop) runWrites() {
	for c := range l.writes {
		l.run(c)
	}
}

func (l *loop) beside(c *call) {
	l.tasks.Go(func() {
		l.reads <- struct{}{}
		defer func() { <-l.reads }()
		l.run(c)
	})
}

// run handles c unless it was cancelled while it waited. A write that has
// begun is not undone by a later cancel; it is only not answered.
func (l *loop) run(c *call) {
	if c.ctx.Err() != nil {
		l.finish(c, nil)
		return
	}
	ctx := c.ctx
	if c.method == string(mcp.MethodToolsCall) {
		ctx = WithProgress(ctx, c.raw, func(notice []byte) { l.send(notice, nil) })
	}
	l.finish(c, respond(ctx, l.server, c.message))
}

// send queues an answer; sent, when not nil, is called when it has left.
func (l *loop) send(answer []byte, sent func()) { l.out.put(append(answer, '\n'), sent) }

// refuse answers what is no request. The answer takes room as a request does:
// a client that sends such lines and reads nothing would else fill the memory.
func (l *loop) refuse(answer []byte) {
	l.room.take(len(answer))
	l.send(answer, func() { l.room.give(len(answer)) })
}

// finish sends the answer, unless the client does not want it any more.
func (l *loop) finish(c *call, answer []byte) {
	l.mu.Lock()
	if key := IDKey(c.id); l.calls[key] == c {
		delete(l.calls, key)
	}
	delete(l.streams, c)
	silent := c.cancelled
	l.mu.Unlock()
	c.cancel()
	if silent || answer == nil {
		l.room.give(len(c.raw))
		return
	}
	l.send(answer, func() { l.room.give(len(c.raw)) })
}

// cancel withdraws a request. One that is unknown, or answered, is ignored.
func (l *loop) cancel(params json.RawMessage) {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil || p.RequestID == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.calls[IDKey(p.RequestID)]; c != nil {
		c.cancelled = true
		c.cancel()
	}
}

// listen serves subscriptions/listen: a session of its own, whose first
// message is the acknowledgement. With nothing to subscribe to, which is how
// this server is configured, it ends at once; else with the connection.
func (l *loop) listen(c *call) {
	l.mu.Lock()
	l.streams[c] = true
	if l.over {
		c.cancel()
	}
	l.mu.Unlock()
	own := NewSession("listen")
	ctx := l.server.WithContext(c.ctx, own)
	answered := make(chan []byte, 1)
	l.tasks.Go(func() { answered <- respond(ctx, l.server, c.message) })
	l.tasks.Go(func() { l.finish(c, l.forward(own, answered)) })
}

// endStreams ends what would wait for ever.
func (l *loop) endStreams() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	for c := range l.streams {
		c.cancel()
	}
}

// forward writes the notifications of s until end delivers, and then what is
// left of them; it returns what end delivered.
func (l *loop) forward(s *Session, end <-chan []byte) []byte {
	for {
		select {
		case n := <-s.notes:
			l.notify(n)
		case answer := <-end:
			for {
				select {
				case n := <-s.notes:
					l.notify(n)
				default:
					return answer
				}
			}
		}
	}
}

// notify sends one notification. One that is not JSON is a bug of ours.
func (l *loop) notify(n mcp.JSONRPCNotification) {
	text, err := json.Marshal(n)
	if err != nil {
		broken(l.ctx, l.server, message{method: n.Method}, err)
		return
	}
	l.out.put(append(text, '\n'), nil)
}
