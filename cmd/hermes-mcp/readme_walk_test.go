package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/testbed"
)

// What README shows of a new user's first steps is what the program says.
func TestREADMEWalksAsTheProgramDoes(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(testbed.Repository(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, walk, ok := strings.Cut(string(readme), "<!-- walk -->\n```console\n")
	walk, _, end := strings.Cut(walk, "\n```")
	if !ok || !end {
		t.Fatal("README.md has no walk")
	}
	home := t.TempDir()
	t.Chdir(home)
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("HERMES_HOME", filepath.Join(home, ".hermes"))
	for _, name := range []string{"CLAUDE_PROJECT_DIR", "CLAUDE_CODE_SESSION_ID", "HERMES_SESSION_ID", "HERMES_MCP_USER"} {
		t.Setenv(name, "")
	}
	var said bytes.Buffer
	for i, line := range strings.Split(walk, "\n") {
		command, is := strings.CutPrefix(line, "$ hermes-mcp ")
		if !is {
			continue
		}
		if i > 0 {
			said.WriteString("\n")
		}
		said.WriteString(line + "\n")
		run(t.Context(), words(t, command), strings.NewReader(""), &said, &said)
	}
	got := strings.ReplaceAll(said.String(), home, "~")
	if got, want := timeless(strings.TrimSpace(got)), timeless(walk); got != want {
		t.Errorf("the program says:\n%s\n\nREADME.md says:\n%s", got, want)
	}
}

var moments = regexp.MustCompile(`\b\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}:\d{2}Z?)?\b|(?m)^\d[0-9a-z]{10}\b|\d{2}:\d{2}:\d{2}`)

// timeless is text without what differs from run to run: times and ids.
func timeless(text string) string {
	return moments.ReplaceAllString(strings.ReplaceAll(text, `\`, "/"), "*")
}

// words parts a command line at blanks outside double quotes.
func words(t *testing.T, line string) []string {
	t.Helper()
	var all []string
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 1 {
			all = append(all, part)
		} else {
			all = append(all, strings.Fields(part)...)
		}
	}
	return all
}
