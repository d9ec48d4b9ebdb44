package record

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
)

// Union adds to m what n knows more and tells whether that was anything. What
// m holds is never lost or shortened.
func Union(m *Message, n *Message) bool {
	changed := fuller(&m.Content, n.Content)
	changed = fuller(&m.Reasoning, n.Reasoning) || changed
	changed = unionCalls(m, n.ToolCalls) || changed
	for _, f := range []struct {
		have *string
		more string
	}{{&m.UID, n.UID}, {&m.ParentUID, n.ParentUID}, {&m.ToolCallID, n.ToolCallID}, {&m.ToolName, n.ToolName},
		{&m.Model, n.Model}, {&m.Dir, n.Dir}, {&m.Branch, n.Branch}} {
		if *f.have == "" && f.more != "" {
			*f.have, changed = f.more, true
		}
	}
	if n.FinishReason != "" && n.FinishReason != m.FinishReason { // the last piece knows it
		m.FinishReason, changed = n.FinishReason, true
	}
	if m.ExitCode == nil && n.ExitCode != nil {
		m.ExitCode, changed = n.ExitCode, true
	}
	if m.At.IsZero() && !n.At.IsZero() {
		m.At, changed = n.At, true
	}
	if len(n.Extra) > len(m.Extra) {
		m.Extra, changed = n.Extra, true
	}
	before := FlagsOf(m)
	SetFlags(m, before|FlagsOf(n))
	return changed || FlagsOf(m) != before
}

// fuller appends more to text after a blank line unless it is there already, or
// replaces text when more contains it.
func fuller(text *string, more string) bool {
	switch {
	case more == "" || strings.Contains(*text, more):
		return false
	case strings.Contains(more, *text):
		*text = more
	default:
		*text += "\n\n" + more
	}
	return true
}

func unionCalls(m *Message, calls []ToolCall) bool {
	changed := false
next:
	for _, c := range calls {
		for i := range m.ToolCalls {
			have := &m.ToolCalls[i]
			switch {
			case c.ID != have.ID:
			case c.ID != "":
				if len(c.Args) > len(have.Args) {
					have.Args, changed = c.Args, true
				}
				continue next
			case c.Name == have.Name && bytes.Equal(c.Args, have.Args):
				continue next
			}
		}
		m.ToolCalls, changed = append(m.ToolCalls, c), true
	}
	return changed
}

// UnionSession adds to s what n knows more and tells whether that was
// anything: a field that n leaves empty changes nothing.
func UnionSession(s *Session, n *Session) bool {
	before := *s
	for _, f := range []struct {
		have *string
		more string
	}{{&s.ParentID, n.ParentID}, {&s.Title, n.Title}, {&s.Project, n.Project}, {&s.Dir, n.Dir}, {&s.Branch, n.Branch},
		{&s.Model, n.Model}, {&s.Surface, n.Surface}, {&s.User, n.User}, {&s.Chat, n.Chat}, {&s.Version, n.Version},
		{&s.EndReason, n.EndReason}, {&s.SourcePath, n.SourcePath}} {
		if f.more != "" {
			*f.have = f.more
		}
	}
	if n.Relation != "" {
		s.Relation = n.Relation
	}
	s.StartedAt = Earliest(s.StartedAt, n.StartedAt)
	s.LastActive = Latest(s.LastActive, n.LastActive)
	s.EndedAt = Latest(s.EndedAt, n.EndedAt)
	return *s != before
}

// Earliest returns the earlier time; zero is none.
func Earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// Latest returns the later time.
func Latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Millis and FromMillis turn times into numbers for columns; the zero time is 0.
func Millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func FromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// ValidArgs makes arguments that are not JSON into a JSON string, as ToolCall
// promises.
func ValidArgs(args json.RawMessage) json.RawMessage {
	if len(args) == 0 || json.Valid(args) {
		return args
	}
	quoted, err := json.Marshal(string(args))
	if err != nil {
		return nil
	}
	return quoted
}
