package clients

import (
	"os"
	"path/filepath"
)

// A Place says where clients keep their configuration on this machine.
type Place struct {
	GOOS     string
	Home     string // the user's home folder
	Config   string // $XDG_CONFIG_HOME, else ~/.config
	Data     string // %APPDATA% on Windows
	Claude   string // $CLAUDE_CONFIG_DIR, else ""
	Codex    string // $CODEX_HOME, else ""
	OpenCode string // $OPENCODE_CONFIG, else ""
	Hermes   string // Hermes Agent's home
}

func inHome(parts ...string) func(Place) string {
	return func(p Place) string { return filepath.Join(append([]string{p.Home}, parts...)...) }
}

// folderOf is the sign of a client that makes the folder of its file.
func folderOf(file func(Place) string) func(Place) []string {
	return func(p Place) []string { return []string{filepath.Dir(file(p))} }
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

func codexFile(p Place) string {
	if p.Codex != "" {
		return filepath.Join(p.Codex, "config.toml")
	}
	return filepath.Join(p.Home, ".codex", "config.toml")
}

// opencodeFile is the one of several names that is there.
func opencodeFile(p Place) string {
	if p.OpenCode != "" {
		return p.OpenCode
	}
	folder := filepath.Join(p.Config, "opencode")
	for _, name := range []string{"opencode.jsonc", "opencode.json", "config.json"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
			return filepath.Join(folder, name)
		}
	}
	return filepath.Join(folder, "opencode.json")
}

func hermesFile(p Place) string { return filepath.Join(p.Hermes, "config.yaml") }
