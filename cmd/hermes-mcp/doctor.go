package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/clients"
	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/transcript/source"
)

// A verdict of one check.
type verdict string

const (
	fine verdict = "ok"
	warn verdict = "warn"
	bad  verdict = "fail"
)

// A check is one thing that doctor looked at.
type check struct {
	Name    string  `json:"name"`
	Verdict verdict `json:"verdict"`
	Detail  string  `json:"detail"`
}

func (a *app) doctorCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "doctor", Short: "Check home, memory, archive, configuration and clients", Args: cobra.NoArgs,
		Long: "Checks everything and changes nothing. The exit code is 1 when a check fails.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.begin(cmd, true, func(ctx context.Context) error { return a.doctor(ctx, asJSON) })
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

func (a *app) doctor(ctx context.Context, asJSON bool) error {
	var checks []check
	add := func(name string, v verdict, format string, args ...any) {
		checks = append(checks, check{name, v, fmt.Sprintf(format, args...)})
	}
	a.checkHome(add)
	for _, p := range a.problems {
		add("config", bad, "%s", p)
	}
	if len(a.config.Inert) > 0 {
		add("config", warn, "no effect in this version: %s", strings.Join(a.config.Inert, ", "))
	}
	if len(a.problems) == 0 {
		add("config", fine, "%d settings are not at their default", len(a.config.Origins))
	}
	if err := a.checkMemory(ctx, add); err != nil {
		return err
	}
	a.checkArchive(ctx, add)
	a.checkSources(ctx, add)
	a.checkClaude(add)
	now := a.finder().Find()
	add("session", fine, "%s (%s)", or(now.ID, "unknown"), now.How)
	return a.printChecks(checks, asJSON)
}

func (a *app) printChecks(checks []check, asJSON bool) error {
	failed := 0
	for _, c := range checks {
		if c.Verdict == bad {
			failed++
		}
		if !asJSON {
			fmt.Fprintf(a.out, "%-4s  %-8s  %s\n", c.Verdict, c.Name, c.Detail)
		}
	}
	if asJSON {
		if err := a.printJSON(map[string]any{"ok": failed == 0, "checks": checks}); err != nil {
			return err
		}
	}
	if failed > 0 {
		return failure{code: codeFailed}
	}
	return nil
}

type addCheck func(name string, v verdict, format string, args ...any)

func (a *app) checkHome(add addCheck) {
	info, err := os.Stat(a.home.Path)
	switch {
	case os.IsNotExist(err):
		add("home", warn, "%s is not there yet; the first use makes it", a.home.Path)
		return
	case err != nil:
		add("home", bad, "%v", err)
		return
	case !info.IsDir():
		add("home", bad, "%s is not a folder", a.home.Path)
		return
	}
	add("home", fine, "%s (%s)", a.home.Path, a.home.From)
	if a.home.Warning != "" {
		add("home", warn, "%s", a.home.Warning)
	}
	ours, err := os.Stat(a.home.MCP())
	if err == nil && ours.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		add("rights", warn, "others can look into %s; the next start narrows it", a.home.MCP())
	} else if err == nil {
		add("rights", fine, "%s is yours alone", a.home.MCP())
	}
	for _, lock := range []string{a.home.MCP("memory.lock"), filepath.Join(a.home.Path, "memories", "MEMORY.md.lock"), filepath.Join(a.home.Path, "memories", "USER.md.lock")} {
		checkLock(lock, add)
	}
}

// checkLock tells a lock that somebody holds now: for long it would mean that
// no edit is possible.
func checkLock(path string, add addCheck) {
	if _, err := os.Stat(path); err != nil {
		return // nobody ever needed it
	}
	lock := flock.New(path)
	held, err := lock.TryRLock()
	switch {
	case err != nil:
		add("lock", bad, "%s: %v", path, err)
	case !held:
		add("lock", warn, "%s is held by another process just now", path)
	default:
		add("lock", fine, "%s is free", path)
		if err := lock.Unlock(); err != nil {
			add("lock", bad, "%s: %v", path, err)
		}
	}
}

// nearlyFull is when a person should consolidate, in percent.
const nearlyFull = 90

func (a *app) checkMemory(ctx context.Context, add addCheck) error {
	store, err := a.openStore()
	if err != nil {
		return err
	}
	for _, t := range []memstore.Target{memstore.Memory, memstore.User} {
		s := targetState(ctx, store, t)
		name := string(t)
		switch {
		case s.Error != "":
			add(name, bad, "%s", s.Error)
			continue
		case s.Chars > s.Limit:
			add(name, warn, "%d of %d characters: over the limit, only edits that shorten it are taken", s.Chars, s.Limit)
		case s.Limit > 0 && s.Chars*100 >= s.Limit*nearlyFull:
			add(name, warn, "%d of %d characters: nearly full", s.Chars, s.Limit)
		default:
			add(name, fine, "%d entries, %d of %d characters, %s", s.Entries, s.Chars, s.Limit, s.Path)
		}
		if s.Blocked > 0 {
			add(name, warn, "%d entries are masked in prompts, for they read like an attack", s.Blocked)
		}
		for _, text := range s.Lost {
			add(name, warn, "left the file without an edit: %.80s (hermes-mcp memory history, then memory restore EDIT)", text)
		}
	}
	return nil
}

func (a *app) checkArchive(ctx context.Context, add addCheck) {
	s := a.archiveState(ctx)
	switch {
	case s.Error != "":
		add("archive", bad, "%s", s.Error)
	case s.Pending != "":
		add("archive", warn, "%s", s.Pending)
	}
	for _, c := range s.Sources {
		v := fine
		if c.Unreadable > 0 {
			v = warn
		}
		add("archive", v, "%s: %d sessions, %d messages; of %d files %d are gone, %d unreadable", c.Source, c.Sessions, c.Messages, c.Files, c.Gone, c.Unreadable)
	}
}

func (a *app) checkSources(ctx context.Context, add addCheck) {
	for _, src := range source.All() {
		files, err := src.Find(ctx, a.places())
		switch {
		case err != nil:
			add("source", bad, "%s: %v", src.Name(), err)
		case a.config.Excluded(src.Name()):
			add("source", warn, "%s is excluded: %d files are not archived", src.Name(), len(files))
		default:
			add("source", fine, "%s: %d files on this machine", src.Name(), len(files))
		}
	}
}

// checkClaude looks at how Claude Code starts us.
func (a *app) checkClaude(add addCheck) {
	file := clients.ClaudeCodeServers(a.clientPlace())
	server, there, err := clients.ServerIn(file)
	switch {
	case os.IsNotExist(err):
	case err != nil:
		add("client", bad, "%v", err)
	case there:
		if info, err := os.Stat(server.Command); err != nil || info.IsDir() {
			add("client", bad, "claude-code starts %s, which is not there; run hermes-mcp install claude-code again", server.Command)
		} else {
			add("client", fine, "claude-code starts %s", server.Command)
		}
	default:
		add("client", warn, "claude-code does not know the server; run hermes-mcp install claude-code")
	}
	switch hook := a.hookFile(); {
	case hook != "":
		add("hook", fine, "%s", hook)
	case there:
		add("hook", warn, "claude-code has no hook of ours: instructions carry the memory, cut to 2,000 bytes")
	}
}
