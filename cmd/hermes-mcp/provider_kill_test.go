package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// killings is a session of N turns in which hooks, the workers that they start
// and a server are killed at any point, and then checks the provider's RECORD:
// every turn has arrived once, or is shown as unknown: killings N RECORD.
func killings(ts *testscript.TestScript, neg bool, args []string) {
	turns, err := strconv.Atoi(args[0])
	ts.Check(err)
	rnd := rand.New(rand.NewPCG(uint64(os.Getpid()), 2))
	c := newConversation(ts, "long")
	c.event("SessionStart", map[string]any{"source": "startup"})
	server := startServer(ts)
	kills := 0
	for i := range turns {
		c.user(fmt.Sprintf("u%d", i), fmt.Sprintf("question %d", i))
		c.assistant(fmt.Sprintf("a%d", i), map[string]any{"type": "text", "text": "answer"})
		if i%2 == 1 {
			continue // the next hook tells of both
		}
		hook := program(ts, []string{"hermes-mcp", "hook"})
		hook.Stdin = bytes.NewReader(c.hook("Stop", nil))
		ts.Check(hook.Start())
		if rnd.IntN(3) == 0 {
			kills += killWithin(ts, hook, time.Duration(rnd.IntN(60))*time.Millisecond)
		} else {
			ts.Check(hook.Wait())
		}
		if i%20 == 0 {
			kills += killWorkers(ts)
		}
		if i%100 == 50 {
			kills += killWithin(ts, server, 0)
			server = startServer(ts)
		}
	}
	c.event("SessionEnd", map[string]any{"reason": "other"})
	kills += killWithin(ts, server, 0)
	h := settledHealth(ts)
	unknown := map[string]bool{}
	for _, it := range h.SetAside {
		if it.State != "unknown" {
			ts.Fatalf("%s is %s: %s", it.ID, it.State, it.Error)
		}
		unknown[strings.TrimPrefix(it.ID, "turn:claude-code:long/u")] = true
	}
	got := arrived(ts, args[1])
	for i := range turns {
		if n := got[strconv.Itoa(i)]; n > 1 || n == 0 && !unknown[strconv.Itoa(i)] {
			ts.Fatalf("turn %d arrived %d times; unknown: %v; %+v", i, n, unknown[strconv.Itoa(i)], h)
		}
	}
	ts.Logf("%d kills, %d arrived, %d shown as unknown", kills, len(got), len(unknown))
}

// startServer starts a server that nobody talks to.
func startServer(ts *testscript.TestScript) *exec.Cmd {
	cmd := program(ts, []string{"hermes-mcp", "serve"})
	in, err := cmd.StdinPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Defer(func() { _ = in.Close() }) // gone with the server, which was killed
	return cmd
}

// killWithin kills a program after a while, unless it ended before.
func killWithin(ts *testscript.TestScript, cmd *exec.Cmd, after time.Duration) int {
	killed := make(chan bool, 1)
	timer := time.AfterFunc(after, func() { killed <- cmd.Process.Kill() == nil })
	err := cmd.Wait()
	if timer.Stop() || err == nil {
		return 0
	}
	if <-killed {
		return 1
	}
	return 0
}

// killWorkers kills what hooks of this script have started and left behind.
func killWorkers(ts *testscript.TestScript) (kills int) {
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	ts.Check(err)
	home := []byte("HERMES_HOME=" + ts.Getenv("HERMES_HOME") + "\x00")
	for _, path := range all {
		env, err := os.ReadFile(path)
		line, err2 := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		pid, err3 := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil || err2 != nil || err3 != nil || !bytes.Contains(env, home) || !bytes.Contains(line, []byte("\x00"+workName+"\x00")) {
			continue
		}
		if p, err := os.FindProcess(pid); err == nil && p.Kill() == nil {
			kills++
		}
	}
	return kills
}

type shownHealth struct {
	Waiting, Events int
	SetAside        []struct{ ID, State, Error string } `json:"set_aside"`
	EventsSetAside  []any                               `json:"events_set_aside"`
}

// settledHealth works off what waits, and returns what is left.
func settledHealth(ts *testscript.TestScript) (h shownHealth) {
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); {
		ts.Check(program(ts, []string{"hermes-mcp", "work"}).Run())
		out, err := program(ts, []string{"hermes-mcp", "provider", "status", "--json"}).Output()
		ts.Check(err)
		h = shownHealth{}
		ts.Check(json.Unmarshal(out, &h))
		if h.Waiting == 0 && h.Events == 0 {
			break
		}
	}
	if h.Waiting+h.Events+len(h.EventsSetAside) > 0 {
		ts.Fatalf("left: %+v", h)
	}
	return h
}

// arrived counts the turns in the provider's record by their number.
func arrived(ts *testscript.TestScript, record string) map[string]int {
	got := map[string]int{}
	for line := range strings.Lines(ts.ReadFile(record)) {
		var r struct {
			Op   string
			Turn struct{ ID string }
		}
		ts.Check(json.Unmarshal([]byte(line), &r))
		if r.Op == "turn" {
			got[strings.TrimPrefix(r.Turn.ID, "claude-code:long/u")]++
		}
	}
	return got
}
