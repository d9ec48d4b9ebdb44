package transcript

import (
	"context"
	"database/sql"
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

func TestANewerArchiveIsRefusedWithWords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.db")
	db, err := Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.write.ExecContext(context.Background(), "INSERT INTO migration VALUES (9999, 'future', 0)"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Open(context.Background(), path)
	if !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "update hermes-mcp") {
		t.Errorf("%v", err)
	}
}

func TestMigratingCopiesTheArchiveFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.db")
	db, err := Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	put(t, db, "t:a", "hello")
	if err := db.copyBefore(context.Background(), 1); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	old, err := Open(context.Background(), path+".schema-0001")
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	if msgs, _, _, err := old.Messages(context.Background(), "t:a", Window{}); err != nil || len(msgs) != 1 {
		t.Errorf("%d messages, %v", len(msgs), err)
	}
}

func TestMigrationsAreNumberedWithoutGaps(t *testing.T) {
	steps, err := migrationSteps()
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range steps {
		if s.number != i+1 {
			t.Errorf("step %d is numbered %d", i+1, s.number)
		}
	}
}

func TestAnotherProgramsDatabaseIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.db")
	other, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Exec("CREATE TABLE important (x)"); err != nil {
		t.Fatal(err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(context.Background(), path); err == nil || !strings.Contains(err.Error(), "another program") {
		t.Errorf("%v", err)
	}
}

func TestADamagedArchiveIsNamedInPlainWords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("this is no database ", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(context.Background(), path); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "ingest again") {
		t.Errorf("%v", err)
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

func TestVersionsAreComparedByNumber(t *testing.T) {
	for _, c := range []struct {
		have string
		ok   bool
	}{{"3.51.3", true}, {"3.54.1", true}, {"4.0.0", true}, {"3.51.2", false}, {"3.9.9", false}, {"3.51", false}, {"", false}} {
		if atLeast(c.have, minSQLite) != c.ok {
			t.Errorf("%q", c.have)
		}
	}
}
