package clients

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/clients/configfile"
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

// SetHook makes Claude Code run command at the start of every session. A hook
// of an earlier install is replaced, for two would tell everything twice.
func SetHook(path, command string, dry bool) (configfile.Outcome, error) {
	return configfile.Edit(path, configfile.ParseJSON, dry, func(d *configfile.JSONDocument) error {
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
		return d.Add(hookGroup{
			Matcher: "startup|resume|clear|compact",
			Hooks:   []hookCommand{{Type: "command", Command: command, Timeout: 10}},
		}, "hooks", sessionStart)
	})
}

const sessionStart = "SessionStart"

// DropHook takes our hook out.
func DropHook(path string, dry bool) (configfile.Outcome, error) {
	return configfile.Edit(path, configfile.ParseJSON, dry, dropHooks)
}

// Hooked returns the command of our hook in the settings at path, "" when it is
// not there or the file cannot be read.
func Hooked(path string) string {
	d, err := configfile.Read(path, configfile.ParseJSON)
	if err != nil {
		return ""
	}
	found, err := ourHooks(d)
	if err != nil || len(found) == 0 {
		return ""
	}
	return found[0].command
}

// A place is where one of our hooks stands in settings.json.
type place struct {
	group, hook int
	alone       bool // the only hook of its group
	command     string
}

// ourHooks finds the hooks that run this program.
func ourHooks(d *configfile.JSONDocument) ([]place, error) {
	list, err := d.Lookup("hooks", sessionStart)
	if err != nil || list == nil {
		return nil, err
	}
	text, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	var groups []struct {
		Hooks []struct {
			Command string `json:"command"`
		} `json:"hooks"`
	}
	if err := json.Unmarshal(text, &groups); err != nil {
		return nil, fmt.Errorf("hooks.%s: %w: %w", sessionStart, configfile.ErrShape, err)
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
func dropHooks(d *configfile.JSONDocument) error {
	found, err := ourHooks(d)
	if err != nil || len(found) == 0 {
		return err
	}
	// One at a time: a group that held two of ours is alone in the end.
	p := found[len(found)-1]
	if p.alone {
		err = d.DropElement(p.group, "hooks", sessionStart)
	} else {
		err = d.DropNested(p.group, "hooks", p.hook, "hooks", sessionStart)
	}
	if err != nil {
		return err
	}
	if d.Empty("hooks", sessionStart) {
		_, err = d.Drop("hooks", sessionStart)
		return err
	}
	return dropHooks(d)
}
