package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A scribe is a server that edits the memory, and what it should have there:
// facts of its own, by target.
type scribe struct {
	name  string
	kept  map[string][]string
	asked int
	// doubt is the edit that was under way when the server was killed: it may
	// have been made or not.
	doubt func()
}

// next chooses an edit, and what it makes of kept once it is made.
func (s *scribe) next() (args map[string]any, made func()) {
	s.asked++
	target := []string{"memory", "user"}[rand.IntN(2)]
	fact := fmt.Sprintf("%s fact %d.", s.name, s.asked)
	mine := s.kept[target]
	args = map[string]any{"target": target, "action": "add", "content": fact}
	made = func() { s.kept[target] = append(s.kept[target], fact) }
	if len(mine) < 4 || rand.IntN(3) == 0 {
		return args, made
	}
	i := rand.IntN(len(mine))
	args["old_text"] = mine[i]
	if rand.IntN(2) == 0 {
		args["action"] = "remove"
		delete(args, "content")
		return args, func() { s.kept[target] = slices.Delete(mine, i, i+1) }
	}
	args["action"] = "replace"
	return args, func() { mine[i] = fact }
}

// run has a server make edits, one after the other, and kills it after the
// request number killAt has been sent, at whatever it does then; 0 is never.
func (s *scribe) run(edits, killAt int) error {
	cmd := exec.Command("hermes-mcp", "serve", "--memory-char-limit", "1000000", "--user-char-limit", "1000000")
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	answers := bufio.NewReader(out)
	for n := 1; n <= edits; n++ {
		args, made := s.next()
		request, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": map[string]any{"name": "memory", "arguments": args}})
		if err != nil {
			return err
		}
		if _, err := in.Write(append(request, '\n')); err != nil {
			return err
		}
		if n == killAt {
			// Whether the answer comes or not decides the moment, not a clock.
			go func() {
				for range rand.IntN(200_000) { // some work, of another length each time
					_ = request
				}
				cmd.Process.Kill()
			}()
			s.doubt = made
		}
		line, err := answers.ReadBytes('\n')
		if err != nil {
			if killAt == 0 || n < killAt {
				return fmt.Errorf("request %d: %w", n, err)
			}
			break
		}
		var answer struct {
			Result struct {
				Content []struct{ Text string }
				IsError bool
			}
		}
		if err := json.Unmarshal(line, &answer); err != nil || answer.Result.IsError || len(answer.Result.Content) == 0 {
			return fmt.Errorf("request %s is answered %s", request, line)
		}
		made()
		if s.doubt = nil; n >= killAt && killAt > 0 {
			break
		}
	}
	if killAt == 0 {
		if err := in.Close(); err != nil {
			return err
		}
		return cmd.Wait()
	}
	cmd.Process.Kill()
	cmd.Wait() // it was killed: an error is what is wanted
	return nil
}

// Twenty servers make a hundred mixed edits each, and half of them are killed on
// the way: what was acknowledged is there, nothing else is, and the journal ends
// with what the files hold.
func TestTwentyServersHalfOfThemKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("runs for some seconds")
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("HERMES_HOME", filepath.Join(home, ".hermes"))
	const edits = 100
	var scribes []*scribe
	var group sync.WaitGroup
	for i := range 20 {
		s := &scribe{name: fmt.Sprintf("Server %d's", i), kept: map[string][]string{}}
		scribes = append(scribes, s)
		killAt := 0
		if i%2 == 0 {
			killAt = 5 + rand.IntN(edits-5)
		}
		group.Go(func() {
			if err := s.run(edits, killAt); err != nil {
				t.Errorf("%s: %v", s.name, err)
			}
		})
	}
	group.Wait()
	for _, target := range []string{"memory", "user"} { // settles what the last kill left open
		if out, err := exec.Command("hermes-mcp", "memory", "add", "The end.", "--target", target, "--memory-char-limit", "1000000", "--user-char-limit", "1000000").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	acknowledged := 0
	for target, name := range map[string]string{"memory": "MEMORY.md", "user": "USER.md"} {
		raw, err := os.ReadFile(filepath.Join(home, ".hermes", "memories", name))
		if err != nil {
			t.Fatal(err)
		}
		if last := lastAfter(t, filepath.Join(home, ".hermes", "mcp", "memory-journal.jsonl"), target); last != string(raw) {
			t.Errorf("the journal ends with %d bytes for %s, which holds %d", len(last), name, len(raw))
		}
		there := strings.Split(string(raw), "\n§\n")
		for _, s := range scribes {
			acknowledged += s.asked
			got := slices.DeleteFunc(slices.Clone(there), func(e string) bool { return !strings.HasPrefix(e, s.name) })
			if s.has(target, got) {
				continue
			}
			if s.doubt == nil {
				t.Errorf("%s %s: got %q, want %q", s.name, name, got, s.kept[target])
				continue
			}
			s.doubt()
			s.doubt = nil
			if !s.has(target, got) {
				t.Errorf("%s %s, with the edit that was under way: got %q, want %q", s.name, name, got, s.kept[target])
			}
		}
	}
	t.Logf("%d edits asked for", acknowledged/2)
}

// has tells whether target holds what it should, in any order.
func (s *scribe) has(target string, got []string) bool {
	want := slices.Clone(s.kept[target])
	slices.Sort(want)
	slices.Sort(got)
	return slices.Equal(want, got)
}

// lastAfter is what target holds by the last line of the journal that tells, and
// that no later one takes back.
func lastAfter(t *testing.T, path, target string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	type line struct {
		ID, Target, Kind, Of string
		After                *string
	}
	var told []line
	for r := bufio.NewReaderSize(f, 1<<20); ; {
		raw, err := r.ReadBytes('\n')
		if err != nil {
			break
		}
		var l line
		if json.Unmarshal(raw, &l) != nil || l.Target != target {
			continue // one that a kill has cut short
		}
		switch {
		case l.Kind == "abort":
			told = slices.DeleteFunc(told, func(o line) bool { return o.ID == l.Of })
		case l.After != nil:
			told = append(told, l)
		}
	}
	if len(told) == 0 {
		t.Fatalf("the journal tells nothing of %s", target)
	}
	return *told[len(told)-1].After
}
