// Package roster knows every provider by its name, and opens the one that is
// configured. A new provider is one folder beside this one and one line here.
package roster

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/hermes-mcp/hermes-mcp/provider"
	"github.com/hermes-mcp/hermes-mcp/provider/exec"
	"github.com/hermes-mcp/hermes-mcp/provider/holographic"
)

// Errors of this package, in words for a user.
var (
	ErrUnknown = errors.New("no such provider")
	ErrSecond  = errors.New("at most one provider is active")
	ErrSetting = errors.New("a setting is missing")
)

// A Config is what the configuration says. The zero Config is no provider.
type Config struct {
	Name        string // as configured; "" and none are no provider
	Home        string // $HERMES_HOME, for files that have a usual place there
	Exec        Exec
	Holographic Holographic
}

// Exec configures the provider exec.
type Exec struct {
	Command []string
	Dir     string    // where it runs; the current folder when ""
	Env     []string  // its environment; ours when nil
	Stderr  io.Writer // where what it writes to standard error goes
}

// Holographic configures the provider holographic.
type Holographic struct {
	Path         string        // the store; <home>/memory_store.db, which Hermes has, when ""
	MinTrust     float64       // 0.3 when 0
	DefaultTrust float64       // 0.5 when 0
	HalfLife     time.Duration // 0: facts do not age
}

// An Entry describes a provider to a user.
type Entry struct {
	Name     string    `json:"name"`
	Summary  string    `json:"summary"`
	Settings []Setting `json:"settings"`
}

// A Setting is one key under provider.<name>.
type Setting struct {
	Key      string `json:"key"`
	Meaning  string `json:"meaning"`
	Default  string `json:"default,omitempty"`
	Required bool   `json:"required,omitempty"`
}

// All are the providers, by name.
func All() []Entry {
	return []Entry{
		{Name: "exec", Summary: "any program that reads and writes one JSON object a line", Settings: []Setting{
			{Key: "command", Meaning: "the program and its arguments", Required: true},
			{Key: "dir", Meaning: "the folder it runs in"},
		}},
		{Name: "holographic", Summary: "a local store of facts, shared with Hermes Agent; no network", Settings: []Setting{
			{Key: "path", Meaning: "the SQLite file", Default: "<home>/memory_store.db"},
			{Key: "min_trust", Meaning: "trust below which nothing is recalled, 0 to 1", Default: "0.3"},
			{Key: "default_trust", Meaning: "trust of a new fact", Default: "0.5"},
			{Key: "half_life", Meaning: "age at which a fact counts half; 0: never", Default: "0"},
		}},
	}
}

// Open opens the provider that c names, nil when it names none. Nothing is
// started. Errors: ErrUnknown, ErrSecond, ErrSetting.
func Open(c Config) (provider.Provider, error) {
	name, err := one(c.Name)
	if err != nil {
		return nil, err
	}
	switch name {
	case "":
		return nil, nil
	case "exec":
		p, err := exec.New(c.Exec.Command)
		if err != nil {
			return nil, fmt.Errorf("%w: provider.exec.command: %w", ErrSetting, err)
		}
		p.Dir, p.Env, p.Stderr = c.Exec.Dir, c.Exec.Env, c.Exec.Stderr
		return p, nil
	case "holographic":
		path := c.Holographic.Path
		if path == "" {
			path = filepath.Join(c.Home, "memory_store.db")
		}
		p := holographic.New(path)
		p.MinTrust, p.DefaultTrust, p.HalfLife = c.Holographic.MinTrust, c.Holographic.DefaultTrust, c.Holographic.HalfLife
		return p, nil
	default:
		var known []string
		for _, e := range All() {
			known = append(known, e.Name)
		}
		return nil, fmt.Errorf("%w: provider.name is %q; it may be none, %s", ErrUnknown, name, strings.Join(known, ", "))
	}
}

// one is the one name that is configured, "" for none.
func one(names string) (string, error) {
	all := strings.FieldsFunc(strings.ToLower(names), func(r rune) bool { return strings.ContainsRune(" ,;[]\"'", r) })
	switch {
	case len(all) == 0, len(all) == 1 && all[0] == "none":
		return "", nil
	case len(all) > 1:
		return "", fmt.Errorf("%w: provider.name names %s beside %s; name one of them", ErrSecond, strings.Join(all[1:], " and "), all[0])
	}
	return all[0], nil
}
