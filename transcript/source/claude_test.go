package source

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// Ids with enough chance in them to be the agent's own.
const (
	sidA = "3f0c9b1e-5a7d-4c82-9e16-7b2d40f8a5c3"
	sidB = "81d2e6f4-09bc-4a37-b5c8-1f6e92a7d340"
	sidC = "c47a05d8-6e1f-4b93-8a20-95d3f7b16e0c"
)

// at returns the time field n seconds into a session.
func at(n int) string { return fmt.Sprintf(`"timestamp":"2026-05-01T10:00:%02d.000Z"`, n) }

// user and assistant return lines as Claude Code writes them; more is added as it is.
func userLine(uuid, parent, session string, n int, content string, more ...string) string {
	return claudeLineOf("user", uuid, parent, session, n, `"message":{"role":"user","content":`+content+`}`, more...)
}

func assistantLine(uuid, parent, session string, n int, id, content string, more ...string) string {
	return claudeLineOf("assistant", uuid, parent, session, n, `"message":{"id":"`+id+`","role":"assistant","model":"claude-x","content":[`+content+`],"stop_reason":null}`, more...)
}

func claudeLineOf(typ, uuid, parent, session string, n int, body string, more ...string) string {
	p := "null"
	if parent != "" {
		p = `"` + parent + `"`
	}
	fields := []string{`"type":"` + typ + `"`, `"uuid":"` + uuid + `"`, `"parentUuid":` + p, `"sessionId":"` + session + `"`, at(n), `"cwd":"/w/app"`, `"gitBranch":"main"`, `"version":"2.1.140"`, body}
	return "{" + strings.Join(append(fields, more...), ",") + "}"
}

func text(s string) string { return fmt.Sprintf(`{"type":"text","text":%q}`, s) }

func toolUse(id, name, input string) string {
	return `{"type":"tool_use","id":"` + id + `","name":"` + name + `","input":` + input + `}`
}

func toolResult(id, content string, more ...string) string {
	return "[{" + strings.Join(append([]string{`"type":"tool_result"`, `"tool_use_id":"` + id + `"`, `"content":` + content}, more...), ",") + "}]"
}

func TestClaudeMessagesComeOutAsTheyWereSaid(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		want  []string
	}{
		// Reports 16 to 19: splits counted, or only the first kept.
		{"lines of one response are one message", []string{
			userLine("u1", "", "S", 0, `"why is the build red?"`),
			assistantLine("a1", "u1", "S", 1, "msg_1", `{"type":"thinking","thinking":"check CI","signature":"c2ln"}`),
			assistantLine("a2", "a1", "S", 2, "msg_1", text("Looking.")),
			assistantLine("a3", "a2", "S", 3, "msg_1", toolUse("toolu_1", "Bash", `{"command":"make"}`)),
			userLine("u2", "a3", "S", 4, toolResult("toolu_1", `"ok"`), `"toolUseResult":{"stdout":"ok","stderr":"","interrupted":false}`),
		}, []string{"user: why is the build red?", `assistant: Looking. [Bash {"command":"make"}]`, "tool: ok"}},
		{"parallel calls interleaved with results are one message", []string{
			assistantLine("a1", "", "S", 1, "msg_1", toolUse("t1", "Read", `{"file_path":"a"}`)),
			userLine("u1", "a1", "S", 2, toolResult("t1", `"A"`)),
			assistantLine("a2", "a1", "S", 3, "msg_1", toolUse("t2", "Read", `{"file_path":"b"}`)),
			userLine("u2", "a2", "S", 4, toolResult("t2", `"B"`)),
		}, []string{`assistant:  [Read {"file_path":"a"}] [Read {"file_path":"b"}]`, "tool: A", "tool: B"}},
		{"growing snapshots of one response give its last state", []string{
			assistantLine("a1", "", "S", 1, "msg_1", text("Let")),
			assistantLine("a2", "", "S", 2, "msg_1", text("Let me see.")+","+toolUse("t1", "Read", `{}`)),
			assistantLine("a3", "", "S", 3, "msg_1", text("Let me see.")+","+toolUse("t1", "Read", `{"file_path":"a"}`)),
		}, []string{`assistant: Let me see. [Read {"file_path":"a"}]`}},
		// Reports 15 and 20: the same line again.
		{"a line written again counts once, another text under its id is kept", []string{
			userLine("u1", "", "S", 0, `"hello"`), userLine("u1", "", "S", 0, `"hello"`), userLine("u1", "", "S", 5, `"another text under the same id"`),
			assistantLine("a1", "u1", "S", 1, "msg_1", text("Hi.")), assistantLine("a1", "u1", "S", 1, "msg_1", text("Hi.")),
		}, []string{"user: hello", "user: another text under the same id", "assistant: Hi."}},
		// Report 9: a crash left an object with numeric keys.
		{"a message that is no message is passed over", []string{
			claudeLineOf("assistant", "a1", "", "S", 0, `"message":{"0":"H","1":"i"}`),
			claudeLineOf("user", "u0", "", "S", 0, `"message":null`),
			claudeLineOf("user", "u9", "", "S", 0, `"message":{"content":[]}`),
			userLine("u1", "", "S", 1, `"still here"`),
		}, []string{"user: still here"}},
		// Reports 3 and 4: inline screenshots.
		{"an image leaves its type and size", []string{
			userLine("u1", "", "S", 0, `[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"`+strings.Repeat("A", 4096)+`"}},`+text("see this")+`]`),
		}, []string{"user: [image image/png 3 kB]\n\nsee this"}},
		{"an image in a result too", []string{
			userLine("u1", "", "S", 0, toolResult("t1", `[{"type":"image","source":{"media_type":"image/jpeg","data":"`+strings.Repeat("A", 40)+`"}},`+text("shot")+`]`)),
		}, []string{"tool: [image image/jpeg 30 bytes]\n\nshot"}},
		// Reports 12 and 13.
		{"a lone surrogate becomes U+FFFD", []string{userLine("u1", "", "S", 0, `"cut \ud83d here"`)}, []string{"user: cut \uFFFD here"}},
		// Report 14.
		{"invalid UTF-8 becomes U+FFFD", []string{userLine("u1", "", "S", 0, "\"a \xff b\"")}, []string{"user: a \uFFFD b"}},
		// Report 10.
		{"U+2028 stays", []string{userLine("u1", "", "S", 0, "\"a\u2028b\"")}, []string{"user: a\u2028b"}},
		// Report 7: torn, then whole.
		{"the second half of a spliced line is kept", []string{
			`{"type":"pr-link","prNu` + userLine("u1", "", "S", 0, `"kept"`),
		}, []string{"user: kept"}},
		{"a string instead of blocks, and of a message", []string{
			claudeLineOf("user", "u1", "", "S", 0, `"message":"plain"`),
			claudeLineOf("assistant", "a1", "u1", "S", 1, `"message":{"role":"assistant","content":"reply"}`),
		}, []string{"user: plain", "assistant: reply"}},
		{"an error of the API is a notice", []string{
			assistantLine("a1", "", "S", 0, "m1", text("API Error: 529"), `"isApiErrorMessage":true`),
		}, []string{"assistant/notice: API Error: 529"}},
		{"calls and results on lines of their own", []string{
			`{"type":"tool_use","sessionId":"S","name":"bash","input":{"command":"ls"},"uuid":"t1",` + at(1) + `}`,
			`{"type":"tool_result","sessionId":"S","name":"bash","output":"a.txt","uuid":"r1",` + at(2) + `}`,
		}, []string{`assistant:  [bash {"command":"ls"}]`, "tool: a.txt"}},
		{"a recap is a summary", []string{
			claudeLineOf("system", "s1", "", "S", 0, `"subtype":"away_summary","content":"We fixed the parser."`),
			claudeLineOf("system", "s2", "", "S", 0, `"subtype":"turn_duration","durationMs":3`),
		}, []string{"summary: We fixed the parser."}},
		{"lines without any id are told apart by time and text", []string{
			`{"type":"user",` + at(0) + `,"message":{"content":"again"}}`,
			`{"type":"user",` + at(0) + `,"message":{"content":"again"}}`,
			`{"type":"user",` + at(1) + `,"message":{"content":"again"}}`,
			`{"type":"user","message":{"content":"timeless"}}`,
			`{"type":"user","message":{"content":"timeless"}}`,
		}, []string{"user: again", "user: again", "user: timeless", "user: timeless"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := read(t, Claude{}, write(t, "S.jsonl", c.lines...))
			equal(t, "message", got.of("claude-code:S"), c.want)
		})
	}
}

func TestOnlyWhatAPersonTypedIsAPrompt(t *testing.T) {
	for _, c := range []struct{ name, content, more, want string }{
		{"plain words", `"fix it"`, "", "user: fix it"},
		{"meta", `"skill text"`, `"isMeta":true`, "user/meta: skill text"},
		{"from a task", `"done"`, `"origin":{"kind":"task-notification"}`, "user/notice: done"},
		{"from a human", `"hi"`, `"origin":{"kind":"human"}`, "user: hi"},
		{"a caveat", `"<local-command-caveat>Caveat: x</local-command-caveat>"`, "", "user/notice: <local-command-caveat>Caveat: x</local-command-caveat>"},
		{"output of a command", `"<local-command-stdout>Bye</local-command-stdout>"`, "", "user/notice: <local-command-stdout>Bye</local-command-stdout>"},
		{"output of a shell line", `"<bash-stdout>x</bash-stdout>"`, "", "user/notice: <bash-stdout>x</bash-stdout>"},
		{"an interruption", `"[Request interrupted by user for tool use]"`, "", "user/notice: [Request interrupted by user for tool use]"},
		{"a continuation text", `"This session is being continued from a previous conversation"`, "", "user/notice: This session is being continued from a previous conversation"},
		{"a teammate", `"<teammate-message id=1>x</teammate-message>"`, "", "user/notice: <teammate-message id=1>x</teammate-message>"},
		{"a stop hook", `"Stop hook feedback: go on"`, "", "user/notice: Stop hook feedback: go on"},
		{"reminders only", `"<system-reminder>todo</system-reminder>"`, "", "user/meta: <system-reminder>todo</system-reminder>"},
		{"a reminder inside", `"do <system-reminder>todo</system-reminder>it"`, "", "user: do it"},
		{"a file opened in the editor", `"<ide_opened_file>x.go</ide_opened_file>rename it"`, "", "user: rename it"},
		{"a command with arguments", `"<command-message>fix</command-message><command-name>/fix</command-name><command-args>the lint</command-args>"`, "", "user: /fix the lint"},
		{"a bare command", `"<command-name>/clear</command-name><command-args></command-args>"`, "", "user/command: /clear"},
		{"a shell line", `"<bash-input>git pull</bash-input>"`, "", "user: !git pull"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var more []string
			if c.more != "" {
				more = append(more, c.more)
			}
			got := read(t, Claude{}, write(t, "S.jsonl", userLine("u0", "", "S", 0, `"first"`), userLine("u1", "u0", "S", 1, c.content, more...)))
			equal(t, "message", got.of("claude-code:S"), []string{"user: first", c.want})
		})
	}
}

// Report 51: what tools gave back is kept, with how it ended.
func TestClaudeToolResultsKnowTheirCallAndOutcome(t *testing.T) {
	call := func(id, name string) string {
		return assistantLine("a"+id, "", "S", 0, "m"+id, toolUse(id, name, `{}`))
	}
	got := read(t, Claude{}, write(t, "S.jsonl",
		call("t1", "Bash"), userLine("u1", "", "S", 1, toolResult("t1", `"Error: Exit code 2\nno such file"`, `"is_error":true`), `"toolUseResult":"Error"`),
		call("t2", "Bash"), userLine("u2", "", "S", 2, toolResult("t2", `""`), `"toolUseResult":{"stdout":"","stderr":"","interrupted":false}`),
		call("t3", "Bash"), userLine("u3", "", "S", 3, toolResult("t3", `"started"`), `"toolUseResult":{"stdout":"","backgroundTaskId":"b1"}`),
		call("t4", "BashOutput"), userLine("u4", "", "S", 4, toolResult("t4", `"x"`), `"toolUseResult":{"stdout":"x","exitCode":7}`),
		call("t5", "mcp__hermes__session_search"), userLine("u5", "", "S", 5, toolResult("t5", `"old words"`)),
		call("t6", "mcp__plugin_hermes-mcp_hermes__memory"), userLine("u6", "", "S", 6, toolResult("t6", `"saved"`)),
		call("t7", "mcp__notes__memory"), userLine("u7", "", "S", 7, toolResult("t7", `"theirs"`)),
		assistantLine("a8", "", "S", 0, "m8", toolUse("t8", "Bash", `{"command":"cd /w && hermes-mcp search 'retry loop'"}`)), userLine("u8", "", "S", 8, toolResult("t8", `"old words"`)),
		assistantLine("a9", "", "S", 0, "m9", toolUse("t9", "Bash", `{"command":"git clone https://github.com/x/hermes-mcp"}`)), userLine("u9", "", "S", 9, toolResult("t9", `"cloned"`)),
		assistantLine("a10", "", "S", 0, "m10", toolUse("t10", "ReadMcpResourceTool", `{"server":"hermes","uri":"hermes://memory/snapshot"}`)), userLine("u10", "", "S", 10, toolResult("t10", `"facts"`)),
	))
	var out []string
	for _, m := range got.msgs {
		if m.Role != transcript.Tool {
			continue
		}
		exit := "?"
		if m.ExitCode != nil {
			exit = fmt.Sprint(*m.ExitCode)
		}
		out = append(out, fmt.Sprintf("%s %s exit=%s error=%v own=%v", m.ToolCallID, m.ToolName, exit, m.IsError, m.OwnTrace))
	}
	equal(t, "result", out, []string{
		"t1 Bash exit=2 error=true own=false",
		"t2 Bash exit=0 error=false own=false",
		"t3 Bash exit=? error=false own=false",
		"t4 BashOutput exit=7 error=false own=false",
		"t5 mcp__hermes__session_search exit=? error=false own=true",
		"t6 mcp__plugin_hermes-mcp_hermes__memory exit=? error=false own=true",
		"t7 mcp__notes__memory exit=? error=false own=false",
		"t8 Bash exit=? error=false own=true",
		"t9 Bash exit=? error=false own=false",
		"t10 ReadMcpResourceTool exit=? error=false own=true",
	})
}

func TestClaudeTitlesRankByWhoGaveThem(t *testing.T) {
	custom := `{"type":"custom-title","sessionId":"S","customTitle":"By hand"}`
	ai := `{"type":"ai-title","sessionId":"S","aiTitle":"By model"}`
	first := userLine("u1", "", "S", 0, `"hello"`)
	rename := userLine("u2", "u1", "S", 1, `"<command-name>/rename</command-name><command-args>Renamed</command-args>"`)
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"by hand over all", []string{first, custom, ai, rename}, "By hand"},
		{"renamed over the model's", []string{first, rename, ai}, "Renamed"},
		{"the last one of a kind", []string{first, ai, strings.Replace(ai, "By model", "Later", 1)}, "Later"},
		{"a summary before its leaf", []string{`{"type":"summary","summary":"Old form","leafUuid":"u1"}`, first}, "Old form"},
		{"a summary after its leaf", []string{first, `{"type":"summary","summary":"Old form","leafUuid":"u1"}`}, "Old form"},
		{"a summary of another session", []string{`{"type":"summary","summary":"Foreign","leafUuid":"zz"}`, first}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := read(t, Claude{}, write(t, "S.jsonl", c.lines...))
			if title := got.sessions["claude-code:S"].Title; title != c.want {
				t.Errorf("title %q, want %q", title, c.want)
			}
		})
	}
}

// Reports 22 and 23: what stood before a compaction stays, and is flagged.
func TestClaudeSummariesOfOtherFilesTitleTheirSessions(t *testing.T) {
	dir := t.TempDir()
	summary := func(leaf, title string) string {
		return fmt.Sprintf(`{"type":"summary","summary":%q,"leafUuid":%q}`, title, leaf)
	}
	writeAt(t, filepath.Join(dir, sidB+".jsonl"), lined(userLine("b1", "", sidB, 0, `"why?"`), assistantLine("b2", "b1", sidB, 1, "m1", text("Because.")), `{"type":"file-history-snapshot"}`))
	writeAt(t, filepath.Join(dir, sidC+".jsonl"), lined(userLine("c1", "", sidC, 0, `"who?"`), `{"type":"custom-title","customTitle":"Mine","sessionId":"`+sidC+`"}`))
	path := filepath.Join(dir, sidA+".jsonl")
	writeAt(t, path, lined(summary("b2", "A reason"), summary("c1", "Not as good"), summary("gone", "Of a file that is gone"), userLine("a1", "", sidA, 5, `"and now?"`)))
	got := read(t, Claude{}, path)
	if s := got.sessions["claude-code:"+sidB]; s == nil || s.Title != "A reason" {
		t.Errorf("%+v", s)
	}
	if len(got.sessions) != 2 || got.sessions["claude-code:"+sidA].Title != "" {
		t.Errorf("sessions %q", got.order)
	}
}

func TestClaudeCompactionFlagsWhatLeftTheContext(t *testing.T) {
	got := read(t, Claude{}, write(t, "S.jsonl",
		userLine("u1", "", "S", 0, `"before"`),
		claudeLineOf("system", "b1", "", "S", 1, `"subtype":"compact_boundary","content":"Conversation compacted"`, `"logicalParentUuid":"u1"`),
		userLine("c1", "b1", "S", 2, `"This session is being continued. We did x."`, `"isCompactSummary":true`),
		userLine("u2", "c1", "S", 3, `"after"`),
		claudeLineOf("system", "b2", "", "S", 4, `"subtype":"compact_boundary"`, `"logicalParentUuid":"b2"`), // a cycle
		userLine("u3", "b2", "S", 5, `"last"`),
	))
	var out []string
	for _, m := range got.msgs {
		out = append(out, fmt.Sprint(say(m), " ", m.Compacted))
	}
	equal(t, "message", out, []string{"user: before true", "summary: This session is being continued. We did x. true", "user: after true", "user: last false"})
	if got.msgs[1].ParentUID != "u1" {
		t.Errorf("the summary hangs on %q, not on what the boundary names", got.msgs[1].ParentUID)
	}
}

func TestAClaudePromptThatTakesAnothersPlaceRewinds(t *testing.T) {
	path := write(t, "S.jsonl",
		userLine("u1", "", "S", 0, `"start"`),
		assistantLine("a1", "u1", "S", 1, "m1", text("ready")),
		userLine("u2", "a1", "S", 2, `"go left"`),
		assistantLine("a2", "u2", "S", 3, "m2", text("left")),
	)
	got := newCollector()
	readInto(t, Claude{}, path, got, false)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(f, userLine("u3", "a1", "S", 4, `"go right"`))
	fmt.Fprintln(f, assistantLine("a3", "u3", "S", 5, "m3", text("right")))
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	readInto(t, Claude{}, path, got, false)
	var off []string
	for _, m := range got.msgs {
		if m.OffPath {
			off = append(off, m.Content)
		}
	}
	equal(t, "off the path", off, []string{"go left", "left"})
}

func TestClaudeQueuedPromptsComeOnce(t *testing.T) {
	enq := func(n int, s string) string {
		return fmt.Sprintf(`{"type":"queue-operation","operation":"enqueue","sessionId":"S",%s,"content":%q}`, at(n), s)
	}
	op := func(n int, o string) string {
		return fmt.Sprintf(`{"type":"queue-operation","operation":"%s","sessionId":"S",%s}`, o, at(n))
	}
	queued := `"attachment":{"type":"queued_command","prompt":"also this","commandMode":"prompt"}`
	for _, c := range []struct {
		name  string
		lines []string
		want  []string
	}{
		{"one that comes as a line", []string{enq(1, "later"), op(2, "dequeue"), userLine("u1", "", "S", 3, `"later"`)}, []string{"user: later"}},
		{"one that is only in the queue", []string{enq(1, "later"), op(2, "remove")}, []string{"user: later"}},
		{"one that is removed and comes as an attachment", []string{enq(1, "also this"), op(2, "remove"), claudeLineOf("attachment", "q1", "", "S", 3, queued)}, []string{"user: also this"}},
		{"one taken back to be edited", []string{enq(1, "typo"), op(2, "popAll"), enq(3, "right"), op(4, "dequeue"), userLine("u1", "", "S", 5, `"right"`)}, []string{"user: right"}},
		{"one still waiting at the end", []string{enq(1, "never sent")}, []string{"user: never sent"}},
		{"an attachment alone", []string{claudeLineOf("attachment", "q1", "", "S", 3, queued)}, []string{"user: also this"}},
		{"a task's notification is no prompt", []string{enq(1, "<task-notification>x</task-notification>")}, []string{"system/notice: <task-notification>x</task-notification>"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, "S.jsonl", c.lines...)
			got := read(t, Claude{}, path)
			equal(t, "message", got.of("claude-code:S"), c.want)
			readInto(t, Claude{}, path, got, true)
			got.cursor = transcript.Cursor{}
			readInto(t, Claude{}, path, got, true)
			equal(t, "message when read again", got.of("claude-code:S"), c.want)
		})
	}
}

// Menu-bar programs ask for the usage in sessions of their own.
func TestClaudeUsageProbesAreNoSessions(t *testing.T) {
	caveat := userLine("u1", "", "S", 0, `"<local-command-caveat>Caveat: generated by local commands.</local-command-caveat>"`, `"isMeta":true`)
	usage := userLine("u2", "u1", "S", 0, `"<command-name>/usage</command-name><command-args></command-args>"`)
	out := userLine("u3", "u2", "S", 0, `"<local-command-stdout>12%</local-command-stdout>"`)
	got := read(t, Claude{}, write(t, "S.jsonl", caveat, usage, out))
	if len(got.sessions) != 0 || len(got.msgs) != 0 {
		t.Errorf("got %d sessions, %d messages", len(got.sessions), len(got.msgs))
	}
	got = read(t, Claude{}, write(t, "S.jsonl", caveat, usage, out, userLine("u4", "u3", "S", 1, `"why is the build red?"`), userLine("u5", "u4", "S", 2, `"/usage"`)))
	equal(t, "message", got.of("claude-code:S"), []string{"user: why is the build red?", "user: /usage"})
}

// Before subagents had files and ids, their lines stood among their parent's.
func TestClaudeOldSidechainsAreSessionsOfTheirParent(t *testing.T) {
	side := `"isSidechain":true`
	lines := []string{
		userLine("u1", "", "S", 0, `"why is the build red?"`),
		assistantLine("a1", "u1", "S", 1, "m1", text("I ask two helpers.")),
		userLine("x1", "", "S", 2, `"read the log"`, side),
		userLine("y1", "", "S", 2, `"read the tests"`, side),
		assistantLine("x2", "x1", "S", 3, "m2", text("a missing import"), side),
		assistantLine("y2", "y1", "S", 3, "m3", text("all are fine"), side),
		assistantLine("x3", "x2", "S", 4, "m4", text("in main.go"), side),
		assistantLine("a2", "a1", "S", 5, "m5", text("An import is missing.")),
	}
	want := map[string][]string{
		"claude-code:S":        {"user: why is the build red?", "assistant: I ask two helpers.", "assistant: An import is missing."},
		"claude-code:agent-x1": {"user: read the log", "assistant: a missing import", "assistant: in main.go"},
		"claude-code:agent-y1": {"user: read the tests", "assistant: all are fine"},
	}
	for split := 1; split < len(lines); split++ {
		path := write(t, "S.jsonl", lines[:split]...)
		got := newCollector()
		readInto(t, Claude{}, path, got, false)
		writeAt(t, path, strings.Join(lines, "\n")+"\n")
		readInto(t, Claude{}, path, got, true)
		for id, msgs := range want {
			equal(t, fmt.Sprintf("message of %s, cut at %d", id, split), got.of(id), msgs)
		}
		if s := got.sessions["claude-code:agent-x1"]; s.ParentID != "claude-code:S" || s.Relation != transcript.Subagent {
			t.Errorf("parent %q, relation %q", s.ParentID, s.Relation)
		}
	}
}

// Reports 25 to 27: subagents by name and folder, inherited lines left out.
func TestClaudeSubagentsAreSessionsOfTheirParent(t *testing.T) {
	dir := t.TempDir()
	main := filepath.Join(dir, "projects", "-w-app", sidA+".jsonl")
	side := `"isSidechain":true,"agentId":"a0ad4f44"`
	nested := func(agent, typ, uuid, msg string) string {
		return claudeLineOf("progress", "p"+uuid, "", sidA, 3, `"data":{"type":"agent_progress","agentId":"`+agent+`","message":{"type":"`+typ+`","uuid":"`+uuid+`",`+at(3)+`,"message":`+msg+`}}`)
	}
	writeAt(t, main, strings.Join([]string{
		userLine("u1", "", sidA, 0, `"look at it"`),
		nested("a0ad4f44", "user", "n1", `{"role":"user","content":"has its own file"}`),
		nested("b1", "user", "n2", `{"role":"user","content":"only copy"}`),
		nested("b1", "assistant", "n3", `{"id":"m9","role":"assistant","content":[`+text("found")+`]}`),
		assistantLine("a1", "u1", sidA, 4, "m1", text("It is fine.")),
	}, "\n")+"\n")
	sub := filepath.Join(dir, "projects", "-w-app", sidA, "subagents", "agent-a0ad4f44.jsonl")
	writeAt(t, sub, strings.Join([]string{
		userLine("i1", "", sidA, 0, `"inherited"`, side, `"forkedFrom":{"sessionId":"`+sidA+`","messageUuid":"u1"}`),
		userLine("s1", "", sidA, 1, `"search the tree"`, side),
		assistantLine("s2", "s1", sidA, 2, "m2", text("three files"), side),
	}, "\n")+"\n")
	writeAt(t, strings.TrimSuffix(sub, ".jsonl")+".meta.json", `{"agentType":"Explore","description":"Search the tree"}`)
	old := filepath.Join(dir, "projects", "-w-app", "agent-1a2b3c4d.jsonl")
	writeAt(t, old, userLine("o1", "", sidA, 0, `"old layout, isSidechain false"`)+"\n")
	copied := filepath.Join(dir, "projects", "-w-app", sidA, "subagents", "agent-acompact-77.jsonl")
	writeAt(t, copied, userLine("u1", "", sidA, 0, `"look at it"`)+"\n")
	writeAt(t, filepath.Join(filepath.Dir(copied), "journal.jsonl"), `{"type":"started","key":"v2:k","agentId":"a0ad4f44"}`+"\n")

	files, err := Claude{}.Find(context.Background(), transcript.Places{Home: "/nowhere", Env: map[string]string{"CLAUDE_CONFIG_DIR": dir}})
	if err != nil || len(files) != 5 {
		t.Fatalf("found %d files, %v", len(files), err)
	}
	got := newCollector()
	for _, f := range files {
		got.cursor = transcript.Cursor{}
		readInto(t, Claude{}, f.Path, got, true)
	}
	parent := "claude-code:" + sidA
	equal(t, "main", got.of(parent), []string{"user: look at it", "assistant: It is fine."})
	equal(t, "its own file", got.of("claude-code:agent-a0ad4f44"), []string{"user: search the tree", "assistant: three files"})
	equal(t, "nested", got.of("claude-code:agent-b1"), []string{"user: only copy", "assistant: found"})
	equal(t, "old layout", got.of("claude-code:agent-1a2b3c4d"), []string{"user: old layout, isSidechain false"})
	for _, id := range []string{"claude-code:agent-a0ad4f44", "claude-code:agent-b1", "claude-code:agent-1a2b3c4d"} {
		if s := got.sessions[id]; s.ParentID != parent || s.Relation != transcript.Subagent {
			t.Errorf("%s: parent %q, relation %q", id, s.ParentID, s.Relation)
		}
	}
	if title := got.sessions["claude-code:agent-a0ad4f44"].Title; title != "Search the tree" {
		t.Errorf("title %q", title)
	}
	if len(got.sessions) != 4 {
		t.Errorf("sessions: %q", got.order)
	}
}

// Reports 20, 21: resumed and forked copies.
func TestACopiedClaudeHistoryIsStoredOnce(t *testing.T) {
	u1, u2, u3 := "0d6b1c3e-8f24-4a95-b7e0-31c9d85a2f64", "5e91f7a2-c03d-48b6-9f1a-d27e604c8b35", "a8c3d05f-17e9-4b62-8d4f-60b2e9f31c7a"
	m1 := "msg_01BmWpQBJFRBwT5YnE8QmL5k"
	first := filepath.Join(t.TempDir(), sidA+".jsonl")
	writeAt(t, first, userLine(u1, "", sidA, 0, `"start"`)+"\n"+assistantLine(u2, u1, sidA, 1, m1, text("begun"))+"\n")
	for _, c := range []struct {
		name     string
		lines    []string
		relation transcript.Relation
	}{
		{"resumed, old ids kept", []string{userLine(u1, "", sidA, 0, `"start"`), assistantLine(u2, u1, sidA, 1, m1, text("begun")), userLine(u3, u2, sidB, 9, `"go on"`)}, transcript.Resume},
		{"resumed, ids rewritten", []string{userLine(u1, "", sidB, 0, `"start"`), assistantLine(u2, u1, sidB, 1, m1, text("begun")), userLine(u3, u2, sidB, 9, `"go on"`)}, ""},
		{"forked", []string{userLine(u1, "", sidB, 0, `"start"`, `"forkedFrom":{"sessionId":"`+sidA+`","messageUuid":"`+u1+`"}`), userLine(u3, u1, sidB, 9, `"go on"`)}, transcript.Fork},
		{"in the background", []string{userLine(u1, "", sidB, 0, `"start"`, `"sessionKind":"bg"`), userLine(u3, u1, sidB, 9, `"go on"`, `"sessionKind":"bg"`)}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			second := filepath.Join(t.TempDir(), sidB+".jsonl")
			writeAt(t, second, strings.Join(c.lines, "\n")+"\n")
			got := newCollector()
			readInto(t, Claude{}, first, got, true)
			got.cursor = transcript.Cursor{}
			readInto(t, Claude{}, second, got, true)
			equal(t, "first", got.of("claude-code:"+sidA), []string{"user: start", "assistant: begun"})
			equal(t, "second", got.of("claude-code:"+sidB), []string{"user: go on"})
			s := got.sessions["claude-code:"+sidB]
			if s.Relation != c.relation {
				t.Errorf("relation %q, want %q", s.Relation, c.relation)
			}
			if c.relation != "" && s.ParentID != "claude-code:"+sidA {
				t.Errorf("parent %q", s.ParentID)
			}
		})
	}
}

// Report 26: output that was spilled to a file.
func TestClaudeSpilledOutputIsReadFromTheSessionsOwnFolder(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, sidA+".jsonl")
	line := func(id, named string) string {
		return userLine("u"+id, "", sidA, 0, toolResult(id, `"<persisted-output>\nOutput too large. Full output saved to: `+named+`\n</persisted-output>"`))
	}
	writeAt(t, path, line("t1", "/home/x/.claude/projects/p/"+sidA+"/tool-results/one.txt")+"\n"+line("t2", "/etc/../secret.txt")+"\n"+
		line("t3", `C:\\Users\\x\\tool-results\\three.txt`)+"\n")
	writeAt(t, filepath.Join(dir, sidA, "tool-results", "one.txt"), "the whole output")
	writeAt(t, filepath.Join(dir, sidA, "tool-results", "three.txt"), "from windows")
	writeAt(t, filepath.Join(dir, "secret.txt"), "secret")
	if err := os.Symlink(filepath.Join(dir, "secret.txt"), filepath.Join(dir, sidA, "tool-results", "secret.txt")); err != nil {
		t.Log("no symlinks here:", err)
	}
	got := read(t, Claude{}, path).of("claude-code:" + sidA)
	if len(got) != 3 || got[0] != "tool: the whole output" || got[2] != "tool: from windows" || strings.Contains(got[1], "secret\n") || !strings.Contains(got[1], "persisted-output") {
		t.Errorf("got %q", got)
	}
}

func TestOurOwnTextInAClaudeSessionIsMarked(t *testing.T) {
	hook := func(uuid, content string) string {
		return claudeLineOf("attachment", uuid, "", "S", 1, `"attachment":{"type":"hook_additional_context","content":`+content+`}`)
	}
	got := read(t, Claude{}, write(t, "S.jsonl",
		hook("h1", `["MEMORY (your personal notes) [67% — 1,474/2,200 chars]\nuses tabs"]`),
		hook("h2", `"branch is main"`),
		userLine("u1", "", "S", 2, `"real words"`),
	))
	var out []string
	for _, m := range got.msgs {
		out = append(out, fmt.Sprintf("%s %s %v", m.Role, m.Kind, m.OwnTrace))
	}
	equal(t, "message", out, []string{"system meta true", "system meta false", "user  false"})
}

func TestClaudeHistoryFillsInForDeletedSessions(t *testing.T) {
	dir := t.TempDir()
	writeAt(t, filepath.Join(dir, "projects", "-w-app", sidA+".jsonl"), userLine("u1", "", sidA, 0, `"kept"`)+"\n")
	history := filepath.Join(dir, "history.jsonl")
	writeAt(t, history, strings.Join([]string{
		`{"display":"kept","pastedContents":{},"timestamp":1777629600000,"project":"/w/app","sessionId":"` + sidA + `"}`,
		`{"display":"lost with its file","pastedContents":{},"timestamp":1777629601000,"project":"/w/app","sessionId":"` + sidC + `"}`,
		`{"display":"/clear","timestamp":1777629602000,"project":"/w/app","sessionId":"` + sidC + `"}`,
		`{"display":"before session ids","timestamp":1777629603000,"project":"/w/app"}`,
	}, "\n")+"\n")
	got := read(t, Claude{}, history)
	equal(t, "message", got.of("claude-code:"+sidC), []string{"user: lost with its file", "user/command: /clear"})
	if s := got.sessions["claude-code:"+sidC]; s.Dir != "/w/app" || len(got.sessions) != 1 {
		t.Errorf("%+v", got.sessions)
	}
}

// Reports 54 and 55, and rule 5: a growing file, a torn tail, a cursor.
func TestAClaudeFileIsReadOnWhereItStopped(t *testing.T) {
	lines := []string{
		userLine("u1", "", "S", 0, `"one"`),
		assistantLine("a1", "u1", "S", 1, "m1", toolUse("t1", "Bash", `{"command":"ls"}`)),
		userLine("u2", "a1", "S", 2, toolResult("t1", `"files"`)),
		assistantLine("a2", "u2", "S", 3, "m2", text("done")),
	}
	whole := strings.Join(lines, "\n") + "\n"
	want := read(t, Claude{}, write(t, "S.jsonl", lines...)).of("claude-code:S")
	path := filepath.Join(t.TempDir(), "S.jsonl")
	for step := 11; step < len(whole); step += 61 {
		got := newCollector()
		for n := 0; ; n += step {
			n = min(n, len(whole))
			writeAt(t, path, whole[:n])
			readInto(t, Claude{}, path, got, n%2 == 0) // a final read must not spoil what comes
			if got.cursor.Offset > int64(n) {
				t.Fatalf("offset %d of %d", got.cursor.Offset, n)
			}
			if n == len(whole) {
				break
			}
		}
		equal(t, fmt.Sprintf("in steps of %d: message", step), got.of("claude-code:S"), want)
		for _, m := range got.msgs {
			if m.Role == transcript.Tool && m.ToolName != "Bash" {
				t.Errorf("in steps of %d the result lost its call", step)
			}
		}
		if got.tally.Lines != 4 || got.tally.Objects != 4 || got.tally.Bad != 0 {
			t.Errorf("in steps of %d: tally %+v", step, got.tally)
		}
	}
}

func TestTwoSessionsInOneClaudeFileStayApart(t *testing.T) {
	got := read(t, Claude{}, write(t, "x.jsonl",
		userLine("u1", "", "S", 0, `"one"`), userLine("v1", "", "T", 1, `"two"`), userLine("u2", "u1", "S", 2, `"three"`)))
	equal(t, "S", got.of("claude-code:S"), []string{"user: one", "user: three"})
	equal(t, "T", got.of("claude-code:T"), []string{"user: two"})
	if got.sessions["claude-code:T"].ParentID != "" {
		t.Error("unrelated sessions were related")
	}
}

func TestForeignFilesAreNotTakenForClaudes(t *testing.T) {
	for name, line := range map[string]string{
		"a Codex rollout":    `{"timestamp":"2026-06-01T08:00:00.000Z","type":"session_meta","payload":{"id":"x"}}`,
		"a Gemini session":   `{"id":"1","timestamp":"2026-06-01T08:00:00.000Z","type":"user","content":"hi"}`,
		"a Qwen session":     `{"uuid":"u","sessionId":"s","type":"user","message":{"role":"user","parts":[{"text":"hi"}]}}`,
		"a Copilot log":      `{"type":"user.message","data":{"content":"hi"},"id":"1"}`,
		"a Cursor log":       `{"role":"user","message":{"content":[{"type":"text","text":"hi"}]}}`,
		"a Pi session":       `{"type":"message","id":"m1","message":{"role":"user","content":[{"type":"text","text":"hi"}]}}`,
		"bare text":          `hello`,
		"a list of messages": `[{"role":"user","content":"hi"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, "x.jsonl", line, line)
			files, err := Claude{}.FindIn(context.Background(), path)
			if err != nil || len(files) != 0 {
				t.Errorf("found %v, %v", files, err)
			}
		})
	}
}

func TestSinkErrorsStopTheRead(t *testing.T) {
	path := write(t, "S.jsonl", userLine("u1", "", "S", 0, `"one"`), userLine("u2", "", "S", 0, `"two"`))
	sink := failing{newCollector()}
	if err := (Claude{}).Read(context.Background(), transcript.File{Path: path}, transcript.Cursor{}, true, sink); err == nil {
		t.Error("the sink's error was lost")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := (Claude{}).Read(ctx, transcript.File{Path: path}, transcript.Cursor{}, true, newCollector()); err == nil {
		t.Error("a cancelled read went on")
	}
}

type failing struct{ *collector }

func (failing) Message(transcript.Message) error { return os.ErrClosed }

func FuzzClaude(f *testing.F) {
	f.Add([]byte(userLine("u1", "", "S", 0, `"hello"`) + "\n" + assistantLine("a1", "u1", "S", 1, "m1", toolUse("t1", "Bash", `{"command":"ls"}`)) + "\n" + userLine("u2", "a1", "S", 2, toolResult("t1", `[{"type":"text","text":"x"}]`))))
	f.Add([]byte(claudeLineOf("system", "b", "", "S", 0, `"subtype":"compact_boundary"`) + "\n" + `{"type":"queue-operation","operation":"enqueue","content":"q"}`))
	f.Add([]byte(claudeLineOf("progress", "p", "", "S", 0, `"data":{"type":"agent_progress","agentId":"x","message":{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"t"}]}}}`)))
	f.Fuzz(func(t *testing.T, content []byte) { readTwice(t, Claude{}, "fuzz.jsonl", content) })
}

// readTwice reads content through src, whole and then again, and fails when
// the second read finds what the first did not.
func readTwice(t *testing.T, src transcript.Source, name string, content []byte) {
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	got := newCollector()
	read := func() {
		got.cursor = transcript.Cursor{}
		if err := src.Read(context.Background(), transcript.File{Source: src.Name(), Path: path}, got.cursor, true, got); err != nil {
			t.Fatal(err)
		}
	}
	read()
	n := len(got.msgs)
	read()
	if len(got.msgs) != n {
		t.Fatalf("%d messages became %d", n, len(got.msgs))
	}
}
