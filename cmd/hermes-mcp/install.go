package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

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
	command, err := a.placed(how.dryRun)
	if err != nil {
		return err
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
		hook := strings.Join(append([]string{quoted(command), "hook"}, quotedAll(a.serveArgs()[1:])...), " ")
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
	if err := a.verify(ctx, server); err != nil {
		return fmt.Errorf("the server was written down but does not answer: %w", err)
	}
	a.explain(ctx, how)
	return nil
}

// placed returns the program's lasting place. What go run made is copied there
// first, whole or not at all.
func (a *app) placed(dry bool) (string, error) {
	path, err := a.self()
	if err != nil || dry {
		return path, err
	}
	running, err := os.Executable()
	if err != nil || path == running {
		return path, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	program, err := os.ReadFile(running)
	if err != nil {
		return "", err
	}
	temp := fmt.Sprintf("%s.new-%d", path, os.Getpid())
	if err := os.WriteFile(temp, program, 0o755); err != nil {
		return "", err
	}
	if err := os.Rename(temp, path); err != nil {
		return "", errors.Join(err, os.Remove(temp))
	}
	fmt.Fprintf(a.out, "program: %s\n", path)
	return path, nil
}

// serverFile is where the scope's servers are written down.
func (a *app) serverFile(scope string) string {
	if scope == "project" {
		return filepath.Join(a.dir(), ".mcp.json")
	}
	return clients.ClaudeCodeServers(a.clientPlace())
}

// addServer writes the server down, by Claude Code's own program where there is
// one: it knows its file best.
func (a *app) addServer(ctx context.Context, server clients.Server, how install) error {
	file := a.serverFile(how.scope)
	what := "server " + clients.Key + " runs " + strings.Join(append([]string{server.Command}, server.Args...), " ")
	if claude, err := exec.LookPath("claude"); err == nil && !how.dryRun {
		entry, err := json.Marshal(map[string]any{"type": "stdio", "command": server.Command, "args": server.Args})
		if err != nil {
			return err
		}
		old, there, err := clients.ServerIn(file)
		if err == nil && there && old.Command == server.Command && strings.Join(old.Args, "\x00") == strings.Join(server.Args, "\x00") {
			fmt.Fprintf(a.out, "%s: unchanged\n", file)
			return nil
		}
		if there {
			err = a.runClaude(ctx, claude, "mcp", "remove", "--scope", how.scope, clients.Key)
		} else {
			err = nil
		}
		if err == nil {
			err = a.runClaude(ctx, claude, "mcp", "add-json", "--scope", how.scope, clients.Key, string(entry))
		}
		if _, there, _ := clients.ServerIn(file); err == nil && there {
			fmt.Fprintf(a.out, "claude mcp add-json: %s\n", what)
			return nil
		}
		fmt.Fprintf(a.err, "claude mcp did not do it (%v); writing %s\n", err, file)
	}
	out, err := clients.SetServer(file, server, how.dryRun)
	if err != nil {
		return err
	}
	a.tell(out, what, how.dryRun)
	return nil
}

func (a *app) runClaude(ctx context.Context, claude string, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, claude, args...)
	cmd.Stdin = nil
	said, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("claude %s: %w: %.300s", strings.Join(args[:2], " "), err, said)
	}
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

// verify starts what was written down, as the client will, and asks it.
func (a *app) verify(ctx context.Context, s clients.Server) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	// Asking must not start the archiving of everything.
	cmd := exec.CommandContext(ctx, s.Command, append(s.Args, "--exclude-sources", "*")...)
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"hermes-mcp install","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"memory","arguments":{"action":"read"}}}
`)
	cmd.Stderr = a.err
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	answers := json.NewDecoder(io.LimitReader(pipe, 4<<20))
	var hello struct {
		Result struct {
			ServerInfo struct{ Name, Version string } `json:"serverInfo"`
		}
	}
	var read struct {
		Result struct {
			Content []struct{ Text string }
			IsError bool
		}
	}
	err = errors.Join(answers.Decode(&hello), answers.Decode(&read))
	if _, rest := io.Copy(io.Discard, pipe); rest != nil {
		err = errors.Join(err, rest)
	}
	if err = errors.Join(err, cmd.Wait()); err != nil {
		return err
	}
	if hello.Result.ServerInfo.Name != "hermes-mcp" || len(read.Result.Content) == 0 {
		return errors.New("something else answered")
	}
	if read.Result.IsError {
		return errors.New(read.Result.Content[0].Text)
	}
	fmt.Fprintf(a.out, "asked it: hermes-mcp %s answers, memory can be read\n", hello.Result.ServerInfo.Version)
	return nil
}

// explain says what the install means for a person's data.
func (a *app) explain(ctx context.Context, how install) {
	if how.noArchive {
		fmt.Fprintln(a.out, "archive: nothing by itself; hermes-mcp ingest does it when you say so")
	}
	for _, src := range source.All() {
		if how.noArchive || a.config.Excluded(src.Name()) {
			continue
		}
		files, err := src.Find(ctx, a.places())
		if err != nil {
			fmt.Fprintf(a.err, "find %s sessions: %v\n", src.Name(), err)
			continue
		}
		size := int64(0)
		for _, f := range files {
			size += f.Size
		}
		fmt.Fprintf(a.out, "archive: %s, %d files, %.1f MB now, into %s\n", src.Name(), len(files), float64(size)/1e6, a.archive.path)
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

// quoted is a word of the command line that Claude Code hands to a shell.
func quoted(word string) string {
	plain := strings.IndexFunc(word, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+@:,=", r))
	}) < 0
	switch {
	case plain && word != "":
		return word
	case os.PathSeparator == '\\':
		return `"` + word + `"`
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func quotedAll(words []string) []string {
	out := make([]string, 0, len(words))
	for _, w := range words {
		out = append(out, quoted(w))
	}
	return out
}
