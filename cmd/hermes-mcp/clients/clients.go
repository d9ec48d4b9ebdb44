// Package clients knows how MCP clients are told about a server: the file each
// of them reads, the shape it wants there, how to tell that a client is on this
// machine, and what its user must do afterwards. How such a file is changed
// without hurting what else is in it is package configfile's knowledge.
package clients

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/clients/configfile"
)

// Key is the name of our entry in every client's configuration.
const Key = "hermes"

// A Server is how ours is started.
type Server struct {
	Command string
	Args    []string
}

// String is the command line, for people.
func (s Server) String() string { return CommandLine(append([]string{s.Command}, s.Args...)...) }

// Equal tells whether both start the same.
func (s Server) Equal(t Server) bool { return s.Command == t.Command && slices.Equal(s.Args, t.Args) }

// Ours tells whether s starts this program, by its name, or nothing.
func (s Server) Ours() bool {
	name := s.Command[strings.LastIndexAny(s.Command, `/\\`)+1:]
	return s.Command == "" || strings.HasPrefix(name, "hermes-mcp")
}

// A Client is one MCP client.
type Client struct {
	Name  string
	Title string

	File    func(p Place) string // the user's configuration
	Project string               // a project's configuration within its folder, "" where there is none
	Section []string             // where servers stand in the file
	Entry   func(s Server) configfile.Entry
	Format  configfile.Format
	Newer   *Shape                       // of a file that a newer version of the client wrote; nil where there is one shape
	Serve   func(args []string) []string // the arguments for this client; nil leaves them as they are
	Unread  bool                         // its conversations are in no file that we could read

	Program string                    // its own command line program, "" where it has none
	Add     func(s Server) [][]string // the arguments by which that adds a server for the user
	Signs   func(p Place) []string    // files or folders of which one is there when the client is
	Next    string                    // what its user must do after an install
}

// A Shape is how servers are written down.
type Shape struct {
	Section []string
	Entry   func(s Server) configfile.Entry
}

// shape is the one that a document has.
func (c Client) shape(d configfile.Document) Shape {
	own := Shape{c.Section, c.Entry}
	if c.Newer == nil {
		return own
	}
	// A list of servers one level deeper, and no server of that name.
	v, err := d.Lookup(c.Newer.Section...)
	below, is := v.(map[string]any)
	if err != nil || !is || below["type"] != nil || below["command"] != nil || below["url"] != nil {
		return own
	}
	return *c.Newer
}

func (s Shape) path() []string { return append(slices.Clone(s.Section), Key) }

// All lists every client by name.
var All = []Client{
	{
		Name: "claude-code", Title: "Claude Code", Program: "claude", Project: ".mcp.json",
		File: ClaudeCodeServers, Section: mcpServers, Entry: stdio, Format: configfile.JSON, Add: claudeAdd,
		Signs: func(p Place) []string { return []string{ClaudeCodeServers(p), filepath.Dir(ClaudeCodeSettings(p))} },
		Next:  "restart Claude Code, and allow the tools once when asked, or for good by \"mcp__" + Key + "\" in \"permissions\": {\"allow\": [...]} of its settings.json",
	},
	{
		Name: "claude-desktop", Title: "Claude Desktop",
		File: claudeDesktopFile, Section: mcpServers, Entry: bare, Format: configfile.JSON, Signs: folderOf(claudeDesktopFile), Unread: true,
		Next: "quit Claude Desktop, not only its window, and start it again",
	},
	{
		Name: "cursor", Title: "Cursor", Project: ".cursor/mcp.json",
		File: inHome(".cursor", "mcp.json"), Section: mcpServers, Entry: bare, Format: configfile.JSON, Signs: folderOf(inHome(".cursor", "mcp.json")),
		Next: "switch " + Key + " on in Cursor's settings, under MCP",
	},
	{
		Name: "vscode", Title: "VS Code", Program: "code", Project: ".vscode/mcp.json",
		File: vscodeFile, Section: []string{"servers"}, Entry: stdio, Format: configfile.JSON, Add: codeAdd, Signs: folderOf(vscodeFile),
		Next: "run the command MCP: List Servers in VS Code, start " + Key + " and trust it",
	},
	{
		Name: "windsurf", Title: "Windsurf",
		File: inHome(".codeium", "windsurf", "mcp_config.json"), Section: mcpServers, Entry: bare, Format: configfile.JSON, Signs: folderOf(inHome(".codeium", "windsurf", "mcp_config.json")),
		Next: "press refresh among the MCP servers of Cascade",
	},
	{
		Name: "zed", Title: "Zed", Project: ".zed/settings.json",
		File: zedFile, Section: []string{"context_servers"}, Entry: bare, Format: configfile.JSON, Signs: folderOf(zedFile),
		Next: "allow the tools in the agent panel when Zed asks",
	},
	{
		Name: "codex", Title: "Codex", Program: "codex", Project: ".codex/config.toml",
		File: codexFile, Section: []string{"mcp_servers"}, Entry: bare, Format: configfile.TOML, Add: codexAdd, Signs: folderOf(codexFile),
		Next: "start a new Codex session",
	},
	{
		Name: "gemini", Title: "Gemini CLI", Program: "gemini", Project: ".gemini/settings.json",
		File: inHome(".gemini", "settings.json"), Section: mcpServers, Entry: bare, Format: configfile.JSON, Signs: folderOf(inHome(".gemini", "settings.json")),
		Next: "start a new session of Gemini CLI, in a folder that it trusts",
	},
	{
		Name: "cline", Title: "Cline",
		File: clineFile, Section: mcpServers, Entry: cline, Format: configfile.JSON, Signs: func(p Place) []string { return []string{filepath.Dir(filepath.Dir(clineFile(p)))} },
		Next: "look into Cline's list of MCP servers once, it starts " + Key + " then",
	},
	{
		Name: "opencode", Title: "OpenCode", Program: "opencode", Project: "opencode.json",
		File: opencodeFile, Section: []string{"mcp"}, Entry: opencode, Format: configfile.JSON,
		Newer: &Shape{[]string{"mcp", "servers"}, opencode2}, Signs: folderOf(opencodeFile),
		Next: "start OpenCode again",
	},
	{
		Name: "hermes", Title: "Hermes Agent", Program: "hermes",
		File: hermesFile, Section: []string{"mcp_servers"}, Entry: hermes, Format: configfile.YAML, Serve: withoutInject,
		Signs: func(p Place) []string { return []string{hermesFile(p), filepath.Join(p.Hermes, "state.db")} },
		Next:  "restart Hermes Agent; it gets session_search alone, since it has the memory itself",
	},
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

// Present tells whether the client is on this machine: its files are, or its
// program is on PATH.
func (c Client) Present(p Place) bool {
	for _, sign := range c.Signs(p) {
		if _, err := os.Stat(sign); err == nil {
			return true
		}
	}
	if c.Program == "" {
		return false
	}
	_, err := exec.LookPath(c.Program)
	return err == nil
}

// Starting is s as this client starts it.
func (c Client) Starting(s Server) Server {
	if c.Serve != nil {
		s.Args = c.Serve(slices.Clone(s.Args))
	}
	return s
}

// Snippet returns what to put into the client's configuration for s.
func (c Client) Snippet(s Server) (string, error) {
	return configfile.Snippet(c.Format, c.Entry(c.Starting(s)), Shape{Section: c.Section}.path()...)
}

// SetServer puts s into the client's configuration at file. An entry that is
// there gets s's command and arguments and keeps what else is in it. With dry
// nothing is written. Errors: ErrForeign and those of configfile.Edit.
func (c Client) SetServer(file string, s Server, dry bool) (configfile.Outcome, error) {
	if err := c.foreign(file); err != nil {
		return configfile.Outcome{}, err
	}
	return configfile.Edit(file, c.Format, dry, func(d configfile.Document) error {
		as := c.shape(d)
		return d.Set(as.Entry(c.Starting(s)), as.path()...)
	})
}

// DropServer takes our entry out of file. Errors: ErrForeign and those of
// configfile.Edit.
func (c Client) DropServer(file string, dry bool) (configfile.Outcome, error) {
	if err := c.foreign(file); err != nil {
		return configfile.Outcome{}, err
	}
	return configfile.Edit(file, c.Format, dry, func(d configfile.Document) error {
		_, err := d.Drop(c.shape(d).path()...)
		return err
	})
}

// ErrForeign is returned when the entry of our name starts another program.
var ErrForeign = errors.New("is another program's")

// foreign tells whether the entry of our name in file starts a program that is
// not ours. What is wrong with the file itself is for the edit to say.
func (c Client) foreign(file string) error {
	s, there, err := c.ServerIn(file)
	if err != nil || !there || s.Ours() {
		return nil
	}
	return fmt.Errorf("%s: the server %q there %w (%s) and was left alone; give it another name and call again", file, Key, ErrForeign, s.Command)
}

// ServerIn returns how the client that reads file starts our server. A file
// that is not there starts none.
func (c Client) ServerIn(file string) (s Server, there bool, err error) {
	d, err := configfile.Read(file, c.Format)
	if os.IsNotExist(err) {
		return Server{}, false, nil
	}
	if err != nil {
		return Server{}, false, err
	}
	v, err := d.Lookup(c.shape(d).path()...)
	entry, ok := v.(map[string]any)
	if err != nil || !ok {
		return Server{}, false, err
	}
	words, args := strs(entry["command"]), strs(entry["args"])
	if words = append(words, args...); len(words) > 0 {
		s = Server{words[0], words[1:]}
	}
	return s, true, nil
}

// strs are the texts of a value that is one or a list of them.
func strs(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, e := range v {
			if text, ok := e.(string); ok {
				out = append(out, text)
			}
		}
		return out
	}
	return nil
}

// The shapes of an entry.

var mcpServers = []string{"mcpServers"}

func bare(s Server) configfile.Entry {
	return configfile.Entry{{Key: "command", Value: s.Command}, {Key: "args", Value: s.Args}}
}

func stdio(s Server) configfile.Entry {
	return append(configfile.Entry{{Key: "type", Value: "stdio"}}, bare(s)...)
}

func cline(s Server) configfile.Entry {
	return append(bare(s), configfile.Field{Key: "disabled", Value: false, Once: true})
}

func opencode(s Server) configfile.Entry {
	return configfile.Entry{
		{Key: "type", Value: "local"},
		{Key: "command", Value: append([]string{s.Command}, s.Args...)},
		{Key: "enabled", Value: true, Once: true},
	}
}

func opencode2(s Server) configfile.Entry {
	return configfile.Entry{
		{Key: "type", Value: "local"},
		{Key: "command", Value: append([]string{s.Command}, s.Args...)},
		{Key: "disabled", Value: false, Once: true},
	}
}

func hermes(s Server) configfile.Entry {
	search := configfile.Entry{{Key: "include", Value: []string{"session_search"}}}
	return append(bare(s), configfile.Field{Key: "tools", Value: search, Once: true})
}

// withoutInject is for Hermes Agent, which puts the same files into its prompt
// itself.
func withoutInject(args []string) []string { return append(args, "--inject", "off") }
