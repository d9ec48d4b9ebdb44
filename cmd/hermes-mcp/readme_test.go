package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/settings"
	"github.com/hermes-mcp/hermes-mcp/testbed"
	"github.com/hermes-mcp/hermes-mcp/transcript/source"
)

func TestREADMEHasTheTableOfSettings(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(testbed.Repository(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	want.WriteString("| key | type | default | flag | environment | meaning |\n|---|---|---|---|---|---|\n")
	for _, s := range settings.All {
		meaning := s.Meaning
		if s.Hermes {
			meaning += " †"
		}
		fmt.Fprintf(&want, "| `%s` | %s | %s | %s | %s | %s |\n", s.Key, s.Type, code("", s.Default), code("--", s.Flag), code("", s.Env), meaning)
	}
	if !strings.Contains(string(readme), want.String()) {
		t.Errorf("README.md does not hold this table:\n%s", want.String())
	}
}

func TestREADMENamesEverySource(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(testbed.Repository(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, src := range source.All() {
		if !strings.Contains(string(readme), "| `"+src.Name()+"` |") {
			t.Errorf("README.md has no row for the source %s", src.Name())
		}
	}
}

func code(prefix, text string) string {
	if text == "" {
		return ""
	}
	return "`" + prefix + text + "`"
}

func TestREADMENamesEveryCommand(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(testbed.Repository(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	a := &app{}
	for _, c := range a.root().Commands() {
		if !c.Hidden && !strings.Contains(string(readme), "| `"+c.Name()) {
			t.Errorf("README.md has no row for the command %s", c.Name())
		}
	}
}

// Who opens README reads what this is in three sentences, then what to run.
func TestREADMEBeginsWithThreeSentencesAndTwoCommands(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(testbed.Repository(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.SplitN(string(raw), "\n\n", 3)
	if sentences := regexp.MustCompile(`\.(\s|$)`).FindAllString(parts[1], -1); len(sentences) != 3 {
		t.Errorf("%d sentences: %s", len(sentences), parts[1])
	}
	before, _, _ := strings.Cut(parts[2], "\n## ")
	for _, marker := range []string{"<!-- main command -->\n```sh\n", "<!-- test command -->\n```sh\n"} {
		if !strings.Contains(before, marker) {
			t.Errorf("no %q before the first heading", marker)
		}
	}
	if n := strings.Count(before, "```sh"); n != 2 {
		t.Errorf("%d commands before the first heading", n)
	}
}
