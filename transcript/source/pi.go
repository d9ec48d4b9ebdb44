package source

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// Pi reads the sessions of Pi and of the agents built on it (OpenClaw, OMP).
type Pi struct{}

// Name implements [transcript.Source].
func (Pi) Name() string { return "pi" }

// Find lists the sessions under the folders of Pi and its kin.
func (p Pi) Find(ctx context.Context, places transcript.Places) ([]transcript.File, error) {
	if places.Home == "" {
		return nil, nil
	}
	var found []transcript.File
	for _, dir := range []string{filepath.Join(".pi", "agent", "sessions"), filepath.Join(".omp", "agent", "sessions"), filepath.Join(".openclaw", "agents")} {
		files, err := walk(ctx, p.Name(), filepath.Join(places.Home, dir), func(path string) bool {
			return filepath.Ext(path) == ".jsonl"
		})
		if err != nil {
			return found, err
		}
		found = append(found, files...)
	}
	return found, nil
}

// FindIn lists the sessions at or below path.
func (p Pi) FindIn(ctx context.Context, path string) ([]transcript.File, error) {
	return findIn(ctx, p, path)
}

func (Pi) recognises(ctx context.Context, f *sniff) bool {
	return f.is(".jsonl") && isPi(f)
}

func isPi(f *sniff) bool {
	for _, v := range f.values(1) {
		var r struct {
			Type string `json:"type"`
			ID   string `json:"id"`
			Cwd  string `json:"cwd"`
		}
		return decode(v, &r) == nil && r.Type == "session" && r.ID != ""
	}
	return false
}

// Read implements [transcript.Source].
func (p Pi) Read(ctx context.Context, f transcript.File, from transcript.Cursor, final bool, sink transcript.Sink) error {
	if err := readLinear(ctx, p.Name(), stem(f.Path), f, from, final, sink, piLine); err != nil {
		return fmt.Errorf("read pi session: %w", err)
	}
	return nil
}

// piEntry is one line.
type piEntry struct {
	Type     string  `json:"type"`
	ID       string  `json:"id"`
	ParentID string  `json:"parentId"`
	At       moment  `json:"timestamp"`
	Cwd      string  `json:"cwd"`
	Branched string  `json:"branchedFrom"`
	Parent   string  `json:"parentSession"`
	ModelID  string  `json:"modelId"`
	Summary  string  `json:"summary"`
	Name     string  `json:"name"`
	Content  rawJSON `json:"content"`
	Message  struct {
		Role     string  `json:"role"`
		Content  rawJSON `json:"content"`
		Model    string  `json:"model"`
		Stop     string  `json:"stopReason"`
		CallID   string  `json:"toolCallId"`
		ToolName string  `json:"toolName"`
		IsError  bool    `json:"isError"`
		Command  string  `json:"command"`
		Output   string  `json:"output"`
		Exit     *int    `json:"exitCode"`
	} `json:"message"`
}

func piLine(l *linear, v []byte) error {
	var e piEntry
	if decode(v, &e) != nil {
		return nil
	}
	m := transcript.Message{UID: e.ID, ParentUID: e.ParentID, At: e.At.Time}
	switch e.Type {
	case "session":
		s := transcript.Session{ID: e.ID, Dir: e.Cwd, Surface: "cli", StartedAt: e.At.Time}
		if from := first(e.Branched, e.Parent); from != "" {
			id := stem(from) // <time>_<id>
			for i := range id {
				if id[i] == '_' {
					id = id[i+1:]
					break
				}
			}
			s.ParentID, s.Relation = l.name+":"+id, transcript.Fork
		}
		return l.know(s)
	case "session_info":
		return l.know(transcript.Session{Title: e.Name})
	case "model_change":
		return l.know(transcript.Session{Model: e.ModelID})
	case "compaction":
		m.Content = e.Summary
		return l.compact(m)
	case "branch_summary":
		m.Role, m.Content = transcript.Summary, e.Summary
		return l.send(m)
	case "custom_message":
		m.Role, m.Kind, m.Content = transcript.System, "meta", blockText(e.Content)
		m.OwnTrace = isOwnText(m.Content)
		return l.send(m)
	case "message":
	default:
		return nil
	}
	if err := l.branch(e.ParentID); err != nil {
		return err
	}
	msg := e.Message
	switch msg.Role {
	case "toolResult":
		m.Role, m.ToolCallID, m.ToolName, m.Content, m.IsError = transcript.Tool, msg.CallID, msg.ToolName, blockText(msg.Content), msg.IsError
		return l.send(m)
	case "bashExecution":
		call := transcript.ToolCall{ID: e.ID, Name: "bash", Args: extra(nil, "command", msg.Command)}
		if err := l.send(transcript.Message{UID: e.ID + "/call", Role: transcript.Assistant, At: m.At, ToolCalls: []transcript.ToolCall{call}}); err != nil {
			return err
		}
		m.Role, m.ToolCallID, m.Content, m.ExitCode = transcript.Tool, e.ID, msg.Output, msg.Exit
		return l.send(m)
	}
	m.Role, m.Model, m.FinishReason = roleOf(msg.Role), msg.Model, msg.Stop
	for _, out := range blocks(msg.Content, m) {
		if err := l.send(out); err != nil {
			return err
		}
	}
	return nil
}
