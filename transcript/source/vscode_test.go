package source

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

const chatDoc = `{"version":3,"sessionId":"v1","customTitle":"Fix","creationDate":1777629600000,"requests":[
	{"requestId":"r1","timestamp":1777629600000,"modelId":"copilot/gpt","message":{"text":"run the tests"},
	 "response":[{"value":"Running "},{"kind":"inlineReference","inlineReference":{"path":"/w/a.go"}},{"kind":"toolInvocationSerialized","toolId":"run_in_terminal","toolCallId":"x","toolSpecificData":{"kind":"terminal","commandLine":{"original":"go test"}}},
		{"kind":"markdownContent","content":{"value":" done"}},{"kind":"textEditGroup","uri":{"fsPath":"/w/b.go"}}]},
	{"requestId":"r2","message":{"parts":[{"text":"and "},{"text":"now?"}]},"response":[{"value":"Better."}],
	 "result":{"metadata":{"toolCallRounds":[{"response":"Better.","thinking":{"text":"t"},"toolCalls":[{"id":"c1","name":"read_file","arguments":"{\"filePath\":\"/w/a.go\"}"}]}],
		"toolCallResults":{"c1":{"content":[{"value":{"node":{"children":[{"text":"line one"},{"text":"two","lineBreakBefore":true}]}}}]}}},"errorDetails":{"message":"quota"}}}]}`

var chatWant = []string{"user: run the tests", "assistant: Running `a.go` done [run_in_terminal {\"command\":\"go test\"}] [edit {\"path\":\"/w/b.go\"}]",
	"user: and now?", `assistant: Better. [read_file {"filePath":"/w/a.go"}]`, "tool: line one\ntwo", "system/notice: quota"}

func TestAVSCodeChatDocument(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "chatSessions", "v1.json")
	writeAt(t, path, chatDoc)
	writeAt(t, filepath.Join(dir, "workspace.json"), `{"folder":"file:///w"}`)
	files, err := VSCode{}.FindIn(context.Background(), dir)
	if err != nil || len(files) != 1 {
		t.Fatalf("found %v, %v", files, err)
	}
	got := read(t, VSCode{}, path)
	equal(t, "message", got.of("vscode-chat:v1"), chatWant)
	if s := got.sessions["vscode-chat:v1"]; s.Title != "Fix" || s.Dir != "/w" || s.Model != "gpt" {
		t.Errorf("%+v", s)
	}
}

// Report 46: every kind of change is replayed.
func TestAVSCodeChatLogIsReplayed(t *testing.T) {
	whole := strings.ReplaceAll(chatDoc, "\n", " ")
	path := write(t, "v1.jsonl",
		`{"kind":0,"v":{"sessionId":"v1","requests":[{"requestId":"gone"},{"requestId":"gone too"}]}}`,
		`{"kind":2,"k":["requests"],"v":[{"requestId":"r1","message":{"text":"run the tests"}}],"i":0}`,
		`{"kind":1,"k":["customTitle"],"v":"Fix"}`,
		`{"kind":1,"k":["requests",0,"response"],"v":[{"value":"Run"}]}`,
		`{"kind":1,"k":["requests",0,"response",0,"value"],"v":"Running"}`,
		`{"kind":2,"k":["requests",0,"response"],"v":[{"value":" it."}]}`,
		`{"kind":1,"k":["inputState","text"],"v":"x"}`, `{"kind":3,"k":["inputState"]}`, `{"kind":1,"k":["requests","no"],"v":1}`, `{"kind":1,"k":["requests",999999],"v":1}`)
	got := newCollector()
	readInto(t, VSCode{}, path, got, false)
	equal(t, "message", got.of("vscode-chat:v1"), []string{"user: run the tests", "assistant: Running it."})
	path = write(t, "v1.jsonl", `{"kind":0,"v":{"sessionId":"v1"}}`, `{"kind":0,"v":`+whole+`}`)
	equal(t, "replaced", read(t, VSCode{}, path).of("vscode-chat:v1"), chatWant)
}

// Report 47, and two forms of one session.
func TestTheFullestFormOfAVSCodeChatIsFound(t *testing.T) {
	home := t.TempDir()
	store := filepath.Join(home, ".config", "Code", "User", "workspaceStorage", "abc")
	for _, f := range []string{"chatSessions/one.json", "chatSessions/one.jsonl", "GitHub.copilot-chat/transcripts/one.jsonl", "GitHub.copilot-chat/transcripts/two.jsonl", "chatSessions/three.json"} {
		writeAt(t, filepath.Join(store, filepath.FromSlash(f)), event(0, "session.start", `"sessionId":"two","vscodeVersion":"1"`)+"\n"+event(1, "user.message", `"content":"hi"`)+"\n")
	}
	writeAt(t, filepath.Join(store, "workspace.json"), `{"folder":"file:///w"}`)
	files, err := VSCode{}.Find(context.Background(), transcript.Places{Home: home, GOOS: "linux"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		name, err := filepath.Rel(store, f.Path)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, filepath.ToSlash(name))
	}
	equal(t, "file", names, []string{"GitHub.copilot-chat/transcripts/two.jsonl", "chatSessions/one.jsonl", "chatSessions/three.json"})
	got := read(t, VSCode{}, files[0].Path)
	equal(t, "message", got.of("vscode-chat:two"), []string{"user: hi"})
	if got.sessions["vscode-chat:two"].Dir != "/w" {
		t.Errorf("%+v", got.sessions["vscode-chat:two"])
	}
}

func FuzzVSCode(f *testing.F) {
	f.Add([]byte(`{"kind":0,"v":{"requests":[]}}` + "\n" + `{"kind":2,"k":["requests"],"v":[{"message":{"text":"x"}}],"i":0}`))
	f.Add([]byte(strings.ReplaceAll(chatDoc, "\n", " ")))
	f.Fuzz(func(t *testing.T, content []byte) {
		readTwice(t, VSCode{}, "fuzz.jsonl", content)
		readTwice(t, VSCode{}, "fuzz.json", content)
	})
}
