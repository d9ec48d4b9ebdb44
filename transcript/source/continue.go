package source

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// Continue reads the sessions of Continue, the extension and its command line.
type Continue struct{}

// Name implements [transcript.Source].
func (Continue) Name() string { return "continue" }

// Find lists the sessions under CONTINUE_GLOBAL_DIR or ~/.continue.
func (c Continue) Find(ctx context.Context, p transcript.Places) ([]transcript.File, error) {
	root := p.Env["CONTINUE_GLOBAL_DIR"]
	if root == "" {
		if p.Home == "" {
			return nil, nil
		}
		root = filepath.Join(p.Home, ".continue")
	}
	return c.FindIn(ctx, filepath.Join(root, "sessions"))
}

// FindIn lists the sessions at or below path.
func (c Continue) FindIn(ctx context.Context, path string) ([]transcript.File, error) {
	return findIn(ctx, c, path)
}

func (Continue) recognises(ctx context.Context, f *sniff) bool {
	if !f.is(".json") {
		return false
	}
	keys := f.keys()
	return keys["history"] && (keys["sessionId"] || keys["workspaceDirectory"]) && !bytes.Contains(f.bytes(), []byte(`"parts"`))
}

// continueDoc is one session.
type continueDoc struct {
	ID      string `json:"sessionId"`
	Title   string `json:"title"`
	Dir     string `json:"workspaceDirectory"`
	Model   string `json:"chatModelTitle"`
	Created moment `json:"dateCreated"`
	History []struct {
		Message struct {
			Role    string  `json:"role"`
			Content rawJSON `json:"content"`
			Calls   rawJSON `json:"toolCalls"`
			CallID  string  `json:"toolCallId"`
		} `json:"message"`
		States []struct {
			CallID string `json:"toolCallId"`
			Status string `json:"status"`
			Output []struct {
				Content string `json:"content"`
			} `json:"output"`
		} `json:"toolCallStates"`
		Reasoning struct {
			Text string `json:"text"`
		} `json:"reasoning"`
		Summary string `json:"conversationSummary"`
	} `json:"history"`
}

// Read implements [transcript.Source].
func (c Continue) Read(_ context.Context, f transcript.File, _ transcript.Cursor, _ bool, sink transcript.Sink) error {
	raw, err := readDocument(f.Path)
	if err != nil {
		return fmt.Errorf("read continue session: %w", err)
	}
	var d continueDoc
	if err := decode(raw, &d); err != nil {
		sink.Problem(0, "not valid JSON: "+err.Error())
		return nil
	}
	t := newThread(sink, transcript.Session{ID: c.Name() + ":" + first(d.ID, stem(f.Path)), Title: d.Title, Dir: filePath(d.Dir), Model: d.Model,
		StartedAt: d.Created.Time, Surface: "ide", SourcePath: f.Path})
	if err := t.announce(); err != nil {
		return err
	}
	names := map[string]string{}
	for _, h := range d.History {
		m := transcript.Message{Role: roleOf(h.Message.Role), Content: openAIText(h.Message.Content), ToolCalls: openAICalls(h.Message.Calls), Reasoning: h.Reasoning.Text}
		switch {
		case h.Message.Role == "thinking":
			m.Role, m.Reasoning, m.Content = transcript.Assistant, m.Content, ""
		case m.Role == transcript.System:
			m.Kind = "meta"
		case m.Role == transcript.Tool:
			m.UID, m.ToolCallID, m.ToolName = "result:"+h.Message.CallID, h.Message.CallID, names[h.Message.CallID]
		}
		all := []transcript.Message{m}
		for _, call := range m.ToolCalls {
			names[call.ID] = call.Name
		}
		for _, s := range h.States {
			r := transcript.Message{UID: "result:" + s.CallID, Role: transcript.Tool, ToolCallID: s.CallID, ToolName: names[s.CallID], IsError: s.Status == "errored" || s.Status == "canceled"}
			for _, o := range s.Output {
				r.Content = join(r.Content, o.Content)
			}
			r.ExitCode = exitOf(r.Content)
			all = append(all, r)
		}
		if h.Summary != "" {
			all = append(all, transcript.Message{Role: transcript.Summary, Content: h.Summary})
		}
		for _, out := range all {
			if out.Role == "" {
				continue
			}
			if err := t.send(out); err != nil {
				return err
			}
		}
	}
	return done(sink, int64(len(raw)), t.count)
}
