package source

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/testbed"
	"github.com/hermes-mcp/hermes-mcp/transcript"
)

type fact struct {
	Lines    int            `json:"lines"`
	Objects  int            `json:"objects"`
	Bad      int            `json:"bad_lines"`
	Glued    int            `json:"glued_lines"`
	Types    map[string]int `json:"types"`
	Sessions []string       `json:"session_ids"`
}

// factsOf returns the counts for files below a folder of the transcripts.
func factsOf(t *testing.T, root, prefix string) map[string]fact {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, "FACTS.json"))
	if err != nil {
		t.Skip("no FACTS.json")
	}
	var all map[string]fact
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(all, func(name string, _ fact) bool { return !strings.HasPrefix(name, prefix) })
	return all
}

// sourceOf returns the source with a name.
func sourceOf(t *testing.T, name string) transcript.Source {
	t.Helper()
	i := slices.IndexFunc(All(), func(s transcript.Source) bool { return s.Name() == name })
	if i < 0 {
		t.Fatalf("no source %s", name)
	}
	return All()[i]
}

// checkFacts reads every file below prefix and compares its counts.
func checkFacts(t *testing.T, prefix string) {
	root := testbed.Path(t, "transcripts")
	found, err := Recognise(context.Background(), filepath.Join(root, filepath.FromSlash(prefix)))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, f := range found {
		names[f.Path] = f.Source
	}
	for name, want := range factsOf(t, root, prefix+"/") {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(root, filepath.FromSlash(name))
			if names[path] == "" {
				t.Fatal("not recognised")
			}
			src := sourceOf(t, names[path])
			c := read(t, src, path)
			got := c.tally
			if got.Lines != want.Lines || got.Objects != want.Objects || got.Bad != want.Bad || got.Glued != want.Glued {
				t.Errorf("got %d lines, %d objects, %d bad, %d glued; want %+v", got.Lines, got.Objects, got.Bad, got.Glued, want)
			}
			if !maps.Equal(got.Types, want.Types) {
				t.Errorf("types: got %v want %v", got.Types, want.Types)
			}
			if src.Name() == "claude-code" && !slices.Equal(got.Sessions, want.Sessions) && len(got.Sessions)+len(want.Sessions) > 0 {
				t.Errorf("session ids: got %q want %q", got.Sessions, want.Sessions)
			}
			twice := newCollector()
			twice.sessions, twice.byUID, twice.global, twice.msgs = c.sessions, c.byUID, c.global, c.msgs
			readInto(t, src, path, twice, true)
			if len(twice.msgs) != len(c.msgs) {
				t.Errorf("read again: %d messages became %d", len(c.msgs), len(twice.msgs))
			}
		})
	}
}

func TestClaudeFilesHoldWhatTheFactsCount(t *testing.T) { checkFacts(t, "claude-code") }

func TestCodexFilesHoldWhatTheFactsCount(t *testing.T) { checkFacts(t, "codex") }

func TestCopilotFilesHoldWhatTheFactsCount(t *testing.T) { checkFacts(t, "copilot-cli") }
