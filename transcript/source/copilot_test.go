package source

import (
	"context"
	"fmt"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

func event(n int, typ, data string) string {
	return fmt.Sprintf(`{"type":%q,"data":{%s},"id":"e%d",%s}`, typ, data, n, at(n))
}

func TestACopilotSessionIsReadWhole(t *testing.T) {
	path := write(t, "s1/events.jsonl",
		event(0, "session.start", `"sessionId":"s1","copilotVersion":"1.0","startTime":"2026-05-01T10:00:00Z","selectedModel":"m","context":{"cwd":"/w/app","gitRoot":"/w","branch":"main"}`),
		event(1, "system.message", `"content":"rules"`),
		event(2, "user.message", `"content":"run it","transformedContent":"<x>run it</x>"`),
		event(3, "assistant.message", `"messageId":"m1","content":"Running.","reasoningText":"hm","toolRequests":[{"toolCallId":"c1","name":"bash","arguments":"{\"command\":\"make\"}"}]`),
		event(4, "tool.execution_start", `"toolCallId":"c1","toolName":"bash","arguments":{"command":"make"}`),
		event(5, "tool.execution_complete", `"toolCallId":"c1","success":true,"result":{"content":"boom\n<shellId: 0 completed with exit code 2>"}`),
		event(6, "tool.execution_start", `"toolCallId":"c2","toolName":"hermes-memory_recall","arguments":{}`),
		event(7, "tool.execution_complete", `"toolCallId":"c2","success":false,"error":{"message":"no"}`),
		event(8, "subagent.started", `"toolCallId":"c3","agentName":"explore","agentDisplayName":"Explore"`),
		event(9, "assistant.message", `"messageId":"m2","parentToolCallId":"c3","content":"found"`),
		event(10, "session.compaction_complete", `"success":true,"summaryContent":"so far"`),
		`{"type":"user.message","data":{"cont`+event(11, "user.message", `"content":"again"`), // report 8
		event(12, "hook.start", `"input":{}`), event(13, "abort", `"reason":"user"`))
	got := read(t, Copilot{}, path)
	equal(t, "message", got.of("copilot-cli:s1"), []string{"system/meta: rules", "user: run it", `assistant: Running. [bash {"command":"make"}]`,
		"tool: boom\n<shellId: 0 completed with exit code 2>", "assistant:  [hermes-memory_recall {}]", "tool: no", "summary: so far", "user: again", "system/notice: aborted: user"})
	equal(t, "subagent", got.of("copilot-cli:s1/c3"), []string{"assistant: found"})
	if s := got.sessions["copilot-cli:s1/c3"]; s.ParentID != "copilot-cli:s1" || s.Title != "Explore" {
		t.Errorf("%+v", s)
	}
	if s := got.sessions["copilot-cli:s1"]; s.Dir != "/w/app" || s.Project != "/w" || s.Branch != "main" || s.Model != "m" {
		t.Errorf("%+v", s)
	}
	if r := got.msgs[3]; r.ExitCode == nil || *r.ExitCode != 2 || r.ToolName != "bash" || !got.msgs[2].Compacted || !got.msgs[5].OwnTrace {
		t.Errorf("%+v", r)
	}
	got.cursor = transcript.Cursor{}
	readInto(t, Copilot{}, path, got, true)
	if n := len(got.msgs); n != 10 {
		t.Errorf("%d messages after a second read", n)
	}
}

func TestACopilotLogOfVSCodeIsNotTheCommandLines(t *testing.T) {
	path := write(t, "x.jsonl", event(0, "session.start", `"sessionId":"s1","vscodeVersion":"1.119.0"`))
	files, err := Copilot{}.FindIn(context.Background(), path)
	if err != nil || len(files) != 0 {
		t.Errorf("found %v, %v", files, err)
	}
}

func FuzzCopilot(f *testing.F) {
	f.Add([]byte(event(0, "session.start", `"sessionId":"s"`) + "\n" + event(1, "assistant.message", `"content":"x","toolRequests":[{}]`)))
	f.Fuzz(func(t *testing.T, content []byte) { readTwice(t, Copilot{}, "fuzz.jsonl", content) })
}
