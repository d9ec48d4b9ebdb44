package source

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// Cline reads the tasks of Cline and of its kin Roo Code and Kilo Code, and
// the sessions of Cline's command line.
type Cline struct{}

// Name implements [transcript.Source].
func (Cline) Name() string { return "cline" }

// clineFolders are the extensions' folders, and what sets their tasks apart.
var clineFolders = map[string]string{"saoudrizwan.claude-dev": "cline", "rooveterinaryinc.roo-cline": "roo", "kilocode.kilo-code": "kilo"}

// Find lists the tasks under the storage of each editor, and the sessions of
// the command line.
func (c Cline) Find(ctx context.Context, p transcript.Places) ([]transcript.File, error) {
	var roots []string
	for _, host := range []string{"Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"} {
		for _, user := range userFolders(p, host, "") {
			for folder := range clineFolders {
				roots = append(roots, filepath.Join(user, "globalStorage", folder, "tasks"))
			}
		}
	}
	data := first(p.Env["CLINE_SESSION_DATA_DIR"])
	if data == "" {
		dir := p.Env["CLINE_DATA_DIR"]
		if dir == "" {
			home := p.Env["CLINE_DIR"]
			if home == "" && p.Home != "" {
				home = filepath.Join(p.Home, ".cline")
			}
			dir = filepath.Join(home, "data")
		}
		data = filepath.Join(dir, "sessions")
	}
	var found []transcript.File
	for _, root := range append(roots, data) {
		files, err := c.FindIn(ctx, root)
		if err != nil {
			return found, err
		}
		found = append(found, files...)
	}
	return found, nil
}

// FindIn lists the tasks at or below path: of each its conversation with the
// model, or what was shown of it where that is missing.
func (c Cline) FindIn(ctx context.Context, path string) ([]transcript.File, error) {
	return findIn(ctx, c, path)
}

func (Cline) recognises(ctx context.Context, f *sniff) bool {
	switch name := filepath.Base(f.path); {
	case name == "api_conversation_history.json":
		return true
	case name == "ui_messages.json":
		_, err := os.Stat(filepath.Join(filepath.Dir(f.path), "api_conversation_history.json"))
		return err != nil && bytes.Contains(f.bytes(), []byte(`"ts"`))
	case strings.HasSuffix(name, ".messages.json"):
		return f.keys()["messages"]
	}
	return false
}

// Read implements [transcript.Source].
func (c Cline) Read(_ context.Context, f transcript.File, _ transcript.Cursor, _ bool, sink transcript.Sink) error {
	raw, err := readDocument(f.Path)
	if err != nil {
		return fmt.Errorf("read cline task: %w", err)
	}
	t := newThread(sink, clineSession(f.Path))
	if filepath.Base(f.Path) == "ui_messages.json" {
		err = clineShown(raw, t, sink)
	} else {
		err = clineHistory(raw, t, sink)
	}
	if err != nil {
		return fmt.Errorf("read cline task: %w", err)
	}
	return done(sink, int64(len(raw)), t.count)
}

// clineSession puts together what the files beside a task say of it.
func clineSession(path string) transcript.Session {
	dir := filepath.Dir(path)
	id := filepath.Base(dir)
	s := transcript.Session{SourcePath: path, Surface: "cline"}
	if surface, ok := clineFolders[strings.ToLower(filepath.Base(filepath.Dir(filepath.Dir(dir))))]; ok {
		s.Surface = surface
	}
	var item struct {
		ID        word   `json:"id"`
		TS        moment `json:"ts"`
		Task      string `json:"task"`
		Workspace string `json:"workspace"`
		Cwd       string `json:"cwdOnTaskInitialization"`
		Model     string `json:"modelId"`
		Parent    word   `json:"parentTaskId"`
		SessionID string `json:"session_id"`
		Dir       string `json:"cwd"`
		ModelName string `json:"model"`
		Created   moment `json:"created_at"`
		Metadata  struct {
			Title string `json:"title"`
		} `json:"metadata"`
	}
	if name, ok := strings.CutSuffix(filepath.Base(path), ".messages.json"); ok {
		id = name
		if raw, err := os.ReadFile(filepath.Join(dir, name+".json")); err == nil && decode(raw, &item) != nil {
			item.Dir = ""
		}
		s.Surface = "cli"
	} else if raw, err := os.ReadFile(filepath.Join(dir, "history_item.json")); err == nil {
		if decode(raw, &item) != nil {
			item.Workspace = ""
		}
	} else if raw, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(dir)), "state", "taskHistory.json")); err == nil {
		var all []rawJSON
		if decode(raw, &all) == nil {
			for _, one := range all {
				var h struct {
					ID word `json:"id"`
				}
				if decode(one, &h) == nil && string(h.ID) == id && decode(one, &item) != nil {
					break
				}
			}
		}
	}
	prefix := Cline{}.Name() + ":"
	if s.Surface == "roo" || s.Surface == "kilo" {
		prefix += s.Surface + "-" // their tasks are numbered like Cline's
	}
	s.ID = prefix + id
	s.Dir, s.Model = first(item.Workspace, item.Cwd, item.Dir), first(item.Model, item.ModelName)
	s.Title = first(item.Metadata.Title, cutTitle(item.Task))
	if s.StartedAt = first2(item.Created, moment{parseTime(id)}).Time; s.StartedAt.IsZero() {
		s.StartedAt = item.TS.Time
	}
	if item.Parent != "" {
		s.ParentID, s.Relation = prefix+string(item.Parent), transcript.Subagent
	}
	return s
}

// cutTitle makes a title of a task's first line.
func cutTitle(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(s); len(r) > 120 {
		return string(r[:119]) + "…"
	}
	return s
}

var (
	clineDetails = regexp.MustCompile(`(?s)<environment_details>.*?(?:</environment_details>|$)`)
	clineWrapped = regexp.MustCompile(`(?s)^\s*<(task|feedback|user_message|answer)>\s*(.*?)\s*</(?:task|feedback|user_message|answer)>\s*`)
	clineResult  = regexp.MustCompile(`(?s)^\[([a-zA-Z_]+)(?: for [^\]]*)?\] Result:\s*(.*)$`)
)

// clineHistory reads the conversation with the model.
func clineHistory(raw []byte, t *thread, sink transcript.Sink) error {
	type message struct {
		ID      string  `json:"id"`
		Role    string  `json:"role"`
		Content rawJSON `json:"content"`
		TS      moment  `json:"ts"`
		Summary bool    `json:"isSummary"`
	}
	var all []message
	var d struct {
		Messages []message `json:"messages"`
	}
	err := decode(raw, &d)
	if b := bytes.TrimSpace(raw); len(b) > 0 && b[0] == '[' {
		err = decode(raw, &all)
	}
	if err != nil {
		sink.Problem(0, "not valid JSON: "+err.Error())
		return nil
	}
	if err := t.announce(); err != nil {
		return err
	}
	names := map[string]string{}
	for _, in := range append(all, d.Messages...) {
		m := transcript.Message{UID: in.ID, Role: roleOf(in.Role), At: in.TS.Time}
		if in.Summary {
			m.Role = transcript.Summary
		}
		if m.Role == "" {
			continue
		}
		read := blocks
		if m.Role == transcript.UserRole {
			read = clineUser
		}
		out := read(in.Content, m)
		for i, o := range out {
			if i > 0 && o.UID == in.ID {
				o.UID = ""
			}
			for _, c := range o.ToolCalls {
				names[c.ID] = c.Name
			}
			if o.Role == transcript.Tool {
				o.ToolName = first(o.ToolName, names[o.ToolCallID])
				o.ExitCode = exitOf(o.Content)
			}
			if err := t.send(o); err != nil {
				return err
			}
		}
	}
	return nil
}

// clineUser takes apart what stands in a user's message: what was typed, the
// results of tools as blocks or as text, and the state of the editor.
func clineUser(raw rawJSON, m transcript.Message) []transcript.Message {
	var out []transcript.Message
	for _, b := range blocksOf(raw) {
		if b.Type == "tool_result" {
			r := transcript.Message{UID: "result:" + b.ToolUseID, Role: transcript.Tool, ToolCallID: b.ToolUseID, Content: clineDetails.ReplaceAllString(blockText(b.Content), ""), IsError: b.IsError, At: m.At}
			if b.ToolUseID == "" {
				r.UID = ""
			}
			out = append(out, r)
			continue
		}
		text := strings.TrimSpace(clineDetails.ReplaceAllString(b.text(), ""))
		if r := clineResult.FindStringSubmatch(text); r != nil {
			out = append(out, transcript.Message{Role: transcript.Tool, ToolName: r[1], Content: r[2], At: m.At})
			continue
		}
		if w := clineWrapped.FindStringSubmatch(text); w != nil {
			text = strings.TrimSpace(w[2] + "\n\n" + strings.TrimPrefix(text, w[0]))
		}
		said := m
		if said.Content = text; text != "" {
			out = append(out, said)
		}
	}
	return out
}

// clineShown reads what was shown of a task. What is still partial is passed
// over.
func clineShown(raw []byte, t *thread, sink transcript.Sink) error {
	var all []struct {
		TS      moment `json:"ts"`
		Type    string `json:"type"`
		Say     string `json:"say"`
		Ask     string `json:"ask"`
		Text    string `json:"text"`
		Partial bool   `json:"partial"`
	}
	if err := decode(raw, &all); err != nil {
		sink.Problem(0, "not valid JSON: "+err.Error())
		return nil
	}
	if err := t.announce(); err != nil {
		return err
	}
	for i, in := range all {
		if in.Partial {
			continue
		}
		m := transcript.Message{Role: transcript.Assistant, Content: in.Text, At: in.TS.Time}
		switch first(in.Say, in.Ask) {
		case "text":
			if i == 0 {
				m.Role = transcript.UserRole
			}
		case "user_feedback", "task":
			m.Role = transcript.UserRole
		case "reasoning":
			m.Content, m.Reasoning = "", in.Text
		case "completion_result", "followup", "plan_mode_respond":
		case "command":
			m.Content, m.ToolCalls = "", []transcript.ToolCall{{Name: "execute_command", Args: extra(nil, "command", in.Text)}}
		case "command_output":
			m.Role, m.ToolName = transcript.Tool, "execute_command"
		case "tool":
			m.Content, m.ToolCalls = "", []transcript.ToolCall{{Name: "tool", Args: callArgs(in.Text)}}
		case "error":
			m.Role, m.Kind, m.IsError = transcript.System, "notice", true
		default:
			continue
		}
		if err := t.send(m); err != nil {
			return err
		}
	}
	return nil
}
