// Command conformance helps the protocol's own suites to test this server.
// It is built for the tests only.
//
//	conformance front COMMAND ARG...   run a server of ours and let the suites in
//	conformance fixtures               be a server with what the suites look for
//
// The suites cannot send a bearer token, and no server of ours serves without
// one. The front stands before the server, adds the token and changes nothing
// else: names and origins reach our guard as they were sent.
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/hermes-mcp/hermes-mcp/serve/web"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := errors.New("usage: conformance front COMMAND ARG... | conformance fixtures")
	switch {
	case len(os.Args) > 2 && os.Args[1] == "front":
		err = front(ctx, os.Args[2:])
	case len(os.Args) > 1 && os.Args[1] == "fixtures":
		err = serveFixtures(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

// front starts the server, prints its own address as one line and passes
// requests on until it is told to stop or the server ends.
func front(ctx context.Context, command []string) error {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(ln.Addr().String())
	if err != nil {
		return err
	}
	token := rand.Text() + rand.Text()
	names := []string{"localhost:" + port, "127.0.0.1:" + port}
	child := exec.CommandContext(ctx, command[0], command[1:]...)
	child.Cancel = func() error { return child.Process.Signal(syscall.SIGTERM) }
	child.WaitDelay = 10 * time.Second
	child.Env = append(os.Environ(),
		"HERMES_MCP_TOKEN="+token,
		"HERMES_MCP_HTTP_ADDR=127.0.0.1:0",
		"HERMES_MCP_HTTP_HOSTS="+strings.Join(names, ","),
		"HERMES_MCP_HTTP_ORIGINS=http://"+strings.Join(names, ",http://"))
	said, err := child.StderrPipe()
	if err != nil {
		return err
	}
	if err := child.Start(); err != nil {
		return err
	}
	to, err := address(said)
	if err != nil {
		return errors.Join(err, child.Wait())
	}
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1, // streams
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host
			r.Out.Header.Set("Authorization", "Bearer "+token)
		},
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // a suite hangs up at will
	}
	fmt.Printf("http://127.0.0.1:%s/mcp\n", port)
	// The whole request first: a proxy that answers while it still takes the
	// request in may close the connection in the middle of the answer.
	whole := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client left
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	})
	srv := &http.Server{Handler: whole, ReadHeaderTimeout: 5 * time.Second}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()
	err = child.Wait()
	return errors.Join(err, srv.Close(), ignoreClosed(<-served))
}

// address is where the server says that it listens; what else it says is
// passed on.
func address(said io.Reader) (*url.URL, error) {
	lines := bufio.NewReader(said)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return nil, fmt.Errorf("the server did not start: %w", err)
		}
		fmt.Fprint(os.Stderr, line)
		if _, rest, ok := strings.Cut(line, "listening on "); ok {
			where, _, _ := strings.Cut(rest, ",")
			go io.Copy(os.Stderr, lines) // ends with the server
			return url.Parse("http://" + strings.TrimSpace(where))
		}
	}
}

func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// serveFixtures is configured as the real server is by the front.
func serveFixtures(ctx context.Context) error {
	ln, err := web.Listen(ctx, os.Getenv("HERMES_MCP_HTTP_ADDR"), false)
	if err != nil {
		return err
	}
	h := &web.HTTP{
		Grants:  []web.Grant{{Name: "suite", Token: os.Getenv("HERMES_MCP_TOKEN"), Server: fixtures()}},
		Hosts:   strings.Split(os.Getenv("HERMES_MCP_HTTP_HOSTS"), ","),
		Origins: strings.Split(os.Getenv("HERMES_MCP_HTTP_ORIGINS"), ","),
	}
	fmt.Fprintf(os.Stderr, "listening on %s\n", ln.Addr())
	return h.Serve(ctx, ln)
}
