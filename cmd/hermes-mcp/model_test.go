package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// model starts an endpoint and names it in a config file for every task:
// model CONFIG RULES. A rule is a line "target | entry | words": when somebody
// says the words, the entry is proposed with that message as evidence. For a
// search, every line with the words of a rule is answered, cited, and then an
// invented sentence. What is asked is kept in the file "asked".
func model(ts *testscript.TestScript, neg bool, args []string) {
	m := fakeModel{rules: ts.ReadFile(args[1]), log: ts.MkAbs("asked"), fail: func(err error) { ts.Logf("fake model: %v", err) }}
	srv := httptest.NewServer(&m)
	ts.Defer(srv.Close)
	var b strings.Builder
	b.WriteString("auxiliary:\n")
	for _, task := range []string{"session_search", "flush_memories", "background_review"} {
		fmt.Fprintf(&b, "  %s: {model: fake, base_url: %q}\n", task, srv.URL+"/v1")
	}
	ts.Check(os.MkdirAll(filepath.Dir(ts.MkAbs(args[0])), 0o700))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o600))
}

type fakeModel struct {
	mu         sync.Mutex
	rules, log string
	fail       func(error)
}

var spokenLine = regexp.MustCompile(`(?m)^\[m:(\d+)\] (?:user|assistant): (.*)$`)

func (m *fakeModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		m.fail(err)
	}
	f, err := os.OpenFile(m.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.Write(raw)
		f.Close()
	}
	if err != nil {
		m.fail(err)
	}
	var asked struct {
		Messages []struct{ Content string }
		Tools    []any
	}
	if err := json.Unmarshal(raw, &asked); err != nil || len(asked.Messages) != 2 {
		m.fail(fmt.Errorf("%s: %w", raw, err))
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	var text strings.Builder
	var calls []any
	for _, said := range spokenLine.FindAllStringSubmatch(asked.Messages[1].Content, -1) {
		for rule := range strings.Lines(m.rules) {
			part := strings.Split(strings.TrimSpace(rule), " | ")
			if len(part) != 3 || !strings.Contains(said[2], part[2]) {
				continue
			}
			fmt.Fprintf(&text, "%s [m:%s].\nThen a unicorn appeared [m:%s].\n", said[2], said[1], said[1])
			op := fmt.Sprintf(`{"target":%q,"operations":[{"action":"add","content":%q,"evidence":[%s]}]}`, part[0], part[1], said[1])
			calls = append(calls, map[string]any{"function": map[string]any{"name": "memory", "arguments": op}})
		}
	}
	message := map[string]any{"content": cmp.Or(text.String(), "NONE")}
	if len(asked.Tools) > 0 {
		message["tool_calls"] = calls
	}
	answer := map[string]any{"choices": []any{map[string]any{"message": message}}, "usage": map[string]any{"prompt_tokens": 100, "completion_tokens": 10}}
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		m.fail(err)
	}
}

// until runs a program again and again until it says a text, for what another
// process does meanwhile: until TEXT ARGS...
func until(ts *testscript.TestScript, neg bool, args []string) {
	pattern := regexp.MustCompile(args[0])
	for end := time.Now().Add(time.Minute); ; {
		out, err := program(ts, args[1:]).CombinedOutput()
		if err == nil && pattern.Match(out) != neg {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("never came: %s\n%s", args[0], out)
		}
	}
}

// expand puts the values of variables, and of NOW, into files: expand FILE...
func expand(ts *testscript.TestScript, neg bool, args []string) {
	value := func(name string) string {
		if name == "NOW" {
			return time.Now().UTC().Format(time.RFC3339Nano)
		}
		return ts.Getenv(name)
	}
	for _, name := range args {
		text := os.Expand(ts.ReadFile(name), value)
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o600))
	}
}
