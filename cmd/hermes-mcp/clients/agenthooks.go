package clients

import (
	"path/filepath"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/clients/configfile"
)

// AgentHooks are the events of an agent other than Claude Code that our hook
// wants. Its file has Claude Code's shape, or is flat.
type AgentHooks struct {
	Source string // what `hook --source` calls the agent
	File   func(p Place) string
	Next   string // what its user must do after an install
	events []HookEvent
	flat   bool
	second int // in the unit of the agent's timeouts
	last   int // seconds that the agent leaves for the end of a session
}

// HooksOf returns the hooks of a client by its name, false where none are
// written down for it here.
func HooksOf(client string) (AgentHooks, bool) {
	switch client {
	case "codex":
		return AgentHooks{
			Source: "codex", second: 1, last: 3,
			File:   func(p Place) string { return filepath.Join(filepath.Dir(codexFile(p)), "hooks.json") },
			Next:   "trust the hooks when Codex asks",
			events: HookEvents,
		}, true
	case "gemini":
		return AgentHooks{
			Source: "gemini", second: 1000, last: hookSeconds,
			File:   inHome(".gemini", "settings.json"),
			events: []HookEvent{{sessionStart, ""}, {"BeforeAgent", ""}, {"AfterAgent", ""}, {"PreCompress", ""}, {"SessionEnd", ""}},
		}, true
	case "cursor":
		return AgentHooks{
			Source: "cursor", flat: true,
			File:   inHome(".cursor", "hooks.json"),
			events: []HookEvent{{"sessionStart", ""}, {"beforeSubmitPrompt", ""}, {"stop", ""}, {"preCompact", ""}, {"sessionEnd", ""}},
		}, true
	}
	return AgentHooks{}, false
}

// set makes one event run command.
func (h AgentHooks) set(d *configfile.JSONDocument, event HookEvent, command string) error {
	if h.flat {
		return setFlat(d, event.Name, command)
	}
	seconds := hookSeconds
	if event.Name == "SessionEnd" {
		seconds = h.last
	}
	return setHook(d, event, hookCommand{Type: "command", Command: command, Timeout: seconds * h.second})
}

// Set makes the agent run command at every event; hooks of an earlier install
// are replaced.
func (h AgentHooks) Set(path, command string, dry bool) (configfile.Outcome, error) {
	return configfile.Edit(path, configfile.ParseJSON, dry, func(d *configfile.JSONDocument) error {
		for _, event := range h.events {
			if err := h.set(d, event, command); err != nil {
				return err
			}
		}
		return nil
	})
}

// setHook makes an event run c, and no other command of ours.
func setHook(d *configfile.JSONDocument, event HookEvent, c hookCommand) error {
	found, err := ourHooks(d, event.Name)
	if err != nil || len(found) == 1 && found[0].command == c.Command && found[0].matcher == event.Matcher {
		return err
	}
	if err := dropHooks(d, event.Name); err != nil {
		return err
	}
	return d.Add(hookGroup{Matcher: event.Matcher, Hooks: []hookCommand{c}}, "hooks", event.Name)
}

// Drop takes our hooks out of every event.
func (h AgentHooks) Drop(path string, dry bool) (configfile.Outcome, error) {
	return configfile.Edit(path, configfile.ParseJSON, dry, func(d *configfile.JSONDocument) error {
		drop := dropHooks
		if h.flat {
			drop = dropFlat
		}
		for _, event := range h.events {
			if err := drop(d, event.Name); err != nil {
				return err
			}
		}
		return nil
	})
}
