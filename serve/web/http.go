// Package web serves many clients over HTTP: Streamable HTTP, and SSE if asked
// for, with nobody let in who has no token.
//
// The engine's HTTP transport checks no token, no origin and no size; a guard
// stands in front of it and does (see doors.ServeHTTP). Session ids, their
// life and their end are ours too: silence drops a session's state but not its
// id, so a client that comes back after hours or after a restart of the server
// goes on where it was; only a client that ends its session has it end. SSE is
// the loop of serve/wire behind the same guard.
//
// # What is never done
//
// Nothing is listened on beyond this machine unprotected. No request is let in
// by what it knows of a session. Access-Control-Allow-Origin is never a star.
package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/hermes-mcp/hermes-mcp/serve/web/oauth"
	"github.com/hermes-mcp/hermes-mcp/serve/wire"
)

// A Grant is what one bearer token opens.
type Grant struct {
	Name   string // of who holds the token, for the log and the snapshot; unique
	Token  string // at least 32 characters
	Server *server.MCPServer
	// Closed says, in ASCII, why whoever holds the token is turned away for now
	// (403). Server may be nil then. "" lets in.
	Closed string
}

// An HTTP serves clients over Streamable HTTP at /mcp and, if asked for, over
// SSE at /sse and /message. Set the fields before first use.
//
// Nobody is served without a token, and no page of another origin with one:
// see guard.
type HTTP struct {
	Grants []Grant
	SSE    bool
	// Origins may call from a browser, written as a browser does:
	// https://example.com. Without Origin no browser is calling.
	Origins []string
	// Hosts are names by which clients may call beside localhost, 127.0.0.1
	// and [::1], with the port where it is not the scheme's own.
	Hosts []string
	// Ended is a file that remembers sessions which their client ended, so
	// that a restart does not revive them. "" means they are forgotten with
	// the process.
	Ended string
	// Authority is an authorization server whose access tokens are taken too,
	// and Subjects who may come in with one: the subject, and the Name of the
	// Grant that it opens. May be nil.
	Authority *oauth.Server
	Subjects  map[string]string
	Body      time.Duration // to receive a body; 30 s when 0
	Answer    time.Duration // for a client to take what is written to it; 30 s when 0
	Idle      time.Duration // silence after which a session's state is dropped; 30 min when 0
	Max       int           // sessions with state at once; 1,000 when 0
	Log       *slog.Logger  // of the protocol engine; discarded when nil
}

// MinToken is how many characters a token has at least.
const MinToken = 32

const (
	maxBody       = 4 << 20
	defaultIdle   = 30 * time.Minute
	defaultMax    = 1000
	defaultBody   = 30 * time.Second
	defaultAnswer = 30 * time.Second
	drainTime     = 30 * time.Second // to finish what runs when told to stop
	statelessLife = 12 * time.Hour   // of a snapshot that a client without a session sees
)

// Serve serves on ln until ctx is done; then it takes no more requests,
// finishes those under way and returns nil. It closes ln. Errors: ErrToken,
// and what the network says.
func (h *HTTP) Serve(ctx context.Context, ln net.Listener) error { return h.serve(ctx, ln, "", "") }

// ServeTLS is Serve over TLS.
func (h *HTTP) ServeTLS(ctx context.Context, ln net.Listener, certFile, keyFile string) error {
	return h.serve(ctx, ln, certFile, keyFile)
}

func (h *HTTP) serve(ctx context.Context, ln net.Listener, certFile, keyFile string) error {
	doors, err := h.doors(ctx, ln.Addr())
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	// Requests outlive ctx: those that are under way are finished.
	base, hangUp := context.WithCancel(context.WithoutCancel(ctx))
	defer hangUp()
	srv := &http.Server{
		Handler:           doors,
		BaseContext:       func(net.Listener) context.Context { return base },
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(h.log().Handler(), slog.LevelDebug),
	}
	var owned sync.WaitGroup
	sweeping, stopSweeping := context.WithCancel(ctx)
	owned.Go(func() { doors.sweep(sweeping) })
	ended := make(chan error, 1)
	owned.Go(func() {
		if certFile != "" {
			ended <- srv.ServeTLS(ln, certFile, keyFile)
			return
		}
		ended <- srv.Serve(ln)
	})
	select {
	case err = <-ended:
	case <-ctx.Done():
		err = doors.shutDown(srv)
		<-ended
	}
	stopSweeping()
	owned.Wait()
	if err != nil {
		return fmt.Errorf("serve http: %w", err)
	}
	return nil
}

func (h *HTTP) bodyTime() time.Duration {
	if h.Body != 0 {
		return h.Body
	}
	return defaultBody
}

func (h *HTTP) answerTime() time.Duration {
	if h.Answer != 0 {
		return h.Answer
	}
	return defaultAnswer
}

func (h *HTTP) log() *slog.Logger {
	if h.Log != nil {
		return h.Log
	}
	return slog.New(slog.NewTextHandler(io.Discard, nil))
}

// doors are an HTTP at work.
type doors struct {
	*HTTP
	mux      http.Handler
	grants   []*grant
	sessions *sessions
	streams  *streams // of SSE
	calls    calls
	port     string // that clients name in Host; "" for a unix socket
}

// A grant is a Grant at work.
type grant struct {
	Grant
	secret []byte // digest of the token
	mcp    *server.StreamableHTTPServer
}

// ErrToken is returned for grants that would let anybody in.
var ErrToken = errors.New("every grant needs a server, a name of its own and a token of at least 32 characters")

func (h *HTTP) doors(ctx context.Context, addr net.Addr) (*doors, error) {
	idle, most := h.Idle, h.Max
	if idle == 0 {
		idle = defaultIdle
	}
	if most == 0 {
		most = defaultMax
	}
	if h.Authority != nil {
		if err := h.Authority.Valid(); err != nil {
			return nil, err
		}
	}
	past, err := openEnded(h.Ended)
	if err != nil {
		return nil, err
	}
	d := &doors{HTTP: h, sessions: newSessions(idle, most, past), streams: newStreams(ctx), calls: calls{all: map[string]*call{}}}
	if addr.Network() != "unix" {
		if _, d.port, err = net.SplitHostPort(addr.String()); err != nil {
			return nil, fmt.Errorf("address %s: %w", addr, err)
		}
	}
	names := map[string]bool{}
	for _, g := range h.Grants {
		if len(g.Token) < MinToken || g.Server == nil && g.Closed == "" || names[g.Name] {
			return nil, ErrToken
		}
		names[g.Name] = true
		if g.Closed != "" {
			d.grants = append(d.grants, &grant{Grant: g, secret: digest("token", g.Token)})
			continue
		}
		d.grants = append(d.grants, d.open(g))
	}
	if len(d.grants) == 0 {
		return nil, ErrToken
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", d.serveMCP)
	if h.SSE {
		mux.HandleFunc("GET /sse", d.serveSSE)
		mux.HandleFunc("POST /message", d.serveMessage)
	}
	d.mux = mux
	return d, nil
}

// open sets the engine's transport up for a grant. What the guard does is
// turned off in it, and its own sweeper is not used: the sessions are ours.
func (d *doors) open(g Grant) *grant {
	own := &grant{Grant: g, secret: digest("token", g.Token)}
	own.mcp = server.NewStreamableHTTPServer(g.Server,
		server.WithEndpointPath("/mcp"),
		server.WithSessionIdManagerResolver(resolver{d, own}),
		server.WithStreamableHTTPLogger(d.log()),
		server.WithDisableLocalhostProtection(true),
		server.WithHTTPContextFunc(func(ctx context.Context, _ *http.Request) context.Context {
			return d.enter(ctx, own)
		}),
	)
	return own
}

// serveMCP passes a request that the guard let in to the engine.
func (d *doors) serveMCP(w http.ResponseWriter, r *http.Request) {
	g := grantOf(r.Context())
	id := r.Header.Get(server.HeaderKeySessionID)
	if status, why := misplaced(w, r, id); why != "" {
		refuse(w, status, why)
		return
	}
	if id != "" {
		if !g.issued(id) || d.sessions.hasEnded(id) {
			refuse(w, http.StatusNotFound, "there is no such session: initialize a new one")
			return
		}
		defer d.sessions.use(id, g)()
	}
	d.evict()
	l := letterOf(r.Context())
	if r.Method == http.MethodPost {
		if bad := wire.Misfit(l.raw); bad != nil {
			answerWith(w, http.StatusBadRequest, bad)
			return
		}
	}
	if l.homeless(r) {
		refuse(w, http.StatusBadRequest, "Mcp-Session-Id is missing: initialize first and send the id it answers with")
		return
	}
	if wrong := wire.WrongCursor(g.Server, l.raw); wrong != nil {
		status := http.StatusOK
		if l.modern(r) {
			status = http.StatusBadRequest
		}
		answerWith(w, status, wrong)
		return
	}
	ctx, correction := wire.WithCorrection(r.Context())
	out := &answerWriter{ResponseWriter: w, correction: correction, id: changing(l.ID), patience: d.answerTime()}
	if l.Method == string(mcp.MethodToolsCall) && takesStream(r) {
		ctx = wire.WithProgress(ctx, l.raw, out.notice)
	}
	switch {
	case id == "" || r.Method != http.MethodPost:
	case l.Method == string(mcp.MethodNotificationCancelled):
		d.calls.withdraw(id, l.Params.RequestID)
	case l.ID != nil && l.Method != "":
		var end func() bool
		ctx, end = d.calls.begin(ctx, id, l.ID)
		defer func() {
			if end() && !out.hasBegun() {
				out.WriteHeader(http.StatusAccepted) // no answer to what was withdrawn
			}
		}()
	}
	g.mcp.ServeHTTP(out, r.WithContext(ctx))
}

// misplaced says why a request of that method, for the session id, has nothing
// to do here; why is "" when it has.
func misplaced(w http.ResponseWriter, r *http.Request, id string) (status int, why string) {
	modern := mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion))
	switch r.Method {
	case http.MethodPost:
	case http.MethodDelete:
		if id == "" && !modern {
			return http.StatusBadRequest, "Mcp-Session-Id must name the session to end"
		}
	case http.MethodGet:
		if modern {
			w.Header().Set("Allow", "POST")
			return http.StatusMethodNotAllowed, "there are no streams of a session in this version of the protocol: use POST"
		}
		if id == "" {
			return http.StatusBadRequest, "a stream needs the Mcp-Session-Id of its session"
		}
	default:
		w.Header().Set("Allow", "POST, GET, DELETE")
		return http.StatusMethodNotAllowed, "use POST"
	}
	return 0, ""
}

// answerWith sends an answer that is not the engine's.
func answerWith(w http.ResponseWriter, status int, answer []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(answer) // the client that hung up is not told
}

// shutDown ends the streams, lets everything else finish and stops srv.
func (d *doors) shutDown(srv *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	stopped := make(chan error, 1)
	go func() { stopped <- srv.Shutdown(ctx) }()
	d.streams.wait()
	// A stream may be opened while we look, so look until all is quiet.
	for {
		for _, g := range d.grants {
			if g.mcp != nil {
				g.mcp.CloseSessions(ctx)
			}
		}
		select {
		case err := <-stopped:
			if err != nil {
				return errors.Join(err, srv.Close())
			}
			return nil
		case <-time.After(20 * time.Millisecond):
		}
	}
}
