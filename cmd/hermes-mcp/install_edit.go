package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/clients"
	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/clients/configfile"
)

// A step is what one file needs.
type step struct {
	what string // in words
	do   func(dry bool) (configfile.Outcome, error)
}

func (a *app) install(ctx context.Context, chosen []clients.Client, how install) error {
	server, err := a.written(how)
	if err != nil {
		return err
	}
	placed := false
	place := func() error { // once, and not before a file is found that can be written
		if placed {
			return nil
		}
		copied, err := clients.Settle(server.Command)
		if err != nil {
			return fmt.Errorf("put the program into its place: %w", err)
		}
		if placed = true; copied {
			fmt.Fprintf(how.words, "  program: %s\n", server.Command)
		}
		return nil
	}
	all, failed := how.each(chosen, func(c clients.Client, s *setup) error { return a.installOne(ctx, c, s, server, how, place) })
	report := map[string]any{"dry_run": how.dryRun, "server": append([]string{server.Command}, server.Args...), "clients": all}
	if !how.dryRun && slices.ContainsFunc(all, func(s *setup) bool { return s.Error == "" }) {
		report["archive"], report["endpoints"] = a.explain(ctx, how)
	}
	if how.asJSON {
		return errors.Join(a.printJSON(report), failed)
	}
	return failed
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

// installOne sets one client up, wholly or not at all: every file is looked at
// before the first is written.
func (a *app) installOne(ctx context.Context, c clients.Client, s *setup, server clients.Server, how install, place func() error) error {
	file := a.serverFile(c, how.scope)
	server = a.recording(c, s, file, server, how)
	what := "server " + clients.Key + " runs " + c.Starting(server).String()
	set := step{what, func(dry bool) (configfile.Outcome, error) { return c.SetServer(file, server, dry) }}
	hooks, next := a.hookEdits(c, server, how)
	edits := append([]step{set}, hooks...)
	var planned []configfile.Outcome
	for _, e := range edits {
		out, err := e.do(true)
		if err != nil {
			return refused(c, err)
		}
		planned = append(planned, out)
	}
	if how.dryRun {
		for i, e := range edits {
			s.tell(planned[i], e.what, true)
		}
		return nil
	}
	if err := place(); err != nil {
		return err
	}
	if how.scope == "user" && a.addByProgram(ctx, c, s, file, server, what) {
		edits = hooks
	}
	for _, e := range edits {
		out, err := e.do(false)
		if err != nil {
			return refused(c, err)
		}
		s.tell(out, e.what, false)
	}
	return a.ask(ctx, c, s, file, next)
}

// ask starts what was written down and has it answer.
func (a *app) ask(ctx context.Context, c clients.Client, s *setup, file, next string) error {
	written, there, err := c.ServerIn(file)
	if err != nil || !there {
		return errors.Join(err, fmt.Errorf("the server is not in %s after it was written there; is another program writing it?", file))
	}
	if s.Version, err = clients.Verify(ctx, written, a.err); err != nil {
		return fmt.Errorf("the server was written down but does not answer (%s): %w", written, err)
	}
	s.Next = next
	fmt.Fprintf(s.words, "  asked it: hermes-mcp %s answers, memory can be read\n", s.Version)
	fmt.Fprintf(s.words, "  now you: %s\n", next)
	return nil
}

// serverFile is where the scope's servers are written down.
func (a *app) serverFile(c clients.Client, scope string) string {
	if scope == "project" {
		return filepath.Join(a.dir(), filepath.FromSlash(c.Project))
	}
	return c.File(a.clientPlace())
}

// addByProgram has the client's own program write a new entry, where there is
// one that can, and tells whether it did.
func (a *app) addByProgram(ctx context.Context, c clients.Client, s *setup, file string, server clients.Server, what string) bool {
	if _, there, err := c.ServerIn(file); err != nil || there {
		return false
	}
	by, err := c.AddByProgram(ctx, file, server)
	switch {
	case err == nil:
		s.ran(by, file, what)
		return true
	case !errors.Is(err, clients.ErrNoProgram):
		fmt.Fprintf(a.err, "hermes-mcp: %v; writing %s itself\n", err, file)
	}
	return false
}

// stillInProject says that this folder's own file of the client has the server too,
// when it was not meant.
func (a *app) stillInProject(c clients.Client, s *setup, how install) {
	if how.scope == "project" || c.Project == "" {
		return
	}
	file := a.serverFile(c, "project")
	if file == a.serverFile(c, how.scope) {
		return // this folder is the home, and its file the one just edited
	}
	if _, there, err := c.ServerIn(file); err == nil && there {
		fmt.Fprintf(s.words, "  %s has it too: uninstall %s --scope project takes it out there\n", file, c.Name)
	}
}

// refused says what to do about a file that could not be edited.
func refused(c clients.Client, err error) error {
	switch {
	case errors.Is(err, configfile.ErrBroken):
		return fmt.Errorf("%w; nothing was changed: mend it, or put in yourself what hermes-mcp print-config %s says", err, c.Name)
	case errors.Is(err, configfile.ErrShape):
		return fmt.Errorf("%w; nothing was changed: put in yourself what hermes-mcp print-config %s says", err, c.Name)
	case errors.Is(err, configfile.ErrReadOnly):
		return fmt.Errorf("%w; nothing was changed: make it writable, or put in yourself what hermes-mcp print-config %s says", err, c.Name)
	case errors.Is(err, configfile.ErrRaced):
		return fmt.Errorf("%w; it was left as that wrote it: close %s and try again", err, c.Title)
	}
	return err
}

// hookEdits are the edits that set a client's hooks, or take them out, and what
// the client's user must do after all.
func (a *app) hookEdits(c clients.Client, server clients.Server, how install) (edits []step, next string) {
	next = c.Next
	line := func(words ...string) string {
		return clients.CommandLine(append(append([]string{server.Command, "hook"}, words...), a.serveArgs()[1:]...)...)
	}
	if c.Name == "claude-code" {
		file, hook := clients.ClaudeCodeSettings(a.clientPlace()), line()
		e := step{"hook left out", func(dry bool) (configfile.Outcome, error) { return clients.DropHook(file, dry) }}
		if how.hooks {
			e = step{"hooks run " + hook, func(dry bool) (configfile.Outcome, error) { return clients.SetHook(file, hook, dry) }}
		}
		edits = append(edits, e)
	}
	if h, ok := clients.HooksOf(c.Name); ok && how.asked {
		file, hook := h.File(a.clientPlace()), line("--source", h.Source)
		e := step{"hooks left out", func(dry bool) (configfile.Outcome, error) { return h.Drop(file, dry) }}
		if how.hooks {
			e = step{"hooks run " + hook, func(dry bool) (configfile.Outcome, error) { return h.Set(file, hook, dry) }}
			if h.Next != "" {
				next += ", and " + h.Next
			}
		}
		edits = append(edits, e)
	}
	return edits, next
}

// uninstall takes server and hooks out. What fails in one file is done in the
// others all the same.
func (a *app) uninstall(chosen []clients.Client, how install) error {
	all, failed := how.each(chosen, func(c clients.Client, s *setup) error {
		server := a.serverFile(c, how.scope)
		edits := []step{{"server " + clients.Key + " taken out", func(dry bool) (configfile.Outcome, error) { return c.DropServer(server, dry) }}}
		if h, ok := clients.HooksOf(c.Name); ok {
			file := h.File(a.clientPlace())
			edits = append(edits, step{"hooks taken out", func(dry bool) (configfile.Outcome, error) { return h.Drop(file, dry) }})
		}
		if c.Name == "claude-code" {
			file := clients.ClaudeCodeSettings(a.clientPlace())
			edits = append(edits, step{"hook taken out", func(dry bool) (configfile.Outcome, error) { return clients.DropHook(file, dry) }})
		}
		var failed []error
		for _, e := range edits {
			out, err := e.do(how.dryRun)
			if err != nil {
				failed = append(failed, err)
				continue
			}
			s.tell(out, e.what, how.dryRun)
		}
		a.stillInProject(c, s, how)
		return errors.Join(failed...)
	})
	fmt.Fprintf(how.words, "memory and archive stay in %s\n", a.home.Path)
	if how.asJSON {
		return errors.Join(a.printJSON(map[string]any{"dry_run": how.dryRun, "clients": all, "home": a.home.Path}), failed)
	}
	return failed
}
