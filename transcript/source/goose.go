package source

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// Goose reads the sessions of Goose: its database and the logs before it.
type Goose struct{}

// Name implements [transcript.Source].
func (Goose) Name() string { return "goose" }

// Find lists what lies in the sessions folder.
func (g Goose) Find(ctx context.Context, p transcript.Places) ([]transcript.File, error) {
	root := p.Env["GOOSE_PATH_ROOT"]
	switch {
	case root != "":
		root = filepath.Join(root, "data", "sessions")
	case p.GOOS == "windows" && p.Env["APPDATA"] != "":
		root = filepath.Join(p.Env["APPDATA"], "Block", "goose", "data", "sessions")
	case p.Env["XDG_DATA_HOME"] != "":
		root = filepath.Join(p.Env["XDG_DATA_HOME"], "goose", "sessions")
	case p.Home != "":
		root = filepath.Join(p.Home, ".local", "share", "goose", "sessions")
	default:
		return nil, nil
	}
	return g.FindIn(ctx, root)
}

// FindIn lists the databases and logs at or below path.
func (g Goose) FindIn(ctx context.Context, path string) ([]transcript.File, error) {
	return findIn(ctx, g, path)
}

func (Goose) recognises(ctx context.Context, f *sniff) bool {
	if isDatabase(f.path) {
		return f.holds(ctx, "messages", "session_id", "content_json")
	}
	return f.is(".jsonl") && isGooseLog(f)
}

func isGooseLog(f *sniff) bool {
	for _, v := range f.values(1) {
		var r struct {
			Dir         *string `json:"working_dir"`
			Description *string `json:"description"`
			Count       *int    `json:"message_count"`
		}
		return decode(v, &r) == nil && r.Dir != nil && (r.Description != nil || r.Count != nil)
	}
	return false
}

// Read implements [transcript.Source].
func (g Goose) Read(ctx context.Context, f transcript.File, from transcript.Cursor, final bool, sink transcript.Sink) error {
	var err error
	if isDatabase(f.Path) {
		err = readStore(ctx, f, from, sink, "SELECT id, updated_at FROM sessions ORDER BY created_at, id", func(db *database, id string) (int, error) {
			return gooseSession(ctx, db, id, f.Path, sink)
		})
	} else {
		err = readLinear(ctx, g.Name(), stem(f.Path), f, from, final, sink, gooseLine)
	}
	if err != nil {
		return fmt.Errorf("read goose sessions: %w", err)
	}
	return nil
}

func gooseLine(l *linear, v []byte) error {
	var e struct {
		ID          string  `json:"id"`
		Description string  `json:"description"`
		Dir         string  `json:"working_dir"`
		At          moment  `json:"created_at"`
		Role        string  `json:"role"`
		Created     moment  `json:"created"`
		Content     rawJSON `json:"content"`
	}
	if decode(v, &e) != nil {
		return nil
	}
	if e.Role == "" {
		return l.know(transcript.Session{ID: e.ID, Title: e.Description, Dir: e.Dir, StartedAt: e.At.Time, Surface: "cli"})
	}
	for _, m := range gooseBlocks(e.Content, transcript.Message{UID: e.ID, Role: roleOf(e.Role), At: e.Created.Time}) {
		if err := l.send(m); err != nil {
			return err
		}
	}
	return nil
}

func gooseSession(ctx context.Context, db *database, id, path string, sink transcript.Sink) (int, error) {
	cols, err := db.columns(ctx, "sessions")
	if err != nil {
		return 0, err
	}
	var name, description, kind, dir, created, updated sql.NullString
	err = db.QueryRowContext(ctx, "SELECT "+pick(cols, "name", "description", "session_type", "working_dir", "created_at", "updated_at")+" FROM sessions WHERE id = ?", id).
		Scan(&name, &description, &kind, &dir, &created, &updated)
	if err != nil {
		return 0, err
	}
	t := newThread(sink, transcript.Session{ID: Goose{}.Name() + ":" + id, Title: first(description.String, name.String), Dir: dir.String, Surface: first(kind.String, "cli"),
		StartedAt: parseTime(created.String), LastActive: parseTime(updated.String), SourcePath: path})
	if err := t.announce(); err != nil {
		return 0, err
	}
	if cols, err = db.columns(ctx, "messages"); err != nil {
		return 0, err
	}
	names := map[string]string{}
	err = db.rowsOf(ctx, func(scan func(...any) error) error {
		var row, role, content string
		var uid, at sql.NullString
		if err := scan(&row, &uid, &role, &content, &at); err != nil {
			return err
		}
		if content != "" && !validJSON([]byte(content)) {
			sink.Problem(0, "message "+first(uid.String, row)+" is not valid JSON")
		}
		for _, m := range gooseBlocks(rawJSON(content), transcript.Message{UID: first(uid.String, row), Role: roleOf(role), At: parseTime(at.String)}) {
			for _, c := range m.ToolCalls {
				names[c.ID] = c.Name
			}
			m.ToolName = names[m.ToolCallID]
			if err := t.send(m); err != nil {
				return err
			}
		}
		return nil
	}, "SELECT "+pick(cols, "id", "message_id", "role", "content_json", "created_timestamp")+" FROM messages WHERE session_id = ? ORDER BY id", id)
	return t.count, err
}

// gooseBlocks turns a message's blocks into itself and the results in it.
func gooseBlocks(raw rawJSON, m transcript.Message) []transcript.Message {
	var all []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Thinking string `json:"thinking"`
		Msg      string `json:"msg"`
		ID       string `json:"id"`
		Mime     string `json:"mimeType"`
		Data     string `json:"data"`
		Call     struct {
			Value struct {
				Name string  `json:"name"`
				Args rawJSON `json:"arguments"`
			} `json:"value"`
		} `json:"toolCall"`
		Result struct {
			Status string  `json:"status"`
			Value  rawJSON `json:"value"`
			Error  rawJSON `json:"error"`
		} `json:"toolResult"`
	}
	if m.Content = str(raw); m.Content == "" && (len(raw) == 0 || decode(raw, &all) != nil) {
		return nil
	}
	var results []transcript.Message
	for _, b := range all {
		switch b.Type {
		case "text":
			m.Content = join(m.Content, b.Text)
		case "thinking":
			m.Reasoning = join(m.Reasoning, b.Thinking)
		case "image":
			m.Content = join(m.Content, placeholder("image", b.Mime, base64Size(len(b.Data))))
		case "toolRequest":
			m.ToolCalls = append(m.ToolCalls, transcript.ToolCall{ID: b.ID, Name: b.Call.Value.Name, Args: args(b.Call.Value.Args)})
		case "toolResponse":
			text := blockText(b.Result.Value)
			var nested struct {
				Content rawJSON `json:"content"`
				IsError bool    `json:"isError"`
			}
			if text == "" && len(b.Result.Value) > 0 && decode(b.Result.Value, &nested) == nil {
				text = blockText(nested.Content)
			}
			results = append(results, transcript.Message{UID: "result:" + b.ID, Role: transcript.Tool, ToolCallID: b.ID, At: m.At,
				Content: first(text, str(b.Result.Error), string(b.Result.Error)), IsError: b.Result.Status == "error" || nested.IsError, ExitCode: exitOf(text)})
		default:
			m.Content = join(m.Content, b.Text)
		}
	}
	return append([]transcript.Message{m}, results...)
}
