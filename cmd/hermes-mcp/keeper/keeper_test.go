package keeper

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/hermes-mcp/hermes-mcp/transcript"
	"github.com/hermes-mcp/hermes-mcp/transcript/source"
)

// lines hands out the lines of a log as they are written.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// await returns when a line holds text.
func (l lines) await(t *testing.T, text string) {
	t.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case line := <-l:
			if strings.Contains(line, text) {
				return
			}
		case <-late:
			t.Fatalf("%q was never logged", text)
		}
	}
}

func say(session string, n int, text string) string {
	return fmt.Sprintf(`{"type":"user","uuid":"%s-0000-4000-8000-%012d","parentUuid":null,"sessionId":"%s","timestamp":"2026-05-01T10:%02d:00.000Z","cwd":"/w","version":"2.1.140","isSidechain":false,"userType":"external","message":{"role":"user","content":"%s"}}`+"\n", session[:8], n, session, n, text)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestWhatChangesIsArchivedWhileItRuns(t *testing.T) {
	const id = "aaaaaaaa-1111-4111-8111-111111111111"
	home := t.TempDir()
	file := filepath.Join(home, ".claude", "projects", "-w", id+".jsonl")
	write(t, file, say(id, 1, "where is the zeppelin"))
	log := make(lines, 100)
	k := ofHome(t, home, zerolog.New(log))
	ctx, stop := context.WithCancel(t.Context())
	var owner sync.WaitGroup
	owner.Go(func() { k.Run(ctx) })
	log.await(t, "archived")
	write(t, file, say(id, 2, "over the lake"))
	log.await(t, "archived")
	stop()
	owner.Wait()

	if words := k.Pending(t.Context()); words != "" {
		t.Errorf("pending after the end: %s", words)
	}
	if _, err := os.Stat(filepath.Join(k.Folder, "ingest.json")); !os.IsNotExist(err) {
		t.Errorf("what the keeper told others is still there: %v", err)
	}
	db, err := k.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s, err := db.Session(t.Context(), "claude-code:"+id)
	if err != nil || s.Messages != 2 {
		t.Errorf("session %+v, %v; want 2 messages", s, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// ofHome is a keeper of the home folder, which it makes.
func ofHome(t *testing.T, home string, log zerolog.Logger) *Keeper {
	t.Helper()
	folder := filepath.Join(home, ".hermes", "mcp")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(folder, "archive.db")
	return &Keeper{
		Open:    func(ctx context.Context) (*transcript.DB, error) { return transcript.Open(ctx, archive) },
		Sources: source.All(), Places: transcript.Places{Home: home, HermesHome: filepath.Join(home, ".hermes"), GOOS: "linux"},
		Excluded: func(name string) bool { return name == "hermes" }, Folder: folder, Log: log,
	}
}

// keeperHome names the home of a keeper that this test program is to be.
const keeperHome = "HERMES_TEST_KEEPER_HOME"

func TestAnotherTakesOverWhenTheOwnerIsKilled(t *testing.T) {
	if home := os.Getenv(keeperHome); home != "" {
		ofHome(t, home, zerolog.New(os.Stdout)).Run(t.Context()) // until it is killed
		return
	}
	const id = "aaaaaaaa-1111-4111-8111-111111111111"
	home := t.TempDir()
	file := filepath.Join(home, ".claude", "projects", "-w", id+".jsonl")
	write(t, file, say(id, 1, "where is the zeppelin"))
	owner := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	owner.Env = append(os.Environ(), keeperHome+"="+home)
	theirs := make(lines, 1000)
	owner.Stdout = theirs
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.await(t, "archived")

	ours := make(lines, 1000)
	k := ofHome(t, home, zerolog.New(ours))
	ctx, stop := context.WithCancel(t.Context())
	var standby sync.WaitGroup
	standby.Go(func() { k.Run(ctx) })
	write(t, file, say(id, 2, "over the lake"))
	theirs.await(t, "archived") // not by us: the lock is theirs
	if k.owner.Load() {
		t.Error("two own the lock")
	}
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := owner.Wait(); err == nil {
		t.Error("it ended by itself")
	}
	write(t, file, say(id, 3, "and down"))
	ours.await(t, "archived")
	stop()
	standby.Wait()
	db, err := k.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s, err := db.Session(t.Context(), "claude-code:"+id); err != nil || s.Messages != 3 {
		t.Errorf("session %+v, %v; want 3 messages", s, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestOthersAreToldWhatIsPending(t *testing.T) {
	folder := t.TempDir()
	for _, test := range []struct{ name, text, want string }{
		{"in the middle of a scan", `{"files":3000,"done":120}`, "archiving 120 of 3000 files"},
		{"when all is done", `{"files":0,"done":0}`, ""},
		{"when it cannot be read", `{`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(folder, "ingest.json")
			if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := Pending(folder); !strings.HasPrefix(got, test.want) || (test.want == "") != (got == "") {
				t.Errorf("pending %q, want %q", got, test.want)
			}
			// An owner that was killed long ago has nothing to say any more.
			old := time.Now().Add(-time.Hour)
			if err := os.Chtimes(path, old, old); err != nil {
				t.Fatal(err)
			}
			if got := Pending(folder); got != "" {
				t.Errorf("pending of a dead owner: %q", got)
			}
		})
	}
}
