package memstore

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/hermes-mcp/hermes-mcp/memstore/document"
	"github.com/hermes-mcp/hermes-mcp/memstore/journal"
)

// #85858: eight processes on a home that does not exist yet, a Hermes among
// them, lose nothing.
func TestProcessesThatEditAtOnceLoseNothing(t *testing.T) {
	home := filepath.Join(t.TempDir(), "deep", "home")
	const each = 50
	var want []string
	var all []*exec.Cmd
	for i := range 9 {
		role := "adds"
		if i == 8 {
			role = "hermes"
		}
		cmd := player(role, home, fmt.Sprintf("p%d", i), each)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmd)
		for n := range each {
			want = append(want, fmt.Sprintf("p%d fact %d", i, n))
		}
	}
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	s := openHome(t, home)
	st, err := s.State(context.Background(), Memory)
	if err != nil {
		t.Fatal(err)
	}
	got := texts(st)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%d of %d entries are there", len(got), len(want))
	}
	if gone := lost(t, s); gone != nil {
		t.Errorf("lost: %q", gone)
	}
}

// After a kill at any moment the file is the old or the new whole one, what
// was acknowledged is in it, and the journal knows every text.
func TestKillAtAnyMoment(t *testing.T) {
	rounds := 200
	if testing.Short() {
		rounds = 20
	}
	home := t.TempDir()
	s := openHome(t, home)
	s.MemoryLimit = 1 << 20
	known := map[string]string{} // a text's hash → newest edit that put it in force
	known[journal.Hash(nil)] = ""
	var at journal.Position
	for round := range rounds {
		last := killAtRandom(t, player("churn", home, fmt.Sprintf("r%d", round), 100000))
		raw := read(t, s)
		var err error
		at, err = s.ledger.Log().Scan(at, func() { t.Fatal("the journal was replaced") }, func(r journal.Record) {
			if r.HasText() {
				known[r.BeforeSHA] = max(known[r.BeforeSHA], "")
				known[r.AfterSHA] = r.ID
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		id, ok := known[journal.Hash([]byte(raw))]
		if !ok {
			t.Fatalf("round %d: the journal does not know %q", round, raw)
		}
		if last != "" && id < last {
			t.Fatalf("round %d: edit %s was acknowledged, the file is that of %s", round, last, id)
		}
		if round%10 == 9 { // a fresh writer tidies up, and finds nothing lost
			res, err := s.Apply(context.Background(), Caller{}, Memory, add(fmt.Sprintf("between %d", round)))
			if err != nil {
				t.Fatal(err)
			}
			if want := raw + document.Delimiter + fmt.Sprintf("between %d", round); read(t, s) != want {
				t.Fatalf("round %d: got %q, want %q", round, read(t, s), want)
			}
			if gone := lost(t, s); gone != nil {
				t.Fatalf("round %d, after %s: lost %q", round, res.EditID, gone)
			}
		}
	}
}

// killAtRandom runs cmd, kills it at a random moment after its first edit, and
// returns the id of the last edit that it was told is done.
func killAtRandom(t *testing.T, cmd *exec.Cmd) (last string) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if last == "" {
			time.AfterFunc(time.Duration(rand.IntN(8000))*time.Microsecond, func() { cmd.Process.Kill() })
		}
		if id, _, whole := strings.Cut(lines.Text(), " "); whole {
			last = id
		}
	}
	cmd.Wait() // it was killed: an error is what is wanted
	return last
}

// Twenty processes, half of them killed: the journal and the file agree, and
// nothing acknowledged is missing.
func TestTwentyProcessesHalfOfThemKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("runs for some seconds")
	}
	home := t.TempDir()
	var mu sync.Mutex
	var acknowledged [][3]string // id, action, content
	var group sync.WaitGroup
	for i := range 20 {
		cmd := player("mixed", home, fmt.Sprintf("p%d", i), 100)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		group.Go(func() {
			lines, stop := bufio.NewScanner(out), 10+rand.IntN(80)
			n := 0
			for lines.Scan() {
				if f := strings.SplitN(lines.Text(), " ", 3); len(f) == 3 {
					mu.Lock()
					acknowledged = append(acknowledged, [3]string(f))
					mu.Unlock()
				}
				if n++; n == stop && i%2 == 0 {
					cmd.Process.Kill()
				}
			}
			if err := cmd.Wait(); err != nil && i%2 != 0 {
				t.Errorf("p%d: %v", i, err)
			}
		})
	}
	group.Wait()
	agree(t, home, acknowledged)
}

// agree checks that journal and file tell one story, and that it holds each
// acknowledged edit: id, action, content.
func agree(t *testing.T, home string, acknowledged [][3]string) {
	t.Helper()
	s := openHome(t, home)
	s.MemoryLimit = 1 << 20
	apply(t, s, add("the end")) // settles what the last kill left open
	edits := map[string]journal.Record{}
	var newest journal.Record
	aborted := map[string]bool{}
	if err := s.ledger.Log().All(func(r journal.Record) {
		if r.Kind == journal.Abort {
			aborted[r.Of] = true
		}
		if r.HasText() {
			edits[r.ID], newest = r, r
		}
	}); err != nil {
		t.Fatal(err)
	}
	if read(t, s) != string(newest.After) {
		t.Error("the file is not what the journal says last")
	}
	for _, a := range acknowledged {
		r, ok := edits[a[0]]
		if !ok || aborted[a[0]] {
			t.Errorf("edit %s was acknowledged; in the journal: %v, aborted: %v", a[0], ok, aborted[a[0]])
		}
		if a[2] != "" && !bytes.Contains(r.After, []byte(a[2])) {
			t.Errorf("edit %s does not hold %q", a[0], a[2])
		}
	}
	// Each line starts from where the one before it ended.
	var at []byte
	ids := make([]string, 0, len(edits))
	for id := range edits {
		if !aborted[id] {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		if !bytes.Equal(edits[id].Before, at) {
			t.Fatalf("edit %s starts from %q, the one before ended with %q", id, edits[id].Before, at)
		}
		at = edits[id].After
	}
	if gone := lost(t, s); gone != nil {
		t.Errorf("lost: %q", gone)
	}
	t.Logf("%d edits acknowledged, %d aborted", len(acknowledged), len(aborted))
}

// A foreign writer that holds MEMORY.md.lock and rewrites the file between two
// of our edits loses nothing, and neither do we.
func TestHermesBetweenTwoEdits(t *testing.T) {
	s := open(t, "")
	apply(t, s, add("ours 1"))
	if err := hermes(path(s), "theirs", 2); err != nil {
		t.Fatal(err)
	}
	apply(t, s, add("ours 2"))
	if got := read(t, s); got != "ours 1\n§\ntheirs fact 0\n§\ntheirs fact 1\n§\nours 2" {
		t.Errorf("got %q", got)
	}
	if h := history(t, s); len(h) != 3 || h[1].Kind != "foreign" || len(h[1].Added) != 2 {
		t.Errorf("the journal tells %+v", h)
	}
}

// An editor that saves without a lock while we write is merged, not lost.
func TestAnEditorWithoutALock(t *testing.T) {
	s := open(t, "start")
	s.MemoryLimit = 1 << 20
	stop := make(chan struct{})
	var group sync.WaitGroup
	saved := 0
	group.Go(func() {
		for ; ; saved++ {
			select {
			case <-stop:
				return
			default:
			}
			raw, err := os.ReadFile(path(s))
			if err != nil {
				t.Error(err)
				return
			}
			temp := path(s) + "~"
			if err := os.WriteFile(temp, append(raw, fmt.Sprintf("\n§\neditor %d", saved)...), 0o600); err != nil {
				t.Error(err)
				return
			}
			if err := os.Rename(temp, path(s)); err != nil {
				t.Error(err)
				return
			}
		}
	})
	made := 0
	for range 60 {
		_, err := s.Apply(context.Background(), Caller{}, Memory, add(fmt.Sprintf("ours %d", made)))
		if err == nil {
			made++
		} else if !errors.Is(err, ErrBusy) {
			t.Error(err)
		}
	}
	close(stop)
	group.Wait()
	apply(t, s, add("the end"))
	// Its stale buffers may have taken ours out of the file; the journal knows.
	var known bytes.Buffer
	if err := s.ledger.Log().All(func(r journal.Record) { known.Write(r.After) }); err != nil {
		t.Fatal(err)
	}
	for i := range made {
		if !bytes.Contains(known.Bytes(), fmt.Appendf(nil, "ours %d", i)) {
			t.Errorf("ours %d is nowhere", i)
		}
	}
	t.Logf("%d edits beside %d saves", made, saved)
}

func TestALockThatIsHeldEndsInBusyOrWithTheCaller(t *testing.T) {
	s := open(t, "a")
	apply(t, s, add("b"))
	l := flock.New(path(s) + ".lock")
	if err := l.Lock(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	res, err := s.Apply(ctx, Caller{}, Memory, add("c"))
	if !errors.Is(err, ErrBusy) || len(res.State.Entries) != 2 {
		t.Errorf("got %+v, %v", res, err)
	}
	if err := l.Unlock(); err != nil {
		t.Fatal(err)
	}
	apply(t, s, add("c"))
}

func TestGoroutinesThatEditAtOnceLoseNothing(t *testing.T) {
	s := open(t, "")
	s.MemoryLimit = 1 << 20
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for n := range 10 {
				if _, err := s.Apply(context.Background(), Caller{}, Memory, add(fmt.Sprintf("g%d fact %d", i, n))); err != nil {
					t.Error(err)
				}
				if _, err := s.State(context.Background(), Memory); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if st, err := s.State(context.Background(), Memory); err != nil || len(st.Entries) != 80 {
		t.Errorf("%d of 80 entries are there, %v", len(st.Entries), err)
	}
}
