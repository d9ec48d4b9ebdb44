package clients

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/clients/configfile"
)

// Cursor lists the commands of an event side by side, without Claude Code's
// groups, in a file that carries a version.

// A flatHook is one command of an event.
type flatHook struct {
	Command string `json:"command"`
}

// setFlat makes an event run command, and no other command of ours.
func setFlat(d *configfile.JSONDocument, event, command string) error {
	if err := d.Set(configfile.Entry{{Key: "version", Value: float64(1), Once: true}}); err != nil {
		return err
	}
	all, ours, err := flatHooks(d, event)
	if err != nil || len(ours) == 1 && all[ours[0]].Command == command {
		return err
	}
	if err := dropFlat(d, event); err != nil {
		return err
	}
	return d.Add(flatHook{command}, "hooks", event)
}

// flatHooks are the commands of an event, and which of them run this program.
func flatHooks(d *configfile.JSONDocument, event string) (all []flatHook, ours []int, err error) {
	list, err := d.Lookup("hooks", event)
	if err != nil || list == nil {
		return nil, nil, err
	}
	text, err := json.Marshal(list)
	if err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, nil, fmt.Errorf("hooks.%s: %w: %w", event, configfile.ErrShape, err)
	}
	for i, h := range all {
		if isOurs(h.Command) {
			ours = append(ours, i)
		}
	}
	return all, ours, nil
}

// dropFlat takes ours out of an event, and the list when it is left empty.
func dropFlat(d *configfile.JSONDocument, event string) error {
	_, ours, err := flatHooks(d, event)
	if err != nil || len(ours) == 0 {
		return err
	}
	for _, i := range slices.Backward(ours) {
		if err := d.DropElement(i, "hooks", event); err != nil {
			return err
		}
	}
	if d.Empty("hooks", event) {
		_, err = d.Drop("hooks", event)
	}
	return err
}
