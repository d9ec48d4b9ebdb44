package source

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// Reports 39 and 40: logs are replayed, snapshots too.
func TestAGeminiLogIsReplayed(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, ".gemini", "tmp", "app", "chats", "session-2026-05-01T10-00-ab.jsonl")
	writeAt(t, path, `{"sessionId":"g1","projectHash":"h","startTime":"2026-05-01T10:00:00Z","kind":"main"}
{"id":"m1","timestamp":"2026-05-01T10:00:01Z","type":"user","content":[{"text":"list"},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}
{"id":"m2","timestamp":"2026-05-01T10:00:02Z","type":"gemini","content":"","toolCalls":[{"id":"c1","name":"run_shell_command","args":{"command":"ls"}}]}
{"id":"m2","timestamp":"2026-05-01T10:00:02Z","type":"gemini","model":"flash","content":"Here.","thoughts":[{"subject":"S","description":"d"}],"toolCalls":[{"id":"c1","name":"run_shell_command","args":{"command":"ls"},"status":"success","result":[{"functionResponse":{"id":"c1","response":{"output":"Output: x\nExit Code: 2"}}}]}]}
{"id":"m3","timestamp":"2026-05-01T10:00:03Z","type":"user","content":"undone"}
{"$rewindTo":"m3"}
{"$set":{"summary":"Listing","lastUpdated":"2026-05-01T10:00:09Z"}}
{"id":"m4","timestamp":"2026-05-01T10:00:04Z","type":"user","content":"/clear"}
{"id":"m5","timestamp":"2026-05-01T10:00:05Z","type":"error","content":"quota"}
`)
	writeAt(t, filepath.Join(dir, ".gemini", "tmp", "app", ".project_root"), "/w/app\n")
	sub := filepath.Join(dir, ".gemini", "tmp", "app", "chats", "g1", "k.jsonl")
	writeAt(t, sub, `{"sessionId":"k","startTime":"2026-05-01T10:00:00Z"}
{"id":"s1","timestamp":"2026-05-01T10:00:01Z","type":"user","content":"old"}
{"$set":{"messages":[{"id":"s2","timestamp":"2026-05-01T10:00:02Z","type":"user","content":"new"}]}}
`)
	files, err := Gemini{}.Find(context.Background(), transcript.Places{Home: dir})
	if err != nil || len(files) != 2 {
		t.Fatalf("found %v, %v", files, err)
	}
	got := read(t, Gemini{}, path)
	equal(t, "message", got.of("gemini:g1"), []string{"user: list\n\n[file image/png 3 bytes]", `assistant: Here. [run_shell_command {"command":"ls"}]`,
		"tool: Output: x\nExit Code: 2", "user: undone", "user/command: /clear", "system/notice: quota"})
	if m := got.msgs[2]; m.ExitCode == nil || *m.ExitCode != 2 || got.msgs[1].Reasoning != "S: d" || !got.msgs[3].Rewound || got.msgs[4].Rewound {
		t.Errorf("%+v", m)
	}
	if s := got.sessions["gemini:g1"]; s.Title != "Listing" || s.Dir != "/w/app" || s.Model != "flash" {
		t.Errorf("%+v", s)
	}
	got = read(t, Gemini{}, sub)
	equal(t, "subagent", got.of("gemini:k"), []string{"user: old", "user: new"})
	if s := got.sessions["gemini:k"]; s.ParentID != "gemini:g1" || !got.msgs[0].Rewound || got.msgs[1].Rewound {
		t.Errorf("%+v", s)
	}
}

func TestGeminiDocumentsAndCheckpoints(t *testing.T) {
	doc := write(t, "x.json", `{"sessionId":"d","projectHash":"h","messages":[{"id":"1","type":"user","content":"<session_context>x</session_context>"},{"id":"2","type":"user","content":"hi"}]}`)
	equal(t, "document", read(t, Gemini{}, doc).of("gemini:d"), []string{"user/meta: <session_context>x</session_context>", "user: hi"})
	saved := write(t, "checkpoint-one.json", `[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}},{"text":"ok"}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"error":"no"}}}]}]`)
	if files, err := (Gemini{}).FindIn(context.Background(), saved); err != nil || len(files) != 1 {
		t.Fatalf("found %v, %v", files, err)
	}
	equal(t, "checkpoint", read(t, Gemini{}, saved).of("gemini:checkpoint-one"), []string{"user: hi", "assistant: ok [f {}]", "tool: no"})
}

func FuzzGemini(f *testing.F) {
	f.Add([]byte(`{"sessionId":"g","startTime":"x"}` + "\n" + `{"id":"1","type":"user","content":[{"text":"x"}]}` + "\n" + `{"$rewindTo":"1"}` + "\n" + `{"$set":{"messages":[]}}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		readTwice(t, Gemini{}, "fuzz.jsonl", content)
		readTwice(t, Gemini{}, "fuzz.json", content)
	})
}
