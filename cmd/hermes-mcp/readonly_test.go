//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A stranger runs the program on a home that it may read and not write.
type stranger struct {
	t             *testing.T
	program, home string
	as            *syscall.SysProcAttr
}

// newStranger takes the rights to write home from everybody. The superuser has
// them anyway, and so lets nobody run the program.
func newStranger(t *testing.T, home string) stranger {
	t.Helper()
	s := stranger{t: t, home: home}
	var dirs []string
	if err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			dirs = append(dirs, path)
			return nil
		}
		return os.Chmod(path, 0o444)
	}); err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		if err := os.Chmod(dir, 0o555); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { // or it could not be removed
		for _, dir := range dirs {
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Error(err)
			}
		}
	})
	// Our own copy, in a folder that others may go into.
	own, err := exec.LookPath("hermes-mcp")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	s.program = filepath.Join(folder, "hermes-mcp")
	from, err := os.Open(own)
	if err != nil {
		t.Fatal(err)
	}
	to, err := os.OpenFile(s.program, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, from); err != nil {
		t.Fatal(err)
	}
	for _, f := range []*os.File{from, to} {
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{home, folder} {
		if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if os.Geteuid() == 0 {
		s.as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		if err := s.command("version").Run(); err != nil {
			t.Skipf("the superuser may write everywhere, and nobody else runs a program here: %v", err)
		}
	}
	return s
}

func (s stranger) command(args ...string) *exec.Cmd {
	c := exec.CommandContext(s.t.Context(), s.program, append(args, "--home", s.home)...)
	c.Env = []string{"HOME=" + s.home, "PATH=" + os.Getenv("PATH")}
	c.Dir, c.SysProcAttr = "/", s.as
	return c
}

// run returns what the program said, and its exit code.
func (s stranger) run(args ...string) (out, errs string, code int) {
	s.t.Helper()
	var stdout, stderr bytes.Buffer
	c := s.command(args...)
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil && c.ProcessState == nil {
		s.t.Fatal(err)
	}
	return stdout.String(), stderr.String(), c.ProcessState.ExitCode()
}

func TestAHomeThatCannotBeWrittenIsSearched(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	session := filepath.Join(t.TempDir(), "-work", "one.jsonl")
	if err := os.MkdirAll(filepath.Dir(session), 0o755); err != nil {
		t.Fatal(err)
	}
	line := `{"type":"user","uuid":"u1","sessionId":"one","cwd":"/work","timestamp":"2026-05-01T10:00:00Z","message":{"role":"user","content":"why does the zeppelin leak"}}` + "\n"
	if err := os.WriteFile(session, []byte(line), 0o644); err != nil {
		t.Fatal(err)
	}
	hermes(t, home, "memory", "add", "Debian 12")
	hermes(t, home, "ingest", session)
	s := newStranger(t, home)
	const said = "cannot be written"

	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"search", "zeppelin"}, "claude-code:one"},
		{[]string{"sessions"}, "claude-code:one"},
		{[]string{"show", "claude-code:one"}, "zeppelin"},
		{[]string{"status"}, "claude-code: 1 session"},
		{[]string{"memory", "list"}, "Debian 12"},
		{[]string{"archive", "export"}, "zeppelin"},
	} {
		out, errs, code := s.run(c.args...)
		if code != 0 && c.args[0] != "archive" || !strings.Contains(out, c.want) || strings.Count(out+errs, said) > 1 {
			t.Errorf("%v: exit code %d\n%s%s", c.args, code, out, errs)
		}
	}
	for _, args := range [][]string{{"memory", "add", "x"}, {"memory", "remove", "Debian"}, {"ingest", session}, {"provider", "setup", "holographic", "--yes"}} {
		if out, errs, code := s.run(args...); code != 1 || !strings.Contains(errs, said) {
			t.Errorf("%v: exit code %d\n%s%s", args, code, out, errs)
		}
	}

	c := s.command("serve", "--session", "claude-code:two")
	c.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"session_search","arguments":{"query":"zeppelin"}}}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"memory","arguments":{"action":"add","content":"x"}}}
{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"hermes://memory/snapshot"}}
`)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	raw, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	answers := map[float64]string{}
	for line := range strings.Lines(string(raw)) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if id, ok := m["id"].(float64); ok {
			answers[id] = line
		}
	}
	for id, want := range map[float64]string{2: "claude-code:one", 3: "read_only", 4: "Debian 12"} {
		if !strings.Contains(answers[id], want) {
			t.Errorf("answer %v without %q: %s", id, want, answers[id])
		}
	}
	if strings.Count(stderr.String(), "\n") != 1 || !strings.Contains(stderr.String(), said) {
		t.Errorf("the server said: %s", stderr.String())
	}
}
