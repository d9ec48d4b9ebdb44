package clients

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/clients/configfile"
)

var ours = Server{Command: "/opt/hermes-mcp", Args: []string{"serve", "--home", "/a home"}}

// The text that a file of each client may hold before, and a broken one.
func texts(c Client) (whole, broken string) {
	switch filepath.Ext(c.File(Place{GOOS: "linux", Home: "/h", Config: "/h/.config", Hermes: "/h/.hermes"})) {
	case ".toml":
		return "# mine\nmodel = \"x\" # fast\n\n[mcp_servers.other]\ncommand = \"y\"\n", "model = \n"
	case ".yaml":
		return "# mine\nmodel: x # fast\nmcp_servers:\n    # theirs\n    other:\n        command: y\nlast: 1\n", "model: [x\n"
	}
	return "{\n  // mine\n  \"theme\": \"x\", // dark\n  \"" + c.Section[0] + "\": {\n    \"other\": {\"command\": \"y\"}\n  },\n}\n", "{\"theme\": \n"
}

func TestEveryClientIsSetUpAndGivenBackAsItWas(t *testing.T) {
	for _, c := range All {
		t.Run(c.Title, func(t *testing.T) {
			before, _ := texts(c)
			path := write(t, before, 0o640)
			if out, err := c.SetServer(path, ours, true); err != nil || !out.Changed || read(t, path) != before {
				t.Fatalf("a dry run: %+v, %v\n%s", out, err, read(t, path))
			}
			out, err := c.SetServer(path, ours, false)
			if err != nil || !out.Changed {
				t.Fatalf("install: %+v, %v", out, err)
			}
			if got := read(t, out.Backup); got != before {
				t.Errorf("backup holds %q", got)
			}
			got, there, err := c.ServerIn(path)
			if want := c.Starting(ours); err != nil || !there || !got.Equal(want) {
				t.Errorf("starts %v, %v, %v; want %v", got, there, err, want)
			}
			for line := range strings.Lines(before) {
				if text := strings.TrimRight(line, "{},\n"); !strings.Contains(read(t, path), text) {
					t.Errorf("lost %q in\n%s", line, read(t, path))
				}
			}
			if out, err := c.SetServer(path, ours, false); err != nil || out.Changed {
				t.Errorf("a second install: %+v, %v", out, err)
			}
			moved := Server{"/new/hermes-mcp", []string{"serve"}}
			if out, err := c.SetServer(path, moved, false); err != nil || !out.Changed {
				t.Errorf("a moved program: %+v, %v", out, err)
			}
			if got, _, err := c.ServerIn(path); err != nil || !got.Equal(c.Starting(moved)) {
				t.Errorf("after a move it starts %v, %v", got, err)
			}
			if _, err := c.DropServer(path, false); err != nil || read(t, path) != before {
				t.Errorf("uninstall: %v\n%s", err, read(t, path))
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
		})
	}
}

func TestNoClientsFileIsTouchedThatMustNotBe(t *testing.T) {
	for _, c := range All {
		whole, broken := texts(c)
		for _, test := range []struct {
			name, text string
			mode       os.FileMode
			want       error
		}{
			{"broken", broken, 0o600, configfile.ErrBroken},
			{"read-only", whole, 0o444, configfile.ErrReadOnly},
		} {
			t.Run(c.Title+" "+test.name, func(t *testing.T) {
				path := write(t, test.text, test.mode)
				if _, err := c.SetServer(path, ours, false); !errors.Is(err, test.want) {
					t.Errorf("error %v, want %v", err, test.want)
				}
				files, err := os.ReadDir(filepath.Dir(path))
				if read(t, path) != test.text || err != nil || len(files) != 1 {
					t.Errorf("file became %q, beside it are %v, %v", read(t, path), files, err)
				}
			})
		}
	}
}

func TestEveryClientsSymlinkStaysOne(t *testing.T) {
	for _, c := range All {
		t.Run(c.Title, func(t *testing.T) {
			before, _ := texts(c)
			// The folder for temporary files may be behind a link itself.
			real, err := filepath.EvalSymlinks(write(t, before, 0o600))
			if err != nil {
				t.Fatal(err)
			}
			link := filepath.Join(t.TempDir(), "link")
			if err := os.Symlink(real, link); err != nil {
				t.Skip("no symlinks here:", err)
			}
			if out, err := c.SetServer(link, ours, false); err != nil || out.Path != real {
				t.Fatalf("%+v, %v", out, err)
			}
			if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
				t.Errorf("the link became %v, %v", info, err)
			}
			if _, there, err := c.ServerIn(real); err != nil || !there {
				t.Errorf("in the real file: %v, %v", there, err)
			}
		})
	}
}

// What another program writes between our reading and our renaming is kept.
func TestEveryClientsOwnWriteMeanwhileIsKept(t *testing.T) {
	for _, c := range All {
		t.Run(c.Title, func(t *testing.T) {
			before, _ := texts(c)
			theirs := strings.Replace(before, "mine", "theirs, a moment ago", 1)
			for _, times := range []int{1, 2} {
				path, wrote := write(t, before, 0o600), 0
				_, err := configfile.Edit(path, c.Format, false, func(d configfile.Document) error {
					if wrote < times {
						wrote++
						text := theirs + strings.Repeat("\n", wrote)
						if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
							return err
						}
					}
					return d.Set(c.Entry(ours), append(slices.Clone(c.Section), Key)...)
				})
				if times == 2 {
					if !errors.Is(err, configfile.ErrRaced) || read(t, path) != theirs+"\n\n" {
						t.Errorf("written twice: %v\n%s", err, read(t, path))
					}
					continue
				}
				_, there, readErr := c.ServerIn(path)
				if err != nil || readErr != nil || !there || !strings.Contains(read(t, path), "a moment ago") {
					t.Errorf("written once: %v, %v\n%s", err, readErr, read(t, path))
				}
			}
		})
	}
}

func TestWhatAPersonAddedToOurEntryStays(t *testing.T) {
	for _, test := range []struct{ client, text, kept string }{
		{"cline", `{"mcpServers": {"hermes": {"command": "/old/hermes-mcp", "args": ["serve"], "disabled": true, "autoApprove": ["memory"]}}}`, `"disabled": true, "autoApprove": ["memory"]`},
		{"claude-code", "{\"mcpServers\": {\"hermes\": {\n  \"command\": \"/old/hermes-mcp\", // here\n  \"env\": {\"A\": \"b\"}\n}}}", `// here`},
		{"codex", "[mcp_servers.hermes]\nargs = [\n  \"serve\", # why\n]\ncommand = \"/old/hermes-mcp\" # there\ntool_timeout_sec = 9\n\n[mcp_servers.hermes.env]\nA = \"b\"\n", "# there\ntool_timeout_sec = 9\n\n[mcp_servers.hermes.env]\nA = \"b\"\n"},
		{"hermes", "mcp_servers:\n  hermes:\n    args:\n    - serve\n    command: /old/hermes-mcp # there\n    timeout: 9\n    tools:\n      include: [memory]\nlast: 1\n", "# there\n    timeout: 9\n    tools:\n      include: [memory]\nlast: 1\n"},
	} {
		t.Run(test.client, func(t *testing.T) {
			c, err := Find(test.client)
			if err != nil {
				t.Fatal(err)
			}
			path := write(t, test.text, 0o600)
			if _, err := c.SetServer(path, ours, false); err != nil {
				t.Fatal(err)
			}
			if got := read(t, path); !strings.Contains(got, test.kept) {
				t.Errorf("%q is not in\n%s", test.kept, got)
			}
			if got, _, err := c.ServerIn(path); err != nil || !got.Equal(c.Starting(ours)) {
				t.Errorf("starts %v, %v", got, err)
			}
		})
	}
}

func TestEveryClientsFileIsWhereThatSystemKeepsIt(t *testing.T) {
	places := map[string]Place{
		"linux":   {GOOS: "linux", Home: "/home/u", Config: "/home/u/.config", Hermes: "/home/u/.hermes"},
		"darwin":  {GOOS: "darwin", Home: "/Users/u", Config: "/Users/u/.config", Hermes: "/Users/u/.hermes"},
		"windows": {GOOS: "windows", Home: "C:/u", Config: "C:/u/.config", Data: "C:/u/AppData/Roaming", Hermes: "C:/u/AppData/Local/hermes"},
	}
	want := map[string]map[string]string{
		"claude-code": {
			"linux": "/home/u/.claude.json", "darwin": "/Users/u/.claude.json", "windows": "C:/u/.claude.json",
		},
		"claude-desktop": {
			"linux": "/home/u/.config/Claude/claude_desktop_config.json", "darwin": "/Users/u/Library/Application Support/Claude/claude_desktop_config.json",
			"windows": "C:/u/AppData/Roaming/Claude/claude_desktop_config.json",
		},
		"cursor": {"linux": "/home/u/.cursor/mcp.json", "darwin": "/Users/u/.cursor/mcp.json", "windows": "C:/u/.cursor/mcp.json"},
		"vscode": {
			"linux": "/home/u/.config/Code/User/mcp.json", "darwin": "/Users/u/Library/Application Support/Code/User/mcp.json",
			"windows": "C:/u/AppData/Roaming/Code/User/mcp.json",
		},
		"windsurf": {
			"linux": "/home/u/.codeium/windsurf/mcp_config.json", "darwin": "/Users/u/.codeium/windsurf/mcp_config.json",
			"windows": "C:/u/.codeium/windsurf/mcp_config.json",
		},
		"zed": {
			"linux": "/home/u/.config/zed/settings.json", "darwin": "/Users/u/.config/zed/settings.json",
			"windows": "C:/u/AppData/Roaming/Zed/settings.json",
		},
		"codex":  {"linux": "/home/u/.codex/config.toml", "darwin": "/Users/u/.codex/config.toml", "windows": "C:/u/.codex/config.toml"},
		"gemini": {"linux": "/home/u/.gemini/settings.json", "darwin": "/Users/u/.gemini/settings.json", "windows": "C:/u/.gemini/settings.json"},
		"cline": {
			"linux":   "/home/u/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
			"darwin":  "/Users/u/Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
			"windows": "C:/u/AppData/Roaming/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
		},
		"opencode": {
			"linux": "/home/u/.config/opencode/opencode.json", "darwin": "/Users/u/.config/opencode/opencode.json",
			"windows": "C:/u/.config/opencode/opencode.json",
		},
		"hermes": {
			"linux": "/home/u/.hermes/config.yaml", "darwin": "/Users/u/.hermes/config.yaml",
			"windows": "C:/u/AppData/Local/hermes/config.yaml",
		},
	}
	for _, c := range All {
		for goos, place := range places {
			if got := filepath.ToSlash(c.File(place)); got != want[c.Name][goos] {
				t.Errorf("%s on %s is at %s, want %s", c.Name, goos, got, want[c.Name][goos])
			}
		}
	}
}

func TestAClientIsPresentByItsFilesOrItsProgram(t *testing.T) {
	home := t.TempDir()
	p := Place{GOOS: "linux", Home: home, Config: filepath.Join(home, ".config"), Hermes: filepath.Join(home, ".hermes")}
	t.Setenv("PATH", filepath.Join(home, "bin"))
	for _, c := range All {
		if c.Present(p) {
			t.Errorf("%s is present in an empty home", c.Name)
		}
	}
	for _, dir := range []string{".cursor", ".config/Claude", ".config/opencode", "bin"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, "bin", "codex"), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	var present []string
	for _, c := range All {
		if c.Present(p) {
			present = append(present, c.Name)
		}
	}
	if want := []string{"claude-desktop", "cursor", "codex", "opencode"}; !slices.Equal(present, want) {
		t.Errorf("present are %v, want %v", present, want)
	}
}

func TestOpenCodesOwnFileNameIsKept(t *testing.T) {
	config := t.TempDir()
	path := filepath.Join(config, "opencode", "opencode.jsonc")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("{} // mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := opencodeFile(Place{Config: config}); got != path {
		t.Errorf("got %s, want %s", got, path)
	}
}

func TestOpenCodesNewerShapeIsKept(t *testing.T) {
	c, err := Find("opencode")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ before, after string }{
		"newer":                      {`{"mcp": {"servers": {"x": {"type": "remote", "url": "u"}}}}`, `{"mcp": {"servers": {"x": {"type": "remote", "url": "u"}, "hermes": {"type":"local","command":["/opt/hermes-mcp","serve","--home","/a home"],"disabled":false}}}}`},
		"older, and one named so":    {`{"mcp": {"servers": {"type": "local", "command": ["x"]}}}`, `{"mcp": {"servers": {"type": "local", "command": ["x"]}, "hermes": {"type":"local","command":["/opt/hermes-mcp","serve","--home","/a home"],"enabled":true}}}`},
		"newer, without any":         {`{"mcp": {"servers": {}}}`, `{"mcp": {"servers": {"hermes": {"type":"local","command":["/opt/hermes-mcp","serve","--home","/a home"],"disabled":false}}}}`},
		"newer, switched off by you": {`{"mcp": {"servers": {"hermes": {"type": "local", "command": ["/opt/hermes-mcp"], "disabled": true}}}}`, `{"mcp": {"servers": {"hermes": {"type": "local", "command": ["/opt/hermes-mcp","serve","--home","/a home"], "disabled": true}}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, test.before, 0o600)
			if _, err := c.SetServer(path, ours, false); err != nil {
				t.Fatal(err)
			}
			got := strings.Join(strings.Fields(read(t, path)), "")
			if want := strings.Join(strings.Fields(test.after), ""); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if s, there, err := c.ServerIn(path); err != nil || !there || !s.Equal(ours) {
				t.Errorf("starts %v, %v, %v", s, there, err)
			}
		})
	}
}

func TestTheMarkThatAnEditorLeftStays(t *testing.T) {
	for _, c := range All {
		whole, _ := texts(c)
		before := "\ufeff" + whole
		path := write(t, before, 0o600)
		if _, err := c.SetServer(path, ours, false); err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		if _, there, err := c.ServerIn(path); err != nil || !there || !strings.HasPrefix(read(t, path), "\ufeff") {
			t.Errorf("%s: %v, %v in %q", c.Name, there, err, read(t, path))
		}
		if _, err := c.DropServer(path, false); err != nil || read(t, path) != before {
			t.Errorf("%s: %v, %q", c.Name, err, read(t, path))
		}
	}
}

func TestTheProgramOfAHookIsMovedAndItsWordsStay(t *testing.T) {
	for command, program := range map[string]string{
		"/opt/hermes-mcp hook":                               "/opt/hermes-mcp",
		"'/my hooks/it'\\''s/hermes-mcp' hook --home '/a b'": "/my hooks/it's/hermes-mcp",
		`"C:\a hook\hermes-mcp.exe" hook`:                    `C:\a hook\hermes-mcp.exe`,
		"hermes-mcp hook":                                    "hermes-mcp",
	} {
		if got := HookProgram(command); got != program {
			t.Errorf("%s runs %q, want %q", command, got, program)
		}
	}
	path := write(t, "{}", 0o600)
	if _, err := SetHook(path, "/old/hermes-mcp hook --home '/a b'", false); err != nil {
		t.Fatal(err)
	}
	if _, err := MoveHook(path, "/new place/hermes-mcp"); err != nil {
		t.Fatal(err)
	}
	if got, want := Hooked(path), CommandLine("/new place/hermes-mcp")+" hook --home '/a b'"; got != want {
		t.Errorf("hook %q, want %q", got, want)
	}
}

func TestAFileThatOnlyWeWroteGoesWithUs(t *testing.T) {
	for _, c := range All {
		for name, before := range map[string]string{"none": "", "one that says nothing": "{}\n"} {
			if before != "" && filepath.Ext(c.File(Place{GOOS: "linux"})) != ".json" {
				continue
			}
			t.Run(c.Title+" "+name, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "f")
				if before != "" {
					if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				for _, s := range []Server{ours, {"/new/hermes-mcp", nil}} {
					if _, err := c.SetServer(path, s, false); err != nil {
						t.Fatal(err)
					}
				}
				out, err := c.DropServer(path, false)
				if err != nil || out.Removed != (before == "") {
					t.Fatalf("%+v, %v", out, err)
				}
				text, err := os.ReadFile(path)
				if before == "" && !os.IsNotExist(err) || before != "" && strings.TrimSpace(string(text)) != "{}" {
					t.Errorf("left: %q, %v", text, err)
				}
			})
		}
	}
}

func TestOwnProgramsAreCalledAsTheyWantIt(t *testing.T) {
	s := Server{"/opt/h", []string{"serve", "--home", "/x & y"}}
	if got, want := codexAdd(s), [][]string{{"mcp", "add", "hermes", "--", "/opt/h", "serve", "--home", "/x & y"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("codex: %q", got)
	}
	for name, args := range map[string][]string{"claude": claudeAdd(s)[0], "code": codeAdd(s)[0]} {
		var entry struct {
			Name, Type, Command string
			Args                []string
		}
		if err := json.Unmarshal([]byte(args[len(args)-1]), &entry); err != nil {
			t.Fatal(err)
		}
		if entry.Type != "stdio" || entry.Command != s.Command || !slices.Equal(entry.Args, s.Args) || (name == "code") != (entry.Name == "hermes") {
			t.Errorf("%s: %q", name, args)
		}
	}
}

func TestOurHookStandsBesideOthersAndGoesAlone(t *testing.T) {
	const other = "{\n    \"hooks\": {\n        \"SessionStart\": [\n            {\"hooks\": [{\"type\": \"command\", \"command\": \"date\"}]}\n        ],\n        \"Notification\": []\n    },\n    \"model\": \"x\"\n}\n"
	path := write(t, other, 0o600)
	for _, command := range []string{"/old/hermes-mcp hook", "/new/hermes-mcp hook"} {
		if _, err := SetHook(path, command, false); err != nil {
			t.Fatal(err)
		}
		if got := Hooked(path); got != command {
			t.Errorf("hook is %q, want %q", got, command)
		}
	}
	if n := strings.Count(read(t, path), "hermes-mcp hook"); n != len(HookEvents) {
		t.Errorf("%d of our hooks, want one an event", n)
	}
	if _, err := DropHook(path, false); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != other {
		t.Errorf("after uninstall\n%s\nwant\n%s", got, other)
	}
}

func TestAHookInASharedGroupGoesWithoutItsNeighbours(t *testing.T) {
	path := write(t, `{"hooks": {"SessionStart": [{"hooks": [{"type":"command","command":"a"}, {"type":"command","command":"hermes-mcp hook"}, {"type":"command","command":"b"}]}]}}`, 0o600)
	if _, err := DropHook(path, false); err != nil {
		t.Fatal(err)
	}
	want := `{"hooks": {"SessionStart": [{"hooks": [{"type":"command","command":"a"}, {"type":"command","command":"b"}]}]}}`
	if got := read(t, path); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func write(t *testing.T, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAnotherProgramsServerOfOurNameIsLeftAlone(t *testing.T) {
	for name, command := range map[string]string{"mine": "mine", "a path": "/opt/tools/hermes", "of Windows": `C:\tools\hermes.exe`} {
		t.Run(name, func(t *testing.T) {
			c, err := Find("claude-code")
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "config")
			before := fmt.Sprintf(`{"mcpServers":{"hermes":{"command":%q,"args":["important"],"env":{"K":"v"}}}}`, command)
			if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := c.SetServer(file, Server{Command: "/bin/hermes-mcp", Args: []string{"serve"}}, false); !errors.Is(err, ErrForeign) {
				t.Errorf("set: %v", err)
			}
			if _, err := c.DropServer(file, false); !errors.Is(err, ErrForeign) {
				t.Errorf("drop: %v", err)
			}
			after, err := os.ReadFile(file)
			if err != nil || string(after) != before {
				t.Errorf("the file is now %s (%v)", after, err)
			}
		})
	}
}
