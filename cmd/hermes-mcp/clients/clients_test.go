package clients

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var ours = Server{Command: "/opt/hermes-mcp", Args: []string{"serve"}}

func TestAnInstalledEntryLeavesEverythingElseAsItWas(t *testing.T) {
	for _, test := range []struct{ name, before, after string }{
		{"an empty file", "", "{\n  \"mcpServers\": {\n    \"hermes\": {\n      \"type\": \"stdio\",\n      \"command\": \"/opt/hermes-mcp\",\n      \"args\": [\n        \"serve\"\n      ]\n    }\n  }\n}\n"},
		{"tabs stay tabs", "{\n\t\"a\": 1\n}\n", "{\n\t\"a\": 1,\n\t\"mcpServers\": {\n\t\t\"hermes\": {\n\t\t\t\"type\": \"stdio\",\n\t\t\t\"command\": \"/opt/hermes-mcp\",\n\t\t\t\"args\": [\n\t\t\t\t\"serve\"\n\t\t\t]\n\t\t}\n\t}\n}\n"},
		{"one line stays one line", `{"a": 1}`, `{"a": 1, "mcpServers": {"hermes":{"type":"stdio","command":"/opt/hermes-mcp","args":["serve"]}}}`},
		{
			"comments and order stay", "{\n  // first\n  \"z\": 1, // behind z\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"} // behind other\n  },\n  \"b\": [1,   2]\n}\n",
			"{\n  // first\n  \"z\": 1, // behind z\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"}, // behind other\n    \"hermes\": {\n      \"type\": \"stdio\",\n      \"command\": \"/opt/hermes-mcp\",\n      \"args\": [\n        \"serve\"\n      ]\n    }\n  },\n  \"b\": [1,   2]\n}\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "c.json")
			if err := os.WriteFile(path, []byte(test.before), 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := SetServer(path, ours, false); err != nil {
				t.Fatal(err)
			}
			if got := read(t, path); got != test.after {
				t.Errorf("got\n%s\nwant\n%s", got, test.after)
			}
			if out, err := SetServer(path, ours, false); err != nil || out.Changed {
				t.Errorf("a second install changed the file: %+v, %v", out, err)
			}
			if _, err := DropServer(path, false); err != nil {
				t.Fatal(err)
			}
			if got := read(t, path); got != test.before && test.before != "" {
				t.Errorf("after uninstall\n%s\nwant\n%s", got, test.before)
			}
		})
	}
}

func TestOurHookStandsBesideOthersAndGoesAlone(t *testing.T) {
	const other = "{\n    \"hooks\": {\n        \"SessionStart\": [\n            {\"hooks\": [{\"type\": \"command\", \"command\": \"date\"}]}\n        ],\n        \"Stop\": []\n    },\n    \"model\": \"x\"\n}\n"
	path := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(path, []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"/old/hermes-mcp hook", "/new/hermes-mcp hook"} {
		if _, err := SetHook(path, command, false); err != nil {
			t.Fatal(err)
		}
		if got := Hooked(path); got != command {
			t.Errorf("hook is %q, want %q", got, command)
		}
	}
	if n := strings.Count(read(t, path), "hermes-mcp hook"); n != 1 {
		t.Errorf("%d of our hooks, want 1", n)
	}
	if _, err := DropHook(path, false); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != other {
		t.Errorf("after uninstall\n%s\nwant\n%s", got, other)
	}
}

func TestAHookInASharedGroupGoesWithoutItsNeighbours(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	text := `{"hooks": {"SessionStart": [{"hooks": [{"type":"command","command":"a"}, {"type":"command","command":"hermes-mcp hook"}, {"type":"command","command":"b"}]}]}}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := DropHook(path, false); err != nil {
		t.Fatal(err)
	}
	want := `{"hooks": {"SessionStart": [{"hooks": [{"type":"command","command":"a"}, {"type":"command","command":"b"}]}]}}`
	if got := read(t, path); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAFileThatMustNotBeWrittenStaysAsItIs(t *testing.T) {
	for _, test := range []struct {
		name, text string
		mode       os.FileMode
		want       error
	}{
		{"broken JSON", `{"a": `, 0o600, ErrBroken},
		{"a list instead of an object", `[1]`, 0o600, ErrBroken},
		{"mcpServers is no object", `{"mcpServers": 3}`, 0o600, ErrShape},
		{"read-only", `{}`, 0o444, ErrReadOnly},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "c.json")
			if err := os.WriteFile(path, []byte(test.text), test.mode); err != nil {
				t.Fatal(err)
			}
			if _, err := SetServer(path, ours, false); !errors.Is(err, test.want) {
				t.Errorf("error %v, want %v", err, test.want)
			}
			if got := read(t, path); got != test.text {
				t.Errorf("file became %q", got)
			}
			files, err := os.ReadDir(filepath.Dir(path))
			if err != nil || len(files) != 1 {
				t.Errorf("files left beside: %v, %v", files, err)
			}
		})
	}
}

func TestAnEditMadeMeanwhileIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.json")
	if err := os.WriteFile(path, []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	first := true
	_, err := edit(path, false, func(d *doc) error {
		if first {
			first = false
			if err := os.WriteFile(path, []byte(`{"theirs": 1}`), 0o600); err != nil {
				return err
			}
		}
		return d.set(1, "ours")
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := read(t, path), `{"theirs": 1, "ours": 1}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestASymlinkIsFollowedAndStaysOne(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.json"), filepath.Join(dir, "link.json")
	if err := os.WriteFile(real, []byte("{}"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Skip("no symlinks here:", err)
	}
	if _, err := SetServer(link, ours, false); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("link became %v, %v", info, err)
	}
	if s, ok, err := ServerIn(real); err != nil || !ok || s.Command != ours.Command {
		t.Errorf("server in the real file: %+v %v %v", s, ok, err)
	}
	if info, err := os.Stat(real); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode became %v, %v", info.Mode(), err)
	}
}

func FuzzSetThenDropGivesTheSameBytes(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"a":1}`, "{\n  \"a\": 1 // c\n}\n", "{\n  \"a\": 1,\n}\n", "{ /* x */ }", "{\r\n\t\"a\": [\r\n\t]\r\n}\r\n",
		"{\n  \"hooks\": {\"SessionStart\": [{}]}\n}", "{\"a\":1, // x\n}", "{\"a\":1 // x\n}", "// top\n{\"a\": {\"b\": 2}}\n// end",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := parseDoc([]byte(text))
		if err != nil || strings.TrimSpace(text) == "" {
			return
		}
		if at, err := d.get("k1"); err != nil || at != nil {
			return
		}
		if err := d.set("v", "k1", "k2"); err != nil {
			t.Fatalf("set: %v", err)
		}
		if at, err := d.get("k1", "k2"); err != nil || at == nil {
			t.Fatalf("not there after set: %v\n%s", err, d.text)
		}
		if ok, err := d.drop("k1", "k2"); err != nil || !ok {
			t.Fatalf("drop: %v %v", ok, err)
		}
		if got := squeeze(string(d.text)); got != squeeze(text) {
			t.Errorf("got %q\nwant %q", d.text, text)
		}
	})
}

// squeeze leaves space out of the comparison: where a closing brace stood on a
// line with a comment it must get a line of its own.
func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
