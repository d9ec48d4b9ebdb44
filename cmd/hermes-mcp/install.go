package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/clients"
	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/clients/configfile"
	"github.com/hermes-mcp/hermes-mcp/transcript/source"
)

// An install is one run of install or uninstall.
type install struct {
	hooks, dryRun, noArchive, all bool
	asked                         bool // --hooks was given: for other agents than Claude Code they are no matter of course
	scope                         string
}

func (a *app) installCommand() *cobra.Command {
	var how install
	c := &cobra.Command{
		Use: "install CLIENT...", Short: "Set a client up: server, and hook where it has hooks",
		Long: `Writes the server into a client's configuration, starts what was written and
asks it for the memory. The old file is kept beside; all else in it stays as it
was. --all sets up every client that is on this machine.

Clients: ` + strings.Join(clients.Names(), ", ") + ".",
		Example: "  hermes-mcp install claude-code\n  hermes-mcp install --all --dry-run",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.begin(cmd, false, func(ctx context.Context) error {
				how.asked = cmd.Flags().Changed("hooks")
				chosen, err := a.chosen(args, how)
				if err != nil {
					return err
				}
				return a.install(ctx, chosen, how)
			})
		},
		ValidArgs: clients.Names(),
	}
	how.bind(c)
	c.Flags().BoolVar(&how.hooks, "hooks", true, "also have the agent run our hook at its events: Claude Code in any case, Codex and Gemini CLI when this is given")
	c.Flags().BoolVar(&how.noArchive, "no-archive", false, "let the server archive nothing by itself")
	return c
}

func (a *app) uninstallCommand() *cobra.Command {
	var how install
	c := &cobra.Command{
		Use: "uninstall CLIENT...", Short: "Take server and hook out of a client again",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.begin(cmd, false, func(ctx context.Context) error {
				chosen, err := a.chosen(args, how)
				if err != nil {
					return err
				}
				err = each(chosen, func(c clients.Client) error { return a.uninstall(c, how) })
				fmt.Fprintf(a.out, "memory and archive stay in %s\n", a.home.Path)
				return err
			})
		},
		ValidArgs: clients.Names(),
	}
	how.bind(c)
	return c
}

func (i *install) bind(c *cobra.Command) {
	c.Flags().BoolVar(&i.all, "all", false, "every client that is on this machine")
	c.Flags().BoolVar(&i.dryRun, "dry-run", false, "only say what would be done")
	c.Flags().StringVar(&i.scope, "scope", "user", "user (everywhere) or project (the client's file in this folder)")
}

// chosen are the clients that a command line means.
func (a *app) chosen(names []string, how install) ([]clients.Client, error) {
	if how.scope != "user" && how.scope != "project" {
		return nil, usage("--scope %q is neither user nor project", how.scope)
	}
	var out []clients.Client
	switch {
	case how.all && len(names) > 0:
		return nil, usage("name clients or say --all, not both")
	case how.all:
		out = slices.DeleteFunc(slices.Clone(clients.All), func(c clients.Client) bool {
			return !c.Present(a.clientPlace()) || how.scope == "project" && c.Project == ""
		})
		if len(out) == 0 {
			return nil, fmt.Errorf("no client found on this machine; name one that will be: %s", strings.Join(clients.Names(), ", "))
		}
	case len(names) == 0:
		return nil, usage("name a client (%s), or say --all", strings.Join(clients.Names(), ", "))
	}
	for _, name := range names {
		c, err := clients.Find(name)
		if err != nil {
			return nil, failure{codeUsage, err}
		}
		if how.scope == "project" && c.Project == "" {
			return nil, usage("%s has no configuration for one project; leave --scope out", c.Title)
		}
		out = append(out, c)
	}
	return out, nil
}

// each does one thing for several clients. What fails for one is done for the
// others all the same.
func each(chosen []clients.Client, do func(c clients.Client) error) error {
	var failed []error
	for _, c := range chosen {
		if err := do(c); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", c.Name, err))
		}
	}
	err := errors.Join(failed...)
	if len(failed) > 0 && len(failed) < len(chosen) {
		return failure{codePartly, err}
	}
	return err
}

func (a *app) install(ctx context.Context, chosen []clients.Client, how install) error {
	server, err := a.written(how)
	if err != nil {
		return err
	}
	if !how.dryRun {
		copied, err := clients.Settle(server.Command)
		if err != nil {
			return fmt.Errorf("put the program into its place: %w", err)
		}
		if copied {
			fmt.Fprintf(a.out, "program: %s\n", server.Command)
		}
	}
	err = each(chosen, func(c clients.Client) error { return a.installOne(ctx, c, server, how) })
	if !how.dryRun {
		a.explain(ctx, how)
	}
	return err
}

// written is the server as install writes it down.
func (a *app) written(how install) (clients.Server, error) {
	command, err := clients.Program(a.userHome())
	if err != nil {
		return clients.Server{}, err
	}
	var extra []string
	if how.noArchive {
		extra = []string{"--exclude-sources", "*"}
	}
	return clients.Server{Command: command, Args: a.serveArgs(extra...)}, nil
}

func (a *app) installOne(ctx context.Context, c clients.Client, server clients.Server, how install) error {
	fmt.Fprintf(a.out, "%s\n", c.Title)
	file := a.serverFile(c, how.scope)
	if err := a.addServer(ctx, c, file, server, how); err != nil {
		return err
	}
	if c.Name == "claude-code" {
		if err := a.setHook(server, how); err != nil {
			return err
		}
	}
	next := c.Next
	if h, ok := clients.HooksOf(c.Name); ok && how.asked {
		if err := a.agentHooks(h, server, how); err != nil {
			return err
		}
		if how.hooks && h.Next != "" {
			next += ", and " + h.Next
		}
	}
	if how.dryRun {
		return nil
	}
	written, there, err := c.ServerIn(file)
	if err != nil || !there {
		return errors.Join(err, fmt.Errorf("the server is not in %s after it was written there; is another program writing it?", file))
	}
	answered, err := clients.Verify(ctx, written, a.err)
	if err != nil {
		return fmt.Errorf("the server was written down but does not answer (%s): %w", written, err)
	}
	fmt.Fprintf(a.out, "  asked it: hermes-mcp %s answers, memory can be read\n", answered)
	fmt.Fprintf(a.out, "  now you: %s\n", next)
	return nil
}

// serverFile is where the scope's servers are written down.
func (a *app) serverFile(c clients.Client, scope string) string {
	if scope == "project" {
		return filepath.Join(a.dir(), filepath.FromSlash(c.Project))
	}
	return c.File(a.clientPlace())
}

// addServer writes the server down: a new entry by the client's own program
// where there is one, else in the file itself.
func (a *app) addServer(ctx context.Context, c clients.Client, file string, server clients.Server, how install) error {
	what := "server " + clients.Key + " runs " + c.Starting(server).String()
	_, there, err := c.ServerIn(file)
	if err == nil && !there && !how.dryRun && how.scope == "user" {
		ran, err := c.AddByProgram(ctx, file, server)
		switch {
		case err == nil:
			fmt.Fprintf(a.out, "  %s: %s\n", ran, what)
			return nil
		case !errors.Is(err, clients.ErrNoProgram):
			fmt.Fprintf(a.err, "hermes-mcp: %v; writing %s itself\n", err, file)
		}
	}
	out, err := c.SetServer(file, server, how.dryRun)
	switch {
	case errors.Is(err, configfile.ErrBroken):
		return fmt.Errorf("%w; it was left as it is: mend it, or put in yourself what hermes-mcp print-config %s says", err, c.Name)
	case errors.Is(err, configfile.ErrShape):
		return fmt.Errorf("%w; it was left as it is: put in yourself what hermes-mcp print-config %s says", err, c.Name)
	case errors.Is(err, configfile.ErrReadOnly):
		return fmt.Errorf("%w; it was left as it is: make it writable, or put in yourself what hermes-mcp print-config %s says", err, c.Name)
	case errors.Is(err, configfile.ErrRaced):
		return fmt.Errorf("%w; it was left as that wrote it: close %s and try again", err, c.Title)
	case err != nil:
		return err
	}
	a.tell(out, what, how.dryRun)
	return nil
}

// setHook makes Claude Code show the memory, or not.
func (a *app) setHook(server clients.Server, how install) error {
	change, what := clients.DropHook, "hook left out"
	if how.hooks {
		hook := clients.CommandLine(append([]string{server.Command, "hook"}, a.serveArgs()[1:]...)...)
		what = "hooks run " + hook
		change = func(path string, dry bool) (configfile.Outcome, error) { return clients.SetHook(path, hook, dry) }
	}
	out, err := change(clients.ClaudeCodeSettings(a.clientPlace()), how.dryRun)
	if err != nil {
		return err
	}
	a.tell(out, what, how.dryRun)
	return nil
}

// agentHooks writes the hooks of another agent than Claude Code, or takes them
// out.
func (a *app) agentHooks(h clients.AgentHooks, server clients.Server, how install) error {
	change, what := h.Drop, "hooks left out"
	if how.hooks {
		hook := clients.CommandLine(append([]string{server.Command, "hook", "--source", h.Source}, a.serveArgs()[1:]...)...)
		what = "hooks run " + hook
		change = func(path string, dry bool) (configfile.Outcome, error) { return h.Set(path, hook, dry) }
	}
	out, err := change(h.File(a.clientPlace()), how.dryRun)
	if err != nil {
		return err
	}
	a.tell(out, what, how.dryRun)
	return nil
}

// tell says what became of a file.
func (a *app) tell(out configfile.Outcome, what string, dry bool) {
	switch {
	case !out.Changed:
		fmt.Fprintf(a.out, "  %s: unchanged\n", out.Path)
	case dry:
		fmt.Fprintf(a.out, "  %s: would be changed: %s\n", out.Path, what)
	case out.Backup != "":
		fmt.Fprintf(a.out, "  %s: %s (before: %s)\n", out.Path, what, out.Backup)
	default:
		fmt.Fprintf(a.out, "  %s: %s\n", out.Path, what)
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
			fmt.Fprintf(a.err, "hermes-mcp: find %s sessions: %v\n", src.Name(), err)
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
	if seen := a.endpoints(); seen != "" {
		fmt.Fprintf(a.out, "endpoints: %s will be sent pieces of sessions, secrets masked, when a task of auxiliary in mcp/config.yaml is due\n", seen)
		return
	}
	fmt.Fprintln(a.out, "endpoints: none; no model and no service sees your transcripts, nothing leaves this machine")
}

func (a *app) uninstall(c clients.Client, how install) error {
	fmt.Fprintf(a.out, "%s\n", c.Title)
	var failed []error
	told := func(out configfile.Outcome, err error, done string) {
		if err != nil {
			failed = append(failed, err) // the others are taken out all the same
			return
		}
		a.tell(out, done, how.dryRun)
	}
	out, err := c.DropServer(a.serverFile(c, how.scope), how.dryRun)
	told(out, err, "server "+clients.Key+" taken out")
	if h, ok := clients.HooksOf(c.Name); ok {
		out, err = h.Drop(h.File(a.clientPlace()), how.dryRun)
		told(out, err, "hooks taken out")
	}
	if c.Name == "claude-code" {
		out, err = clients.DropHook(clients.ClaudeCodeSettings(a.clientPlace()), how.dryRun)
		told(out, err, "hook taken out")
	}
	return errors.Join(failed...)
}
