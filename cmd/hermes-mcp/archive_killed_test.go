package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// said runs a command to its end and returns what it prints.
func said(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("hermes-mcp", args...)
	var failed strings.Builder
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q: %v\n%s", args, err, failed.String())
	}
	return string(out)
}

// inArchive lists what is said in the archive that home has.
func inArchive(t *testing.T, more ...string) string {
	t.Helper()
	var all []string
	for line := range strings.Lines(said(t, append([]string{"archive", "export"}, more...)...)) {
		var m struct{ Type, Session, Content string }
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		if m.Type == "message" {
			all = append(all, m.Session+" "+m.Content)
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// kill starts a command and kills it at some moment of the time that it takes.
func kill(t *testing.T, takes time.Duration, args ...string) {
	t.Helper()
	cmd := exec.Command("hermes-mcp", args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end := time.AfterFunc(rand.N(takes), func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait() // an error is what is wanted
	end.Stop()
}

// took is how long a command takes.
func took(t *testing.T, args ...string) time.Duration {
	t.Helper()
	from := time.Now()
	said(t, args...)
	return time.Since(from)
}

// However a command ends, what is archived is what it was before, or what it
// would have been after.
func TestArchiveCommandsThatAreKilledLeaveTheOldOrTheNew(t *testing.T) {
	if testing.Short() {
		t.Skip("runs for some seconds")
	}
	const kills, sessions, messages = 6, 12, 60
	home, work := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("HERMES_HOME", filepath.Join(home, ".hermes"))
	id := func(n int) string { return fmt.Sprintf("%08d-2222-4333-8444-555555555555", n) }
	add := func(from, to int) {
		t.Helper()
		dir := filepath.Join(work, fmt.Sprint(from))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for n := from; n < to; n++ {
			var b strings.Builder
			for i := range messages {
				fmt.Fprintf(&b, `{"type":"user","sessionId":%q,"uuid":"%08d-%04d-4333-8444-5555aaaa5555","cwd":"/p","timestamp":"2026-03-01T09:00:%02dZ","message":{"role":"user","content":"word %d of %d"}}`+"\n", id(n), n, i, i, i, n)
			}
			if err := os.WriteFile(filepath.Join(dir, id(n)+".jsonl"), []byte(b.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		said(t, "ingest", dir)
	}
	add(0, sessions/2)
	older, newer := filepath.Join(work, "older.db"), filepath.Join(work, "newer.db")
	said(t, "archive", "backup", older)
	was := inArchive(t)
	add(sessions/2, sessions)
	said(t, "archive", "backup", newer)
	is := inArchive(t)
	takes := took(t, "archive", "restore", older)
	said(t, "archive", "restore", newer)
	for range kills {
		kill(t, takes, "archive", "restore", older)
		if got := inArchive(t); got != was && got != is {
			t.Fatalf("a killed restore left neither:\n%s", got)
		}
		said(t, "archive", "restore", newer)
		if got := inArchive(t); got != is {
			t.Fatal("nothing can be restored after a killed restore")
		}
	}

	server := exec.Command("hermes-mcp", "serve")
	in, err := server.StdinPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	takes = took(t, "archive", "backup", filepath.Join(work, "whole.db"))
	for n := range kills {
		path := filepath.Join(work, fmt.Sprintf("killed%d.db", n))
		kill(t, takes, "archive", "backup", path)
		if _, err := os.Stat(path); err == nil {
			other := filepath.Join(work, fmt.Sprint("home", n))
			said(t, "archive", "restore", path, "--home", other)
			if got := inArchive(t, "--home", other); got != is {
				t.Fatalf("a killed backup left a part:\n%s", got)
			}
		}
	}
	takes = took(t, "archive", "forget", "--session", id(sessions-1), "--yes")
	for n := range kills {
		before := inArchive(t)
		after := ""
		for line := range strings.Lines(before) {
			if !strings.HasPrefix(line, "claude-code:"+id(n)) {
				after += line
			}
		}
		kill(t, takes, "archive", "forget", "--session", id(n), "--yes")
		if got := inArchive(t); got != before && strings.TrimSpace(got) != strings.TrimSpace(after) {
			t.Fatalf("a killed forget left neither:\n%s", got)
		}
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if err := server.Wait(); err != nil {
		t.Error(err)
	}
	cmd := exec.Command("hermes-mcp", "archive", "forget", "--yes") // finishes what was stopped, or has nothing to do
	if out, err := cmd.CombinedOutput(); err != nil && cmd.ProcessState.ExitCode() != codeUsage {
		t.Errorf("%v: %s", err, out)
	}
}
