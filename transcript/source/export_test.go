package source

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

const gptConv = `{"conversation_id":"g1","title":null,"create_time":1777629600.5,"current_node":"d","default_model_slug":"gpt","mapping":{
	"r":{"id":"r","message":null,"parent":null,"children":["p"]},
	"p":{"parent":"r","children":["a"],"message":{"id":"p","author":{"role":"system"},"content":{"content_type":"user_editable_context","user_profile":"private"}}},
	"a":{"parent":"p","children":["b","c"],"message":{"id":"a","author":{"role":"user"},"create_time":1777629601,"content":{"content_type":"multimodal_text","parts":["why?",{"content_type":"image_asset_pointer","size_bytes":2048},{"content_type":"audio_transcription","text":"spoken"}]},"metadata":{"attachments":[{"name":"a.txt"}]}}},
	"b":{"parent":"a","children":[],"message":{"id":"b","author":{"role":"assistant"},"recipient":"all","content":{"content_type":"text","parts":["first try"]}}},
	"c":{"parent":"a","children":["t"],"message":{"id":"c","author":{"role":"assistant"},"recipient":"python","content":{"content_type":"code","text":"print(1)"}}},
	"t":{"parent":"c","children":["h"],"message":{"id":"t","author":{"role":"tool","name":"python"},"content":{"content_type":"execution_output","text":"1"}}},
	"h":{"parent":"t","children":["d"],"message":{"id":"h","author":{"role":"assistant"},"content":{"content_type":"thoughts","thoughts":[{"summary":"S","content":"c"}]}}},
	"d":{"parent":"h","children":[],"message":{"id":"d","author":{"role":"assistant"},"recipient":"all","content":{"content_type":"text","parts":["Because\ue200cite\ue202turn0search1\ue201 of it【12†source】."]}}}}}`

var gptWant = []string{"user: why?\n\n[image 2 kB]\n\nspoken\n\n[file a.txt]", "assistant: first try", `assistant:  [python {"code":"print(1)"}]`, "tool: 1", "assistant: ", "assistant: Because of it."}

// Report 53: the branch that was gone on with is the path.
func TestAChatGPTConversationFollowsItsCurrentNode(t *testing.T) {
	got := read(t, ChatGPT{}, write(t, "conversations.json", "["+gptConv+`,{"mapping":{}}]`))
	equal(t, "message", got.of("chatgpt:g1"), gptWant)
	var off []string
	for _, m := range got.msgs {
		if m.OffPath {
			off = append(off, m.Content)
		}
	}
	equal(t, "off the path", off, []string{"first try"})
	if m := got.msgs[3]; m.ToolCallID != got.msgs[2].ToolCalls[0].ID || m.ToolName != "python" || got.msgs[4].Reasoning != "S\n\nc" || got.msgs[5].At.IsZero() {
		t.Errorf("%+v", m)
	}
}

func TestCyclesAndHolesInATreeAreSurvived(t *testing.T) {
	got := read(t, ChatGPT{}, write(t, "c.json", `{"id":"x","current_node":"gone","mapping":{
		"a":{"parent":"b","children":["b"],"message":{"id":"a","author":{"role":"user"},"content":{"parts":["one"]}}},
		"b":{"parent":"a","children":["a","nowhere"],"message":{"id":"b","author":{"role":"user"},"content":{"parts":["two"]}}}}}`))
	equal(t, "message", got.of("chatgpt:x"), []string{"user: one", "user: two"})
}

// Report 52: pasted text stands in the attachments only.
func TestAClaudeAIConversation(t *testing.T) {
	path := write(t, "conversations.json", `[{"uuid":"c1","name":"","created_at":"2026-05-01T10:00:00.123456Z","chat_messages":[
		{"uuid":"1","sender":"human","text":"see","content":[{"type":"text","text":"see"}],"created_at":"2026-05-01T10:00:01Z","parent_message_uuid":"00000000-0000-4000-8000-000000000000","attachments":[{"file_name":"n.txt","extracted_content":"pasted"}],"files":[{"file_name":"p.png"}]},
		{"uuid":"2","sender":"assistant","text":"old","content":[],"created_at":"2026-05-01T10:00:02","parent_message_uuid":"1"},
		{"uuid":"3","sender":"assistant","text":"This block is not supported on your current device yet.","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"new"},{"type":"tool_use","name":"artifacts","input":{"content":"x"}},{"type":"tool_result","name":"artifacts","content":[{"type":"text","text":"OK"}]}],"created_at":"2026-05-01T10:00:03+00:00","parent_message_uuid":"1"}]},
		{"uuid":"empty","chat_messages":[]}]`)
	files, err := ClaudeAI{}.FindIn(context.Background(), path)
	if err != nil || len(files) != 1 {
		t.Fatalf("found %v, %v", files, err)
	}
	got := read(t, ClaudeAI{}, path)
	equal(t, "message", got.of("claude-ai:c1"), []string{"user: see\n\n[file n.txt]\npasted\n\n[file p.png]", "assistant: old", `assistant: new [artifacts {"content":"x"}]`, "tool: OK"})
	if !got.msgs[1].OffPath || got.msgs[2].OffPath || got.msgs[3].ToolName != "artifacts" || got.msgs[0].At.IsZero() || got.msgs[1].At.IsZero() {
		t.Errorf("%+v", got.msgs[1])
	}
}

func TestExportsAreReadFromZipsAndLinesAndWhenCutOff(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, content := range map[string]string{"chat.html": "<html>", "conversations-000.json": "[" + gptConv + "]", "conversations-001.json": `[{"id":"g2","mapping":{"a":{"message":{"id":"a","author":{"role":"user"},"content":{"parts":["hi"]}}}}}]`} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	path := write(t, "export.zip", "")
	writeAt(t, path, b.String())
	if files, err := (ChatGPT{}).FindIn(context.Background(), path); err != nil || len(files) != 1 {
		t.Fatalf("found %v, %v", files, err)
	}
	got := read(t, ChatGPT{}, path)
	equal(t, "g1", got.of("chatgpt:g1"), gptWant)
	equal(t, "g2", got.of("chatgpt:g2"), []string{"user: hi"})

	got = read(t, ChatGPT{}, write(t, "conversations.json", "["+gptConv+`,{"id":"cut`))
	equal(t, "before the cut", got.of("chatgpt:g1"), gptWant)
	if len(got.problems) != 1 {
		t.Errorf("problems: %q", got.problems)
	}
}

func FuzzExports(f *testing.F) {
	f.Add([]byte("[" + gptConv + "]"))
	f.Add([]byte(`{"uuid":"c","chat_messages":[{"uuid":"1","content":[{"type":"tool_use"}],"parent_message_uuid":"1"}]}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, src := range []transcript.Source{ChatGPT{}, ClaudeAI{}} {
			readTwice(t, src, "fuzz.json", content)
		}
	})
}

// A zip of nine megabytes can hold a conversation of gigabytes, which no memory
// takes.
func TestAConversationThatIsTooLargeIsNamedAndThoseBeforeItAreRead(t *testing.T) {
	for name, c := range map[string]struct{ begin, more string }{
		"a text without end": {`{"title":"`, "a"},
		"blanks without end": {"", " "},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, "export.zip", "")
			f, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			z := zip.NewWriter(f)
			w, err := z.Create("conversations.json")
			if err == nil {
				_, err = io.WriteString(w, "["+gptConv+","+c.begin)
			}
			more := bytes.Repeat([]byte(c.more), 1<<20)
			for n := 0; n <= maxConversation && err == nil; n += len(more) {
				_, err = w.Write(more)
			}
			if err == nil {
				_, err = io.WriteString(w, `"}]`)
			}
			if err := errors.Join(err, z.Close(), f.Close()); err != nil {
				t.Fatal(err)
			}
			got := read(t, ChatGPT{}, path)
			equal(t, "before it", got.of("chatgpt:g1"), gptWant)
			if len(got.problems) != 1 || !strings.Contains(got.problems[0], "more than 128 MiB") {
				t.Errorf("problems %q", got.problems)
			}
		})
	}
}
