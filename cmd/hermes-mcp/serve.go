package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/keeper"
	"github.com/hermes-mcp/hermes-mcp/serve"
	"github.com/hermes-mcp/hermes-mcp/transcript"
	"github.com/hermes-mcp/hermes-mcp/transcript/source"
)

func (a *app) serveCommand() *cobra.Command {
	var transport string
	var readOnly bool
	c := &cobra.Command{
		Use: "serve", Short: "Serve a client over stdio", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.begin(cmd, true, func(ctx context.Context) error {
				if transport != "stdio" {
					return usage("transport %q is not in this version; stdio is", transport)
				}
				return a.serveStdio(ctx, readOnly)
			})
		},
	}
	c.Flags().StringVar(&transport, "transport", "stdio", "stdio (http and sse are not in this version)")
	c.Flags().BoolVar(&readOnly, "read-only", false, "refuse every edit of the memory")
	return c
}

// serve is what the program does on a pipe without arguments.
func (a *app) serve(ctx context.Context) error { return a.serveStdio(ctx, false) }

// serveStdio serves until the client closes our input or a signal comes, then
// answers what was read and ends in order.
func (a *app) serveStdio(ctx context.Context, readOnly bool) error {
	if err := a.makeHome(); err != nil {
		// Tools can tell the model what is wrong; a server that is not there cannot.
		fmt.Fprintln(a.err, "hermes-mcp:", err)
	}
	a.openLog(true)
	k := a.keeper(settle)
	srv, err := a.server(serving{readOnly: readOnly, origin: originTool, pending: k.Pending})
	if err != nil {
		return err
	}
	a.log.Info().Str("version", version()).Str("home", a.home.Path).Msg("serve")

	background, stop := context.WithCancel(ctx)
	var owner sync.WaitGroup
	owner.Go(func() { k.Run(background) })
	err = serve.Stdio(ctx, srv, a.in, a.out)
	stop()
	owner.Wait()
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// settle is how long background work leaves the machine to the handshake.
const settle = 300 * time.Millisecond

// keeper is the background work of this process.
func (a *app) keeper(wait time.Duration) *keeper.Keeper {
	return &keeper.Keeper{
		Open:    func(ctx context.Context) (*transcript.DB, error) { return transcript.Open(ctx, a.archive.path) },
		Sources: source.All(), Places: a.places(), Excluded: a.config.Excluded,
		Folder: a.home.MCP(), Log: a.log, Wait: wait,
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
