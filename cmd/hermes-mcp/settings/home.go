package settings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// A Home is the folder that everything is kept in.
type Home struct {
	Path    string // absolute
	Profile string // "" is the default profile
	From    string // what named it: --home, HERMES_HOME, or "default"
	Warning string // "" or what a reader of the log should know
}

// A Machine says what the resolution of a home depends on.
type Machine struct {
	GOOS string
	User string // the user's home folder; "" when unknown
	Env  func(string) string
}

var profileName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// Find returns the home: flag, else HERMES_HOME, else the default place, and in
// it the profile's folder. It makes nothing.
func (m Machine) Find(flag, profile string) (Home, error) {
	h := Home{Path: flag, From: "--home"}
	if h.Path == "" {
		h.Path, h.From = m.Env("HERMES_HOME"), "HERMES_HOME"
	}
	if h.Path == "" {
		var err error
		if h.Path, err = m.defaultHome(); err != nil {
			return Home{}, err
		}
		h.From = "default"
	}
	if rest, tilde := strings.CutPrefix(h.Path, "~"); tilde && m.User != "" && (rest == "" || rest[0] == '/' || rest[0] == os.PathSeparator) {
		h.Path = m.User + rest
	}
	var err error
	if h.Path, err = filepath.Abs(h.Path); err != nil {
		return Home{}, fmt.Errorf("home %q: %w", h.Path, err)
	}
	if profile == "" && h.From != "--home" {
		h.Warning = activeProfile(h.Path)
	}
	if profile == "" || profile == "default" {
		return h, nil
	}
	if !profileName.MatchString(profile) {
		return Home{}, fmt.Errorf("profile %q: a name starts with a lower-case letter or digit, then up to 63 of those, - and _", profile)
	}
	h.Profile = profile
	h.Path = filepath.Join(h.Path, "profiles", profile)
	return h, nil
}

func (m Machine) defaultHome() (string, error) {
	if m.GOOS == "windows" {
		if local := m.Env("LOCALAPPDATA"); local != "" {
			return filepath.Join(local, "hermes"), nil
		}
	}
	if m.User == "" {
		return "", errors.New("no home folder: neither HOME nor HERMES_HOME is set; name one with --home DIR")
	}
	return filepath.Join(m.User, ".hermes"), nil
}

// activeProfile warns when Hermes works in another profile than we do.
func activeProfile(home string) string {
	raw, err := os.ReadFile(filepath.Join(home, "active_profile"))
	if err != nil {
		return "" // no such choice was made
	}
	name := strings.TrimSpace(string(raw))
	if name == "" || name == "default" {
		return ""
	}
	return fmt.Sprintf("hermes has profile %q active, this is the default profile; use --profile %s for that one's memory", name, name)
}

// Make makes the home on first use and narrows the rights of its mcp folder to
// the user. It returns whether this call made the home, which happens once
// however many processes start.
func (h Home) Make() (bool, error) {
	if err := os.MkdirAll(filepath.Dir(h.Path), 0o755); err != nil {
		return false, fmt.Errorf("make home (--home names another): %w", err)
	}
	err := os.Mkdir(h.Path, 0o700)
	made := err == nil
	if err != nil && !errors.Is(err, os.ErrExist) {
		return false, fmt.Errorf("make home (--home names another): %w", err)
	}
	ours := h.MCP()
	if info, err := os.Stat(ours); err == nil && !info.IsDir() {
		return made, fmt.Errorf("%s is a file where a folder is needed: move it aside, or name another home with --home", ours)
	}
	if err := os.MkdirAll(ours, 0o700); err != nil {
		return made, fmt.Errorf("make home: %w", err)
	}
	if info, err := os.Stat(ours); err == nil && info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(ours, 0o700); err != nil {
			return made, fmt.Errorf("narrow the rights of %s: %w", ours, err)
		}
	}
	return made, nil
}

// Unwritable is why nothing can be kept in a home that is there: it is another's,
// or on a disk that is mounted read-only. It is nil where something can.
func (h Home) Unwritable() error {
	dir := h.MCP()
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		dir = h.Path
	}
	if err := unwritable(dir); err != nil {
		return fmt.Errorf("%s cannot be written (%w)", h.Path, err)
	}
	return nil
}

// MCP is the folder that is hermes-mcp's alone.
func (h Home) MCP(parts ...string) string {
	return filepath.Join(append([]string{h.Path, "mcp"}, parts...)...)
}
