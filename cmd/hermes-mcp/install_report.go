package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/clients"
	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/clients/configfile"
	"github.com/hermes-mcp/hermes-mcp/transcript/plain"
	"github.com/hermes-mcp/hermes-mcp/transcript/source"
)

// A setup is what became of one client. Its JSON is what --json prints.
type setup struct {
	Client  string   `json:"client"`
	Changes []change `json:"changes"`
	Version string   `json:"version,omitempty"` // of the server that answered
	Next    string   `json:"next,omitempty"`    // what its user must do
	Error   string   `json:"error,omitempty"`

	words io.Writer
}

// A change is what became of one file.
type change struct {
	File   string `json:"file"`
	State  string `json:"state"` // unchanged, planned, changed or removed
	What   string `json:"what,omitempty"`
	By     string `json:"by,omitempty"`     // the client's own program, when that did it
	Backup string `json:"backup,omitempty"` // the file as it was
}

// tell says what became of a file.
func (s *setup) tell(out configfile.Outcome, what string, dry bool) {
	c := change{File: out.Path, State: "changed", What: what, Backup: out.Backup}
	switch {
	case !out.Changed:
		c.State, c.What = "unchanged", ""
		fmt.Fprintf(s.words, "  %s: unchanged\n", out.Path)
	case dry:
		c.State = "planned"
		fmt.Fprintf(s.words, "  %s: would be changed: %s\n", out.Path, what)
	case out.Removed:
		c.State = "removed"
		fmt.Fprintf(s.words, "  %s: %s, and the file with it: nothing else was in it (before: %s)\n", out.Path, what, out.Backup)
	case out.Backup != "":
		fmt.Fprintf(s.words, "  %s: %s (before: %s)\n", out.Path, what, out.Backup)
	default:
		fmt.Fprintf(s.words, "  %s: %s\n", out.Path, what)
	}
	s.Changes = append(s.Changes, c)
}

// ran says that the client's own program wrote file.
func (s *setup) ran(by, file, what string) {
	fmt.Fprintf(s.words, "  %s: %s\n", by, what)
	s.Changes = append(s.Changes, change{File: file, State: "changed", What: what, By: by})
}

// speaking is how with somebody to tell.
func (a *app) speaking(how install) install {
	if how.words = a.out; how.asJSON {
		how.words = io.Discard
	}
	return how
}

// each does one thing for several clients and says what became of each. What
// fails for one is done for the others all the same.
func (how install) each(chosen []clients.Client, do func(c clients.Client, s *setup) error) ([]*setup, error) {
	var all []*setup
	var failed []error
	for _, c := range chosen {
		s := &setup{Client: c.Name, Changes: []change{}, words: how.words}
		all = append(all, s)
		fmt.Fprintf(how.words, "%s\n", c.Title)
		if err := do(c, s); err != nil {
			s.Error = err.Error()
			failed = append(failed, fmt.Errorf("%s: %w", c.Name, err))
		}
	}
	err := errors.Join(failed...)
	if len(failed) > 0 && len(failed) < len(chosen) {
		err = failure{codePartly, err}
	}
	return all, err
}

// archived is what a source has on this machine.
type archived struct {
	Source string `json:"source"`
	Files  int    `json:"files"`
	Bytes  int64  `json:"bytes"`
}

// explain says what the install means for a person's data: what will be
// archived, and who else sees it.
func (a *app) explain(ctx context.Context, how install) (found []archived, endpoints string) {
	found = []archived{}
	if how.noArchive {
		fmt.Fprintln(how.words, a.pasteable("archive: nothing by itself; hermes-mcp ingest does it when you say so"))
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
		k := archived{Source: src.Name(), Files: len(files)}
		for _, f := range files {
			k.Bytes += f.Size
		}
		found = append(found, k)
		fmt.Fprintf(how.words, "archive: %s, %s, %.1f MB now, into %s\n", k.Source, plain.Count(k.Files, "file"), float64(k.Bytes)/1e6, a.archive.path)
	}
	if len(none) > 0 {
		fmt.Fprintf(how.words, "archive: nothing here yet of %s; it will be archived when there is\n", strings.Join(none, ", "))
	}
	models, meaning := a.endpoints(), a.embeddingEndpoint()
	if models != "" {
		fmt.Fprintf(how.words, "endpoints: %s will be sent pieces of sessions, secrets masked, when a task of auxiliary in mcp/config.yaml is due\n", models)
	}
	if meaning != "" {
		fmt.Fprintf(how.words, "endpoints: %s will be sent all that people and agents said in sessions, secrets masked, so that it can be searched by meaning\n", meaning)
	}
	if models != "" && meaning != "" && models != meaning {
		return found, models + ", " + meaning
	}
	if endpoints = cmp.Or(models, meaning); endpoints != "" {
		return found, endpoints
	}
	fmt.Fprintln(how.words, "endpoints: none; no model and no service sees your transcripts, nothing leaves this machine")
	return found, ""
}
