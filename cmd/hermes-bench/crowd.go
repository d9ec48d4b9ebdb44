package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"time"
)

// The calls of a client, by turns: of ten one saves, two read and seven search.
const (
	saving   = "memory add"
	reading  = "memory read"
	finding  = "session_search, a query"
	browsing = "session_search, recent sessions"
)

var kinds = []string{saving, reading, finding, browsing}

var turns = []string{saving, finding, reading, finding, browsing, finding, finding, reading, finding, browsing}

// A crowd is many clients of one server at once.
type crowd struct {
	clientsReport
	token   string
	queries []string
	http    *http.Client

	mu     sync.Mutex
	took   map[string][]time.Duration
	saved  []string
	failed error
	left   int // goroutines
}

func newCrowd(r clientsReport, token string, queries []string) *crowd {
	return &crowd{clientsReport: r, token: token, queries: queries, took: map[string][]time.Duration{},
		http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: r.Clients}}}
}

// visit has all clients call the server that serve runs until they are done.
func (c *crowd) visit(ctx context.Context, serve func(ctx context.Context, ln net.Listener) error) error {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, ln) }()
	url := "http://" + ln.Addr().String() + "/mcp"
	if _, err := c.hello(ctx, url); err != nil { // what is opened once is open now
		stop()
		return errors.Join(err, <-ended)
	}
	c.http.CloseIdleConnections()
	before := settled(0)
	var clients sync.WaitGroup
	for n := range c.Clients {
		clients.Go(func() { c.note(c.client(ctx, url, n)) })
	}
	clients.Wait()
	c.http.CloseIdleConnections()
	c.left = max(0, settled(before)-before)
	stop()
	return errors.Join(c.failed, <-ended)
}

// settled is how many goroutines there are, once it is at most want or does not
// fall any more.
func settled(want int) int {
	least, since := runtime.NumGoroutine(), time.Now()
	for time.Since(since) < 2*time.Second && least > want {
		time.Sleep(10 * time.Millisecond)
		if n := runtime.NumGoroutine(); n < least {
			least, since = n, time.Now()
		}
	}
	return least
}

func (c *crowd) note(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = errors.Join(c.failed, err)
}

// client makes the calls of the n-th client. The first ones drop their
// connection in the middle of a write, halfway.
func (c *crowd) client(ctx context.Context, url string, n int) error {
	session, err := c.hello(ctx, url)
	if err != nil {
		return err
	}
	for i := range c.Calls {
		kind := turns[(n+i)%len(turns)]
		if n < c.Dropped && i == c.Calls/2 {
			c.drop(ctx, url, session, n)
			return nil
		}
		args := map[string]any{"action": "read"}
		tool, fact := "memory", ""
		switch kind {
		case saving:
			fact = fmt.Sprintf("Client %d saw in call %d that the build runs with make on Debian 12.", n, i)
			args = map[string]any{"action": "add", "content": fact}
		case finding:
			tool, args = "session_search", map[string]any{"query": c.queries[(n*c.Calls+i)%len(c.queries)]}
		case browsing:
			tool, args = "session_search", map[string]any{}
		}
		start := time.Now()
		answer, err := c.call(ctx, url, session, tool, args)
		took := time.Since(start)
		if err == nil && !strings.Contains(answer, `\"success\":true`) {
			err = fmt.Errorf("%s: %.300s", kind, answer)
		}
		if err != nil {
			return err
		}
		c.mu.Lock()
		c.took[kind] = append(c.took[kind], took)
		if fact != "" {
			c.saved = append(c.saved, fact)
		}
		c.mu.Unlock()
	}
	_, _, err = c.send(ctx, "DELETE", url, session, "")
	return err
}

// drop begins a write and hangs up at once. Whether it is carried out is open:
// nobody was told that it was.
func (c *crowd) drop(ctx context.Context, url, session string, n int) {
	ctx, cancel := context.WithCancel(ctx)
	go cancel()
	_, err := c.call(ctx, url, session, "memory", map[string]any{"action": "add", "content": fmt.Sprintf("Client %d is leaving.", n)})
	if err != nil && !errors.Is(err, context.Canceled) {
		c.note(err)
	}
}

// hello begins a session.
func (c *crowd) hello(ctx context.Context, url string) (session string, err error) {
	_, header, err := c.send(ctx, "POST", url, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"hermes-bench","version":"1"}}}`)
	return header.Get("Mcp-Session-Id"), err
}

func (c *crowd) call(ctx context.Context, url, session, tool string, args map[string]any) (string, error) {
	params, err := json.Marshal(map[string]any{"name": tool, "arguments": args})
	if err != nil {
		return "", err
	}
	answer, _, err := c.send(ctx, "POST", url, session, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+string(params)+`}`)
	return answer, err
}

func (c *crowd) send(ctx context.Context, method, url, session, body string) (answer string, header http.Header, err error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return "", nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return "", nil, err
	}
	text, err := io.ReadAll(res.Body)
	if err = errors.Join(err, res.Body.Close()); err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s: %.300s", method, url, res.Status, text)
	}
	return string(text), res.Header, err
}

// kind is what the calls of those kinds took, under a name.
func (c *crowd) kind(name string, of ...string) callKind {
	var all []time.Duration
	for _, k := range of {
		all = append(all, c.took[k]...)
	}
	return callKind{name, len(all), ms(percentile(all, 50)), ms(percentile(all, 95))}
}

// serveUntil serves on ln until ctx is done.
func serveUntil(ctx context.Context, ln net.Listener, h http.Handler) error {
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() }) // what Serve then says is looked at
	defer stop()
	if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
