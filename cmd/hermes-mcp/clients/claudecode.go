package clients

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/tailscale/hujson"
)

// A hook group of Claude Code's settings.json.
type hookGroup struct {
	Matcher string        `json:"matcher,omitempty"`
	Hooks   []hookCommand `json:"hooks"`
}

type hookCommand struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout,omitempty"` // seconds
}

// SetServer puts s under mcpServers in a file of Claude Code's shape.
func SetServer(path string, s Server, dry bool) (Outcome, error) {
	return edit(path, dry, func(d *doc) error {
		old, err := d.get("mcpServers", Key)
		if err != nil {
			return err
		}
		want := indented(stdio(s), "", "")
		if old != nil && same(*old, want) {
			return nil
		}
		return d.set(stdio(s), "mcpServers", Key)
	})
}

// DropServer takes our entry out of mcpServers.
func DropServer(path string, dry bool) (Outcome, error) {
	return edit(path, dry, func(d *doc) error {
		_, err := d.drop("mcpServers", Key)
		return err
	})
}

// same tells whether v is the JSON want, whatever its layout.
func same(v hujson.Value, want string) bool {
	c := v.Clone()
	c.Minimize()
	return string(c.Pack()) == want
}

// SetHook makes Claude Code run command at the start of every session. A hook
// of an earlier install is replaced, for two would tell everything twice.
func SetHook(path, command string, dry bool) (Outcome, error) {
	return edit(path, dry, func(d *doc) error {
		found, err := ourHooks(d)
		if err != nil {
			return err
		}
		if len(found) == 1 && found[0].command == command {
			return nil
		}
		if err := dropHooks(d); err != nil {
			return err
		}
		return d.add(hookGroup{
			Matcher: "startup|resume|clear|compact",
			Hooks:   []hookCommand{{Type: "command", Command: command, Timeout: 10}},
		}, "hooks", sessionStart)
	})
}

const sessionStart = "SessionStart"

// DropHook takes our hook out.
func DropHook(path string, dry bool) (Outcome, error) { return edit(path, dry, dropHooks) }

// Hooked returns the command of our hook in the settings at path, "" when it is
// not there or the file cannot be read.
func Hooked(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	d, err := parseDoc(text)
	if err != nil {
		return ""
	}
	found, err := ourHooks(d)
	if err != nil || len(found) == 0 {
		return ""
	}
	return found[0].command
}

// ServerIn returns how the settings at path start our server.
func ServerIn(path string) (Server, bool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Server{}, false, err
	}
	d, err := parseDoc(text)
	if err != nil {
		return Server{}, false, fmt.Errorf("%s: %w: %w", path, ErrBroken, err)
	}
	at, err := d.get("mcpServers", Key)
	if err != nil || at == nil {
		return Server{}, false, err
	}
	var s Server
	v := at.Clone()
	v.Standardize()
	if err := json.Unmarshal(v.Pack(), &s); err != nil {
		return Server{}, false, fmt.Errorf("%s: mcpServers.%s: %w", path, Key, err)
	}
	return s, true, nil
}

// A place is where one of our hooks stands in settings.json.
type place struct {
	group, hook int
	alone       bool // the only hook of its group
	command     string
}

// ourHooks finds the hooks that run this program.
func ourHooks(d *doc) ([]place, error) {
	at, err := d.get("hooks", sessionStart)
	if err != nil || at == nil {
		return nil, err
	}
	v := at.Clone()
	v.Standardize()
	var groups []struct {
		Hooks []struct {
			Command string `json:"command"`
		} `json:"hooks"`
	}
	if err := json.Unmarshal(v.Pack(), &groups); err != nil {
		return nil, fmt.Errorf("hooks.%s: %w: %w", sessionStart, ErrShape, err)
	}
	var out []place
	for i, g := range groups {
		for j, h := range g.Hooks {
			if strings.Contains(h.Command, "hermes-mcp") && strings.Contains(h.Command, " hook") {
				out = append(out, place{i, j, len(g.Hooks) == 1, h.Command})
			}
		}
	}
	return out, nil
}

// dropHooks takes ours out from the last to the first, so that the places stay
// right, and then the lists that are left empty.
func dropHooks(d *doc) error {
	found, err := ourHooks(d)
	if err != nil || len(found) == 0 {
		return err
	}
	// One at a time: a group that held two of ours is alone in the end.
	p := found[len(found)-1]
	if p.alone {
		err = d.dropElement(p.group, "hooks", sessionStart)
	} else {
		err = d.dropNested(p)
	}
	if err != nil {
		return err
	}
	if at, err := d.get("hooks", sessionStart); err != nil {
		return err
	} else if isEmpty(*at) {
		_, err = d.drop("hooks", sessionStart)
		return err
	}
	return dropHooks(d)
}

// dropNested removes one hook of a group that holds others.
func (d *doc) dropNested(p place) error {
	at, err := d.get("hooks", sessionStart)
	if err != nil {
		return err
	}
	group, ok := at.Value.(*hujson.Array).Elements[p.group].Value.(*hujson.Object)
	if !ok {
		return fmt.Errorf("hooks.%s: %w", sessionStart, ErrShape)
	}
	list := &group.Members[member(group, "hooks")].Value
	hooks, ok := list.Value.(*hujson.Array)
	if !ok {
		return fmt.Errorf("hooks.%s: %w", sessionStart, ErrShape)
	}
	return d.remove(list, elementSpans(hooks), p.hook)
}
