package external

import (
	"errors"
	"fmt"
	"time"

	"github.com/hermes-mcp/hermes-mcp/provider"
	"github.com/hermes-mcp/hermes-mcp/provider/outbox"
)

func isElsewhere(err error) bool { return errors.Is(err, outbox.ErrElsewhere) }

// Lines says how the provider does, the first line in short.
func (h Health) Lines() []string {
	head := h.Name + ": " + h.State
	if !h.LastOK.IsZero() {
		head += ", last answered " + clock(h.LastOK)
	}
	if h.State == provider.Paused {
		head += fmt.Sprintf(", left alone until %s after %d failures in a row", clock(h.PausedUntil), h.Failures)
	}
	lines := []string{head}
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if h.LastError != "" {
		add("last error, %s: %s", clock(h.LastErrorAt), h.LastError)
	}
	if h.Waiting > 0 {
		why := ""
		if h.Blocked != "" {
			why = "; the first has not gone: " + h.Blocked
		}
		add("%d to be delivered, since %s%s", h.Waiting, clock(h.Oldest), why)
	}
	if h.Events > 0 {
		why := ""
		if h.EventsBlocked != "" {
			why = "; the first could not be: " + h.EventsBlocked
		}
		add("%d events of hooks to be worked off%s", h.Events, why)
	}
	for _, it := range append(h.SetAside, h.EventsSetAside...) {
		add("%s %s, of %s: %s (provider status --resend %s, or --drop)", it.State, it.ID, clock(it.At), it.Error, it.ID)
	}
	if h.Damaged > 0 {
		add("%d lines of its queue cannot be read", h.Damaged)
	}
	if h.Problem != "" {
		add("%s", h.Problem)
	}
	return lines
}

func clock(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }
