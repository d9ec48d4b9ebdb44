package tools

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/server"

	"github.com/hermes-mcp/hermes-mcp/tools/sessions"
)

var update = flag.Bool("update", false, "write the golden files anew")

// definitions are the tools as a client lists them.
func definitions() []server.ServerTool {
	return []server.ServerTool{Memory(nil, MemoryOptions{}), sessions.Search(nil, sessions.Options{}), SessionRecord(nil, RecordOptions{})}
}

func TestToolDefinitionsAreTheCommittedOnes(t *testing.T) {
	total := 0
	for _, d := range definitions() {
		compact, err := json.Marshal(d.Tool)
		if err != nil {
			t.Fatal(err)
		}
		total += len(compact)
		got, err := json.MarshalIndent(d.Tool, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", "schema", d.Tool.Name+".json")
		if *update {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, append(got, '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(want) != string(got)+"\n" {
			t.Errorf("%s differs from %s; run the test with -update if it should", d.Tool.Name, path)
		}
	}
	if total > 7<<10 {
		t.Errorf("the tools take %d bytes of tools/list", total)
	}
	t.Logf("%d bytes", total)
}

// suspect are phrases that clients take for an injection in a description.
var suspect = regexp.MustCompile(`(?i)ignore (all|any|previous|prior)|disregard|system prompt|you are now|<[a-z]+>|\b(assistant|system):|do not tell|[A-Za-z0-9+/]{60,}`)

func TestDefinitionsSuitEveryClient(t *testing.T) {
	for _, d := range definitions() {
		tool := d.Tool
		if n := len(tool.Description); n > 2000 {
			t.Errorf("%s: description of %d bytes", tool.Name, n)
		}
		if m := suspect.FindString(tool.Description); m != "" {
			t.Errorf("%s: description holds %q", tool.Name, m)
		}
		if !regexp.MustCompile(`^[a-z_]{1,20}$`).MatchString(tool.Name) {
			t.Errorf("name %q", tool.Name)
		}
		h := tool.Annotations
		if h.ReadOnlyHint == nil || h.DestructiveHint == nil || h.IdempotentHint == nil || h.OpenWorldHint == nil || h.Title == "" {
			t.Errorf("%s: annotations %+v", tool.Name, h)
		}
		var schema map[string]any
		if err := json.Unmarshal(tool.RawInputSchema, &schema); err != nil {
			t.Fatal(err)
		}
		flat(t, tool.Name, schema, true)
	}
	if !strings.HasPrefix(memoryDescription, `If no MEMORY block is in your context, call this with action "read" once before you answer.`) {
		t.Error("the memory tool must begin with when to read")
	}
	if Memory(nil, MemoryOptions{}).Tool.Meta.AdditionalFields["anthropic/alwaysLoad"] != true {
		t.Error("the memory tool must always be loaded")
	}
}

// flat checks that a schema has only what every client understands.
func flat(t *testing.T, name string, schema map[string]any, outer bool) {
	t.Helper()
	for key := range schema {
		switch key {
		case "type", "properties", "description", "enum", "items":
		default:
			t.Errorf("%s: schema key %s", name, key)
		}
	}
	kind, _ := schema["type"].(string)
	switch {
	case kind == "object" && (outer || name == "operations[]"):
		for key, p := range schema["properties"].(map[string]any) {
			flat(t, key, p.(map[string]any), false)
		}
	case kind == "array" && name == "operations":
		flat(t, "operations[]", schema["items"].(map[string]any), false)
	case kind == "string", kind == "integer", kind == "boolean":
	default:
		t.Errorf("%s: type %v", name, schema["type"])
	}
}
