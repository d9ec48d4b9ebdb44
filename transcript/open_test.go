package transcript

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestMain lets a test start this binary as a process of its own.
func TestMain(m *testing.M) {
	if path := os.Getenv("TRANSCRIPT_TEST_WRITER"); path != "" {
		if err := writeAsProcess(path, os.Getenv("TRANSCRIPT_TEST_NAME")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const perProcess = 500

// writeAsProcess opens the archive and stores messages one by one.
func writeAsProcess(path, name string) error {
	ctx := context.Background()
	db, err := Open(ctx, path)
	if err != nil {
		return err
	}
	s := Session{ID: "proc:" + name}
	for i := range perProcess {
		m := Message{UID: fmt.Sprint(i), Role: UserRole, Content: fmt.Sprintf("message %d of %s", i, name)}
		if err := db.Put(ctx, s, []Message{m}); err != nil {
			return errors.Join(err, db.Close())
		}
	}
	return db.Close()
}

// Upstream #3139, #74478: a database that was locked for a moment at start was
// given up for the whole run.
func TestEightProcessesStartOnAHomeThatDoesNotExistAndLoseNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("starts eight processes")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "home", "mcp", "archive.db")
	var cmds []*exec.Cmd
	var out [8]strings.Builder
	for i := range out {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), "TRANSCRIPT_TEST_WRITER="+path, fmt.Sprintf("TRANSCRIPT_TEST_NAME=p%d", i))
		cmd.Stderr = &out[i]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
	}
	for i, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Errorf("process %d: %v: %s", i, err, out[i].String())
		}
	}
	db, err := Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for i := range out {
		msgs, _, _, err := db.Messages(context.Background(), fmt.Sprintf("proc:p%d", i), Window{})
		if err != nil || len(msgs) != perProcess {
			t.Errorf("process %d: %d messages, %v", i, len(msgs), err)
		}
	}
	if err := db.Check(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestTheArchiveIsForItsOwnerAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("rights are lists there")
	}
	dir := filepath.Join(t.TempDir(), "mcp")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "archive.db")
	db, err := Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	put(t, db, "t:a", "hello")
	for p, want := range map[string]os.FileMode{dir: 0o700, path: 0o600, path + "-wal": 0o600} {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", p, info.Mode(), err)
		}
	}
}

func TestAClosedArchiveSaysSo(t *testing.T) {
	db, err := Open(context.Background(), filepath.Join(t.TempDir(), "a.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Put(context.Background(), Session{ID: "a:b"}, nil); err == nil {
		t.Error("stored in a closed archive")
	}
}
