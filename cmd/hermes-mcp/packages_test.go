package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/clients"
	"github.com/hermes-mcp/hermes-mcp/testbed"
)

// release is what the packages say they hold. The program itself takes its
// version from the tag.
const release = "0.1.0"

// A serverEntry is how a package starts us.
type serverEntry struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

func TestEveryPackageNamesTheSameRelease(t *testing.T) {
	var marketplace struct {
		Plugins []struct{ Name, Version, Source string }
	}
	packaged(t, ".claude-plugin/marketplace.json", &marketplace)
	if p := marketplace.Plugins[0]; p.Name != "hermes-mcp" || p.Version != release || p.Source != "./packaging/claude-plugin" {
		t.Errorf("the marketplace offers %+v", p)
	}
	for _, file := range []string{"packaging/mcpb/manifest.json", "packaging/claude-plugin/.claude-plugin/plugin.json", "gemini-extension.json"} {
		var p struct{ Name, Version string }
		packaged(t, file, &p)
		if p.Name != "hermes-mcp" || p.Version != release {
			t.Errorf("%s is %s %s, want hermes-mcp %s", file, p.Name, p.Version, release)
		}
	}
	var registry struct {
		Name, Version string
		Packages      []struct {
			Identifier       string
			PackageArguments []struct{ Value string }
		}
	}
	packaged(t, "server.json", &registry)
	if registry.Name != "io.github.hermes-mcp/hermes-mcp" || registry.Version != release {
		t.Errorf("the registry has %s %s", registry.Name, registry.Version)
	}
	for _, p := range registry.Packages {
		if !strings.HasSuffix(p.Identifier, ":"+release) {
			t.Errorf("the registry's package is %s", p.Identifier)
		}
		var args []string
		for _, a := range p.PackageArguments {
			args = append(args, a.Value)
		}
		runnable(t, "server.json", args)
	}
	text, err := os.ReadFile(filepath.Join(testbed.Repository(t), "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), `server.name="`+registry.Name+`"`) {
		t.Error("the image's label is not the registry's name")
	}
	_, cmd, _ := strings.Cut(string(text), "\nCMD ")
	var args []string
	if err := json.Unmarshal([]byte(cmd), &args); err != nil {
		t.Fatalf("CMD of the Dockerfile: %v", err)
	}
	runnable(t, "Dockerfile", args)
}

func TestEveryPackageStartsTheServerByItsKey(t *testing.T) {
	for _, file := range []string{"packaging/claude-plugin/.mcp.json", "gemini-extension.json", "mcp.json.example"} {
		var config struct {
			Servers map[string]serverEntry `json:"mcpServers"`
		}
		packaged(t, file, &config)
		s, ok := config.Servers[clients.Key]
		if !ok || len(config.Servers) != 1 || s.Command != "hermes-mcp" {
			t.Errorf("%s has %+v", file, config.Servers)
		}
		runnable(t, file, s.Args)
	}
}

func TestTheBundleStartsTheProgramsThatItHoldsAndNamesTheTools(t *testing.T) {
	var manifest struct {
		Server struct {
			EntryPoint string `json:"entry_point"`
			Config     struct {
				serverEntry
				Overrides map[string]serverEntry `json:"platform_overrides"`
			} `json:"mcp_config"`
		}
		Tools []struct{ Name string }
	}
	packaged(t, "packaging/mcpb/manifest.json", &manifest)
	config := manifest.Server.Config
	if config.Command != "/bin/sh" || config.Args[0] != "${__dirname}/"+manifest.Server.EntryPoint || manifest.Server.EntryPoint != "server/launch.sh" {
		t.Errorf("starts %+v", config.serverEntry)
	}
	runnable(t, "manifest", config.Args[1:])
	runnable(t, "manifest on Windows", config.Overrides["win32"].Args)
	var names []string
	for _, tool := range manifest.Tools {
		names = append(names, tool.Name)
	}
	if want := []string{"memory", "session_search"}; !slices.Equal(names, want) {
		t.Errorf("tools are %v, want %v", names, want)
	}
}

func TestTheBundlesLauncherStartsTheProgramOfTheMachine(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows starts its program itself")
	}
	dir, bin := t.TempDir(), t.TempDir()
	launcher := filepath.Join(dir, "launch.sh")
	if err := os.WriteFile(launcher, []byte(prose(t, "packaging/mcpb/launch.sh")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"hermes-mcp-darwin", "hermes-mcp-linux-amd64", "hermes-mcp-linux-arm64"} {
		script := "#!/bin/sh\necho " + name + " \"$@\"\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for machine, want := range map[string]string{
		"Darwin x86_64":  "hermes-mcp-darwin serve a b\n",
		"Darwin arm64":   "hermes-mcp-darwin serve a b\n",
		"Linux x86_64":   "hermes-mcp-linux-amd64 serve a b\n",
		"Linux aarch64":  "hermes-mcp-linux-arm64 serve a b\n",
		"Linux riscv64":  "hermes-mcp: this bundle has no program for Linux on riscv64\n",
		"FreeBSD x86_64": "hermes-mcp: this bundle has no program for FreeBSD on x86_64\n",
	} {
		system, processor, _ := strings.Cut(machine, " ")
		uname := "#!/bin/sh\n[ \"$1\" = -m ] && echo " + processor + " || echo " + system + "\n"
		if err := os.WriteFile(filepath.Join(bin, "uname"), []byte(uname), 0o700); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("/bin/sh", launcher, "serve", "a b")
		cmd.Env = []string{"PATH=" + bin + ":/usr/bin:/bin"}
		said, err := cmd.CombinedOutput()
		if string(said) != want || (err == nil) != strings.Contains(want, "serve") {
			t.Errorf("%s: %q, %v", machine, said, err)
		}
	}
}

func TestThePluginHooksTheEventsThatInstallHooks(t *testing.T) {
	var plugin struct {
		Hooks map[string][]struct {
			Matcher string
			Hooks   []struct{ Type, Command string }
		}
	}
	packaged(t, "packaging/claude-plugin/hooks/hooks.json", &plugin)
	got := map[string]string{}
	for event, groups := range plugin.Hooks {
		got[event] = groups[0].Matcher
		if h := groups[0].Hooks[0]; len(groups) != 1 || len(groups[0].Hooks) != 1 || h.Type != "command" || h.Command != "hermes-mcp hook" {
			t.Errorf("%s runs %+v", event, groups)
		}
	}
	want := map[string]string{}
	for _, e := range clients.HookEvents {
		want[e.Name] = e.Matcher
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("hooks %v, want %v", got, want)
	}
}

func TestReleasesAreBuiltForSixSystemsWithoutC(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(testbed.Repository(t), ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Builds []struct {
			Main              string
			Env, GOOS, Goarch []string
			Flags, Ldflags    []string
			Mod               string `yaml:"mod_timestamp"`
		}
		Archives []struct{ Files []string }
		Checksum struct {
			Name string `yaml:"name_template"`
		}
		SBOMs []struct{ Artifacts string }
		Casks []struct{ Binaries []string } `yaml:"homebrew_casks"`
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	b := config.Builds[0]
	if b.Main != "./cmd/hermes-mcp" || !slices.Contains(b.Env, "CGO_ENABLED=0") || len(b.GOOS)*len(b.Goarch) != 6 {
		t.Errorf("build %+v", b)
	}
	for _, file := range config.Archives[0].Files {
		if _, err := os.Stat(filepath.Join(testbed.Repository(t), file)); err != nil {
			t.Errorf("archives hold %s: %v", file, err)
		}
	}
	if config.Checksum.Name == "" || len(config.SBOMs) == 0 || len(config.Casks) == 0 || config.Casks[0].Binaries[0] != "hermes-mcp" {
		t.Errorf("checksum, SBOM or cask: %+v", config)
	}
}

func TestTheREADMEsNameEveryClientAndTheSameFirstCommand(t *testing.T) {
	english, chinese := prose(t, "README.md"), prose(t, "README.zh-CN.md")
	for _, c := range clients.All {
		for name, text := range map[string]string{"README.md": english, "README.zh-CN.md": chinese} {
			if !strings.Contains(text, "`hermes-mcp install "+c.Name+"`") {
				t.Errorf("%s does not say how to install %s", name, c.Name)
			}
		}
	}
	_, after, _ := strings.Cut(english, "<!-- main command -->\n```sh\n")
	if command, _, _ := strings.Cut(after, "```"); command == "" || !strings.Contains(chinese, command) {
		t.Errorf("README.zh-CN.md does not have the command %q", command)
	}
}

func TestTheREADMEsLinksInstallWhatPrintConfigPrints(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("HERMES_HOME", "")
	text := prose(t, "README.md")
	link := func(prefix string) string {
		_, after, _ := strings.Cut(text, prefix)
		rest, _, _ := strings.Cut(after, "\n")
		return rest
	}
	cursor, err := base64.StdEncoding.DecodeString(link("cursor://anysphere.cursor-deeplink/mcp/install?name=" + clients.Key + "&config="))
	if err != nil {
		t.Fatal(err)
	}
	code, err := url.QueryUnescape(link("vscode:mcp/install?"))
	if err != nil {
		t.Fatal(err)
	}
	for client, linked := range map[string][]byte{"cursor": cursor, "vscode": []byte(code)} {
		var got map[string]any
		if err := json.Unmarshal(linked, &got); err != nil {
			t.Fatalf("%s: %v in %s", client, err, linked)
		}
		if client == "vscode" && got["name"] != clients.Key {
			t.Errorf("%s: named %v", client, got["name"])
		}
		delete(got, "name")
		var printed bytes.Buffer
		if code := run(t.Context(), []string{"print-config", client}, strings.NewReader(""), &printed, io.Discard); code != 0 {
			t.Fatalf("print-config %s: %d", client, code)
		}
		var file map[string]map[string]map[string]any
		if err := json.Unmarshal(printed.Bytes(), &file); err != nil {
			t.Fatal(err)
		}
		want := file[map[string]string{"cursor": "mcpServers", "vscode": "servers"}[client]][clients.Key]
		want["command"] = "hermes-mcp" // whose path a link cannot know
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the link installs %v, print-config prints %v", client, got, want)
		}
	}
}

func TestTheRecordingIsACast(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(prose(t, "docs/first-minutes.cast")), "\n")
	var head struct{ Version int }
	if err := json.Unmarshal([]byte(lines[0]), &head); err != nil || head.Version != 2 {
		t.Fatalf("first line %q: %v", lines[0], err)
	}
	last, shown := 0.0, ""
	for _, line := range lines[1:] {
		var event []any
		if err := json.Unmarshal([]byte(line), &event); err != nil || len(event) != 3 || event[0].(float64) < last {
			t.Fatalf("event %q: %v", line, err)
		}
		last = event[0].(float64)
		shown += event[2].(string)
	}
	for _, want := range []string{"hermes-mcp install --all", "can be read", "saved; ", ">>>migration<<<"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the recording does not show %q: .ci/record >docs/first-minutes.cast", want)
		}
	}
}

// prose reads a text file of the repository.
func prose(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testbed.Repository(t), file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// packaged reads a JSON file of the repository.
func packaged(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testbed.Repository(t), file))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// runnable checks that the program knows a command line, without running it.
func runnable(t *testing.T, where string, args []string) {
	t.Helper()
	root := (&app{out: io.Discard, err: io.Discard}).root()
	c, rest, err := root.Find(args)
	if err != nil || c == root {
		t.Errorf("%s: %q is no command: %v", where, args, err)
		return
	}
	if err := c.ParseFlags(rest); err != nil {
		t.Errorf("%s: %q: %v", where, args, err)
	}
	if err := cobra.NoArgs(c, c.Flags().Args()); err != nil {
		t.Errorf("%s: %q: %v", where, args, err)
	}
}
