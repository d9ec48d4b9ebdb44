package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/gofrs/flock"
	"github.com/rogpeppe/go-internal/testscript"
)

// many runs N programs at once and waits for all: many N hermes-mcp ARGS...,
// where %d in an argument is the number of the program.
func many(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	var running []*exec.Cmd
	for i := range n {
		words := make([]string, 0, len(args))
		for _, a := range args[1:] {
			words = append(words, strings.ReplaceAll(a, "%d", strconv.Itoa(i)))
		}
		cmd := program(ts, words)
		cmd.Stderr = &bytes.Buffer{}
		ts.Check(cmd.Start())
		running = append(running, cmd)
	}
	failed := 0
	for i, cmd := range running {
		if err := cmd.Wait(); err != nil {
			failed++
			ts.Logf("program %d: %v\n%s", i, err, cmd.Stderr)
		}
	}
	if (failed > 0) != neg {
		ts.Fatalf("%d of %d programs failed", failed, n)
	}
}

func program(ts *testscript.TestScript, words []string) *exec.Cmd {
	path := words[0]
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if _, err := os.Stat(filepath.Join(dir, words[0])); err == nil {
			path = filepath.Join(dir, words[0])
			break
		}
	}
	cmd := exec.Command(path, words[1:]...)
	cmd.Dir = ts.Getenv("WORK")
	for _, name := range []string{"HOME", "USERPROFILE", "HERMES_HOME", "PATH", "HERMES_SESSION_ID", "CLAUDE_CODE_SESSION_ID", "HERMES_MCP_MEMORY_CHAR_LIMIT"} {
		if value := ts.Getenv(name); value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	return cmd
}

// rpc talks to a program line by line, so that each request is answered before
// the next is sent: rpc IN OUT [kill|term] hermes-mcp ARGS... The answers go into
// OUT, one a line. With kill the program is killed after the last answer, with
// term it is asked to end, else its input ends; then it must exit 0.
func rpc(ts *testscript.TestScript, neg bool, args []string) {
	in, out, words := args[0], args[1], args[2:]
	kill, term := words[0] == "kill", words[0] == "term"
	if kill || term {
		words = words[1:]
	}
	cmd := program(ts, words)
	stdin, err := cmd.StdinPipe()
	ts.Check(err)
	stdout, err := cmd.StdoutPipe()
	ts.Check(err)
	stderr := &bytes.Buffer{}
	cmd.Stderr = stderr
	ts.Check(cmd.Start())
	answers := json.NewDecoder(stdout)
	var got bytes.Buffer
	for line := range strings.Lines(ts.ReadFile(in)) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		_, err := stdin.Write([]byte(line))
		ts.Check(err)
		var request struct{ ID json.RawMessage }
		ts.Check(json.Unmarshal([]byte(line), &request))
		if request.ID == nil {
			continue
		}
		var answer json.RawMessage
		if err := answers.Decode(&answer); err != nil {
			ts.Fatalf("no answer to %s: %v\n%s", line, err, stderr)
		}
		got.Write(append(answer, '\n'))
	}
	switch {
	case kill:
		ts.Check(cmd.Process.Kill())
	case term:
		ts.Check(cmd.Process.Signal(syscall.SIGTERM))
	default:
		ts.Check(stdin.Close())
	}
	err = cmd.Wait()
	if !kill && (err != nil) != neg {
		ts.Fatalf("%v\n%s", err, stderr)
	}
	ts.Check(os.WriteFile(ts.MkAbs(out), got.Bytes(), 0o600))
}

// deaf has a program answer the first line of IN, stops listening, sends the
// other lines and ends the input: deaf IN CODE hermes-mcp ARGS.., which must
// end with CODE.
func deaf(ts *testscript.TestScript, neg bool, args []string) {
	first, others, _ := strings.Cut(ts.ReadFile(args[0]), "\n")
	cmd := program(ts, args[2:])
	stdin, err := cmd.StdinPipe()
	ts.Check(err)
	stdout, err := cmd.StdoutPipe()
	ts.Check(err)
	stderr := &bytes.Buffer{}
	cmd.Stderr = stderr
	ts.Check(cmd.Start())
	_, err = io.WriteString(stdin, first+"\n")
	ts.Check(err)
	_, err = bufio.NewReader(stdout).ReadString('\n')
	ts.Check(err)
	ts.Check(stdout.Close())
	// It may have ended by then.
	_, _ = io.WriteString(stdin, others)
	_ = stdin.Close()
	err = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); (strconv.Itoa(code) == args[1]) == neg {
		ts.Fatalf("%v\n%s", err, stderr)
	}
}

// exits checks the exit code of a program without input: exits CODE ARGS...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	cmd := program(ts, args[1:])
	out, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); (strconv.Itoa(code) == args[0]) == neg {
		ts.Fatalf("exit code %d: %v\n%s", code, err, out)
	}
}

// repeat writes lines made of a format, its numbers and line ends: repeat FILE
// N FORMAT.
func repeat(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	var b strings.Builder
	for i := range n {
		fmt.Fprintln(&b, strings.ReplaceAll(strings.ReplaceAll(args[2], "%d", strconv.Itoa(i+1)), `\n`, "\n"))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o600))
}

// concat joins files: concat OUT IN...
func concat(ts *testscript.TestScript, neg bool, args []string) {
	var b bytes.Buffer
	for _, name := range args[1:] {
		b.WriteString(ts.ReadFile(name))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o600))
}

// servers runs N programs at once on one input, PROCESS in it being the
// program's number, and puts what they say into the file "said": servers N IN
// ARGS...
func servers(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	input := ts.ReadFile(args[1])
	var said bytes.Buffer
	var running []*exec.Cmd
	for i := range n {
		cmd := program(ts, args[2:])
		cmd.Stdin = strings.NewReader(strings.ReplaceAll(input, "PROCESS", fmt.Sprint("process ", i)))
		cmd.Stdout, cmd.Stderr = &bytes.Buffer{}, &bytes.Buffer{}
		ts.Check(cmd.Start())
		running = append(running, cmd)
	}
	for i, cmd := range running {
		if err := cmd.Wait(); err != nil {
			ts.Fatalf("server %d: %v\n%s", i, err, cmd.Stderr)
		}
		fmt.Fprint(&said, cmd.Stdout)
	}
	ts.Check(os.WriteFile(ts.MkAbs("said"), said.Bytes(), 0o600))
}

// setenv gives a variable the text of a file: setenv NAME FILE.
func setenv(ts *testscript.TestScript, neg bool, args []string) {
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile(args[1])))
}

// raw writes bytes that a script cannot hold: raw FILE TEXT [N], where TEXT has
// Go's escapes and is written N times.
func raw(ts *testscript.TestScript, neg bool, args []string) {
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(args[1], `"`, `\"`) + `"`)
	ts.Check(err)
	n := 1
	if len(args) > 2 {
		n, err = strconv.Atoi(args[2])
		ts.Check(err)
	}
	ts.Check(os.MkdirAll(filepath.Dir(ts.MkAbs(args[0])), 0o700))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), bytes.Repeat([]byte(text), n), 0o600))
}

// foreign rewrites a file as another program would, under its lock, while a
// command of ours waits for it: foreign LOCK FILE NEW ARGS...
func foreign(ts *testscript.TestScript, neg bool, args []string) {
	lock := flock.New(ts.MkAbs(args[0]))
	ts.Check(lock.Lock())
	cmd := program(ts, args[3:])
	out := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = out, out
	ts.Check(cmd.Start())
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(ts.ReadFile(args[2])), 0o600))
	ts.Check(lock.Unlock())
	if err := cmd.Wait(); (err != nil) != neg {
		ts.Fatalf("%v\n%s", err, out)
	}
}

// atMost checks that a file has no more than N characters: atmost FILE N.
func atMost(ts *testscript.TestScript, neg bool, args []string) {
	most, err := strconv.Atoi(args[1])
	ts.Check(err)
	if n := utf8.RuneCountInString(ts.ReadFile(args[0])); (n > most) != neg {
		ts.Fatalf("%s has %d characters", args[0], n)
	}
}

// await asks a server the same again and again until the answer holds a text,
// for what it does in the background: await TEXT REQUEST ARGS...
func await(ts *testscript.TestScript, neg bool, args []string) {
	cmd := program(ts, args[2:])
	stdin, err := cmd.StdinPipe()
	ts.Check(err)
	stdout, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	answers := json.NewDecoder(stdout)
	var answer json.RawMessage
	for end := time.Now().Add(time.Minute); !bytes.Contains(answer, []byte(args[0])); {
		if time.Now().After(end) {
			ts.Check(cmd.Process.Kill())
			ts.Fatalf("never came: %s\n%s", args[0], answer)
		}
		_, err := stdin.Write([]byte(ts.ReadFile(args[1])))
		ts.Check(err)
		ts.Check(answers.Decode(&answer))
	}
	ts.Check(stdin.Close())
	ts.Check(cmd.Wait())
}

// hold takes a lock as another program would, while a command runs.
func hold(ts *testscript.TestScript, neg bool, args []string) {
	lock := flock.New(ts.MkAbs(args[0]))
	ts.Check(lock.Lock())
	cmd := program(ts, args[1:])
	out, err := cmd.CombinedOutput()
	ts.Check(lock.Unlock())
	ts.Check(os.WriteFile(ts.MkAbs("held"), out, 0o600))
	if (err != nil) != neg {
		ts.Fatalf("%v\n%s", err, out)
	}
}

// inJSON compares one value of a file of JSON lines: json FILE LINE PATH WANT.
// PATH goes down by names and numbers, with / between; a text that is JSON
// itself is entered like any other value, and ~1 stands for / in a name. WANT of - prints the value into the
// file "value".
func inJSON(ts *testscript.TestScript, neg bool, args []string) {
	lines := strings.Split(strings.TrimSpace(ts.ReadFile(args[0])), "\n")
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	if n < 1 || n > len(lines) {
		ts.Fatalf("%s has %d lines", args[0], len(lines))
	}
	var at any
	ts.Check(json.Unmarshal([]byte(lines[n-1]), &at))
	for step := range strings.SplitSeq(args[2], "/") {
		if text, ok := at.(string); ok {
			ts.Check(json.Unmarshal([]byte(text), &at))
		}
		switch v := at.(type) {
		case map[string]any:
			at = v[strings.ReplaceAll(step, "~1", "/")]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(v) {
				ts.Fatalf("%s: no element %s of %d", args[2], step, len(v))
			}
			at = v[i]
		default:
			ts.Fatalf("%s: %v has nothing below it; the line is %s", args[2], at, lines[n-1])
		}
	}
	got, ok := at.(string)
	if !ok {
		raw, err := json.Marshal(at)
		ts.Check(err)
		got = string(raw)
	}
	if args[3] == "-" {
		ts.Check(os.WriteFile(ts.MkAbs("value"), []byte(got), 0o600))
		return
	}
	if (got == args[3]) == neg {
		ts.Fatalf("%s of line %d is %q", args[2], n, got)
	}
}
