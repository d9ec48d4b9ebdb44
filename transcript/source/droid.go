package source

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// Droid reads the sessions of Factory's Droid, and what its stream of JSON was
// saved to.
type Droid struct{}

// Name implements [transcript.Source].
func (Droid) Name() string { return "droid" }

// Find lists the sessions under ~/.factory.
func (d Droid) Find(ctx context.Context, p transcript.Places) ([]transcript.File, error) {
	if p.Home == "" {
		return nil, nil
	}
	return walk(ctx, d.Name(), filepath.Join(p.Home, ".factory", "sessions"), func(path string) bool {
		return filepath.Ext(path) == ".jsonl"
	})
}

// FindIn lists the sessions at or below path.
func (d Droid) FindIn(ctx context.Context, path string) ([]transcript.File, error) {
	return findIn(ctx, d, path)
}

func (Droid) recognises(ctx context.Context, f *sniff) bool {
	return f.is(".jsonl") && isDroid(f)
}

func isDroid(f *sniff) bool {
	vals := f.values(1)
	var r struct {
		Type    string  `json:"type"`
		ID      string  `json:"id"`
		Session string  `json:"session_id"`
		Camel   string  `json:"sessionId"`
		UUID    string  `json:"uuid"`
		Role    string  `json:"role"`
		At      rawJSON `json:"timestamp"`
	}
	if len(vals) == 0 || decode(vals[0], &r) != nil {
		return false
	}
	return r.Type == "session_start" && r.ID != "" ||
		first(r.Session, r.Camel) != "" && r.UUID == "" && len(r.At) > 0 && (r.Type == "system" || r.Type == "message" && r.Role != "")
}

// Read implements [transcript.Source].
func (d Droid) Read(ctx context.Context, f transcript.File, from transcript.Cursor, final bool, sink transcript.Sink) error {
	if err := readLinear(ctx, d.Name(), stem(f.Path), f, from, final, sink, droidLine); err != nil {
		return fmt.Errorf("read droid session: %w", err)
	}
	return nil
}

// droidEntry is one line of either form.
type droidEntry struct {
	Type     string  `json:"type"`
	ID       string  `json:"id"`
	ParentID string  `json:"parentId"`
	Session  string  `json:"session_id"`
	Camel    string  `json:"sessionId"`
	At       moment  `json:"timestamp"`
	Title    string  `json:"title"`
	Cwd      string  `json:"cwd"`
	Version  word    `json:"version"`
	Model    string  `json:"model"`
	Role     string  `json:"role"`
	Text     string  `json:"text"`
	Final    string  `json:"finalText"`
	Summary  string  `json:"summary"`
	CallID   string  `json:"toolCallId"`
	ToolName string  `json:"toolName"`
	Params   rawJSON `json:"parameters"`
	Value    rawJSON `json:"value"`
	IsError  bool    `json:"isError"`
	Message  struct {
		Role    string  `json:"role"`
		Content rawJSON `json:"content"`
		Model   string  `json:"model"`
	} `json:"message"`
}

func droidLine(l *linear, v []byte) error {
	var e droidEntry
	if decode(v, &e) != nil {
		return nil
	}
	e.Session = first(e.Session, e.Camel)
	m := transcript.Message{UID: e.ID, ParentUID: e.ParentID, At: e.At.Time}
	switch e.Type {
	case "session_start":
		return l.know(transcript.Session{ID: e.ID, Title: e.Title, Dir: e.Cwd, Version: string(e.Version), Surface: "cli"})
	case "system":
		return l.know(transcript.Session{ID: e.Session, Dir: e.Cwd, Model: e.Model, Surface: "sdk", StartedAt: e.At.Time})
	case "compaction_state":
		m.Content = e.Summary
		return l.compact(m)
	case "tool_call":
		e.CallID = first(e.CallID, e.ID)
		m.UID, m.Role, m.ToolCalls = "call:"+e.CallID, transcript.Assistant, []transcript.ToolCall{{ID: e.CallID, Name: e.ToolName, Args: args(e.Params)}}
		return l.send(m)
	case "tool_result":
		var r struct {
			Stdout string `json:"stdout"`
			Stderr string `json:"stderr"`
			Exit   *int   `json:"exitCode"`
		}
		e.CallID = first(e.CallID, e.ID)
		m.UID, m.Role, m.ToolCallID, m.IsError, m.Content = "result:"+e.CallID, transcript.Tool, e.CallID, e.IsError, str(e.Value)
		if len(e.Value) > 0 && e.Value[0] == '{' && decode(e.Value, &r) == nil {
			m.Content, m.ExitCode = first(join(r.Stdout, r.Stderr), string(e.Value)), r.Exit
		}
		return l.send(m)
	case "error":
		m.UID, m.Role, m.Kind, m.IsError = "", transcript.System, "notice", true
		var n struct{ Message string }
		if decode(v, &n) == nil {
			m.Content = n.Message
		}
		return l.send(m)
	case "completion":
		m.Role, m.Content = transcript.Assistant, e.Final
		return l.send(m)
	case "message":
	default:
		return nil
	}
	if e.Session != "" && !l.st.Known {
		if err := l.know(transcript.Session{ID: e.Session, StartedAt: e.At.Time}); err != nil {
			return err
		}
	}
	m.Role, m.Content, m.Model = roleOf(first(e.Message.Role, e.Role)), e.Text, e.Message.Model
	if m.Role == transcript.UserRole {
		if t := blockText(e.Message.Content); strings.HasPrefix(t, "<system-reminder>") && !strings.Contains(t, "</system-reminder>\n") {
			m.Kind = "meta"
		}
	}
	for _, out := range blocks(e.Message.Content, m) {
		if err := l.send(out); err != nil {
			return err
		}
	}
	return nil
}
