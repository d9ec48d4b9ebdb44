package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/clients"
	"github.com/hermes-mcp/hermes-mcp/transcript/source"
)

// An install is one run of install or uninstall.
type install struct {
	hooks, dryRun, noArchive bool
	scope                    string
}

func (a *app) installCommand() *cobra.Command {
	var how install
	c := &cobra.Command{
		Use: "install claude-code", Short: "Set a client up, hook included",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.begin(cmd, false, func(ctx context.Context) error {
				if err := installable(args[0], how.scope); err != nil {
					return err
				}
				return a.install(ctx, how)
			})
		},
	}
	how.bind(c)
	c.Flags().BoolVar(&how.hooks, "hooks", true, "also show the memory at the start of each session, by a hook")
	c.Flags().BoolVar(&how.noArchive, "no-archive", false, "let the server archive nothing by itself")
	return c
}

func (a *app) uninstallCommand() *cobra.Command {
	var how install
	c := &cobra.Command{
		Use: "uninstall claude-code", Short: "Take server and hook out of a client again",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.begin(cmd, false, func(ctx context.Context) error {
				if err := installable(args[0], how.scope); err != nil {
					return err
				}
				return a.uninstall(ctx, how)
			})
		},
	}
	how.bind(c)
	return c
}

func (i *install) bind(c *cobra.Command) {
	c.Flags().BoolVar(&i.dryRun, "dry-run", false, "only say what would be done")
	c.Flags().StringVar(&i.scope, "scope", "user", "user (everywhere) or project (.mcp.json here)")
}

func installable(client, scope string) error {
	if _, err := clients.Find(client); err != nil {
		return failure{codeUsage, err}
	}
	if client != "claude-code" {
		return usage("%s is set up by hand in this version: hermes-mcp print-config %s says what goes where", client, client)
	}
	if scope != "user" && scope != "project" {
		return usage("--scope %q is neither user nor project", scope)
	}
	return nil
}

func (a *app) install(ctx context.Context, how install) error {
	command, err := clients.Program(a.userHome())
	if err != nil {
		return err
	}
	if !how.dryRun {
		copied, err := clients.Settle(command)
		if err != nil {
			return fmt.Errorf("put the program into its place: %w", err)
		}
		if copied {
			fmt.Fprintf(a.out, "program: %s\n", command)
		}
	}
	var extra []string
	if how.noArchive {
		extra = []string{"--exclude-sources", "*"}
	}
	server := clients.Server{Command: command, Args: a.serveArgs(extra...)}
	if err := a.addServer(ctx, server, how); err != nil {
		return err
	}
	settings := clients.ClaudeCodeSettings(a.clientPlace())
	change, what := clients.DropHook, "hook left out"
	if how.hooks {
		hook := clients.CommandLine(append([]string{command, "hook"}, a.serveArgs()[1:]...)...)
		what = "SessionStart runs " + hook
		change = func(path string, dry bool) (clients.Outcome, error) { return clients.SetHook(path, hook, dry) }
	}
	out, err := change(settings, how.dryRun)
	if err != nil {
		return err
	}
	a.tell(out, what, how.dryRun)
	if how.dryRun {
		return nil
	}
	answered, err := clients.Verify(ctx, server, a.err)
	if err != nil {
		return fmt.Errorf("the server was written down but does not answer: %w", err)
	}
	fmt.Fprintf(a.out, "asked it: hermes-mcp %s answers, memory can be read\n", answered)
	a.explain(ctx, how)
	return nil
}

// serverFile is where the scope's servers are written down.
func (a *app) serverFile(scope string) string {
	if scope == "project" {
		return filepath.Join(a.dir(), ".mcp.json")
	}
	return clients.ClaudeCodeServers(a.clientPlace())
}

// addServer writes the server down, by Claude Code's own program where there is
// one.
func (a *app) addServer(ctx context.Context, server clients.Server, how install) error {
	file := a.serverFile(how.scope)
	what := "server " + clients.Key + " runs " + strings.Join(append([]string{server.Command}, server.Args...), " ")
	if !how.dryRun {
		changed, err := clients.AddByCLI(ctx, how.scope, file, server)
		switch {
		case err == nil && changed:
			fmt.Fprintf(a.out, "claude mcp add-json: %s\n", what)
			return nil
		case err == nil:
			fmt.Fprintf(a.out, "%s: unchanged\n", file)
			return nil
		case !errors.Is(err, clients.ErrNoCLI):
			fmt.Fprintf(a.err, "claude mcp did not do it (%v); writing %s\n", err, file)
		}
	}
	out, err := clients.SetServer(file, server, how.dryRun)
	if err != nil {
		return err
	}
	a.tell(out, what, how.dryRun)
	return nil
}

// tell says what became of a file.
func (a *app) tell(out clients.Outcome, what string, dry bool) {
	switch {
	case !out.Changed:
		fmt.Fprintf(a.out, "%s: unchanged\n", out.Path)
	case dry:
		fmt.Fprintf(a.out, "%s: would be changed: %s\n", out.Path, what)
	case out.Backup != "":
		fmt.Fprintf(a.out, "%s: %s (before: %s)\n", out.Path, what, out.Backup)
	default:
		fmt.Fprintf(a.out, "%s: %s\n", out.Path, what)
	}
}

// explain says what the install means for a person's data.
func (a *app) explain(ctx context.Context, how install) {
	if how.noArchive {
		fmt.Fprintln(a.out, "archive: nothing by itself; hermes-mcp ingest does it when you say so")
	}
	var none []string
	for _, src := range source.All() {
		if how.noArchive || a.config.Excluded(src.Name()) {
			continue
		}
		files, err := src.Find(ctx, a.places())
		if err != nil {
			fmt.Fprintf(a.err, "find %s sessions: %v\n", src.Name(), err)
			continue
		}
		if len(files) == 0 {
			none = append(none, src.Name())
			continue
		}
		size := int64(0)
		for _, f := range files {
			size += f.Size
		}
		fmt.Fprintf(a.out, "archive: %s, %d files, %.1f MB now, into %s\n", src.Name(), len(files), float64(size)/1e6, a.archive.path)
	}
	if len(none) > 0 {
		fmt.Fprintf(a.out, "archive: nothing here yet of %s; it will be archived when there is\n", strings.Join(none, ", "))
	}
	fmt.Fprintln(a.out, "endpoints: none; no model and no service sees your transcripts, nothing leaves this machine")
	fmt.Fprintf(a.out, "allow once, or in \"permissions\": {\"allow\": [...]} of %s: \"mcp__%s\"\n", clients.ClaudeCodeSettings(a.clientPlace()), clients.Key)
	fmt.Fprintln(a.out, "restart Claude Code to begin")
}

func (a *app) uninstall(ctx context.Context, how install) error {
	file := a.serverFile(how.scope)
	out, err := clients.DropServer(file, how.dryRun)
	if err != nil {
		return err
	}
	a.tell(out, "server "+clients.Key+" taken out", how.dryRun)
	out, err = clients.DropHook(clients.ClaudeCodeSettings(a.clientPlace()), how.dryRun)
	if err != nil {
		return err
	}
	a.tell(out, "hook taken out", how.dryRun)
	fmt.Fprintf(a.out, "memory and archive stay in %s\n", a.home.Path)
	return ctx.Err()
}
