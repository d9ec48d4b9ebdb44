package source

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// linear reads a log of one session that is only ever added to, for the
// formats that need no more state than what is known of the session.
type linear struct {
	*pass
	name string // of the source
	st   linearState
	line func(l *linear, v []byte) error
}

type linearState struct {
	S       transcript.Session `json:"s"`
	Known   bool               `json:"known,omitempty"` // announced
	Tools   map[string]string  `json:"tools,omitempty"`
	Counter counter            `json:"counter,omitempty"`
	Pending string             `json:"pending,omitempty"` // reasoning for the next message
	Last    string             `json:"last,omitempty"`
	After   map[string]string  `json:"after,omitempty"` // the message that came after one, of the latest
}

// readLinear reads a log. Until a line says otherwise the session is id.
func readLinear(ctx context.Context, name, id string, f transcript.File, from transcript.Cursor, final bool, sink transcript.Sink, line func(l *linear, v []byte) error) error {
	l := linear{name: name, line: line}
	var err error
	if l.pass, err = openPass(ctx, f, from, final, sink, &l.st); err != nil {
		return err
	}
	if l.st.Tools == nil {
		l.st.Tools = map[string]string{}
	}
	if l.st.S.ID == "" {
		l.st.S = transcript.Session{ID: name + ":" + id, SourcePath: f.Path}
	}
	return l.run(&l, &l.st)
}

// stem returns a file's name without its ending.
func stem(path string) string { return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)) }

func (l *linear) flush() error { return nil }
func (l *linear) end() error   { return nil }

func (l *linear) value(v []byte) error {
	if len(v) == 0 || v[0] != '{' {
		l.in.count("<non-object>", "")
		return nil
	}
	var r struct {
		Type    string `json:"type"`
		Role    string `json:"role"`
		Session word   `json:"sessionId"`
	}
	if decode(v, &r) != nil {
		return nil
	}
	l.in.count(first(r.Type, r.Role, "None"), string(r.Session))
	return l.line(l, v)
}

// know takes up what is new about the session and announces it.
func (l *linear) know(s transcript.Session) error {
	k := &l.st.S
	if s.ID != "" && !l.st.Known {
		k.ID = l.name + ":" + s.ID
	}
	if s.Project == "" && s.Dir != "" && k.Dir == "" {
		s.Project = gitRoot(s.Dir)
	}
	if k.Dir != "" {
		s.Dir = ""
	}
	k.Dir, k.Branch, k.Model = first(s.Dir, k.Dir), first(s.Branch, k.Branch), first(s.Model, k.Model)
	if !l.st.Known && s.StartedAt.IsZero() {
		s.StartedAt = k.StartedAt
	}
	s.ID, s.SourcePath, s.Title = k.ID, l.path, clean(s.Title)
	l.st.Known = true
	return l.sink.Session(s)
}

// send delivers a message, joined to its call and made fit to be kept.
func (l *linear) send(m transcript.Message) error {
	if m.Role == transcript.Assistant && l.st.Pending != "" {
		m.Reasoning = join(l.st.Pending, m.Reasoning)
		l.st.Pending = ""
	}
	m.Content, m.Reasoning = clean(m.Content), clean(m.Reasoning)
	if m.Role == "" || m.Content == "" && m.Reasoning == "" && len(m.ToolCalls) == 0 && (m.Role != transcript.Tool || m.ExitCode == nil && !m.IsError) {
		return nil
	}
	if !l.st.Known {
		if err := l.know(transcript.Session{StartedAt: m.At}); err != nil {
			return err
		}
	}
	unfence(&m)
	m.SessionID = l.st.S.ID
	m.Dir, m.Branch = first(m.Dir, l.st.S.Dir), first(m.Branch, l.st.S.Branch)
	if m.Role == transcript.Assistant {
		m.Model = first(m.Model, l.st.S.Model)
	}
	for _, c := range m.ToolCalls {
		noteCall(l.st.Tools, c)
	}
	if m.Role == transcript.Tool {
		name, own := callOf(l.st.Tools, m.ToolCallID)
		m.ToolName = first(m.ToolName, name)
		m.OwnTrace = m.OwnTrace || own || isOwnTool(m.ToolName)
		if m.ExitCode == nil {
			m.ExitCode = exitOf(m.Content)
		}
	}
	if m.UID == "" {
		m.UID = l.st.Counter.id(m)
	}
	m.Global = isGlobalID(m.UID)
	if l.st.After == nil || len(l.st.After) > maxTools {
		l.st.After = map[string]string{}
	}
	if l.st.Last != m.UID {
		l.st.After[l.st.Last] = m.UID
		l.st.Last = m.UID
	}
	return l.message(m)
}

// branch tells the sink, of a log that is a tree, when the next message hangs on
// one that was gone on from before: what came after it was left.
func (l *linear) branch(parent string) error {
	next, known := l.st.After[parent]
	if parent == "" || parent == l.st.Last || !known || strings.HasPrefix(next, "result:") { // a result's id is not a line's
		return nil
	}
	delete(l.st.After, parent)
	l.st.Last = parent
	r, ok := l.sink.(transcript.Reviser)
	if !ok {
		return nil
	}
	return r.Rewind(l.st.S.ID, next)
}

// compact tells the sink that what was delivered left the context, and
// delivers the summary that stands in for it.
func (l *linear) compact(m transcript.Message) error {
	if r, ok := l.sink.(transcript.Reviser); ok && l.st.Known {
		if err := r.Compact(l.st.S.ID); err != nil {
			return err
		}
	}
	m.Role = transcript.Summary
	return l.send(m)
}

// blocks turns content blocks into a message and results of tools, for the
// agents that write Anthropic's blocks or shapes near them.
func blocks(raw rawJSON, m transcript.Message) []transcript.Message {
	var results []transcript.Message
	for _, b := range blocksOf(raw) {
		switch b.Type {
		case "tool_use", "toolCall", "tool_call":
			if b.Name == "" {
				m.Content = join(m.Content, b.Text)
				continue
			}
			m.ToolCalls = append(m.ToolCalls, transcript.ToolCall{ID: b.ID, Name: b.Name, Args: args(first2raw(b.Input, b.Arguments))})
		case "tool_result":
			r := transcript.Message{Role: transcript.Tool, ToolCallID: b.ToolUseID, Content: blockText(b.Content), IsError: b.IsError, At: m.At}
			if b.ToolUseID != "" {
				r.UID = "result:" + b.ToolUseID
			}
			results = append(results, r)
		case "thinking", "reasoning":
			m.Reasoning = join(m.Reasoning, first(b.Thinking, b.Text))
		default:
			m.Content = join(m.Content, b.text())
		}
	}
	if m.Content == "" && m.Reasoning == "" && len(m.ToolCalls) == 0 {
		return results
	}
	return append([]transcript.Message{m}, results...)
}

func first2raw(a, b rawJSON) rawJSON {
	if len(a) > 0 {
		return a
	}
	return b
}

// roleOf returns the role that a word names, "" for none.
func roleOf(s string) transcript.Role {
	switch s {
	case "user", "human":
		return transcript.UserRole
	case "assistant", "model", "agent":
		return transcript.Assistant
	case "tool", "toolResult", "function":
		return transcript.Tool
	case "system", "developer":
		return transcript.System
	}
	return ""
}
