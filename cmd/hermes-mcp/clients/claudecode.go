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

// A HookEvent is one of Claude Code's events that our hook wants.
type HookEvent struct {
	Name    string
	Matcher string // of the event's subject, "" for all
}

// HookEvents are those that our hook does something about: it shows the memory,
// reminds, denies an edit by a subagent, and hands over what is to be looked at
// once more.
var HookEvents = []HookEvent{
	{sessionStart, "startup|resume|clear|compact|fork"},
	{"UserPromptSubmit", ""},
	{"PreToolUse", "mcp__(plugin_.+_)?" + Key + "__(memory|session_record|fact_store|fact_feedback)"},
	{"Stop", ""},
	{"SubagentStop", ""},
	{"PreCompact", ""},
	{"SessionEnd", ""},
}

const sessionStart = "SessionStart"

// hookSeconds is how long an agent waits for our hook before it goes on.
const hookSeconds = 10

// SetHook makes Claude Code run command at every one of HookEvents. A hook of
// an earlier install is replaced, for two would tell everything twice.
func SetHook(path, command string, dry bool) (configfile.Outcome, error) {
	return configfile.Edit(path, configfile.ParseJSON, dry, func(d *configfile.JSONDocument) error {
		for _, event := range HookEvents {
			if err := setHook(d, event, hookCommand{Type: "command", Command: command, Timeout: hookSeconds}); err != nil {
				return err
			}
		}
		return nil
	})
}

// DropHook takes our hook out of every event.
func DropHook(path string, dry bool) (configfile.Outcome, error) {
	return configfile.Edit(path, configfile.ParseJSON, dry, func(d *configfile.JSONDocument) error {
		for _, event := range HookEvents {
			if err := dropHooks(d, event.Name); err != nil {
				return err
			}
		}
		return nil
	})
}

// Hooked returns the command of our SessionStart hook in the settings at path, "" when it is
// not there or the file cannot be read.
func Hooked(path string) string {
	d, err := configfile.Read(path, configfile.ParseJSON)
	if err != nil {
		return ""
	}
	found, err := ourHooks(d, sessionStart)
	if err != nil || len(found) == 0 {
		return ""
	}
	return found[0].command
}

// HookProgram is the program that a hook's command runs.
func HookProgram(command string) string {
	program, _ := cutHook(command)
	if len(program) > 1 && program[0] == '\'' && program[len(program)-1] == '\'' {
		return strings.ReplaceAll(program[1:len(program)-1], `'\''`, "'")
	}
	return strings.Trim(program, `"`)
}

// cutHook parts the command of a hook of ours before its word "hook".
func cutHook(command string) (program, rest string) {
	from := max(0, strings.LastIndex(command, "hermes-mcp"))
	if i := strings.Index(command[from:], " hook"); i >= 0 {
		return command[:from+i], command[from+i:]
	}
	return command, ""
}

// MoveHook has our hooks in the settings at path run another program, with the
// words that they have.
func MoveHook(path, program string) (configfile.Outcome, error) {
	_, rest := cutHook(Hooked(path))
	return SetHook(path, CommandLine(program)+rest, false)
}

// A place is where one of our hooks stands in settings.json.
type place struct {
	group, hook int
	alone       bool // the only hook of its group
	matcher     string
	command     string
}

// ourHooks finds the hooks of an event that run this program.
func ourHooks(d *configfile.JSONDocument, event string) ([]place, error) {
	list, err := d.Lookup("hooks", event)
	if err != nil || list == nil {
		return nil, err
	}
	text, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	var groups []struct {
		Matcher string `json:"matcher"`
		Hooks   []struct {
			Command string `json:"command"`
		} `json:"hooks"`
	}
	if err := json.Unmarshal(text, &groups); err != nil {
		return nil, fmt.Errorf("hooks.%s: %w: %w", event, configfile.ErrShape, err)
	}
	var out []place
	for i, g := range groups {
		for j, h := range g.Hooks {
			if isOurs(h.Command) {
				out = append(out, place{i, j, len(g.Hooks) == 1, g.Matcher, h.Command})
			}
		}
	}
	return out, nil
}

// isOurs tells whether a hook's command runs this program.
func isOurs(command string) bool {
	return strings.Contains(command, "hermes-mcp") && strings.Contains(command, " hook")
}

// dropHooks takes ours out from the last to the first, so that the places stay
// right, and then the lists that are left empty.
func dropHooks(d *configfile.JSONDocument, event string) error {
	found, err := ourHooks(d, event)
	if err != nil || len(found) == 0 {
		return err
	}
	// One at a time: a group that held two of ours is alone in the end.
	p := found[len(found)-1]
	if p.alone {
		err = d.DropElement(p.group, "hooks", event)
	} else {
		err = d.DropNested(p.group, "hooks", p.hook, "hooks", event)
	}
	if err != nil {
		return err
	}
	if d.Empty("hooks", event) {
		_, err = d.Drop("hooks", event)
		return err
	}
	return dropHooks(d, event)
}
