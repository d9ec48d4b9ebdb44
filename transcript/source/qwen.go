package source

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// Qwen reads the sessions of Qwen Code: Claude Code's envelope around Gemini's
// parts.
type Qwen struct{}

// Name implements [transcript.Source].
func (Qwen) Name() string { return "qwen" }

// Find lists the chats under QWEN_HOME or ~/.qwen.
func (q Qwen) Find(ctx context.Context, p transcript.Places) ([]transcript.File, error) {
	root := p.Env["QWEN_HOME"]
	if root == "" {
		if p.Home == "" {
			return nil, nil
		}
		root = filepath.Join(p.Home, ".qwen")
	}
	var found []transcript.File
	for _, dir := range []string{"projects", "tmp"} {
		files, err := walk(ctx, q.Name(), filepath.Join(root, dir), func(path string) bool {
			return filepath.Ext(path) == ".jsonl" && folderName(path) == "chats"
		})
		if err != nil {
			return found, err
		}
		found = append(found, files...)
	}
	return found, nil
}

// FindIn lists the sessions at or below path.
func (q Qwen) FindIn(ctx context.Context, path string) ([]transcript.File, error) {
	return findIn(ctx, q, path)
}

func (Qwen) recognises(ctx context.Context, f *sniff) bool {
	return f.is(".jsonl") && isQwen(f)
}

func isQwen(f *sniff) bool {
	for _, v := range f.values(8) {
		var r struct {
			UUID    string  `json:"uuid"`
			Session string  `json:"sessionId"`
			System  rawJSON `json:"systemPayload"`
			Message struct {
				Parts rawJSON `json:"parts"`
			} `json:"message"`
		}
		if decode(v, &r) == nil && r.UUID != "" && r.Session != "" && (len(r.Message.Parts) > 0 || len(r.System) > 0) {
			return true
		}
	}
	return false
}

// Read implements [transcript.Source].
func (q Qwen) Read(ctx context.Context, f transcript.File, from transcript.Cursor, final bool, sink transcript.Sink) error {
	if err := readLinear(ctx, q.Name(), stem(f.Path), f, from, final, sink, qwenLine); err != nil {
		return fmt.Errorf("read qwen session: %w", err)
	}
	return nil
}

// qwenEntry is one line.
type qwenEntry struct {
	UUID    string `json:"uuid"`
	Parent  string `json:"parentUuid"`
	Session string `json:"sessionId"`
	At      moment `json:"timestamp"`
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Cwd     string `json:"cwd"`
	Branch  string `json:"gitBranch"`
	Version string `json:"version"`
	Model   string `json:"model"`
	Message struct {
		Parts rawJSON `json:"parts"`
	} `json:"message"`
	System struct {
		Display string `json:"displayText"`
		Title   string `json:"customTitle"`
		Target  string `json:"targetUuid"`
		Summary string `json:"summary"`
	} `json:"systemPayload"`
	Result struct {
		CallID string `json:"callId"`
		Status string `json:"status"`
	} `json:"toolCallResult"`
}

func qwenLine(l *linear, v []byte) error {
	var e qwenEntry
	if decode(v, &e) != nil {
		return nil
	}
	if !l.st.Known || e.Model != "" && e.Model != l.st.S.Model || l.st.S.Dir == "" && e.Cwd != "" {
		s := transcript.Session{ID: e.Session, Dir: e.Cwd, Branch: e.Branch, Version: e.Version, Model: e.Model, Surface: "cli"}
		if !l.st.Known {
			s.StartedAt = e.At.Time
		}
		if err := l.know(s); err != nil {
			return err
		}
	}
	m := transcript.Message{UID: e.UUID, ParentUID: e.Parent, At: e.At.Time, Dir: e.Cwd, Branch: e.Branch, Model: e.Model}
	text, calls, results := geminiParts(e.Message.Parts)
	switch e.Type {
	case "user":
		m.Role, m.Content = transcript.UserRole, first(e.System.Display, text)
	case "assistant":
		m.Role, m.Content, m.ToolCalls, m.Reasoning = transcript.Assistant, text, calls, geminiThoughts(e.Message.Parts)
	case "tool_result":
		for i, r := range results {
			r.UID, r.At = e.UUID, e.At.Time
			if i > 0 {
				r.UID = fmt.Sprintf("%s/%d", e.UUID, i)
			}
			r.ToolCallID = first(r.ToolCallID, e.Result.CallID)
			r.IsError = r.IsError || e.Result.Status == "error"
			if err := l.send(r); err != nil {
				return err
			}
		}
		return nil
	case "system":
		switch {
		case e.System.Title != "":
			return l.know(transcript.Session{Title: e.System.Title})
		case e.Subtype == "rewind":
			return l.rewindAfter(e.System.Target)
		case strings.Contains(e.Subtype, "compress"):
			m.Content = e.System.Summary
			return l.compact(m)
		}
		return nil
	}
	return l.send(m)
}

// rewindAfter tells the sink that what follows a message was taken back: from
// the first message that came after it.
func (l *linear) rewindAfter(uid string) error {
	r, ok := l.sink.(transcript.Reviser)
	if next := l.st.After[uid]; ok && next != "" {
		return r.Rewind(l.st.S.ID, next)
	}
	return nil
}

// geminiThoughts returns the thoughts among a message's parts.
func geminiThoughts(raw rawJSON) string {
	var parts []struct {
		Text    string `json:"text"`
		Thought bool   `json:"thought"`
	}
	if len(raw) == 0 || decode(raw, &parts) != nil {
		return ""
	}
	var out []string
	for _, p := range parts {
		if p.Thought {
			out = append(out, p.Text)
		}
	}
	return join(out...)
}
