package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/caller"
	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/settings"
	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// A statusReport is what `status --json` and hermes://status say.
type statusReport struct {
	Version  string             `json:"version"`
	Home     string             `json:"home"`
	HomeFrom string             `json:"home_from"`
	Profile  string             `json:"profile"`
	Session  string             `json:"session"`
	Live     []string           `json:"live_sessions"`
	FoundBy  string             `json:"session_found_by"`
	Project  *caller.Project    `json:"project,omitempty"`
	Memory   []targetStatus     `json:"memory"`
	Archive  archiveStatus      `json:"archive"`
	Provider string             `json:"provider"`
	Settings map[string]setting `json:"settings"`
	Inert    []string           `json:"settings_without_effect,omitempty"`
	Config   []settings.Problem `json:"config_problems"`
	Notes    []string           `json:"notes,omitempty"`
}

type targetStatus struct {
	Target  memstore.Target `json:"target"`
	Path    string          `json:"path"`
	Entries int             `json:"entries"`
	Chars   int             `json:"chars"`
	Limit   int             `json:"limit"`
	Blocked int             `json:"blocked,omitempty"`
	Lost    []string        `json:"lost,omitempty"` // left the file without an edit
	Error   string          `json:"error,omitempty"`
}

type archiveStatus struct {
	Path    string         `json:"path"`
	Sources []sourceStatus `json:"sources"`
	Pending string         `json:"pending,omitempty"`
	Error   string         `json:"error,omitempty"`
}

type sourceStatus struct {
	Source     string `json:"source"`
	Files      int    `json:"files"`
	Gone       int    `json:"gone"` // of those, only in the archive now
	Sessions   int    `json:"sessions"`
	Messages   int    `json:"messages"`
	Pending    int    `json:"pending"`
	Unreadable int    `json:"unreadable"`
}

// A setting that is not at its default.
type setting struct {
	From string `json:"from"`
}

func (a *app) statusCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "status", Short: "Show what is remembered and archived, and how it is set", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.begin(cmd, true, func(ctx context.Context) error {
				s, err := a.status(ctx)
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

// status looks at everything and makes nothing.
func (a *app) status(ctx context.Context) (statusReport, error) {
	now := a.finder().Find()
	s := statusReport{
		Version: version(), Home: a.home.Path, HomeFrom: a.home.From, Profile: a.home.Profile,
		Session: now.ID, Live: now.Live, FoundBy: now.How, Provider: "none",
		Settings: map[string]setting{}, Inert: a.config.Inert, Config: a.problems,
	}
	if s.Live == nil {
		s.Live = []string{}
	}
	if s.Config == nil {
		s.Config = []settings.Problem{}
	}
	for key, from := range a.config.Origins {
		s.Settings[key] = setting{from}
	}
	if p, err := a.project(ctx); err == nil {
		s.Project = &p
	}
	if a.config.WriteApproval {
		s.Notes = append(s.Notes, "memory.write_approval is on: clients cannot edit the memory, only hermes-mcp memory can")
	}
	if a.home.Warning != "" {
		s.Notes = append(s.Notes, a.home.Warning)
	}
	store, err := a.openStore()
	if err != nil {
		return s, err
	}
	for _, t := range []memstore.Target{memstore.Memory, memstore.User} {
		s.Memory = append(s.Memory, targetState(ctx, store, t))
	}
	s.Archive = a.archiveState(ctx)
	return s, nil
}

func targetState(ctx context.Context, store *memstore.Store, t memstore.Target) targetStatus {
	state, err := store.State(ctx, t)
	out := targetStatus{Target: t, Path: state.Path, Entries: len(state.Entries), Chars: state.Chars, Limit: state.Limit}
	for _, e := range state.Entries {
		if e.Blocked != "" {
			out.Blocked++
		}
	}
	if err != nil {
		out.Error = err.Error()
		return out
	}
	lost, err := store.Lost(ctx, t)
	if err != nil {
		out.Error = err.Error()
	}
	for _, e := range lost {
		out.Lost = append(out.Lost, e.Text)
	}
	return out
}

func (a *app) archiveState(ctx context.Context) archiveStatus {
	out := archiveStatus{Path: a.archive.path, Sources: []sourceStatus{}, Pending: a.pending()}
	if !a.archive.exists() {
		return out
	}
	db, err := a.archive.open(ctx)
	if err != nil {
		out.Error = err.Error()
		return out
	}
	coverage, err := db.Coverage(ctx)
	if err != nil {
		out.Error = err.Error()
		return out
	}
	for _, c := range coverage {
		out.Sources = append(out.Sources, covered(c))
	}
	return out
}

func covered(c transcript.SourceCoverage) sourceStatus {
	return sourceStatus{c.Source, c.Files, c.Gone, c.Sessions, c.Messages, c.Pending, len(c.Unreadable)}
}

func (a *app) printStatus(s statusReport) {
	row := func(name, format string, args ...any) {
		fmt.Fprintf(a.out, "%-9s "+format+"\n", append([]any{name}, args...)...)
	}
	row("version", "%s, Go %s", s.Version, goVersion())
	row("home", "%s (%s)", s.Home, s.HomeFrom)
	if s.Profile != "" {
		row("profile", "%s", s.Profile)
	}
	row("session", "%s (%s)", or(s.Session, "unknown"), s.FoundBy)
	if s.Project != nil {
		row("project", "%s, by %s", s.Project.Root, s.Project.Kind)
	}
	for _, t := range s.Memory {
		row(string(t.Target), "%d entries, %d of %d characters, %s", t.Entries, t.Chars, t.Limit, t.Path)
		if t.Error != "" {
			row("", "%s", t.Error)
		}
		for _, text := range t.Lost {
			row("", "left the file without an edit: %s (memory history, then memory restore EDIT)", text)
		}
	}
	for _, c := range s.Archive.Sources {
		row("archive", "%s: %d sessions, %d messages, %d files (%d gone, %d pending, %d unreadable)", c.Source, c.Sessions, c.Messages, c.Files, c.Gone, c.Pending, c.Unreadable)
	}
	if len(s.Archive.Sources) == 0 && s.Archive.Pending+s.Archive.Error == "" {
		row("archive", "empty, %s", s.Archive.Path)
	}
	for _, text := range []string{s.Archive.Pending, s.Archive.Error} {
		if text != "" {
			row("archive", "%s", text)
		}
	}
	row("provider", "%s", s.Provider)
	for _, row := range settings.All {
		if from, set := s.Settings[row.Key]; set {
			fmt.Fprintf(a.out, "%-9s %s, from %s\n", "setting", row.Key, from.From)
		}
	}
	if len(s.Inert) > 0 {
		row("setting", "no effect in this version: %s", strings.Join(s.Inert, ", "))
	}
	for _, n := range s.Notes {
		row("note", "%s", n)
	}
	for _, p := range s.Config {
		row("ignored", "%s", p)
	}
}

func or(text, instead string) string {
	if text == "" {
		return instead
	}
	return text
}

func goVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return strings.TrimPrefix(info.GoVersion, "go")
	}
	return "unknown"
}
