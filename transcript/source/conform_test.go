package source

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// logs returns a session of every format whose files are lines of JSON.
func logs() []sample {
	all := []sample{
		{name: "claude-code", file: "projects/-w/" + sidA + ".jsonl", content: lined(
			userLine("u1", "", sidA, 0, `"go"`),
			assistantLine("a1", "u1", sidA, 1, "m1", text("ok")+","+toolUse("t1", "Bash", `{"command":"ls"}`)),
			userLine("u2", "a1", sidA, 2, toolResult("t1", `"a"`)),
			assistantLine("a2", "u2", sidA, 3, "m2", text("done")))},
		{name: "codex", file: "sessions/2026/05/01/rollout-2026-05-01T10-00-00-" + threadA + ".jsonl", content: lined(
			codexMeta(threadA, ""), codexTurn(1, turnA1), codexSaid(2, "user", "go"), codexSaid(4, "assistant", "ok"), codexTurn(5, turnA2), codexSaid(6, "user", "more"))},
		{name: "copilot-cli", file: "s1/events.jsonl", content: lined(
			event(0, "session.start", `"sessionId":"s1","copilotVersion":"1.0","startTime":"2026-05-01T10:00:00Z","context":{"cwd":"/w"}`),
			event(1, "user.message", `"content":"go"`), event(2, "assistant.message", `"messageId":"m1","content":"ok"`),
			event(3, "user.message", `"content":"more"`))},
		{name: "gemini", file: "tmp/app/chats/session-1.jsonl", content: lined(
			`{"sessionId":"g1","projectHash":"h","startTime":"2026-05-01T10:00:00Z","kind":"main"}`,
			`{"id":"m1","timestamp":"2026-05-01T10:00:01Z","type":"user","content":[{"text":"go"}]}`,
			`{"id":"m2","timestamp":"2026-05-01T10:00:02Z","type":"gemini","content":"ok"}`,
			`{"id":"m3","timestamp":"2026-05-01T10:00:03Z","type":"user","content":"more"}`)},
		{name: "cursor", file: "agent-transcripts/p/p.jsonl", content: lined(
			`{"role":"user","message":{"content":[{"type":"text","text":"<user_query>\ngo\n</user_query>"}]}}`,
			`{"role":"assistant","message":{"content":[{"type":"text","text":"ok"},{"type":"tool_use","name":"Shell","input":{"command":"ls"}}]}}`,
			`{"role":"user","message":{"content":[{"type":"text","text":"more"}]}}`)},
		{name: "vscode-chat", file: "chatSessions/v1.jsonl", content: lined(
			`{"kind":0,"v":{"version":3,"sessionId":"v1","creationDate":1777629600000,"requests":[]}}`,
			`{"kind":2,"k":["requests"],"v":[{"requestId":"r1","timestamp":1777629600000,"message":{"text":"go"},"response":[{"value":"ok"}]}]}`,
			`{"kind":2,"k":["requests"],"v":[{"requestId":"r2","timestamp":1777629601000,"message":{"text":"more"},"response":[{"value":"done"}]}]}`)},
		{name: "hermes", file: "sessions/20260501_100000_abcdef.jsonl", content: lined(
			`{"role":"session_meta","model":"opus","platform":"telegram","timestamp":"2026-05-01T10:00:00"}`,
			`{"role":"user","content":"go","timestamp":"2026-05-01T10:00:01"}`, `{"role":"assistant","content":"ok"}`, `{"role":"user","content":"more"}`)},
	}
	for _, s := range samples {
		if filepath.Ext(s.file) == ".jsonl" {
			all = append(all, s)
		}
	}
	return all
}

func lined(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

// documents returns a session of every format whose files are one value.
func documents() []sample {
	all := []sample{
		{name: "vscode-chat", file: "chatSessions/v1.json", content: chatDoc},
		{name: "gemini", file: "x.json", content: `{"sessionId":"d","projectHash":"h","messages":[{"id":"1","type":"user","content":"go"},{"id":"2","type":"gemini","content":"ok"}]}`},
		{name: "chatgpt", file: "conversations.json", content: "[" + gptConv + "]"},
		{name: "claude-ai", file: "conversations.json", content: `[{"uuid":"c1","name":"N","created_at":"2026-05-01T10:00:00Z","chat_messages":[{"uuid":"1","sender":"human","text":"go","created_at":"2026-05-01T10:00:01Z"},{"uuid":"2","sender":"assistant","text":"ok","created_at":"2026-05-01T10:00:02Z"}]}]`},
		{name: "opencode", file: "x.json", content: `{"info":{"id":"s1","title":"T"},"messages":[{"info":` + openUser + `,"parts":[{"type":"text","text":"go"}]}]}`},
	}
	for _, s := range samples {
		if filepath.Ext(s.file) != ".jsonl" {
			all = append(all, s)
		}
	}
	return all
}

// everything is what a file of s holds, by session in order of the id.
func everything(c *collector) (all []string) {
	order := slices.Clone(c.order)
	slices.Sort(order)
	for _, id := range order {
		for _, m := range c.of(id) {
			all = append(all, id+" "+m)
		}
	}
	return all
}

// A spoiler does to a log what agents, editors and crashes do to it. The
// messages must stay as they were.
type spoiler struct {
	name     string
	do       func(lines []string) string
	problems int    // reported, each once
	typ      string // counted
}

var spoilers = []spoiler{
	{name: "CRLF", do: func(l []string) string { return strings.Join(l, "\r\n") + "\r\n" }},
	{name: "a BOM", do: func(l []string) string { return "\xEF\xBB\xBF" + lined(l...) }},
	{name: "blank lines", do: func(l []string) string { return "\n" + strings.Join(l, "\n\n \n") + "\n\n" }},
	{name: "NUL bytes before every record", do: func(l []string) string { return "\x00\x00" + strings.Join(l, "\n\x00\x00\x00") + "\n" }},
	{name: "all on one line", do: func(l []string) string { return strings.Join(l, "") + "\n" }},
	{name: "a line of 10 MB", typ: "ballast", do: func(l []string) string {
		return lined(slices.Insert(slices.Clone(l), 1, `{"type":"ballast","pad":"`+strings.Repeat("x", 10<<20)+`"}`)...)
	}},
	{name: "a line that is no JSON", problems: 1, do: func(l []string) string { return lined(slices.Insert(slices.Clone(l), 1, "rubbish")...) }},
	{name: "a torn record before a whole one", problems: 1, do: func(l []string) string {
		l = slices.Clone(l)
		l[1] = `{"type":"pr-link","prNu` + l[1]
		return lined(l...)
	}},
	{name: "a type nobody knows", typ: "never seen before", do: func(l []string) string {
		return lined(slices.Insert(slices.Clone(l), 1, `{"type":"never seen before","kind":77,"role":"never seen before","x":{"y":[1]}}`)...)
	}},
	{name: "values that are no objects", do: func(l []string) string { return lined(slices.Insert(slices.Clone(l), 1, "[1]", "7", `"x"`, "null")...) }},
	{name: "UTF-16", do: func(l []string) string { return utf16Of(lined(l...)) }},
	{name: "a last line without its end", do: func(l []string) string { return strings.Join(l, "\n") }},
}

func utf16Of(s string) string {
	out := []byte{0xFF, 0xFE}
	for _, r := range s {
		out = append(out, byte(r), byte(r>>8)) // the samples are of one plane
	}
	return string(out)
}

// Rules 1 to 7 of reading hold for every format of lines.
func TestALogThatWasSpoiledGivesTheSameMessages(t *testing.T) {
	for _, s := range logs() {
		src := sourceOf(t, s.name)
		path := filepath.Join(t.TempDir(), filepath.FromSlash(s.file))
		writeAt(t, path, s.content)
		whole := read(t, src, path)
		want := everything(whole)
		if len(want) < 2 {
			t.Fatalf("%s: %q", s.name, want)
		}
		for _, how := range spoilers {
			t.Run(s.name+" "+filepath.Base(s.file)+"/"+how.name, func(t *testing.T) {
				writeAt(t, path, how.do(strings.Split(strings.TrimSuffix(s.content, "\n"), "\n")))
				got := read(t, src, path)
				equal(t, "message", everything(got), want)
				if len(got.problems) != how.problems || got.tally.Bad != how.problems {
					t.Errorf("%d bad lines, problems %q; want %d", got.tally.Bad, got.problems, how.problems)
				}
				if how.typ != "" && got.tally.Objects != whole.tally.Objects+1 {
					t.Errorf("%d objects, want one more than %d: what is not known is counted", got.tally.Objects, whole.tally.Objects)
				}
			})
		}
	}
}

func TestAnEmptyLogIsNoError(t *testing.T) {
	for _, s := range logs() {
		for _, content := range []string{"", "\n", "\xEF\xBB\xBF", "\x00\x00\n", "{}\n", "{"} {
			path := filepath.Join(t.TempDir(), filepath.FromSlash(s.file))
			writeAt(t, path, content)
			for _, final := range []bool{false, true} {
				got := newCollector()
				readInto(t, sourceOf(t, s.name), path, got, final)
				if len(got.msgs) != 0 {
					t.Errorf("%s: %q gave %q", s.name, content, everything(got))
				}
			}
		}
	}
}

// Rule 5: what has no end yet is left, and read when it has.
func TestATornLastLineOfEveryLogWaits(t *testing.T) {
	for _, s := range logs() {
		t.Run(s.name+" "+filepath.Base(s.file), func(t *testing.T) {
			src, path := sourceOf(t, s.name), filepath.Join(t.TempDir(), filepath.FromSlash(s.file))
			writeAt(t, path, s.content)
			want := everything(read(t, src, path))
			got := newCollector()
			last := strings.LastIndexByte(s.content[:len(s.content)-1], '\n') + 1
			for _, end := range []int{last + 1, (last + len(s.content)) / 2, len(s.content) - 1} {
				writeAt(t, path, s.content[:end])
				readInto(t, src, path, got, false)
				if n := got.cursor.Offset; n > int64(last) {
					t.Fatalf("with %d bytes of the last line the cursor stands at %d, after %d", end-last, n, last)
				}
				if len(got.problems) != 0 {
					t.Errorf("problems: %q", got.problems)
				}
			}
			writeAt(t, path, s.content)
			readInto(t, src, path, got, true)
			equal(t, "message", everything(got), want)
		})
	}
}

// Rule 6: whatever bytes stand in a text, it comes out as valid UTF-8, and the
// rest of the file with it.
func TestStrangeBytesInATextCostOnlyThemselves(t *testing.T) {
	for name, bytesIn := range map[string]string{"invalid UTF-8": "\xff\xc3", "a lone surrogate": `\ud83d`, "a line separator": "\u2028", "NUL": `\u0000`} {
		for _, s := range append(logs(), documents()...) {
			spoiled := strings.ReplaceAll(s.content, `"go"`, `"go`+bytesIn+`on"`)
			if spoiled == s.content {
				continue // said otherwise
			}
			t.Run(name+"/"+s.name+" "+filepath.Base(s.file), func(t *testing.T) {
				src, path := sourceOf(t, s.name), filepath.Join(t.TempDir(), filepath.FromSlash(s.file))
				writeAt(t, path, s.content)
				want := read(t, src, path)
				writeAt(t, path, spoiled)
				got := read(t, src, path)
				if len(got.msgs) != len(want.msgs) || len(got.problems) != 0 {
					t.Errorf("%d messages, want %d; problems %q", len(got.msgs), len(want.msgs), got.problems)
				}
				found := false
				for _, m := range got.msgs {
					found = found || strings.HasPrefix(m.Content, "go") && strings.Contains(m.Content, "on")
					if !utf8.ValidString(m.Content) || strings.Contains(m.Content, "\x00") {
						t.Errorf("message %q", m.Content)
					}
				}
				if !found {
					t.Errorf("the text is not there: %q", everything(got))
				}
			})
		}
	}
}

// A document that is cut off, empty or of another shape is a problem that is
// told, or an empty session; never a panic, and never a message made up.
func TestADocumentThatIsCutOffIsTold(t *testing.T) {
	for _, s := range documents() {
		if s.name == "aider" {
			continue // text, any beginning of which is whole
		}
		t.Run(s.name+" "+filepath.Base(s.file), func(t *testing.T) {
			src, path := sourceOf(t, s.name), filepath.Join(t.TempDir(), filepath.FromSlash(s.file))
			for _, content := range []string{"", "{", s.content[:len(s.content)/2], "[]", "null", `{"unknown":1}`} {
				writeAt(t, path, content)
				c := newCollector()
				err := src.Read(context.Background(), transcript.File{Source: s.name, Path: path}, transcript.Cursor{}, true, c)
				if len(content) > 10 && content[0] == s.content[0] && content != `{"unknown":1}` && err == nil && len(c.problems) == 0 {
					t.Errorf("cut off at %d: nothing was told", len(content))
				}
			}
			writeAt(t, path, "\xEF\xBB\xBF"+s.content)
			if got := read(t, src, path); len(got.msgs) == 0 {
				t.Error("a BOM hides the document")
			}
		})
	}
}

// Rule 16: nothing is followed out of the folder, and nothing is found twice.
func TestLinksAreNotFollowed(t *testing.T) {
	dir := t.TempDir()
	s := logs()[0]
	writeAt(t, filepath.Join(dir, "outside", "x.jsonl"), s.content)
	writeAt(t, filepath.Join(dir, "in", "own.jsonl"), s.content)
	for link, to := range map[string]string{"in/file.jsonl": "outside/x.jsonl", "in/folder": "outside", "in/loop": "in", "root": "in"} {
		if err := os.Symlink(filepath.Join(dir, filepath.FromSlash(to)), filepath.Join(dir, filepath.FromSlash(link))); err != nil {
			t.Skip("no links here")
		}
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{"in", "root"} { // what a person names may be a link itself
		files, err := Recognise(context.Background(), filepath.Join(dir, root))
		if err != nil || len(files) != 1 || files[0].Path != filepath.Join(real, "in", "own.jsonl") {
			t.Errorf("%s: %v, %v", root, files, err)
		}
	}
}

func TestEveryFormatIsRecognisedAsItself(t *testing.T) {
	have := map[string]bool{"zed": true, "crush": true} // databases, see TestStoresOfSmallerAgents
	for _, s := range append(logs(), documents()...) {
		path := filepath.Join(t.TempDir(), filepath.FromSlash(s.file))
		writeAt(t, path, s.content)
		files, err := Recognise(context.Background(), path)
		if err != nil || len(files) != 1 || files[0].Source != s.name {
			t.Errorf("%s %s: recognised as %v, %v", s.name, s.file, files, err)
		}
		have[s.name] = true
	}
	for _, src := range All() {
		if !have[src.Name()] {
			t.Errorf("no sample of %s", src.Name())
		}
	}
}
