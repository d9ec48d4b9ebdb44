package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mark3labs/mcp-go/server"
	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/caller"
	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/keeper"
	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/settings"
	"github.com/hermes-mcp/hermes-mcp/serve"
	"github.com/hermes-mcp/hermes-mcp/serve/web"
	"github.com/hermes-mcp/hermes-mcp/transcript/source"
)

func (a *app) serveCommand() *cobra.Command {
	var transport string
	var how serving
	c := &cobra.Command{
		Use: "serve", Short: "Serve a client over stdio, or many over HTTP", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.begin(cmd, true, func(ctx context.Context) error {
				switch transport {
				case "stdio":
					return a.serveStdio(ctx, how)
				case "http", "sse":
					return a.serveHTTP(ctx, how, transport == "sse")
				}
				return usage("--transport %q is none of stdio, http, sse", transport)
			})
		},
	}
	c.Flags().StringVar(&transport, "transport", "stdio", "stdio, http (at /mcp), or sse (also at /sse and /message)")
	c.Flags().BoolVar(&how.readOnly, "read-only", false, "refuse every edit of the memory")
	c.Flags().BoolVar(&how.record, "record", false, "offer session_record, for clients whose conversations are in no file")
	return c
}

// serve is what the program does on a pipe without arguments.
func (a *app) serve(ctx context.Context) error { return a.serveStdio(ctx, serving{}) }

// serveStdio serves until the client closes our input or a signal comes, then
// answers what was read and ends in order.
func (a *app) serveStdio(ctx context.Context, how serving) error {
	how.origin = originTool
	// A client that has hung up is an error of the next write, which ends us in
	// order; without this it would be a signal that kills us between two edits.
	hungUp := make(chan os.Signal, 1)
	signal.Notify(hungUp, syscall.SIGPIPE)
	defer signal.Stop(hungUp)
	return a.serving(ctx, how, func(srv *server.MCPServer, _ serving) error {
		return serve.Stdio(ctx, srv, a.in, a.out)
	})
}

// serveHTTP serves whoever has the token until a signal comes.
func (a *app) serveHTTP(ctx context.Context, how serving, sse bool) error {
	set := a.config.HTTP
	ln, err := a.listen(ctx)
	if err != nil {
		return err
	}
	how.origin, how.remote = originTool, true
	how.who = func(ctx context.Context) caller.Current {
		id := web.Session(ctx)
		return caller.Current{ID: id, Live: []string{id}, How: "HTTP session"}
	}
	return a.serving(ctx, how, func(srv *server.MCPServer, how serving) error {
		token, where, err := a.homeToken()
		if err != nil {
			return errors.Join(err, ln.Close())
		}
		grants, err := a.grants(ctx, token, how)
		if err != nil {
			return errors.Join(err, ln.Close())
		}
		h := &web.HTTP{
			Grants: append(grants, web.Grant{Name: homeGrant, Token: token, Server: srv}), SSE: sse,
			Origins: set.Origins, Hosts: set.Hosts, Ended: a.home.MCP("http-ended"),
			Idle: a.config.SnapshotIdle, Max: set.MaxSessions,
		}
		if err := a.trust(h); err != nil {
			return errors.Join(err, ln.Close())
		}
		fmt.Fprintf(a.err, "hermes-mcp: listening on %s, path /mcp, bearer token in %s\n", ln.Addr(), where)
		if set.TLSCert != "" {
			return h.ServeTLS(ctx, ln, set.TLSCert, set.TLSKey)
		}
		return h.Serve(ctx, ln)
	})
}

// listen opens the address of the settings, and looks at the certificate first.
func (a *app) listen(ctx context.Context) (net.Listener, error) {
	set := a.config.HTTP
	if (set.TLSCert == "") != (set.TLSKey == "") {
		return nil, usage("a certificate and its key go together: --tls-cert and --tls-key")
	}
	if set.TLSCert != "" {
		if _, err := tls.LoadX509KeyPair(set.TLSCert, set.TLSKey); err != nil {
			return nil, fmt.Errorf("certificate %s with the key %s: %w", set.TLSCert, set.TLSKey, err)
		}
	}
	for _, o := range set.Origins {
		if u, err := url.Parse(o); o != "null" && (err != nil || u.Host == "" || o != u.Scheme+"://"+u.Host) {
			return nil, usage("--http-origins: %q is no page as a browser names it: write https://example.com, without a path", o)
		}
	}
	for _, h := range set.Hosts {
		if strings.ContainsAny(h, "/*@?# ") {
			return nil, usage("--http-hosts: %q is no name to be called by: write memory.example.com, or memory.example.com:7523", h)
		}
	}
	ln, err := web.Listen(ctx, set.Addr, set.BehindProxy || set.TLSCert != "")
	switch {
	case errors.Is(err, web.ErrOpen):
		return nil, usage("%w (--tls-cert and --tls-key, or --behind-proxy)", err)
	case errors.Is(err, web.ErrAddress):
		return nil, usage("--addr: %w", err)
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%w; another program listens there: end it, or choose another --addr", err)
	}
	return ln, err
}

// serving does what every transport needs around it: the home, the log, the
// server, and the background work, which is stopped and waited for.
func (a *app) serving(ctx context.Context, how serving, carry func(*server.MCPServer, serving) error) error {
	reads, err := a.onlyReads()
	if err != nil {
		// Tools can tell the model what is wrong; a server that is not there cannot.
		fmt.Fprintln(a.err, "hermes-mcp:", err)
	}
	how.readOnly = how.readOnly || reads
	a.openLog(true)
	k := a.keeper(settle)
	how.pending = k.Pending
	srv, err := a.server(ctx, how)
	if err != nil {
		return err
	}
	a.log.Info().Str("version", version()).Str("home", a.home.Path).Bool("remote", how.remote).Msg("serve")

	background, stop := context.WithCancel(ctx)
	var owner sync.WaitGroup
	how.background = func(do func(context.Context)) { owner.Go(func() { do(background) }) }
	if !reads {
		how.background(k.Run)
	}
	if !how.readOnly {
		how.background(a.upkeep)
		how.background(a.external.Guard.Run)
	}
	err = carry(srv, how)
	stop()
	owner.Wait()
	if !how.readOnly {
		a.lastDelivery(ctx)
	}
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// farewell is how long a server that ends goes on delivering to the provider.
const farewell = 5 * time.Second

// lastDelivery delivers what it can before the process ends; the rest is
// somebody else's.
func (a *app) lastDelivery(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	if _, err := a.external.Guard.Drain(ctx); err != nil {
		a.log.Info().Err(err).Msg("not all is delivered to the provider")
	}
}

// settle is how long background work leaves the machine to the handshake.
const settle = 300 * time.Millisecond

// keeper is the background work of this process.
func (a *app) keeper(wait time.Duration) *keeper.Keeper {
	return &keeper.Keeper{
		Open:    a.archive.openOwn,
		Sources: source.All(), Places: a.places(), Excluded: a.config.Excluded,
		Folder: a.home.MCP(), Log: a.log, Wait: wait, Meaning: a.config.Embeddings.Provider != settings.EmbeddingsOff,
	}
}

// serveArgs are the arguments that start a server on the home and profile of
// this run.
func (a *app) serveArgs(extra ...string) []string {
	args := []string{"serve"}
	if a.homeFlag != "" || a.home.From == "HERMES_HOME" {
		root := a.home.Path
		if a.home.Profile != "" {
			root = strings.TrimSuffix(root, string(os.PathSeparator)+"profiles"+string(os.PathSeparator)+a.home.Profile)
		}
		args = append(args, "--home", root)
	}
	if a.home.Profile != "" {
		args = append(args, "--profile", a.home.Profile)
	}
	return append(args, extra...)
}
