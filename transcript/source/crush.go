package source

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// Crush reads the databases that Crush keeps in the folders it works in.
type Crush struct{}

// Name implements [transcript.Source].
func (Crush) Name() string { return "crush" }

// Find lists the databases of the projects in Crush's registry.
func (c Crush) Find(_ context.Context, p transcript.Places) ([]transcript.File, error) {
	root := p.Env["CRUSH_GLOBAL_DATA"]
	switch {
	case root != "":
	case p.GOOS == "windows" && p.Env["LOCALAPPDATA"] != "":
		root = filepath.Join(p.Env["LOCALAPPDATA"], "crush")
	case p.Env["XDG_DATA_HOME"] != "":
		root = filepath.Join(p.Env["XDG_DATA_HOME"], "crush")
	case p.Home != "":
		root = filepath.Join(p.Home, ".local", "share", "crush")
	}
	raw, err := os.ReadFile(filepath.Join(root, "projects.json"))
	if err != nil {
		return nil, missingOK(err)
	}
	var reg struct {
		Projects []struct {
			Path string `json:"path"`
			Data string `json:"data_dir"`
		} `json:"projects"`
	}
	if decode(raw, &reg) != nil {
		return nil, nil
	}
	var found []transcript.File
	for _, project := range reg.Projects {
		dir := first(project.Data, filepath.Join(project.Path, ".crush"))
		if f, ok := databaseAt(c.Name(), filepath.Join(dir, "crush.db")); ok {
			found = append(found, f)
		}
	}
	return found, nil
}

// FindIn lists the databases at or below path.
func (c Crush) FindIn(ctx context.Context, path string) ([]transcript.File, error) {
	return findIn(ctx, c, path)
}

func (Crush) recognises(ctx context.Context, f *sniff) bool {
	return isDatabase(f.path) && f.holds(ctx, "messages", "session_id", "role", "parts", "created_at")
}

// Read implements [transcript.Source].
func (c Crush) Read(ctx context.Context, f transcript.File, from transcript.Cursor, _ bool, sink transcript.Sink) error {
	err := readStore(ctx, f, from, sink, "SELECT id, updated_at FROM sessions ORDER BY created_at, id", func(db *database, id string) (int, error) {
		return crushSession(ctx, db, id, f.Path, sink)
	})
	if err != nil {
		return fmt.Errorf("read crush sessions: %w", err)
	}
	return nil
}

func crushSession(ctx context.Context, db *database, id, path string, sink transcript.Sink) (int, error) {
	cols, err := db.columns(ctx, "sessions")
	if err != nil {
		return 0, err
	}
	var parent, title, created, updated sql.NullString
	err = db.QueryRowContext(ctx, "SELECT "+pick(cols, "parent_session_id", "title", "created_at", "updated_at")+" FROM sessions WHERE id = ?", id).Scan(cells(&parent, &title, &created, &updated)...)
	if err != nil {
		return 0, err
	}
	s := transcript.Session{ID: Crush{}.Name() + ":" + id, Title: title.String, Surface: "cli", StartedAt: parseTime(created.String), LastActive: parseTime(updated.String), SourcePath: path}
	if dir := filepath.Dir(path); filepath.Base(dir) == ".crush" {
		s.Dir = filepath.Dir(dir)
	}
	if parent.String != "" {
		s.ParentID, s.Relation = Crush{}.Name()+":"+parent.String, transcript.Subagent
	}
	t := newThread(sink, s)
	if err := t.announce(); err != nil {
		return 0, err
	}
	if cols, err = db.columns(ctx, "messages"); err != nil {
		return 0, err
	}
	err = db.rowsOf(ctx, func(scan func(...any) error) error {
		var uid, role, parts string
		var model, at sql.NullString
		var summary sql.NullInt64
		if err := scan(&uid, &role, &parts, &model, &at, &summary); err != nil {
			return err
		}
		if parts != "" && !validJSON([]byte(parts)) {
			sink.Problem(0, "message "+uid+" is not valid JSON")
		}
		m := transcript.Message{UID: uid, Role: roleOf(role), Model: model.String, At: parseTime(at.String)}
		if summary.Int64 != 0 {
			m.Role = transcript.Summary
		}
		for _, out := range crushParts(rawJSON(parts), m) {
			if err := t.send(out); err != nil {
				return err
			}
		}
		return nil
	}, "SELECT "+pick(cols, "id", "role", "parts", "model", "created_at", "is_summary_message")+" FROM messages WHERE session_id = ? ORDER BY created_at, rowid", id)
	return t.count, err
}

func crushParts(raw rawJSON, m transcript.Message) []transcript.Message {
	var all []struct {
		Type string `json:"type"`
		Data struct {
			Text     string  `json:"text"`
			Thinking string  `json:"thinking"`
			ID       string  `json:"id"`
			Name     string  `json:"name"`
			Input    rawJSON `json:"input"`
			CallID   string  `json:"tool_call_id"`
			Content  string  `json:"content"`
			IsError  bool    `json:"is_error"`
			Reason   string  `json:"reason"`
			Mime     string  `json:"MIMEType"`
			Path     string  `json:"Path"`
			Data     string  `json:"Data"`
			Command  string  `json:"command"`
			Output   string  `json:"output"`
			Exit     *int    `json:"exit_code"`
		} `json:"data"`
	}
	if decode(raw, &all) != nil {
		return nil
	}
	var results []transcript.Message
	for i, p := range all {
		d := p.Data
		switch p.Type {
		case "text":
			m.Content = join(m.Content, d.Text)
		case "reasoning":
			m.Reasoning = join(m.Reasoning, first(d.Thinking, d.Text))
		case "binary", "image_url":
			m.Content = join(m.Content, placeholder("file", d.Mime, base64Size(len(d.Data))))
		case "tool_call":
			m.ToolCalls = append(m.ToolCalls, transcript.ToolCall{ID: d.ID, Name: d.Name, Args: args(d.Input)})
		case "tool_result":
			results = append(results, transcript.Message{UID: m.UID + "/" + strconv.Itoa(i), Role: transcript.Tool, ToolCallID: d.CallID, ToolName: d.Name, Content: d.Content,
				IsError: d.IsError, At: m.At, ExitCode: exitOf(d.Content)})
		case "shell_command":
			id := m.UID + "/" + strconv.Itoa(i)
			m.ToolCalls = append(m.ToolCalls, transcript.ToolCall{ID: id, Name: "shell", Args: extra(nil, "command", d.Command)})
			results = append(results, transcript.Message{UID: id, Role: transcript.Tool, ToolCallID: id, ToolName: "shell", Content: d.Output, ExitCode: d.Exit, At: m.At})
		case "finish":
			m.FinishReason = d.Reason
		}
	}
	if m.Role == transcript.Tool {
		return results
	}
	return append([]transcript.Message{m}, results...)
}
