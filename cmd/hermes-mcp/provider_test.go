package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// A conversation is a session of Claude Code as its hooks and its transcript
// tell of it.
type conversation struct {
	ts     *testscript.TestScript
	id     string
	path   string
	parent string
}

func newConversation(ts *testscript.TestScript, id string) *conversation {
	dir := filepath.Join(ts.Getenv("HOME"), ".claude", "projects", "-w")
	ts.Check(os.MkdirAll(dir, 0o700))
	return &conversation{ts: ts, id: id, path: filepath.Join(dir, id+".jsonl")}
}

// event runs the hook, and returns what it says.
func (c *conversation) event(name string, more map[string]any) []byte {
	cmd := program(c.ts, []string{"hermes-mcp", "hook"})
	cmd.Stdin = bytes.NewReader(c.hook(name, more))
	out, err := cmd.Output()
	c.ts.Check(err)
	return out
}

func (c *conversation) hook(name string, more map[string]any) []byte {
	e := map[string]any{"session_id": c.id, "transcript_path": c.path, "cwd": "/w", "hook_event_name": name}
	for k, v := range more {
		e[k] = v
	}
	raw, err := json.Marshal(e)
	c.ts.Check(err)
	return raw
}

// line adds a line to the transcript.
func (c *conversation) line(uuid, kind string, more map[string]any) {
	l := map[string]any{
		"type": kind, "uuid": uuid, "parentUuid": c.parent, "sessionId": c.id, "cwd": "/w", "version": "2.1.140",
		"timestamp": time.Now().UTC().Format(time.RFC3339Nano), "isSidechain": false, "userType": "external",
	}
	for k, v := range more {
		l[k] = v
	}
	raw, err := json.Marshal(l)
	c.ts.Check(err)
	f, err := os.OpenFile(c.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	c.ts.Check(err)
	_, err = f.Write(append(raw, '\n'))
	c.ts.Check(err)
	c.ts.Check(f.Close())
	c.parent = uuid
}

func (c *conversation) user(uuid string, content any) {
	c.line(uuid, "user", map[string]any{"message": map[string]any{"role": "user", "content": content}})
}

func (c *conversation) assistant(uuid string, blocks ...any) {
	c.line(uuid, "assistant", map[string]any{"message": map[string]any{"id": "m" + uuid, "role": "assistant", "model": "m", "content": blocks}})
}

// call runs a tool; failed says whether it should fail.
func (c *conversation) call(tool string, args map[string]any, failed bool) string {
	raw, err := json.Marshal(args)
	c.ts.Check(err)
	out, err := program(c.ts, []string{"hermes-mcp", "call", tool, string(raw), "--session", c.id}).Output()
	if (err != nil) != failed {
		c.ts.Fatalf("%s %s: %v\n%s", tool, raw, err, out)
	}
	return string(out)
}

// dayOfRecalls is a day in which the provider recalls WORD at every one of N turns, by
// the hook and by the tool, the model quotes what it was told and tries to keep
// it: day N WORD.
func dayOfRecalls(ts *testscript.TestScript, neg bool, args []string) {
	turns, word := 0, args[1]
	_, err := fmt.Sscan(args[0], &turns)
	ts.Check(err)
	c := newConversation(ts, "day")
	c.event("SessionStart", map[string]any{"source": "startup"})
	for i := range turns {
		id := func(kind string) string { return fmt.Sprintf("%s%d", kind, i) }
		prompt := fmt.Sprintf("turn %d: which animal is on the banner of the team?", i)
		var told struct {
			HookSpecificOutput struct{ AdditionalContext string }
		}
		ts.Check(json.Unmarshal(c.event("UserPromptSubmit", map[string]any{"prompt": prompt}), &told))
		fenced := told.HookSpecificOutput.AdditionalContext
		if !strings.Contains(fenced, word) {
			ts.Fatalf("turn %d: told %q", i, fenced)
		}
		result := c.call("memory_recall", map[string]any{"query": prompt}, false)
		if !strings.Contains(result, word) {
			ts.Fatalf("turn %d: recalled %s", i, result)
		}
		c.call("memory", map[string]any{"action": "add", "content": "Banner:\n" + fenced}, true)
		c.user(id("u"), prompt)
		c.line(id("x"), "attachment", map[string]any{"attachment": map[string]any{"type": "hook_additional_context", "hookName": "UserPromptSubmit", "content": []string{fenced}}})
		c.assistant(id("c"), map[string]any{"type": "tool_use", "id": id("call"), "name": "mcp__hermes__memory_recall", "input": map[string]any{"query": prompt}})
		c.user(id("r"), []any{map[string]any{"type": "tool_result", "tool_use_id": id("call"), "content": result}})
		answer := fmt.Sprintf("Answer %d is on the banner page.\n\n%s", i, fenced)
		c.assistant(id("a"), map[string]any{"type": "text", "text": answer})
		c.event("Stop", map[string]any{"last_assistant_message": answer})
	}
	c.event("PreCompact", map[string]any{"trigger": "auto"})
	c.event("SessionEnd", map[string]any{"reason": "other"})
}
