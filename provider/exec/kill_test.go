package exec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hermes-mcp/hermes-mcp/provider"
	"github.com/hermes-mcp/hermes-mcp/provider/outbox"
)

const turns = 500

// drive is a process that reports every turn, anew each time it is started,
// and delivers them to a program that records what it gets.
func drive(dir, record string) int {
	self, err := os.Executable()
	if err != nil {
		return 4
	}
	p, err := New([]string{self})
	if err != nil {
		return 4
	}
	p.Env = append(os.Environ(), "HERMES_TEST_PROGRAM=records", "HERMES_TEST_RECORD="+record)
	g, err := provider.Open(p, dir)
	if err != nil {
		return 4
	}
	ctx := context.Background()
	for i := range turns {
		t := provider.Turn{ID: fmt.Sprint(i), Session: provider.Session{ID: "test:1"}, User: fmt.Sprint("question ", i), Assistant: "answer"}
		if err := g.TurnEnded(ctx, t); err != nil {
			return 5
		}
		if i%10 == 9 || i == turns-1 {
			if _, err := g.Drain(ctx); err != nil && !errors.Is(err, outbox.ErrElsewhere) {
				fmt.Fprintln(os.Stderr, err)
				return 6
			}
		}
	}
	if err := g.Close(); err != nil {
		return 4
	}
	return 0
}

func TestKilledAtAnyPointOf500TurnsNoneVanishes(t *testing.T) {
	if testing.Short() || runtime.GOOS == "windows" {
		t.Skip("kills a process many times")
	}
	dir, record := t.TempDir(), filepath.Join(t.TempDir(), "record")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(uint64(os.Getpid()), 1))
	kills, done := 0, false
	for round := 0; !done; round++ {
		var words bytes.Buffer
		cmd := osexec.Command(self, dir, record)
		cmd.Env, cmd.Stderr = append(os.Environ(), "HERMES_TEST_PROGRAM=driver"), &words
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		end := make(chan error, 1)
		go func() { end <- cmd.Wait() }()
		var kill <-chan time.Time
		if round < 60 { // then it may finish
			kill = time.After(time.Duration(8+rnd.IntN(50)) * time.Millisecond)
		}
		select {
		case err := <-end:
			if err != nil {
				t.Fatalf("round %d: %v: %s", round, err, words.String())
			}
			done = true
		case <-kill:
			kills++
			if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Fatal(err)
			}
			<-end
		}
	}
	box, err := outbox.Open(filepath.Join(dir, "exec"))
	if err != nil {
		t.Fatal(err)
	}
	st, err := box.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	unknown := map[string]bool{}
	for _, it := range st.SetAside {
		if it.State != outbox.Unknown {
			t.Errorf("%s is %s", it.ID, it.State)
		}
		unknown[strings.TrimPrefix(it.ID, "turn:")] = true
	}
	raw, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	got, last := map[string]int{}, -1
	for id := range strings.FieldsSeq(string(raw)) {
		got[id]++
		var n int
		if _, err := fmt.Sscan(id, &n); err != nil || n < last {
			t.Errorf("turn %s came after turn %d", id, last)
		}
		last = n
	}
	for i := range turns {
		id := fmt.Sprint(i)
		if n := got[id]; n > 1 || (n == 0 && !unknown[id]) {
			t.Errorf("turn %s was delivered %d times; unknown: %v", id, n, unknown[id])
		}
	}
	if st.Waiting != 0 || st.Damaged != 0 {
		t.Errorf("%+v", st)
	}
	t.Logf("%d kills, %d delivered, %d of them shown as unknown", kills, len(got), len(unknown))
}
