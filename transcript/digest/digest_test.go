package digest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// session builds messages with ascending ids.
type session []transcript.Message

func (s *session) say(role transcript.Role, text string) {
	*s = append(*s, transcript.Message{ID: int64(len(*s) + 1), Role: role, Content: text, Dir: "/w/app"})
}

// call adds an assistant's call and its result.
func (s *session) call(words, tool, args, result string, exit int, failed bool) {
	id := fmt.Sprint("t", len(*s))
	*s = append(*s, transcript.Message{ID: int64(len(*s) + 1), Role: transcript.Assistant, Content: words, Dir: "/w/app",
		ToolCalls: []transcript.ToolCall{{ID: id, Name: tool, Args: json.RawMessage(args)}}})
	m := transcript.Message{ID: int64(len(*s) + 1), Role: transcript.Tool, ToolCallID: id, ToolName: tool, Content: result, IsError: failed}
	if exit >= 0 {
		m.ExitCode = &exit
	}
	*s = append(*s, m)
}

func commandsOf(f Facts) (out []string) {
	for _, c := range f.Commands {
		exit := "?"
		if c.Exit != nil {
			exit = fmt.Sprint(*c.Exit)
		}
		out = append(out, fmt.Sprintf("%s [%s] @%s", c.Command, exit, c.MessageID))
	}
	return out
}

func filesOf(f Facts) (out []string) {
	for _, x := range f.Files {
		out = append(out, fmt.Sprintf("%s %s @%s", x.Action, x.Path, x.MessageID))
	}
	return out
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if len(got) == 0 && len(want) == 0 {
		return
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

func TestCommandsOfAgentsShells(t *testing.T) {
	for _, c := range []struct {
		name, tool, args, result string
		exit                     int
		failed                   bool
		want                     []string
	}{
		{"a string", "Bash", `{"command":"go test ./..."}`, "ok", 0, false, []string{"go test ./... [0] @1"}},
		{"a list of words", "shell", `{"command":["bash","-lc","make all"]}`, "Exit code: 2\nno rule", -1, false, []string{"make all [2] @1"}},
		{"under another key", "exec_command", `{"cmd":"ls"}`, "Process exited with code 1", -1, false, []string{"ls [1] @1"}},
		{"of an MCP server", "mcp__shell__run_command", `{"command":"uptime"}`, "", -1, false, []string{"uptime [?] @1"}},
		{"refused by the user", "Bash", `{"command":"rm -rf /"}`, "The user doesn't want to proceed with this tool use.", -1, true, nil},
		{"a patch is no command", "shell", `{"command":["apply_patch","*** Begin Patch\n*** Add File: a.go\n*** End Patch"]}`, "", 0, false, nil},
		{"from a script", "exec", `"const r = await tools.exec_command({\n cmd: \"git status\", workdir: \"/w\"});"`, "{\"exit_code\":0}", -1, false, []string{"git status [0] @1"}},
		{"another tool", "Grep", `{"pattern":"x"}`, "", -1, false, nil},
		{"arguments that are no object", "Bash", `"ls"`, "", -1, false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s session
			s.call("", c.tool, c.args, c.result, c.exit, c.failed)
			same(t, "commands", commandsOf(Extract(s)), c.want)
		})
	}
}

func TestEqualCommandsAreFolded(t *testing.T) {
	var s session
	s.call("", "Bash", `{"command":"go test"}`, "FAIL", 1, true)
	s.call("", "Bash", `{"command":"go test"}`, "ok", 0, false)
	got := Extract(s).Commands
	if len(got) != 1 || got[0].Times != 2 || *got[0].Exit != 0 || got[0].MessageID != "3" {
		t.Errorf("%+v", got)
	}
}

func TestCommandsWhereThereAreNoCalls(t *testing.T) {
	var s session
	s.say(transcript.UserRole, "!git pull")
	s.say(transcript.Assistant, "Run this:\n```bash\n# first\n$ npm ci\nadded 3 packages\n$ npm test\n```\nor\n```sh\nmake \\\n  all\n```\n```go\nfunc f() {}\n```")
	same(t, "commands", commandsOf(Extract(s)), []string{"git pull [?] @1", "npm ci [?] @2", "npm test [?] @2", "make all [?] @2"})
}

func TestFilesOfToolsAndShells(t *testing.T) {
	for _, c := range []struct {
		name, tool, args string
		failed           bool
		want             []string
	}{
		{"read", "Read", `{"file_path":"/w/app/a.go"}`, false, []string{"read /w/app/a.go @1"}},
		{"edit", "Edit", `{"file_path":"a.go","old_string":"x"}`, false, []string{"edit a.go @1"}},
		{"failed edit", "Edit", `{"file_path":"a.go"}`, true, nil},
		{"write", "write_to_file", `{"path":"b.go","content":""}`, false, []string{"write b.go @1"}},
		{"delete", "delete_file", `{"target_file":"c.go"}`, false, []string{"delete c.go @1"}},
		{"one tool for all, viewing", "developer__text_editor", `{"command":"view","path":"d.go"}`, false, []string{"read d.go @1"}},
		{"one tool for all, replacing", "str_replace_editor", `{"command":"str_replace","path":"d.go"}`, false, []string{"edit d.go @1"}},
		{"a URI", "readFile", `{"uri":"file:///w/e.go"}`, false, []string{"read /w/e.go @1"}},
		{"a patch", "apply_patch", `{"input":"*** Begin Patch\n*** Add File: n.go\n+x\n*** Update File: u.go\n*** Move to: m.go\n*** Delete File: d.go\n*** End Patch"}`, false,
			[]string{"write n.go @1", "edit u.go @1", "write m.go @1", "delete d.go @1"}},
		{"a patch through the shell", "shell", `{"command":["bash","-lc","apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: u.go\n*** End Patch\nEOF"]}`, false, []string{"edit u.go @1"}},
		{"redirections", "Bash", `{"command":"echo hi > out.txt 2>&1; date >> log.txt; make 2>err.log >/dev/null"}`, false, []string{"write out.txt @1", "edit log.txt @1"}},
		{"a here-document", "Bash", `{"command":"cat > conf.yml <<'EOF'\na: > not.txt\nEOF\nrm old.yml"}`, false, []string{"write conf.yml @1", "delete old.yml @1"}},
		{"reading by shell", "exec_command", `{"cmd":"cd /src && sed -n '1,20p' main.go | head -n 5 && cat 'with space.md' $HOME/x *.go"}`, false, []string{"read /src/main.go @1", "read /src/with space.md @1"}},
		{"editing by shell", "Bash", `{"command":"sed -i 's/a/b/' x.go && mv old.go new.go && touch t && rm -rf dir && cp a.go b.go"}`, false,
			[]string{"edit x.go @1", "delete old.go @1", "write new.go @1", "write t @1", "write b.go @1"}},
		{"a folder is no file", "Read", `{"path":"src/"}`, false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s session
			s.call("", c.tool, c.args, "", -1, c.failed)
			same(t, "files", filesOf(Extract(s)), c.want)
		})
	}
}

func TestAFileIsToldOncePerAction(t *testing.T) {
	var s session
	s.call("", "Read", `{"file_path":"/w/app/other.go"}`, "x", -1, false)
	s.call("", "Read", `{"file_path":"/w/app/a.go"}`, "x", -1, false)
	s.call("", "Edit", `{"file_path":"a.go"}`, "ok", -1, false)
	s.call("", "Read", `{"file_path":"a.go"}`, "x", -1, false)
	same(t, "files", filesOf(Extract(s)), []string{"edit a.go @5", "read /w/app/other.go @1", "read /w/app/a.go @3"})
}

func TestErrorsComeWithWhatHelped(t *testing.T) {
	var s session
	s.call("", "Bash", `{"command":"go test ./..."}`, "Exit code 1\n=== RUN TestX\nx.go:4:2: undefined: foo\nFAIL", 1, true)
	s.call("", "Read", `{"file_path":"x.go"}`, "...", -1, false)
	s.call("foo was renamed to bar. Fixing.", "Edit", `{"file_path":"x.go"}`, "ok", -1, false)
	s.call("", "Bash", `{"command":"go test ./... -run X"}`, "ok", 0, false)
	s.call("", "Bash", `{"command":"grep nothing x.go"}`, "", 1, true)
	s.call("", "Edit", `{"file_path":"y.go"}`, "<tool_use_error>File has not been read yet", -1, true)
	s.call("", "Bash", `{"command":"git push"}`, "Exit code 1\nerror: failed to push some refs", 1, true)
	s.call("", "Edit", `{"file_path":"z.go"}`, "ok", -1, false)
	s.call("", "Bash", `{"command":"git pull --rebase"}`, "done", 0, false)
	s.call("", "Bash", `{"command":"git push"}`, "done", 0, false)
	s.call("", "Bash", `{"command":"python x.py"}`, "Traceback (most recent call last):\n  File \"x.py\"\nKeyError: 'a'", 1, true)
	var got []string
	for _, p := range Extract(s).Errors {
		got = append(got, fmt.Sprintf("%s @%s | %s @%s", p.Error, p.MessageID, p.Fix, p.FixMessageID))
	}
	same(t, "errors", got, []string{
		"x.go:4:2: undefined: foo @2 | foo was renamed to bar. — edit x.go @5",
		"error: failed to push some refs @14 | git pull --rebase @17",
		"KeyError: 'a' @22 |  @",
	})
}

func TestDecisionsAndOpenEnds(t *testing.T) {
	var s session
	s.say(transcript.UserRole, "Which database? Let's go with PostgreSQL for this one.")
	s.say(transcript.Assistant, "We decided against Redis. It would be one more service.\n\nShould we use a queue?")
	s.say(transcript.UserRole, "存储改用 SQLite。以后都这样。")
	s.say(transcript.Assistant, "Done. See https://example.com/a, and (https://example.com/b).\n\nNext steps: write the migration.")
	f := Extract(s)
	var got []string
	for _, d := range append(append(f.Decisions, f.URLs...), f.Open...) {
		got = append(got, d.Text+" @"+d.MessageID)
	}
	same(t, "lines", got, []string{"Let's go with PostgreSQL for this one. @1", "We decided against Redis. @2", "存储改用 SQLite。 @3", "以后都这样。 @3",
		"https://example.com/a @4", "https://example.com/b @4", "Next steps: write the migration. @4"})
}

func TestOwnTracesAreNoEvidence(t *testing.T) {
	var s session
	s.say(transcript.UserRole, "where is the retry loop?")
	s.call("", "mcp__hermes__session_search", `{"query":"retry loop"}`, "retry loop in fetch.go: error: boom", -1, true)
	s[2].OwnTrace = true
	d := Look(s, "retry loop").Digest(1000)
	if len(d.Lines) != 1 || d.Lines[0].MessageID != "1" || len(d.Errors) != 0 {
		t.Errorf("%+v", d)
	}
}

func TestLinesKeepTheBudgetAndTheOrder(t *testing.T) {
	var s session
	for i := range 40 {
		s.say(transcript.UserRole, fmt.Sprintf("Talk number %d about nothing. %s", i, strings.Repeat("filler words ", i)))
		s.say(transcript.Assistant, "I see.")
	}
	s.say(transcript.UserRole, "What is the port of the staging database?")
	s.say(transcript.Assistant, "It listens on 5433, behind the bastion.")
	for budget := 0; budget < 1500; budget += 50 {
		d := Look(s, "staging database port").Digest(budget)
		n := chars(d.Lines)
		for _, l := range []*Line{d.Goal, d.Outcome} {
			if l != nil {
				n += runes(l.Text)
			}
		}
		if n > budget {
			t.Errorf("%d characters in a budget of %d", n, budget)
		}
		last := ""
		for _, l := range d.Lines {
			if len(l.MessageID) < len(last) || len(l.MessageID) == len(last) && l.MessageID < last {
				t.Errorf("out of order: %v", d.Lines)
			}
			last = l.MessageID
		}
	}
	lines := Look(s, "staging database port").Lines(200)
	if len(lines) < 2 || !strings.Contains(lines[len(lines)-1].Text, "5433") {
		t.Errorf("the answer beside the question is missing: %+v", lines)
	}
	if got := Look(s, "完全不存在").Lines(500); got != nil {
		t.Errorf("lines for nothing: %v", got)
	}
}

func TestLinesAreFoundInAnyScript(t *testing.T) {
	var s session
	s.say(transcript.UserRole, "修改youer服务端的超时")
	s.say(transcript.Assistant, "已经改成30秒。")
	for _, q := range []string{"服务", "youer", "超时"} {
		if got := Look(s, q).Lines(500); len(got) == 0 || got[0].MessageID != "1" {
			t.Errorf("%s: %v", q, got)
		}
	}
}

func FuzzDigest(f *testing.F) {
	f.Add("go with x\n```sh\n$ ls\n```", `{"command":"cat a > b <<E"}`, "error: x", "what x")
	f.Add("a", `{"file_path":"\u0000"}`, "Traceback (most recent call last)", "NEAR(")
	f.Fuzz(func(t *testing.T, said, args, result, query string) {
		var s session
		s.say(transcript.UserRole, said)
		s.call(said, "Bash", args, result, -1, false)
		s.call(said, "Edit", args, result, -1, true)
		a, b := Look(s, query).Digest(700), Look(s, query).Digest(700)
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("two digests of one session: %+v %+v", a, b)
		}
		n := chars(a.Lines) + chars(a.Decisions) + chars(a.Open) + chars(a.URLs)
		for _, c := range a.Commands {
			n += runes(c.Command)
		}
		for _, p := range a.Errors {
			n += runes(p.Error) + runes(p.Fix)
		}
		if n > 700 {
			t.Fatalf("%d characters", n)
		}
	})
}

func chars(lines []Line) (n int) {
	for _, l := range lines {
		n += runes(l.Text)
	}
	return n
}
