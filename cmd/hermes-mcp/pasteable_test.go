package main

import "testing"

func TestAWordOfAShellStaysOneWord(t *testing.T) {
	for _, c := range []struct{ word, goos, want string }{
		{"/home/a/.hermes", "linux", "/home/a/.hermes"},
		{"/home/用户/.hermes", "linux", "/home/用户/.hermes"},
		{"/home/a b", "linux", "'/home/a b'"},
		{"it's", "linux", `'it'\''s'`},
		{"$(reboot)", "linux", "'$(reboot)'"},
		{`a\b`, "linux", `'a\b'`},
		{"~/x", "linux", "'~/x'"}, // the program reads ~ itself
		{"", "linux", "''"},
		{`C:\Users\a\hermes`, "windows", `C:\Users\a\hermes`},
		{`C:\Users\a b`, "windows", `"C:\Users\a b"`},
	} {
		if got := shellWord(c.word, c.goos); got != c.want {
			t.Errorf("%s of %q: %s, want %s", c.goos, c.word, got, c.want)
		}
	}
}

func TestOnlyCommandLinesAreToldTheHome(t *testing.T) {
	a := &app{userFlag: "anna"}
	for text, want := range map[string]string{
		"run hermes-mcp ingest":                    "run hermes-mcp --user anna ingest",
		"hermes-mcp show a, hermes-mcp sessions":   "hermes-mcp --user anna show a, hermes-mcp --user anna sessions",
		"a newer hermes-mcp made it":               "a newer hermes-mcp made it",
		"stop every hermes-mcp, then say it":       "stop every hermes-mcp, then say it",
		"/opt/my-hermes-mcp ingests, ~/hermes-mcp": "/opt/my-hermes-mcp ingests, ~/hermes-mcp",
	} {
		if got := a.pasteable(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := (&app{}).pasteable("run hermes-mcp ingest"); got != "run hermes-mcp ingest" {
		t.Error(got)
	}
}
