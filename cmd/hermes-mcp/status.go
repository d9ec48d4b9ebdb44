package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/caller"
	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/health"
	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/settings"
	"github.com/hermes-mcp/hermes-mcp/transcript/plain"
	"github.com/hermes-mcp/hermes-mcp/transcript/source"
)

func (a *app) statusCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "status", Short: "Show what is remembered and archived, and how it is set", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.begin(cmd, true, func(ctx context.Context) error {
				s, err := a.status(ctx, a.user, a.finder().Find())
				if err != nil {
					return err
				}
				if asJSON {
					return a.printJSON(s)
				}
				a.printStatus(s)
				return nil
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

// subject is this home, to be looked at by user.
func (a *app) subject(ctx context.Context, user string, now caller.Current) (health.Subject, error) {
	store, err := a.openStoreOf(ctx, user, a.dir())
	if err != nil {
		return health.Subject{}, err
	}
	s := health.Subject{
		Version: version(), Home: a.home, Config: a.config, Problems: a.problems, Session: now, Store: store,
		Archive: a.archive.path, Pending: a.pending(), Sources: source.All(), Places: a.places(),
		Clients: a.clientPlace(), HookFile: a.hookFile(), Unwritable: a.home.Unwritable(),
	}
	var wrong error
	if s.Embeddings, wrong = a.embeddings(); wrong != nil {
		s.Troubles = append(s.Troubles, wrong.Error())
	}
	if s.Models, wrong = a.models(); wrong != nil {
		s.Troubles = append(s.Troubles, wrong.Error())
	}
	if s.Jobs, wrong = a.queue().Jobs(); wrong != nil {
		s.Troubles = append(s.Troubles, wrong.Error())
	}
	s.External = a.external.Health(ctx)
	if p, err := a.project(ctx, a.dir()); err == nil {
		s.Project = &p
	}
	if a.archive.exists() {
		s.Open = a.archive.open
	}
	return s, nil
}

func (a *app) status(ctx context.Context, user string, now caller.Current) (health.Report, error) {
	s, err := a.subject(ctx, user, now)
	if err != nil {
		return health.Report{}, err
	}
	if chat, _ := a.chatOf(ctx); user != "" || chat != "" {
		s.Own, s.Embeddings, s.Jobs = true, nil, nil
		if s.Open != nil {
			s.Open = a.archiveOf(user)
		}
	}
	return s.Report(ctx), nil
}

func (a *app) printStatus(s health.Report) {
	row := func(name, format string, args ...any) {
		fmt.Fprintln(a.out, a.pasteable(fmt.Sprintf("%-9s "+format, append([]any{name}, args...)...)))
	}
	row("version", "%s, Go %s", s.Version, goVersion())
	row("home", "%s (%s)", s.Home, s.HomeFrom)
	if s.Profile != "" {
		row("profile", "%s", s.Profile)
	}
	if a.user != "" {
		row("user", "%s", a.user)
	}
	row("session", "%s", health.SessionLine(s.Session, s.FoundBy))
	if s.Project != nil {
		row("project", "%s, by %s", s.Project.Root, s.Project.Kind)
	}
	for _, t := range s.Memory {
		row(string(t.Target), "%s, %d of %d characters, %s", plain.Count(t.Entries, "entry"), t.Chars, t.Limit, t.Path)
		if t.Error != "" {
			row("", "%s", t.Error)
		}
		for _, l := range t.Lost {
			row("", "left the file without an edit: %s (hermes-mcp memory restore %s)", l.Text, l.Restore)
		}
	}
	for name, line := range s.Kept.Lines() {
		row(name, "%s", line)
	}
	printArchive(s.Archive, row)
	if s.External == nil {
		row("provider", "%s", s.Provider)
	} else {
		for _, line := range s.External.Lines() {
			row("provider", "%s", line)
		}
	}
	if s.Embeddings != nil {
		row("meaning", "%s", s.Embeddings)
	}
	for _, m := range s.Models {
		row("auxiliary", "%s", m)
	}
	for _, job := range s.Queue {
		row("queue", "%s", job)
	}
	for _, row := range settings.All {
		if from, set := s.Settings[row.Key]; set {
			fmt.Fprintf(a.out, "%-9s %s, from %s\n", "setting", row.Key, from.From)
		}
	}
	for _, n := range s.Notes {
		row("note", "%s", n)
	}
	for _, p := range s.Config {
		row("ignored", "%s", p)
	}
}

// printArchive prints what is archived, a row a line.
func printArchive(now health.Archive, row func(name, format string, args ...any)) {
	for _, c := range now.Sources {
		row("archive", "%s: %s, %s, %s (%d gone, %d pending, %d unreadable)", c.Source, plain.Count(c.Sessions, "session"), plain.Count(c.Messages, "message"), plain.Count(c.Files, "file"), c.Gone, c.Pending, c.Unreadable)
		for _, p := range c.Problems[:min(len(c.Problems), 3)] {
			row("", "not read: %s", p)
		}
		if more := c.Unreadable - 3; more > 0 {
			row("", "and %d more, see hermes-mcp doctor", more)
		}
	}
	for _, e := range now.Expiring {
		row("archive", "%s", e)
	}
	for _, line := range now.Lines() {
		row("archive", "%s", line)
	}
	if len(now.Sources) == 0 && now.Pending+now.Error == "" {
		row("archive", "empty, %s", now.Path)
	}
	for _, text := range []string{now.Pending, now.Error} {
		if text != "" {
			row("archive", "%s", text)
		}
	}
}

func goVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return strings.TrimPrefix(info.GoVersion, "go")
	}
	return "unknown"
}
