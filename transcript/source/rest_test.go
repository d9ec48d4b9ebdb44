package source

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// sample is a session as one of the smaller agents writes it.
type sample struct {
	name, file, content string
	session             string
	want                []string
	check               func(t *testing.T, c *collector)
}

var samples = []sample{
	{"pi", "2026_p1.jsonl", `{"type":"session","version":3,"id":"p1","timestamp":"2026-05-01T10:00:00Z","cwd":"/w/app","parentSession":"/x/2026-05-01T09-00-00_p0.jsonl"}
{"type":"message","id":"1","timestamp":"2026-05-01T10:00:01Z","message":{"role":"user","content":[{"type":"text","text":"fix"}]}}
{"type":"message","id":"2","parentId":"1","timestamp":"2026-05-01T10:00:02Z","message":{"role":"assistant","model":"m","content":[{"type":"thinking","thinking":"hm"},{"type":"toolCall","id":"c","name":"read","arguments":{"path":"a"}}]}}
{"type":"message","id":"3","parentId":"2","timestamp":"2026-05-01T10:00:03Z","message":{"role":"toolResult","toolCallId":"c","content":[{"type":"text","text":"A"}],"isError":true}}
{"type":"message","id":"4","timestamp":"2026-05-01T10:00:04Z","message":{"role":"bashExecution","command":"ls","output":"x","exitCode":3}}
{"type":"compaction","id":"5","timestamp":"2026-05-01T10:00:05Z","summary":"so far"}
{"type":"session_info","id":"6","name":"Named"}
`, "pi:p1", []string{"user: fix", `assistant:  [read {"path":"a"}]`, "tool: A", `assistant:  [bash {"command":"ls"}]`, "tool: x", "summary: so far"}, func(t *testing.T, c *collector) {
		s := c.sessions["pi:p1"]
		if s.Title != "Named" || s.ParentID != "pi:p0" || s.Relation != transcript.Fork || s.Dir != "/w/app" || c.msgs[2].ToolName != "read" || *c.msgs[4].ExitCode != 3 || !c.msgs[0].Compacted || c.msgs[1].Reasoning != "hm" {
			t.Errorf("%+v", s)
		}
	}},
	{"droid", "d1.jsonl", `{"type":"session_start","id":"d1","title":"T","cwd":"/w"}
{"type":"message","id":"1","timestamp":"2026-05-01T10:00:01Z","message":{"role":"user","content":[{"type":"text","text":"go"}]}}
{"type":"message","id":"2","timestamp":"2026-05-01T10:00:02Z","message":{"role":"assistant","content":[{"type":"text","text":"ok"},{"type":"tool_use","id":"c","name":"Execute","input":{"command":"ls"}}]}}
{"type":"message","id":"3","timestamp":"2026-05-01T10:00:03Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"Exit code: 1\nno"}]}}
`, "droid:d1", []string{"user: go", `assistant: ok [Execute {"command":"ls"}]`, "tool: Exit code: 1\nno"}, func(t *testing.T, c *collector) {
		if m := c.msgs[2]; m.ToolName != "Execute" || m.ExitCode == nil || *m.ExitCode != 1 {
			t.Errorf("%+v", m)
		}
	}},
	{"droid", "stream.jsonl", `{"type":"system","session_id":"d2","timestamp":"2026-05-01T10:00:00Z","cwd":"/w","model":"m"}
{"type":"message","session_id":"d2","timestamp":"2026-05-01T10:00:01Z","role":"user","text":"go","id":"1"}
{"type":"tool_call","session_id":"d2","timestamp":"2026-05-01T10:00:02Z","toolCallId":"c","toolName":"Shell","parameters":{"command":"ls"}}
{"type":"tool_result","session_id":"d2","timestamp":"2026-05-01T10:00:03Z","toolCallId":"c","value":{"stdout":"a","exitCode":0}}
{"type":"completion","session_id":"d2","timestamp":"2026-05-01T10:00:04Z","finalText":"done","id":"9"}
`, "droid:d2", []string{"user: go", `assistant:  [Shell {"command":"ls"}]`, "tool: a", "assistant: done"}, nil},
	{"qwen", "q1.jsonl", `{"uuid":"1","sessionId":"q1","timestamp":"2026-05-01T10:00:00Z","type":"user","cwd":"/w","gitBranch":"main","message":{"role":"user","parts":[{"text":"hook text and go"}]},"systemPayload":{"displayText":"go"}}
{"uuid":"2","parentUuid":"1","sessionId":"q1","timestamp":"2026-05-01T10:00:01Z","type":"assistant","model":"m","message":{"role":"model","parts":[{"text":"hm","thought":true},{"functionCall":{"id":"c","name":"read","args":{}}}]}}
{"uuid":"3","parentUuid":"2","sessionId":"q1","timestamp":"2026-05-01T10:00:02Z","type":"tool_result","message":{"role":"user","parts":[{"functionResponse":{"id":"c","name":"read","response":{"output":"A"}}}]}}
{"uuid":"4","sessionId":"q1","timestamp":"2026-05-01T10:00:03Z","type":"system","subtype":"custom_title","systemPayload":{"customTitle":"T"}}
{"uuid":"5","sessionId":"q1","timestamp":"2026-05-01T10:00:04Z","type":"system","subtype":"rewind","systemPayload":{"targetUuid":"1"}}
{"uuid":"6","parentUuid":"5","sessionId":"q1","timestamp":"2026-05-01T10:00:05Z","type":"user","message":{"role":"user","parts":[{"text":"other way"}]}}
`, "qwen:q1", []string{"user: go", "assistant:  [read {}]", "tool: A", "user: other way"}, func(t *testing.T, c *collector) {
		if c.msgs[0].OffPath || !c.msgs[1].OffPath || !c.msgs[2].OffPath || c.msgs[3].OffPath || c.sessions["qwen:q1"].Title != "T" || c.msgs[1].Reasoning != "hm" {
			t.Errorf("%+v", c.sessions["qwen:q1"])
		}
	}},
	{"kimi", "sessions/wd/k1/agents/main/wire.jsonl", `{"type":"metadata","protocol_version":"1.4"}
{"type":"config.update","cwd":"/w","modelAlias":"k2","time":1777629600000}
{"type":"turn.prompt","input":[{"type":"text","text":"go"}],"time":1777629601000}
{"type":"context.append_message","message":{"role":"user","content":[{"type":"text","text":"go"}],"origin":{"kind":"user"}},"time":1777629601000}
{"type":"context.append_loop_event","event":{"type":"content.part","uuid":"u1","part":{"type":"think","think":"hm"}},"time":1777629602000}
{"type":"context.append_loop_event","event":{"type":"tool.call","toolCallId":"Bash_0","turnId":"0","name":"Bash","args":{"command":"ls"}},"time":1777629603000}
{"type":"context.append_loop_event","event":{"type":"tool.result","toolCallId":"Bash_0","result":{"output":"a"}},"time":1777629604000}
{"type":"context.append_loop_event","event":{"type":"tool.call","toolCallId":"Bash_0","turnId":"1","name":"Bash","args":{"command":"pwd"}},"time":1777629605000}
{"type":"context.append_loop_event","event":{"type":"tool.result","toolCallId":"Bash_0","result":{"output":"/w"}},"time":1777629606000}
{"type":"context.apply_compaction","summary":"so far","time":1777629607000}
`, "kimi:k1", []string{"user: go", "assistant: ", `assistant:  [Bash {"command":"ls"}]`, "tool: a", `assistant:  [Bash {"command":"pwd"}]`, "tool: /w", "summary: so far"}, nil},
	{"grok", "g1/chat_history.jsonl", `{"type":"system","content":"You are"}
{"type":"user","content":[{"type":"text","text":"env"}],"synthetic_reason":"environment_context"}
{"type":"user","content":[{"type":"text","text":"go"}]}
{"type":"reasoning","id":"r","summary":[{"type":"summary_text","text":"hm"}]}
{"type":"assistant","content":"ok","tool_calls":[{"id":"c","name":"read_file","arguments":"{}"}],"model_id":"g"}
{"type":"tool_result","tool_call_id":"c","content":"A"}
`, "grok:g1", []string{"system/meta: You are", "user/meta: env", "user: go", "assistant: ok [read_file {}]", "tool: A"}, func(t *testing.T, c *collector) {
		if c.msgs[3].Reasoning != "hm" || c.msgs[4].ToolName != "read_file" {
			t.Errorf("%+v", c.msgs[3])
		}
	}},
	{"gptme", "2026-hello/conversation.jsonl", `{"role":"system","content":"rules","timestamp":"2026-05-01T10:00:00","hide":true}
{"role":"user","content":"go","timestamp":"2026-05-01T10:00:01"}
{"role":"assistant","content":"ok","timestamp":"2026-05-01T10:00:02","metadata":{"model":"m"}}
`, "gptme:2026-hello", []string{"system/meta: rules", "user: go", "assistant: ok"}, nil},
	{"windsurf", "w1.jsonl", `{"status":"done","type":"user_input","user_input":{"user_response":"go"}}
{"status":"canceled","type":"planner_response","planner_response":{"response":"no"}}
{"status":"done","type":"run_command","run_command":{"command":"ls","cwd":"/w","exit_code":2,"output":"x"}}
{"status":"done","type":"code_action","code_action":{"path":"file:///w/a.md","new_content":"A"}}
`, "windsurf:w1", []string{"user: go", `assistant:  [run_command {"command":"ls"}]`, "tool: x", `assistant:  [edit_file {"content":"A","path":"/w/a.md"}]`}, nil},
	{"antigravity", "brain/a1/.system_generated/logs/transcript.jsonl", `{"step_index":0,"source":"USER_EXPLICIT","type":"USER_INPUT","created_at":"2026-05-01T10:00:00Z","content":"<USER_REQUEST>\ngo\n</USER_REQUEST>"}
{"step_index":1,"source":"MODEL","type":"PLANNER_RESPONSE","created_at":"2026-05-01T10:00:01Z","thinking":"hm","tool_calls":[{"name":"list_dir","args":{"DirectoryPath":"\"/w\""}}]}
{"step_index":2,"source":"MODEL","type":"RUN_COMMAND","created_at":"2026-05-01T10:00:02Z","content":"out"}
`, "antigravity:a1", []string{"user: go", `assistant:  [list_dir {"DirectoryPath":"/w"}]`, "tool: out"}, nil},
	{"goose", "g.jsonl", `{"working_dir":"/w","description":"T","id":"g1"}
{"role":"user","created":1777629600,"content":[{"type":"text","text":"go"}]}
{"role":"assistant","created":1777629601,"content":[{"type":"toolRequest","id":"c","toolCall":{"status":"success","value":{"name":"developer__shell","arguments":{"command":"ls"}}}}]}
{"role":"user","created":1777629602,"content":[{"type":"toolResponse","id":"c","toolResult":{"status":"success","value":[{"type":"text","text":"a"}]}}]}
`, "goose:g1", []string{"user: go", `assistant:  [developer__shell {"command":"ls"}]`, "tool: a"}, nil},
	{"continue", "c.json", `{"sessionId":"c1","title":"T","workspaceDirectory":"file:///w","history":[
	{"message":{"role":"user","content":[{"type":"text","text":"go"}]}},
	{"message":{"role":"thinking","content":"hm"}},
	{"message":{"role":"assistant","content":"ok","toolCalls":[{"id":"c","function":{"name":"Read","arguments":"{}"}}]},"toolCallStates":[{"toolCallId":"c","status":"done","output":[{"content":"A"}]}]}]}`,
		"continue:c1", []string{"user: go", "assistant: ", "assistant: ok [Read {}]", "tool: A"}, nil},
	{"amp", "T-1.json", `{"v":85,"id":"T-1","created":1777629600000,"messages":[
	{"role":"user","messageId":0,"content":[{"type":"text","text":"go"}],"meta":{"sentAt":1777629600000}},
	{"role":"assistant","messageId":1,"content":[{"type":"tool_use","id":"c","name":"Bash","input":{"cmd":"ls"}}],"usage":{"model":"m"}},
	{"role":"user","messageId":2,"content":[{"type":"tool_result","toolUseID":"c","run":{"status":"done","result":{"output":"a","exitCode":1}}}]}],"env":{"initial":{"trees":[{"uri":"file:///w"}]}}}`,
		"amp:T-1", []string{"user: go", `assistant:  [Bash {"cmd":"ls"}]`, "tool: a"}, func(t *testing.T, c *collector) {
			if m := c.msgs[2]; m.ToolName != "Bash" || *m.ExitCode != 1 || c.sessions["amp:T-1"].Dir != "/w" {
				t.Errorf("%+v", m)
			}
		}},
	{"cline", "saoudrizwan.claude-dev/tasks/1777629600000/api_conversation_history.json", `[{"role":"user","content":[{"type":"text","text":"<task>\ngo\n</task>"},{"type":"text","text":"<environment_details>\nx\n</environment_details>"}]},
	{"role":"assistant","content":[{"type":"text","text":"ok"},{"type":"tool_use","id":"c","name":"execute_command","input":{"command":"ls"}}],"ts":1777629601000},
	{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"a"},{"type":"text","text":"[read_file for 'x'] Result:\nX"},{"type":"text","text":"<feedback>more</feedback>"}]}]`,
		"cline:1777629600000", []string{"user: go", `assistant: ok [execute_command {"command":"ls"}]`, "tool: a", "tool: X", "user: more"}, nil},
	{"cline", "rooveterinaryinc.roo-cline/tasks/7/ui_messages.json", `[{"ts":1777629600000,"type":"say","say":"text","text":"go"},{"ts":1777629601000,"type":"say","say":"text","text":"half","partial":true},
	{"ts":1777629602000,"type":"ask","ask":"command","text":"ls"},{"ts":1777629603000,"type":"say","say":"command_output","text":"a"},{"ts":1777629604000,"type":"say","say":"completion_result","text":"done"}]`,
		"cline:roo-7", []string{"user: go", `assistant:  [execute_command {"command":"ls"}]`, "tool: a", "assistant: done"}, nil},
	{"aider", ".aider.chat.history.md", "\n# aider chat started at 2026-05-01 10:00:00\n\n> Main model: gpt with diff\n\n#### fix it\n#### and test it\n\nI will.\n```python\n# aider chat started at 2020-01-01 00:00:00\n#### no prompt\n```\n\n> Applied edit to a.py\n\n#### /clear\n\n# aider chat started at 2026-05-01 10:00:00\n\n#### again\n",
		"", nil, func(t *testing.T, c *collector) {
			if len(c.order) != 2 {
				t.Fatalf("sessions %q", c.order)
			}
			equal(t, "first", c.of(c.order[0]), []string{"tool: Main model: gpt with diff", "user: fix it\nand test it",
				"assistant: I will.\n```python\n# aider chat started at 2020-01-01 00:00:00\n#### no prompt\n```", `assistant:  [edit_file {"path":"a.py"}]`, "tool: Applied edit to a.py", "user/command: /clear"})
			equal(t, "second", c.of(c.order[1]), []string{"user: again"})
		}},
}

func TestSessionsOfSmallerAgents(t *testing.T) {
	for _, s := range samples {
		t.Run(s.name+" "+filepath.Base(s.file), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), filepath.FromSlash(s.file))
			writeAt(t, path, s.content)
			files, err := Recognise(context.Background(), path)
			if err != nil || len(files) != 1 || files[0].Source != s.name {
				t.Fatalf("recognised as %v, %v", files, err)
			}
			src := sourceOf(t, s.name)
			got := read(t, src, path)
			if s.session != "" {
				equal(t, "message", got.of(s.session), s.want)
			}
			if s.check != nil {
				s.check(t, got)
			}
			n := len(got.msgs)
			got.cursor = transcript.Cursor{}
			readInto(t, src, path, got, true)
			if len(got.msgs) != n {
				t.Errorf("read again: %d messages became %d", n, len(got.msgs))
			}
		})
	}
}

// The logs among them are read on where they stopped.
func TestLogsOfSmallerAgentsGrow(t *testing.T) {
	for _, s := range samples {
		if filepath.Ext(s.file) != ".jsonl" {
			continue
		}
		t.Run(s.name+" "+filepath.Base(s.file), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), filepath.FromSlash(s.file))
			src, got := sourceOf(t, s.name), newCollector()
			for n := 0; n < len(s.content)+97; n += 97 {
				writeAt(t, path, s.content[:min(n, len(s.content))])
				readInto(t, src, path, got, n%2 == 0)
			}
			equal(t, "message", got.of(s.session), s.want)
		})
	}
}

func TestABranchOfPiLeavesThePathThatWasGoneBefore(t *testing.T) {
	said := func(id, parent, role, text string) string {
		return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%q,"timestamp":"2026-05-01T10:00:01Z","message":{"role":%q,"content":%q}}`, id, parent, role, text)
	}
	head := `{"type":"session","version":3,"id":"p1","timestamp":"2026-05-01T10:00:00Z","cwd":"/w"}`
	lines := []string{head, said("1", "", "user", "start"), said("2", "1", "assistant", "ok"), said("3", "2", "user", "one way"), said("4", "3", "assistant", "done"),
		said("5", "2", "user", "another way"), said("6", "5", "assistant", "better"), said("7", "6", "user", "on"), said("8", "6", "user", "no, this")}
	for split := 2; split <= len(lines); split++ {
		path := write(t, "p1.jsonl", lines[:split]...)
		got := newCollector()
		readInto(t, Pi{}, path, got, false)
		writeAt(t, path, lined(lines...))
		readInto(t, Pi{}, path, got, true)
		var off string
		for _, m := range got.msgs {
			if m.OffPath {
				off += m.UID
			}
		}
		if off != "347" {
			t.Errorf("split at %d: off the path %s, want 347", split, off)
		}
	}
}

func TestStoresOfSmallerAgents(t *testing.T) {
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	frame := enc.EncodeAll([]byte(`{"version":"0.3.0","title":"Now","model":{"model":"m"},"messages":["Resume",{"User":{"id":"u","content":[{"Text":"go"}]}},{"Agent":{"content":[{"Thinking":{"text":"hm"}},{"Text":"ok"},{"ToolUse":{"id":"c","name":"terminal","input":{"command":"ls"}}}],"tool_results":{"c":{"tool_name":"terminal","content":{"Text":"a"}}}}}]}`), nil)
	for _, c := range []struct {
		name, session string
		sql           []string
		args          []any
		want          []string
	}{
		{"goose", "goose:20260501_1", []string{`CREATE TABLE sessions (id TEXT, description TEXT, working_dir TEXT, created_at TIMESTAMP, updated_at TIMESTAMP);
			CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER)`,
			`INSERT INTO sessions VALUES ('20260501_1','T','/w','2026-05-01 10:00:00','2026-05-01 10:00:01')`,
			`INSERT INTO messages VALUES (1,'20260501_1','user','[{"type":"text","text":"go"}]',1777629600),(2,'20260501_1','assistant','[{"type":"thinking","thinking":"hm"},{"type":"text","text":"ok"}]',1777629601)`},
			nil, []string{"user: go", "assistant: ok"}},
		{"crush", "crush:s1", []string{`CREATE TABLE sessions (id TEXT, parent_session_id TEXT, title TEXT, created_at INTEGER, updated_at INTEGER);
			CREATE TABLE messages (id TEXT, session_id TEXT, role TEXT, parts TEXT, model TEXT, created_at INTEGER)`,
			`INSERT INTO sessions VALUES ('s1',NULL,'T',1777629600,1777629602)`,
			`INSERT INTO messages VALUES ('1','s1','user','[{"type":"text","data":{"text":"go"}}]',NULL,1777629600),
				('2','s1','assistant','[{"type":"reasoning","data":{"thinking":"hm"}},{"type":"tool_call","data":{"id":"c","name":"bash","input":"{\"command\":\"ls\"}"}},{"type":"finish","data":{"reason":"tool_use"}}]','m',1777629601),
				('3','s1','tool','[{"type":"tool_result","data":{"tool_call_id":"c","name":"bash","content":"a"}}]',NULL,1777629602)`},
			nil, []string{"user: go", `assistant:  [bash {"command":"ls"}]`, "tool: a"}},
		{"zed", "zed:z1", []string{`CREATE TABLE threads (id TEXT, summary TEXT, updated_at TEXT, data_type TEXT, data BLOB)`,
			`INSERT INTO threads VALUES ('z0','Old','2026-05-01T09:00:00+00:00','json','{"version":"0.2.0","messages":[{"id":1,"role":"user","segments":[{"type":"text","text":"hi"}]}]}')`,
			`INSERT INTO threads VALUES ('z1','Now','2026-05-01T10:00:00+00:00','zstd',?)`}, []any{frame}, []string{"user: go", `assistant: ok [terminal {"command":"ls"}]`, "tool: a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			db := makeDB(t, path, c.sql[:len(c.sql)-1]...)
			if _, err := db.Exec(c.sql[len(c.sql)-1], c.args...); err != nil {
				t.Fatal(err)
			}
			files, err := Recognise(context.Background(), path)
			if err != nil || len(files) != 1 || files[0].Source != c.name {
				t.Fatalf("recognised as %v, %v", files, err)
			}
			src := sourceOf(t, c.name)
			got := read(t, src, path)
			equal(t, "message", got.of(c.session), c.want)
			n := len(got.msgs)
			readInto(t, src, path, got, true)
			if len(got.msgs) != n {
				t.Errorf("read again: %d messages became %d", n, len(got.msgs))
			}
			// Report 48: Crush writes seconds.
			if at := got.msgs[0].At; c.name != "zed" && at.Year() != 2026 {
				t.Errorf("time %v", at)
			}
		})
	}
}

// Report 28: folders of projects collide, the lines know where they ran.
func TestTheProjectComesFromTheLinesNotFromTheFolder(t *testing.T) {
	dir := t.TempDir()
	main := filepath.Join(dir, "main")
	tree := filepath.Join(dir, "tree", "sub")
	for _, d := range []string{filepath.Join(main, ".git", "worktrees", "tree"), tree} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	writeAt(t, filepath.Join(dir, "tree", ".git"), "gitdir: "+filepath.ToSlash(main)+"/.git/worktrees/tree\n")
	line := strings.ReplaceAll(userLine("u1", "", sidA, 0, `"hi"`), `"/w/app"`, `"`+filepath.ToSlash(tree)+`"`)
	got := read(t, Claude{}, write(t, "projects/-some-other-place/"+sidA+".jsonl", line))
	if s := got.sessions["claude-code:"+sidA]; s.Dir != filepath.ToSlash(tree) || s.Project != main {
		t.Errorf("dir %q, project %q, want %q", s.Dir, s.Project, main)
	}
}

func TestTimesAreReadInEveryUnit(t *testing.T) {
	want := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	for _, s := range []string{"2026-05-01T10:00:00Z", "2026-05-01T10:00:00.000000+00:00", "2026-05-01T12:00:00+02:00", "2026-05-01T10:00:00", "2026-05-01 10:00:00",
		"2026-05-01T10:00:00+", "1777629600", "1777629600.0", "1777629600000", "1777629600000000", "1777629600000000000"} {
		if got := parseTime(s); !got.Equal(want) {
			t.Errorf("%s: %v", s, got)
		}
	}
	for _, s := range []string{"", "[trimmed]", "-1", "NaN", "Inf", "1e300"} {
		if got := parseTime(s); !got.IsZero() {
			t.Errorf("%s: %v", s, got)
		}
	}
}

func TestOnlyIdsWithChanceInThemAreGlobal(t *testing.T) {
	for id, want := range map[string]bool{"0d6b1c3e-8f24-4a95-b7e0-31c9d85a2f64": true, "msg_01BmWpQBJFRBwT5YnE8QmL5k": true, "result:toolu_01SahNMSkXJKo7DQQXDNginx": true,
		"msg_1": false, "u1": false, "00000000-0000-4000-8000-000000000001": false, "answer-inactive-message": false, "[trimmed for fixture]": false, "": false} {
		if got := isGlobalID(id); got != want {
			t.Errorf("%q: %v", id, got)
		}
	}
}

func TestEverySourceFindsNothingWhereThereIsNothing(t *testing.T) {
	empty := t.TempDir()
	seen := map[string]bool{}
	for _, s := range All() {
		if seen[s.Name()] {
			t.Errorf("two sources are named %s", s.Name())
		}
		seen[s.Name()] = true
		for _, goos := range []string{"linux", "darwin", "windows"} {
			for _, p := range []transcript.Places{{GOOS: goos}, {Home: empty, HermesHome: empty, GOOS: goos}, {Home: filepath.Join(empty, "missing"), GOOS: goos}} {
				if files, err := s.Find(context.Background(), p); err != nil || len(files) != 0 {
					t.Errorf("%s on %s: %v, %v", s.Name(), goos, files, err)
				}
			}
		}
		if files, err := s.FindIn(context.Background(), filepath.Join(empty, "missing")); err != nil || len(files) != 0 {
			t.Errorf("%s: %v, %v", s.Name(), files, err)
		}
	}
}

// Report 49: threads on a server, and files that are encrypted.
func TestWhatAmpKeepsOnItsServerIsNotTakenForNothing(t *testing.T) {
	home := t.TempDir()
	places := transcript.Places{Home: home, GOOS: "linux"}
	if said := Elsewhere(places); len(said) != 0 {
		t.Errorf("of nothing: %q", said)
	}
	writeAt(t, filepath.Join(home, ".local", "share", "amp", "session.json"), "{}")
	writeAt(t, filepath.Join(home, ".codeium", "windsurf", "cascade", "a.pb"), "\x00")
	said := strings.Join(Elsewhere(places), "\n")
	if !strings.Contains(said, "amp threads export") || !strings.Contains(said, "windsurf keeps 1 conversations encrypted") {
		t.Errorf("%q", said)
	}
	writeAt(t, filepath.Join(home, ".local", "share", "amp", "threads", "T-1.json"), "{}")
	if said := strings.Join(Elsewhere(places), "\n"); strings.Contains(said, "amp") {
		t.Errorf("%q", said)
	}
}

// Report 24: no limit of lines makes a session look shorter than it is.
func TestALongSessionIsReadToItsEnd(t *testing.T) {
	const turns = 12_000
	var b strings.Builder
	for i := range turns {
		fmt.Fprintf(&b, `{"type":"user","uuid":"u%d","sessionId":"S","timestamp":"2026-05-01T10:00:00Z","message":{"role":"user","content":"turn %d"}}`+"\n", i, i)
	}
	path := write(t, "S.jsonl", "")
	writeAt(t, path, b.String())
	got := read(t, Claude{}, path)
	if len(got.msgs) != turns || got.msgs[turns-1].Content != fmt.Sprintf("turn %d", turns-1) {
		t.Errorf("%d messages of %d", len(got.msgs), turns)
	}
	if got.marks < turns/markMessages {
		t.Errorf("%d marks: what is read is not handed on in pieces", got.marks)
	}
}

func FuzzSmallerAgents(f *testing.F) {
	for _, s := range samples {
		f.Add([]byte(s.content))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, name := range []string{"pi", "droid", "qwen", "kimi", "grok", "gptme", "windsurf", "antigravity", "goose"} {
			readTwice(t, sourceOf(t, name), "fuzz.jsonl", content)
		}
		for _, name := range []string{"continue", "amp", "cline"} {
			readTwice(t, sourceOf(t, name), "fuzz.json", content)
		}
		readTwice(t, Aider{}, "fuzz.md", content)
		gooseBlocks(content, transcript.Message{})
		crushParts(content, transcript.Message{})
		zedMessage(content, "0")
	})
}
