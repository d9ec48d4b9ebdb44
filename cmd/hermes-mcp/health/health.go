// Package health looks at everything that hermes-mcp keeps on a machine, for
// status, doctor and the resource hermes://status. It changes and makes nothing.
package health

import (
	"cmp"
	"context"
	"fmt"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/caller"
	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/clients"
	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/external"
	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/settings"
	"github.com/hermes-mcp/hermes-mcp/curator"
	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/transcript"
	"github.com/hermes-mcp/hermes-mcp/transcript/plain"
)

// A Subject is what is looked at.
type Subject struct {
	Version  string
	Home     settings.Home
	Config   settings.Config
	Problems []settings.Problem
	// Unwritable is why the home can only be read, nil where it can be written.
	Unwritable error
	Session    caller.Current
	Project    *caller.Project // nil when there is none
	Store      *memstore.Store
	Archive    string                                            // its path
	Open       func(ctx context.Context) (*transcript.DB, error) // nil when there is no archive yet
	Pending    string                                            // what is not archived yet, in words
	Sources    []transcript.Source
	Places     transcript.Places
	Clients    clients.Place
	HookFile   string // the settings file with our hook, "" when there is none
	Models     []Model
	// Embeddings is what search by meaning is set to, nil when it is off.
	Embeddings *Embeddings
	Jobs       []curator.Job
	// Own has the archive counted as Open's reader sees it, for a user or a chat
	// that is to learn nothing of what is others'.
	Own      bool
	External *external.Health // nil when there is no provider
	Troubles []string         // what kept the above from being known
}

// A Report is what `status --json` and hermes://status say.
type Report struct {
	Version    string             `json:"version"`
	Home       string             `json:"home"`
	HomeFrom   string             `json:"home_from"`
	Profile    string             `json:"profile"`
	Session    string             `json:"session"`
	Live       []string           `json:"live_sessions"`
	FoundBy    string             `json:"session_found_by"`
	Project    *caller.Project    `json:"project,omitempty"`
	Memory     []Target           `json:"memory"`
	Kept       Kept               `json:"kept"`
	Archive    Archive            `json:"archive"`
	Provider   string             `json:"provider"` // its name, or none
	External   *external.Health   `json:"provider_health,omitempty"`
	Embeddings *Embeddings        `json:"embeddings,omitempty"`
	Models     []Model            `json:"auxiliary,omitempty"`
	Queue      []string           `json:"queue,omitempty"` // flushes and reviews that are due
	Settings   map[string]From    `json:"settings"`
	Config     []settings.Problem `json:"config_problems"`
	Notes      []string           `json:"notes,omitempty"`
}

// A Target is one of the curated files.
type Target struct {
	Target  memstore.Target `json:"target"`
	Path    string          `json:"path"`
	Entries int             `json:"entries"`
	Chars   int             `json:"chars"`
	Limit   int             `json:"limit"`
	Blocked int             `json:"blocked,omitempty"`
	Lost    []Loss          `json:"lost,omitempty"`
	Error   string          `json:"error,omitempty"`
}

// A Loss is an entry that left its file without an edit.
type Loss struct {
	Text    string `json:"text"`
	Restore string `json:"restore"` // what to give to memory restore
}

// An Archive is what is archived.
type Archive struct {
	Path    string   `json:"path"`
	Sources []Source `json:"sources"`
	Pending string   `json:"pending,omitempty"`
	Error   string   `json:"error,omitempty"`
	// Expiring names the agents that are about to delete sessions of theirs.
	Expiring []Expiring `json:"expiring_soon,omitempty"`
	Room
}

// A Source is what is archived of one agent.
type Source struct {
	Source     string `json:"source"`
	Files      int    `json:"files"`
	Gone       int    `json:"gone"` // of those, only in the archive now
	Sessions   int    `json:"sessions"`
	Messages   int    `json:"messages"`
	Pending    int    `json:"pending"`
	Unreadable int    `json:"unreadable"`
	// Problems are the first of them, each with where and why.
	Problems []Problem `json:"problems,omitempty"`
}

// A Problem is a file, or a line of one, that was not read.
type Problem struct {
	Path   string `json:"path"`
	Line   int    `json:"line,omitempty"` // 0 for the whole file
	Reason string `json:"reason"`
}

// String is the problem with its place, for people.
func (p Problem) String() string {
	if p.Line == 0 {
		return p.Path + ": " + p.Reason
	}
	return fmt.Sprintf("%s:%d: %s", p.Path, p.Line, p.Reason)
}

// mostProblems bounds those of one source that a report names.
const mostProblems = 200

// A From says where a setting that is not at its default came from.
type From struct {
	From string `json:"from"`
}

// Report looks at everything.
func (s Subject) Report(ctx context.Context) Report {
	r := Report{
		Version: s.Version, Home: s.Home.Path, HomeFrom: s.Home.From, Profile: s.Home.Profile,
		Session: s.Session.ID, Live: s.Session.Live, FoundBy: s.Session.How, Project: s.Project, Provider: "none",
		Settings: map[string]From{}, Config: s.Problems,
		Memory: s.targets(ctx), Kept: s.kept(), Archive: s.archive(ctx), Embeddings: s.embeddings(ctx), Models: s.Models, Queue: jobs(s.Jobs),
	}
	if r.Live == nil {
		r.Live = []string{}
	}
	if r.Config == nil {
		r.Config = []settings.Problem{}
	}
	if s.External != nil {
		r.Provider, r.External = s.External.Name, s.External
	}
	for key, from := range s.Config.Origins {
		r.Settings[key] = From{from}
	}
	waiting, err := s.Store.Proposals(ctx)
	if err != nil {
		r.Notes = append(r.Notes, "edits that wait: "+err.Error())
	}
	if n := len(waiting); n > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("waiting for your decision: %s of the memory, see hermes-mcp memory pending", plain.Count(n, "edit")))
	}
	r.Notes = append(append(r.Notes, s.scanning()...), s.Troubles...)
	if s.Unwritable != nil {
		r.Notes = append(r.Notes, s.onlyRead())
	}
	if s.Home.Warning != "" {
		r.Notes = append(r.Notes, s.Home.Warning)
	}
	return r
}

func (s Subject) onlyRead() string {
	return s.Unwritable.Error() + ": it is read and searched, and nothing is recorded"
}

// targets looks at every curated file that is seen from here.
func (s Subject) targets(ctx context.Context) []Target {
	all := []Target{s.target(ctx, memstore.Memory), s.target(ctx, memstore.User)}
	if s.Store.Project != "" {
		if p := s.target(ctx, memstore.Project); p.Entries > 0 || p.Error != "" {
			all = append(all, p)
		}
	}
	return all
}

func (s Subject) target(ctx context.Context, t memstore.Target) Target {
	state, err := s.Store.State(ctx, t)
	out := Target{Target: t, Path: state.Path, Entries: len(state.Entries), Chars: state.Chars, Limit: state.Limit}
	for _, e := range state.Entries {
		if e.Blocked != "" {
			out.Blocked++
		}
	}
	if err != nil {
		out.Error = err.Error()
		return out
	}
	lost, err := s.Store.Lost(ctx, t)
	if err != nil {
		out.Error = err.Error()
	}
	for _, e := range lost {
		out.Lost = append(out.Lost, Loss{e.Text, cmp.Or(e.LostBy, e.Hash)})
	}
	return out
}

// own is archive for one of many: no files, no sizes, nothing of others.
func (s Subject) own(ctx context.Context) Archive {
	out := Archive{Path: s.Archive, Sources: []Source{}}
	if s.Open == nil {
		return out
	}
	db, err := s.Open(ctx)
	if err != nil {
		out.Error = err.Error()
		return out
	}
	seen, err := db.Seen(ctx)
	if err != nil {
		out.Error = err.Error()
	}
	for _, c := range seen {
		out.Sources = append(out.Sources, Source{Source: c.Source, Sessions: c.Sessions, Messages: c.Messages})
	}
	return out
}

func (s Subject) archive(ctx context.Context) Archive {
	if s.Own {
		return s.own(ctx)
	}
	out := Archive{Path: s.Archive, Sources: []Source{}, Pending: s.Pending}
	if s.Open == nil {
		out.Expiring = s.expiring(ctx, nil)
		return out
	}
	db, err := s.Open(ctx)
	if err != nil {
		out.Error = err.Error()
		return out
	}
	out.Expiring = s.expiring(ctx, db)
	if out.Room, err = s.room(ctx, db); err != nil {
		out.Error = err.Error()
	}
	coverage, err := db.Coverage(ctx)
	if err != nil {
		out.Error = err.Error()
		return out
	}
	for _, c := range coverage {
		now := Source{Source: c.Source, Files: c.Files, Gone: c.Gone, Sessions: c.Sessions, Messages: c.Messages, Pending: c.Pending, Unreadable: len(c.Unreadable)}
		for _, p := range c.Unreadable[:min(len(c.Unreadable), mostProblems)] {
			now.Problems = append(now.Problems, Problem{p.Path, p.Line, p.Reason})
		}
		out.Sources = append(out.Sources, now)
	}
	return out
}
