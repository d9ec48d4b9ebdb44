package source

import (
	"context"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

const cursorSchema = `CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
	CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)`

func kv(key, value string) string {
	return fmt.Sprintf("INSERT INTO cursorDiskKV VALUES ('%s', '%s')", key, strings.ReplaceAll(value, "'", "''"))
}

// Reports 44 and 45: the database is the truth, its exports are lossy; headers
// without content.
func TestCursorConversationsComeInTheOrderOfTheirHeaders(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, ".config", "Cursor", "User", "globalStorage", "state.vscdb")
	db := makeDB(t, path, cursorSchema,
		`INSERT INTO ItemTable VALUES ('cursorAuth/accessToken', 'secret')`,
		kv("composerData:c1", `{"composerId":"c1","name":"Fix it","createdAt":1777629600000,"modelConfig":{"modelName":"gpt"},"workspaceIdentifier":{"uri":{"fsPath":"/w/app"}},
			"fullConversationHeadersOnly":[{"bubbleId":"b1"},{"bubbleId":"b2"},{"bubbleId":"b3"},{"bubbleId":"gone"}]}`),
		kv("bubbleId:c1:b3", `{"type":2,"bubbleId":"b3","text":"","toolFormerData":{"name":"run_terminal_cmd","toolCallId":"t1","rawArgs":"{\"command\":\"ls\"}","result":"{\"output\":\"a.txt\",\"exitCodeV2\":1}","status":"completed"}}`),
		kv("bubbleId:c1:b2", `{"type":2,"bubbleId":"b2","thinking":{"text":"hmm"},"richText":"{\"root\":{\"children\":[{\"type\":\"paragraph\",\"children\":[{\"text\":\"Looking\"}]}]}}"}`),
		kv("bubbleId:c1:b1", `{"type":1,"bubbleId":"b1","text":"<user_query>why?</user_query>","createdAt":"2026-05-01T10:00:00.000Z"}`),
		kv("bubbleId:c1:old", `{"type":1,"bubbleId":"old","text":"taken back"}`),
		`INSERT INTO cursorDiskKV VALUES ('bubbleId:c1:null', NULL)`,
		kv("composerData:cloud", `{"composerId":"cloud","fullConversationHeadersOnly":[{"bubbleId":"x"}]}`))
	writeAt(t, filepath.Join(home, ".cursor", "projects", "w-app", "agent-transcripts", "c1", "c1.jsonl"), `{"role":"user","message":{"content":"why?"}}`)
	writeAt(t, filepath.Join(home, ".cursor", "projects", "w-app", "agent-transcripts", "cloud.jsonl"), `{"role":"user","message":{"content":"only here"}}`)
	files, err := Cursor{}.Find(context.Background(), transcript.Places{Home: home, GOOS: "linux"})
	if err != nil || len(files) != 2 || files[1].Path != filepath.Join(home, ".cursor", "projects", "w-app", "agent-transcripts", "cloud.jsonl") {
		t.Fatalf("found %v, %v", files, err)
	}
	got := read(t, Cursor{}, path)
	equal(t, "message", got.of("cursor:c1"), []string{"user: why?", "assistant: Looking", `assistant:  [run_terminal_cmd {"command":"ls"}]`, "tool: a.txt", "user: taken back"})
	if m := got.msgs[3]; m.ExitCode == nil || *m.ExitCode != 1 || !got.msgs[4].OffPath || got.msgs[1].Reasoning != "hmm" {
		t.Errorf("%+v", m)
	}
	if s := got.sessions["cursor:c1"]; s.Title != "Fix it" || s.Dir != "/w/app" || s.Model != "gpt" {
		t.Errorf("%+v", s)
	}
	if len(got.problems) != 1 || !strings.Contains(got.problems[0], "headers only") { // report 45
		t.Errorf("problems: %q", got.problems)
	}

	// A bubble that grows gets a new row; nothing else is read again.
	execAll(t, db, kv("bubbleId:c1:b2", `{"type":2,"bubbleId":"b2","text":"Looking closely"}`))
	readInto(t, Cursor{}, path, got, true)
	if len(got.msgs) != 5 || !strings.Contains(got.msgs[1].Content, "Looking closely") {
		t.Errorf("%q", got.of("cursor:c1"))
	}
}

func TestCursorConversationsOfOlderVersions(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state.vscdb")
	makeDB(t, path, `CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)`,
		`INSERT INTO ItemTable VALUES ('workbench.panel.aichat.view.aichat.chatdata', '{"tabs":[{"tabId":"t1","chatTitle":"Old","bubbles":[{"type":"user","id":"1","text":"q"},{"type":"ai","id":"2","rawText":"a"}]}]}')`,
		`INSERT INTO ItemTable VALUES ('composer.composerData', '{"allComposers":[{"composerId":"c9","conversation":[{"type":1,"bubbleId":"x","text":"inline"}]}]}')`)
	writeAt(t, filepath.Join(dir, "workspace.json"), `{"folder":"file:///w/my%20app"}`)
	files, err := Cursor{}.FindIn(context.Background(), dir)
	if err != nil || len(files) != 1 {
		t.Fatalf("found %v, %v", files, err)
	}
	got := read(t, Cursor{}, path)
	equal(t, "tab", got.of("cursor:t1"), []string{"user: q", "assistant: a"})
	equal(t, "inline", got.of("cursor:c9"), []string{"user: inline"})
	if got.sessions["cursor:c9"].Dir != "/w/my app" {
		t.Errorf("%+v", got.sessions["cursor:c9"])
	}
}

func TestCursorTranscripts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "agent-transcripts", "p")
	sub := filepath.Join(dir, "subagents", "k.jsonl")
	writeAt(t, sub, strings.Join([]string{
		`{"role":"user","message":{"content":[{"type":"text","text":"<timestamp>x</timestamp>\n<user_query>\nrun it\n</user_query>"}]}}`,
		`{"role":"assistant","message":{"content":[{"type":"text","text":"[REDACTED]"},{"type":"tool_use","name":"Shell","input":{"command":"ls"}}]}}`,
		`{"role":"user","message":{"content":[{"type":"text","text":"run it"}]}}`,
		`{"type":"error","error":"timeout"}`, `{"type":"turn_ended","status":"success"}`}, "\n"))
	got := read(t, Cursor{}, sub)
	equal(t, "message", got.of("cursor:k"), []string{"user: run it", `assistant:  [Shell {"command":"ls"}]`, "user: run it", "system/notice: timeout"})
	if s := got.sessions["cursor:k"]; s.ParentID != "cursor:p" || s.Relation != transcript.Subagent {
		t.Errorf("%+v", s)
	}
	text := filepath.Join(dir, "old.txt")
	writeAt(t, text, "user:\n<user_query>hi</user_query>\n\nassistant:\nHello.\n[Thinking] well\n[Tool call] Shell\n  command: ls\n[Tool result] Shell\n  a.txt\n")
	equal(t, "text", read(t, Cursor{}, text).of("cursor:old"), []string{"user: hi", "assistant: Hello.", "assistant: ", `assistant:  [Shell {"text":"command: ls"}]`, "tool: a.txt"})
}

func TestACursorStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chats", "x", "u", "store.db")
	meta := hex.EncodeToString([]byte(`{"agentId":"agent-1","name":"Chat","createdAt":1777629600000}`))
	makeDB(t, path, `CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB); CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)`,
		`INSERT INTO meta VALUES ('0', '`+meta+`')`,
		`INSERT INTO blobs VALUES ('s', '{"role":"system","content":"rules"}'), ('u', '{"role":"user","content":[{"type":"text","text":"<user_query>hi</user_query>"}]}'),
			('n', x'0a20ff'), ('a', '{"role":"assistant","content":[{"type":"reasoning","text":"r"},{"type":"text","text":"ok"},{"type":"tool-call","toolCallId":"t","toolName":"Shell","args":{"command":"ls"}}]}'),
			('r', '{"role":"tool","content":[{"type":"tool-result","toolCallId":"t","toolName":"Shell","result":"a"}]}')`)
	got := read(t, Cursor{}, path)
	equal(t, "message", got.of("cursor:agent-1"), []string{"system/meta: rules", "user: hi", `assistant: ok [Shell {"command":"ls"}]`, "tool: a"})
}

func FuzzCursorLog(f *testing.F) {
	f.Add([]byte(`{"role":"user","message":{"content":[{"type":"text","text":"<user_query>x"}]}}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		readTwice(t, Cursor{}, "fuzz.jsonl", content)
		readTwice(t, Cursor{}, "fuzz.txt", content)
	})
}

func FuzzCursorBubble(f *testing.F) {
	f.Add([]byte(`{"type":2,"toolFormerData":{"name":"x","result":"{}"},"richText":{"root":{"children":[{}]}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var b cursorBubble
		if decode(raw, &b) == nil {
			b.messages()
		}
		aiSDKMessages(raw)
	})
}

// The editor keeps a conversation in its database, and exports it without ids,
// times and results; whichever is archived first, it is one.
func TestACursorConversationOfTwoPlacesIsArchivedOnce(t *testing.T) {
	const id = "1031d227-0c67-4e17-8954-0b6e2b3322f0"
	bubble := func(n int, text string) string { return fmt.Sprintf("bubbleId:%s:%s", id, bubbleID(n)) + "\n" + text }
	bubbles := []string{
		bubble(1, `{"type":1,"text":"<user_query>run it</user_query>","createdAt":"2026-05-01T10:00:00.000Z"}`),
		bubble(2, `{"type":2,"text":"Running it.","createdAt":"2026-05-01T10:00:01.000Z"}`),
		bubble(3, `{"type":2,"text":"","toolFormerData":{"name":"Shell","toolCallId":"t1","rawArgs":"{\"command\": \"ls\"}","result":"{\"output\":\"a.txt\",\"exitCodeV2\":0}","status":"completed"}}`),
		bubble(4, `{"type":1,"text":"run it","createdAt":"2026-05-01T10:00:05.000Z"}`),
		bubble(5, `{"type":2,"text":"Done.","createdAt":"2026-05-01T10:00:06.000Z"}`),
	}
	lines := []string{
		`{"role":"user","message":{"content":[{"type":"text","text":"<user_query>\nrun it\n</user_query>"}]}}`,
		`{"role":"assistant","message":{"content":[{"type":"text","text":"Running it."},{"type":"tool_use","name":"Shell","input":{"command":"ls"}}]}}`,
		`{"role":"user","message":{"content":[{"type":"text","text":"<user_query>run it</user_query>"}]}}`,
		`{"role":"assistant","message":{"content":[{"type":"text","text":"Done."}]}}`,
	}
	whole := []string{"assistant:  [Shell {\"command\": \"ls\"}]", "assistant: Done.", "assistant: Running it.", "tool: a.txt", "user: run it", "user: run it"}
	half := []string{"assistant:  [Shell {\"command\": \"ls\"}]", "assistant: Running it.", "tool: a.txt", "user: run it"}
	for name, steps := range map[string][]string{
		"the export first":            {"export", "database"},
		"the database first":          {"database", "export"},
		"the export first, by halves": {"export/2", "database/2", "export", "database"},
		"the database first, halves":  {"database/2", "export/2", "database", "export", "database", "export"},
		"the export ahead":            {"database/2", "export", "database"},
	} {
		t.Run(name, func(t *testing.T) {
			l := openLife(t)
			for i, step := range steps {
				kind, part, _ := strings.Cut(step, "/")
				dir := filepath.Join(l.top, fmt.Sprint(i))
				if kind == "export" {
					of := lines
					if part != "" {
						of = lines[:2]
					}
					writeAt(t, filepath.Join(dir, "agent-transcripts", id, id+".jsonl"), strings.Join(of, "\n")+"\n")
				} else {
					n := len(bubbles)
					if part != "" {
						n = 3
					}
					makeDB(t, filepath.Join(dir, "state.vscdb"), append([]string{cursorSchema}, composerOf(id, bubbles[:n])...)...)
				}
				for range 2 {
					l.archive(dir)
				}
			}
			var got []string
			for _, m := range l.holds() {
				got = append(got, strings.TrimPrefix(m, "cursor:"+id+" "))
			}
			equal(t, "message", got, whole)
		})
	}
	l := openLife(t)
	makeDB(t, filepath.Join(l.top, "state.vscdb"), append([]string{cursorSchema}, composerOf(id, bubbles[:3])...)...)
	writeAt(t, filepath.Join(l.top, "export", "agent-transcripts", "x", id+".jsonl"), strings.Join(lines[:2], "\n")+"\n")
	l.archive(filepath.Join(l.top, "export"))
	l.archive(l.top)
	var got []string
	for _, m := range l.holds() {
		got = append(got, strings.TrimPrefix(m, "cursor:"+id+" "))
	}
	equal(t, "message", got, half)
}

func bubbleID(n int) string { return fmt.Sprintf("9d1c3f52-7a41-4b0e-8c6d-2f5e1a0b3c%02d", n) }

// composerOf are the rows of a conversation, each bubble a key and, after a line's
// end, a value.
func composerOf(id string, bubbles []string) (rows []string) {
	var headers []string
	for i, b := range bubbles {
		key, value, _ := strings.Cut(b, "\n")
		headers = append(headers, `{"bubbleId":"`+bubbleID(i+1)+`"}`)
		rows = append(rows, kv(key, value))
	}
	return append(rows, kv("composerData:"+id, `{"composerId":"`+id+`","name":"Run it","createdAt":1777629600000,"fullConversationHeadersOnly":[`+strings.Join(headers, ",")+`]}`))
}
