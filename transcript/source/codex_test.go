package source

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// Thread and turn ids of version 7: the first digits are their time.
const (
	threadA = "019e0000-1000-7abc-8def-0123456789ab"
	threadB = "019e0000-5000-7abc-8def-0123456789ab"
	turnA1  = "019e0000-2000-7abc-8def-0123456789ab"
	turnA2  = "019e0000-3000-7abc-8def-0123456789ab"
	turnB1  = "019e0000-6000-7abc-8def-0123456789ab"
)

func codexLineOf(n int, typ, payload string) string {
	return fmt.Sprintf(`{%s,"type":%q,"payload":{%s}}`, at(n), typ, payload)
}

func codexMeta(id, more string) string {
	return codexLineOf(0, "session_meta", `"id":"`+id+`","cwd":"/w/app","originator":"codex-tui","cli_version":"0.142.0","source":"cli","git":{"branch":"main"}`+more)
}

func codexTurn(n int, id string) string {
	return codexLineOf(n, "event_msg", `"type":"task_started","turn_id":"`+id+`"`) + "\n" +
		codexLineOf(n, "turn_context", `"turn_id":"`+id+`","cwd":"/w/app/sub","model":"gpt-x"`)
}

// codexSaid is a text as the file holds it: as an item and as an event.
func codexSaid(n int, role, text string) string {
	item := fmt.Sprintf(`"type":"message","role":%q,"content":[{"type":"%s","text":%q}]`, role, map[string]string{"user": "input_text", "assistant": "output_text"}[role], text)
	event := fmt.Sprintf(`"type":"%s","message":%q`, map[string]string{"user": "user_message", "assistant": "agent_message"}[role], text)
	if n%2 == 0 {
		return codexLineOf(n, "response_item", item) + "\n" + codexLineOf(n, "event_msg", event)
	}
	return codexLineOf(n, "event_msg", event) + "\n" + codexLineOf(n, "response_item", item)
}

func TestCodexMessagesComeOutOnce(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		want  []string
	}{
		{"twins of item and event", []string{codexSaid(1, "user", "go on"), codexSaid(2, "assistant", "Done."), codexSaid(3, "user", "go on"), codexSaid(4, "assistant", "Done.")},
			[]string{"user: go on", "assistant: Done.", "user: go on", "assistant: Done."}},
		{"events only", []string{codexLineOf(1, "event_msg", `"type":"user_message","message":"hi"`), codexLineOf(2, "event_msg", `"type":"agent_message","message":"hello"`)},
			[]string{"user: hi", "assistant: hello"}},
		{"items only, without a type", []string{codexLineOf(1, "response_item", `"role":"user","content":[{"type":"input_text","text":"hi"}]`)}, []string{"user: hi"}},
		{"paginated items", []string{codexLineOf(1, "response_item", `"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]`),
			codexLineOf(1, "event_msg", `"type":"item_completed","item":{"type":"UserMessage","content":[{"type":"text","text":"hi"}]}`),
			codexLineOf(2, "event_msg", `"type":"item_completed","item":{"type":"AgentMessage","content":[{"type":"Text","text":"hello"}]}`),
			codexLineOf(2, "response_item", `"type":"message","role":"assistant","content":[{"type":"output_text","text":"hello"}]`)},
			[]string{"user: hi", "assistant: hello"}},
		{"what Codex puts in is no prompt", []string{
			codexLineOf(1, "response_item", `"type":"message","role":"user","content":[{"type":"input_text","text":"# AGENTS.md instructions for /w\n…"}]`),
			codexLineOf(1, "response_item", `"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context><cwd>/w</cwd></environment_context>"}]`),
			codexLineOf(1, "response_item", `"type":"message","role":"user","content":[{"type":"input_text","text":"<some_new_envelope>x</some_new_envelope>"}]`),
			codexLineOf(1, "response_item", `"type":"message","role":"developer","content":[{"type":"input_text","text":"rules"}]`),
			codexLineOf(2, "event_msg", `"type":"user_message","message":"# Context from my IDE setup:\n## Open tabs\n## My request for Codex:\nrename it"`)},
			[]string{"user/meta: # AGENTS.md instructions for /w\n…", "user/meta: <environment_context><cwd>/w</cwd></environment_context>",
				"user/meta: <some_new_envelope>x</some_new_envelope>", "system/meta: rules", "user: rename it"}},
		{"calls and outputs in all their forms", []string{
			codexLineOf(1, "response_item", `"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\"}","call_id":"c1"`),
			codexLineOf(2, "response_item", `"type":"function_call_output","call_id":"c1","output":"Chunk ID: 1\nProcess exited with code 2\nOutput:\nno"`),
			codexLineOf(3, "response_item", `"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch","call_id":"c2"`),
			codexLineOf(4, "response_item", `"type":"custom_tool_call_output","call_id":"c2","output":"{\"output\":\"ok\",\"metadata\":{\"exit_code\":0}}"`),
			codexLineOf(5, "response_item", `"type":"local_shell_call","call_id":"c3","action":{"command":["pwd"]}`),
			codexLineOf(6, "response_item", `"type":"function_call_output","call_id":"c3","output":{"content":"/w","success":true}`),
			codexLineOf(7, "response_item", `"type":"function_call","namespace":"mcp__hermes","name":"session_search","arguments":"{}","call_id":"c4"`),
			codexLineOf(8, "response_item", `"type":"function_call_output","call_id":"c4","output":[{"type":"input_text","text":"old"},{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]`)},
			[]string{`assistant:  [exec_command {"cmd":"ls"}]`, "tool: Chunk ID: 1\nProcess exited with code 2\nOutput:\nno", `assistant:  [apply_patch "*** Begin Patch"]`, "tool: ok",
				`assistant:  [local_shell {"command":["pwd"]}]`, "tool: /w", `assistant:  [mcp__hermes__session_search {}]`, "tool: old\n\n[image image/png 3 bytes]"}},
		{"a compaction keeps its words and not its copies", []string{codexSaid(1, "user", "hi"),
			codexLineOf(2, "compacted", `"message":"we said hi","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}]`)},
			[]string{"user: hi", "summary: we said hi"}},
		{"a command of the user's own", []string{codexLineOf(1, "event_msg", `"type":"exec_command_end","call_id":"u1","command":["ls"],"exit_code":0,"aggregated_output":"a.txt"`)},
			[]string{`assistant:  [user_shell {"command":["ls"]}]`, "tool: a.txt"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, "rollout-2026-05-01T10-00-00-"+threadA+".jsonl", append([]string{codexMeta(threadA, "")}, c.lines...)...)
			got := read(t, Codex{}, path)
			equal(t, "message", got.of("codex:"+threadA), c.want)
			got.cursor = transcript.Cursor{}
			readInto(t, Codex{}, path, got, true)
			equal(t, "message, read again", got.of("codex:"+threadA), c.want)
		})
	}
}

func TestCodexKnowsExitModelAndReasoning(t *testing.T) {
	got := read(t, Codex{}, write(t, "r.jsonl", codexMeta(threadA, ""), codexTurn(1, turnA1),
		codexLineOf(1, "response_item", `"type":"reasoning","summary":[{"type":"summary_text","text":"think"}],"encrypted_content":"zz"`),
		codexLineOf(1, "event_msg", `"type":"agent_reasoning","text":"think"`),
		codexLineOf(2, "response_item", `"type":"function_call","name":"shell","arguments":"{}","call_id":"c1"`),
		codexLineOf(3, "event_msg", `"type":"exec_command_end","call_id":"c1","exit_code":3`),
		codexLineOf(3, "response_item", `"type":"function_call_output","call_id":"c1","output":"boom"`)))
	call, result := got.msgs[0], got.msgs[1]
	if call.Reasoning != "think" || call.Model != "gpt-x" || call.Dir != "/w/app/sub" || call.Branch != "main" {
		t.Errorf("%+v", call)
	}
	if result.ExitCode == nil || *result.ExitCode != 3 || result.ToolName != "shell" {
		t.Errorf("%+v", result)
	}
	if s := got.sessions["codex:"+threadA]; s.Model != "gpt-x" || s.Dir != "/w/app" || s.Surface != "cli" {
		t.Errorf("%+v", s)
	}
}

// Reports 33 and 34: forks and subagents that begin with their parent's lines.
func TestACodexForkHoldsOnlyItsOwnTurns(t *testing.T) {
	parent := []string{codexMeta(threadA, ""), codexTurn(1, turnA1), codexSaid(1, "user", "first"), codexTurn(3, turnA2), codexSaid(3, "user", "second")}
	copied := []string{codexTurn(50, turnA1), codexSaid(50, "user", "first"), codexTurn(50, turnA2), codexSaid(50, "user", "second")}
	own := []string{codexTurn(51, turnB1), codexSaid(51, "user", "mine")}
	sub := `,"source":{"subagent":{"thread_spawn":{"parent_thread_id":"` + threadA + `","agent_nickname":"Ada","agent_role":"explorer"}}}`
	for _, c := range []struct {
		name       string
		meta       string
		metas      []string // copied ones
		copies     []string
		withParent bool
		relation   transcript.Relation
	}{
		{"fork, the parent's meta copied", `,"forked_from_id":"` + threadA + `"`, []string{codexMeta(threadA, "")}, copied, true, transcript.Fork},
		{"fork, its own meta only", `,"forked_from_id":"` + threadA + `"`, nil, copied, true, transcript.Fork},
		{"fork, the parent gone", `,"forked_from_id":"` + threadA + `"`, nil, copied, false, transcript.Fork},
		{"subagent with a copy", sub, nil, copied, true, transcript.Subagent},
		{"subagent without a copy", sub, nil, nil, true, transcript.Subagent},
		{"paginated fork", `,"history_base":{"thread_id":"` + threadA + `"}`, nil, nil, false, transcript.Fork},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if c.withParent {
				writeAt(t, filepath.Join(dir, "rollout-2026-05-01T10-00-00-"+threadA+".jsonl"), strings.Join(parent, "\n")+"\n")
			}
			child := filepath.Join(dir, "rollout-2026-05-01T11-00-00-"+threadB+".jsonl")
			lines := append(append(append([]string{codexMeta(threadB, c.meta)}, c.metas...), c.copies...), own...)
			writeAt(t, child, strings.Join(lines, "\n")+"\n")
			got := read(t, Codex{}, child)
			equal(t, "message", got.of("codex:"+threadB), []string{"user: mine"})
			s := got.sessions["codex:"+threadB]
			if s.ParentID != "codex:"+threadA || s.Relation != c.relation || len(got.sessions) != 1 {
				t.Errorf("%+v of %d", s, len(got.sessions))
			}
		})
	}
}

// Report 37, and many session_meta lines.
func TestACodexThreadIsNamedByItsFirstMetaOrItsFile(t *testing.T) {
	path := write(t, "rollout-2026-05-01T10-00-00-"+threadA+".jsonl", `{"broken`, codexSaid(1, "user", "hi"))
	got := read(t, Codex{}, path)
	equal(t, "by the file's name", got.of("codex:"+threadA), []string{"user: hi"})
	if len(got.problems) != 1 {
		t.Errorf("problems: %q", got.problems)
	}
	path = write(t, "rollout-2026-05-01T10-00-00-"+threadB+".jsonl", codexMeta(threadA, ""), codexMeta(threadA, ""), codexSaid(1, "user", "hi"), codexMeta(threadB, ""), codexSaid(2, "user", "ho"))
	got = read(t, Codex{}, path)
	equal(t, "by the first meta", got.of("codex:"+threadA), []string{"user: hi", "user: ho"})
}

func TestACodexRollbackFlagsWhatWasUndone(t *testing.T) {
	got := read(t, Codex{}, write(t, "r.jsonl", codexMeta(threadA, ""), codexSaid(1, "user", "one"), codexSaid(2, "user", "two"), codexSaid(3, "assistant", "three"),
		codexLineOf(4, "event_msg", `"type":"thread_rolled_back","num_turns":1`), codexSaid(5, "user", "four"),
		codexLineOf(6, "event_msg", `"type":"thread_name_updated","thread_name":"Named"`)))
	var off []string
	for _, m := range got.msgs {
		if m.OffPath {
			off = append(off, m.Content)
		}
	}
	equal(t, "undone", off, []string{"two", "three"})
	if title := got.sessions["codex:"+threadA].Title; title != "Named" {
		t.Errorf("title %q", title)
	}
}

// Report 35: compressed rollouts, and the plain twin beside.
func TestACompressedRolloutGivesTheSameMessages(t *testing.T) {
	home := t.TempDir()
	plain := filepath.Join(home, "sessions", "2026", "05", "01", "rollout-2026-05-01T10-00-00-"+threadA+".jsonl")
	content := strings.Join([]string{codexMeta(threadA, ""), codexTurn(1, turnA1), codexSaid(1, "user", "hi"), codexSaid(2, "assistant", "hello")}, "\n") + "\n"
	writeAt(t, plain, content)
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	writeAt(t, plain+".zst", string(enc.EncodeAll([]byte(content), nil)))
	writeAt(t, plain+".zst.tmp", "half")
	writeAt(t, filepath.Join(home, "session_index.jsonl"), `{"id":"`+threadA+`","thread_name":"Old"}`+"\n"+`{"id":"`+threadA+`","thread_name":"Greeting"}`+"\n")
	files, err := Codex{}.Find(context.Background(), transcript.Places{Env: map[string]string{"CODEX_HOME": home}})
	if err != nil || len(files) != 2 {
		t.Fatalf("found %v, %v", files, err)
	}
	got := newCollector()
	for _, f := range files {
		got.cursor = transcript.Cursor{}
		readInto(t, Codex{}, f.Path, got, true)
	}
	equal(t, "message", got.of("codex:"+threadA), []string{"user: hi", "assistant: hello"})
	if title := got.sessions["codex:"+threadA].Title; title != "Greeting" {
		t.Errorf("title %q", title)
	}
	readInto(t, Codex{}, files[1].Path, got, true)
	if len(got.msgs) != 2 || got.tally.Lines != 7 {
		t.Errorf("%d messages, %+v", len(got.msgs), got.tally)
	}
}

func TestCodexHistoryFillsInForLostThreads(t *testing.T) {
	home := t.TempDir()
	writeAt(t, filepath.Join(home, "sessions", "2026", "05", "01", "rollout-2026-05-01T10-00-00-"+threadA+".jsonl"), codexMeta(threadA, "")+"\n")
	path := filepath.Join(home, "history.jsonl")
	writeAt(t, path, `{"session_id":"`+threadA+`","ts":1777629600,"text":"kept"}`+"\n"+`{"session_id":"`+threadB+`","ts":1777629601,"text":"lost"}`+"\n")
	got := read(t, Codex{}, path)
	equal(t, "message", got.of("codex:"+threadB), []string{"user: lost"})
	if len(got.sessions) != 1 {
		t.Errorf("sessions %q", got.order)
	}
}

func TestCodexTitlesComeFromItsIndex(t *testing.T) {
	home := t.TempDir()
	rollout := filepath.Join(home, "sessions", "2026", "05", "01", "rollout-2026-05-01T10-00-00-"+threadA+".jsonl")
	writeAt(t, rollout, lined(codexMeta(threadA, ""), codexSaid(2, "user", "why is it red")))
	schema := `CREATE TABLE threads (id TEXT, rollout_path TEXT, title TEXT, first_user_message TEXT, updated_at INTEGER)`
	makeDB(t, filepath.Join(home, "state_4.sqlite"), schema, `INSERT INTO threads VALUES ('`+threadA+`', '`+rollout+`', 'An older one', '', 1777629600)`)
	db := makeDB(t, filepath.Join(home, "state_10.sqlite"), schema,
		`INSERT INTO threads VALUES ('`+threadA+`', '`+rollout+`', 'The red build', 'why is it red', 1777629600),
			('`+threadB+`', '/gone/rollout.jsonl', 'Of a lost thread', '', 1777629600)`)
	files, err := Codex{}.Find(context.Background(), transcript.Places{Home: "/nowhere", Env: map[string]string{"CODEX_HOME": home}})
	if err != nil || len(files) != 2 || filepath.Base(files[1].Path) != "state_10.sqlite" {
		t.Fatalf("found %v, %v", files, err)
	}
	if named, err := Recognise(context.Background(), files[1].Path); err != nil || len(named) != 1 || named[0].Source != "codex" {
		t.Errorf("recognised as %v, %v", named, err)
	}
	got := newCollector()
	readInto(t, Codex{}, rollout, got, true)
	got.cursor = transcript.Cursor{}
	readInto(t, Codex{}, files[1].Path, got, true)
	if s := got.sessions[codexID(threadA)]; s.Title != "The red build" || len(got.sessions) != 1 || len(got.msgs) != 1 {
		t.Errorf("%+v, sessions %q", s, got.order)
	}
	// What repeats the first prompt is no title.
	execAll(t, db, `UPDATE threads SET title = 'why is it…', updated_at = 1777629700 WHERE id = '`+threadA+`'`)
	readInto(t, Codex{}, files[1].Path, got, true)
	execAll(t, db, `UPDATE threads SET title = 'Fixed', updated_at = 1777629800 WHERE id = '`+threadA+`'`)
	if s := got.sessions[codexID(threadA)]; s.Title != "The red build" {
		t.Errorf("%+v", s)
	}
	readInto(t, Codex{}, files[1].Path, got, true)
	if s := got.sessions[codexID(threadA)]; s.Title != "Fixed" {
		t.Errorf("%+v", s)
	}
}

// Report 36: the stream of "codex exec --json" is another grammar.
func TestAnExecStreamIsNoRollout(t *testing.T) {
	path := write(t, "x.jsonl", `{"type":"thread.started","thread_id":"x"}`, `{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"hi"}}`)
	files, err := Codex{}.FindIn(context.Background(), path)
	if err != nil || len(files) != 0 {
		t.Errorf("found %v, %v", files, err)
	}
}

// Report 38: ordinals come twice and order nothing.
func TestCodexOrdinalsAreNoIdentity(t *testing.T) {
	got := read(t, Codex{}, write(t, "r.jsonl", codexMeta(threadA, ""),
		strings.Replace(codexLineOf(1, "event_msg", `"type":"user_message","message":"one"`), "{", `{"ordinal":7,`, 1),
		strings.Replace(codexLineOf(2, "event_msg", `"type":"user_message","message":"two"`), "{", `{"ordinal":7,`, 1)))
	equal(t, "message", got.of("codex:"+threadA), []string{"user: one", "user: two"})
}

func TestACodexRolloutIsReadOnWhereItStopped(t *testing.T) {
	whole := strings.Join([]string{codexMeta(threadA, ""), codexTurn(1, turnA1), codexSaid(1, "user", "go"), codexSaid(2, "assistant", "ok"), codexSaid(3, "user", "go"),
		codexLineOf(4, "response_item", `"type":"function_call","name":"shell","arguments":"{}","call_id":"c1"`),
		codexLineOf(5, "response_item", `"type":"function_call_output","call_id":"c1","output":"x"`)}, "\n") + "\n"
	path := filepath.Join(t.TempDir(), "r.jsonl")
	writeAt(t, path, whole)
	want := read(t, Codex{}, path).of("codex:" + threadA)
	for _, step := range []int{13, 100, 311} {
		got := newCollector()
		for n := 0; n < len(whole)+step; n += step {
			if err := os.WriteFile(path, []byte(whole[:min(n, len(whole))]), 0o600); err != nil {
				t.Fatal(err)
			}
			readInto(t, Codex{}, path, got, n%2 == 0)
		}
		equal(t, fmt.Sprintf("in steps of %d: message", step), got.of("codex:"+threadA), want)
	}
}

func FuzzCodex(f *testing.F) {
	f.Add([]byte(codexMeta(threadB, `,"forked_from_id":"`+threadA+`"`) + "\n" + codexTurn(1, turnA1) + "\n" + codexSaid(1, "user", "x")))
	f.Add([]byte(codexLineOf(1, "response_item", `"type":"function_call_output","call_id":"c","output":"{\"output\":1}"`) + "\n" + codexLineOf(1, "compacted", `"message":"m"`)))
	f.Add([]byte(`{"session_id":"a","ts":1,"text":"x"}` + "\n" + `{"role":"user","content":"x","model":"m","timestamp":"2026-01-01T00:00:00Z"}`))
	f.Fuzz(func(t *testing.T, content []byte) { readTwice(t, Codex{}, "fuzz.jsonl", content) })
}
