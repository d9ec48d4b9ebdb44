// Package clients knows how MCP clients are told about a server: the file each
// of them reads, the shape it wants there, and how to change such a file
// without hurting what else is in it.
//
// A person's configuration is edited as text: only the bytes of our own entry
// change, so comments, order and indentation stay. The old bytes are kept
// beside, what was read is compared with what is there just before the new
// file takes its place, and a file that does not parse, or that its owner made
// read-only, is refused and left alone.
package clients

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Key is the name of our entry in every client's configuration.
const Key = "hermes"

// A Place says where clients keep their configuration on this machine.
type Place struct {
	GOOS   string
	Home   string // the user's home folder
	Config string // $XDG_CONFIG_HOME, else ~/.config
	Data   string // %APPDATA% on Windows
	Claude string // $CLAUDE_CONFIG_DIR, else ""
}

// A Server is how ours is started.
type Server struct {
	Command string
	Args    []string
}

// A Client is one MCP client.
type Client struct {
	Name  string
	Title string
	File  func(p Place) string         // where the user's configuration is
	Text  func(s Server) string        // what to put there
	Serve func(args []string) []string // the arguments of this client; nil leaves them as they are
}

// All lists every client by name.
var All = []Client{
	{Name: "claude-code", Title: "Claude Code", File: ClaudeCodeServers, Text: jsonUnder("mcpServers", stdio)},
	{Name: "claude-desktop", Title: "Claude Desktop", File: claudeDesktopFile, Text: jsonUnder("mcpServers", plain)},
	{Name: "cursor", Title: "Cursor", File: inHome(".cursor", "mcp.json"), Text: jsonUnder("mcpServers", plain)},
	{Name: "vscode", Title: "VS Code", File: vscodeFile, Text: jsonUnder("servers", stdio)},
	{Name: "windsurf", Title: "Windsurf", File: inHome(".codeium", "windsurf", "mcp_config.json"), Text: jsonUnder("mcpServers", plain)},
	{Name: "zed", Title: "Zed", File: zedFile, Text: jsonUnder("context_servers", plain)},
	{Name: "codex", Title: "Codex", File: inHome(".codex", "config.toml"), Text: toml},
	{Name: "gemini", Title: "Gemini CLI", File: inHome(".gemini", "settings.json"), Text: jsonUnder("mcpServers", plain)},
	{Name: "cline", Title: "Cline", File: clineFile, Text: jsonUnder("mcpServers", cline)},
	{Name: "opencode", Title: "OpenCode", File: func(p Place) string { return filepath.Join(p.Config, "opencode", "opencode.json") }, Text: jsonUnder("mcp", opencode)},
	{Name: "hermes", Title: "Hermes Agent", File: inHome(".hermes", "config.yaml"), Text: yaml, Serve: withoutInject},
}

// Find returns the client of that name.
func Find(name string) (Client, error) {
	for _, c := range All {
		if c.Name == name {
			return c, nil
		}
	}
	return Client{}, fmt.Errorf("no client %q; known are %s", name, strings.Join(Names(), ", "))
}

// Names lists the clients' names in the order of All.
func Names() []string {
	var names []string
	for _, c := range All {
		names = append(names, c.Name)
	}
	return names
}

// Snippet returns what to put into the client's configuration for s.
func (c Client) Snippet(s Server) string {
	if c.Serve != nil {
		s.Args = c.Serve(slices.Clone(s.Args))
	}
	return c.Text(s)
}

func inHome(parts ...string) func(Place) string {
	return func(p Place) string { return filepath.Join(append([]string{p.Home}, parts...)...) }
}

// ClaudeCodeServers is the file of Claude Code's user-wide servers.
func ClaudeCodeServers(p Place) string {
	if p.Claude != "" {
		return filepath.Join(p.Claude, ".claude.json")
	}
	return filepath.Join(p.Home, ".claude.json")
}

// ClaudeCodeSettings is the file of Claude Code's user-wide hooks.
func ClaudeCodeSettings(p Place) string {
	if p.Claude != "" {
		return filepath.Join(p.Claude, "settings.json")
	}
	return filepath.Join(p.Home, ".claude", "settings.json")
}

// appData is the folder of graphical programs' settings.
func (p Place) appData() string {
	switch p.GOOS {
	case "darwin":
		return filepath.Join(p.Home, "Library", "Application Support")
	case "windows":
		return p.Data
	}
	return p.Config
}

func claudeDesktopFile(p Place) string {
	return filepath.Join(p.appData(), "Claude", "claude_desktop_config.json")
}

func vscodeFile(p Place) string { return filepath.Join(p.appData(), "Code", "User", "mcp.json") }

func clineFile(p Place) string {
	return filepath.Join(p.appData(), "Code", "User", "globalStorage", "saoudrizwan.claude-dev", "settings", "cline_mcp_settings.json")
}

func zedFile(p Place) string {
	if p.GOOS == "windows" {
		return filepath.Join(p.Data, "Zed", "settings.json")
	}
	return filepath.Join(p.Config, "zed", "settings.json")
}

// An entry keeps its keys in the order in which people write them.
type entry struct {
	Type     string   `json:"type,omitempty"`
	Command  any      `json:"command"`
	Args     []string `json:"args,omitempty"`
	Disabled *bool    `json:"disabled,omitempty"`
	Enabled  *bool    `json:"enabled,omitempty"`
}

func plain(s Server) entry { return entry{Command: s.Command, Args: s.Args} }
func stdio(s Server) entry { return entry{Type: "stdio", Command: s.Command, Args: s.Args} }
func cline(s Server) entry { return entry{Command: s.Command, Args: s.Args, Disabled: new(bool)} }

func opencode(s Server) entry {
	yes := true
	return entry{Type: "local", Command: append([]string{s.Command}, s.Args...), Enabled: &yes}
}

func jsonUnder(key string, shape func(Server) entry) func(Server) string {
	return func(s Server) string {
		return indented(map[string]map[string]entry{key: {Key: shape(s)}}, "", "  ") + "\n"
	}
}

// indented is the JSON of a value that always has one, without HTML escapes.
func indented(v any, prefix, indent string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if indent != "" {
		e.SetIndent(prefix, indent)
	}
	if err := e.Encode(v); err != nil {
		panic("clients: " + err.Error()) // only plain structs and maps come here
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// toml quotes by JSON, whose strings are TOML's basic strings.
func toml(s Server) string {
	return fmt.Sprintf("[mcp_servers.%s]\ncommand = %s\nargs = %s\n", Key, indented(s.Command, "", ""), flow(s.Args))
}

// yaml quotes by JSON, whose strings are YAML's double-quoted ones.
func yaml(s Server) string {
	return fmt.Sprintf("mcp_servers:\n  %s:\n    command: %s\n    args: %s\n    tools:\n      include: [session_search]\n", Key, indented(s.Command, "", ""), flow(s.Args))
}

func flow(words []string) string {
	quoted := make([]string, 0, len(words))
	for _, w := range words {
		quoted = append(quoted, indented(w, "", ""))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// withoutInject is for Hermes Agent, which puts the same files into its prompt
// itself.
func withoutInject(args []string) []string { return append(args, "--inject", "off") }
