package source

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// Zed reads the agent threads of the Zed editor.
type Zed struct{}

// Name implements [transcript.Source].
func (Zed) Name() string { return "zed" }

// Find lists the store in Zed's data folder.
func (z Zed) Find(_ context.Context, p transcript.Places) ([]transcript.File, error) {
	var roots []string
	switch {
	case p.Home == "":
		return nil, nil
	case p.GOOS == "darwin":
		roots = append(roots, filepath.Join(p.Home, "Library", "Application Support", "Zed"))
	case p.GOOS == "windows":
		roots = append(roots, filepath.Join(first(p.Env["LOCALAPPDATA"], filepath.Join(p.Home, "AppData", "Local")), "Zed"))
	default:
		roots = append(roots, filepath.Join(first(p.Env["FLATPAK_XDG_DATA_HOME"], p.Env["XDG_DATA_HOME"], filepath.Join(p.Home, ".local", "share")), "zed"))
	}
	var found []transcript.File
	for _, root := range roots {
		if f, ok := databaseAt(z.Name(), filepath.Join(root, "threads", "threads.db")); ok {
			found = append(found, f)
		}
	}
	return found, nil
}

// FindIn lists the stores at or below path.
func (z Zed) FindIn(ctx context.Context, path string) ([]transcript.File, error) {
	return findIn(ctx, z, path)
}

func (Zed) recognises(ctx context.Context, f *sniff) bool {
	return isDatabase(f.path) && f.holds(ctx, "threads", "id", "data_type", "data")
}

// Read implements [transcript.Source].
func (z Zed) Read(ctx context.Context, f transcript.File, from transcript.Cursor, _ bool, sink transcript.Sink) error {
	unpack, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxDocument))
	if err != nil {
		return fmt.Errorf("read zed threads: %w", err)
	}
	defer unpack.Close()
	err = readStore(ctx, f, from, sink, "SELECT id, updated_at FROM threads ORDER BY updated_at, id", func(db *database, id string) (int, error) {
		cols, err := db.columns(ctx, "threads")
		if err != nil {
			return 0, err
		}
		var kind string
		var data []byte
		var summary, updated, parent, folders, created sql.NullString
		err = db.QueryRowContext(ctx, "SELECT "+pick(cols, "data_type", "data", "summary", "updated_at", "parent_id", "folder_paths", "created_at")+" FROM threads WHERE id = ?", id).
			Scan(cells(&kind, &data, &summary, &updated, &parent, &folders, &created)...)
		if err != nil {
			return 0, err
		}
		if kind == "zstd" || bytes.HasPrefix(data, []byte{0x28, 0xB5, 0x2F, 0xFD}) {
			if data, err = unpack.DecodeAll(data, nil); err != nil {
				sink.Problem(0, "thread "+id+" cannot be unpacked: "+err.Error())
				return 0, nil
			}
		}
		s := transcript.Session{ID: z.Name() + ":" + id, Title: summary.String, Surface: "ide", SourcePath: f.Path, StartedAt: parseTime(created.String), LastActive: parseTime(updated.String)}
		s.Dir, _, _ = strings.Cut(folders.String, "\n")
		if parent.String != "" {
			s.ParentID, s.Relation = z.Name()+":"+parent.String, transcript.Subagent
		}
		return zedThread(data, s, sink)
	})
	if err != nil {
		return fmt.Errorf("read zed threads: %w", err)
	}
	return nil
}

// zedThread delivers a thread in either of its shapes.
func zedThread(data []byte, s transcript.Session, sink transcript.Sink) (int, error) {
	var d struct {
		Title    string    `json:"title"`
		Messages []rawJSON `json:"messages"`
		Model    struct {
			Model string `json:"model"`
		} `json:"model"`
	}
	if err := decode(data, &d); err != nil {
		sink.Problem(0, "thread "+s.ID+" is not valid JSON")
		return 0, nil
	}
	s.Title, s.Model = first(d.Title, s.Title), d.Model.Model
	t := newThread(sink, s)
	if err := t.announce(); err != nil {
		return 0, err
	}
	for i, raw := range d.Messages {
		for _, m := range zedMessage(raw, strconv.Itoa(i)) {
			if err := t.send(m); err != nil {
				return t.count, err
			}
		}
	}
	return t.count, nil
}

type zedPart struct {
	Text     *string `json:"Text"`
	Thinking *struct {
		Text string `json:"text"`
	} `json:"Thinking"`
	Mention *struct {
		Content string `json:"content"`
	} `json:"Mention"`
	Image   rawJSON `json:"Image"`
	ToolUse *struct {
		ID    string  `json:"id"`
		Name  string  `json:"name"`
		Input rawJSON `json:"input"`
	} `json:"ToolUse"`
}

// zedEntry is a message in either shape.
type zedEntry struct {
	User *struct {
		ID      string    `json:"id"`
		Content []zedPart `json:"content"`
	} `json:"User"`
	Agent *struct {
		Content []zedPart `json:"content"`
		Results map[string]struct {
			Name    string  `json:"tool_name"`
			IsError bool    `json:"is_error"`
			Content rawJSON `json:"content"`
		} `json:"tool_results"`
	} `json:"Agent"`
	Role     string `json:"role"`
	Segments []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"segments"`
	Uses []struct {
		ID    string  `json:"id"`
		Name  string  `json:"name"`
		Input rawJSON `json:"input"`
	} `json:"tool_uses"`
	Results []struct {
		ID      string  `json:"tool_use_id"`
		IsError bool    `json:"is_error"`
		Content rawJSON `json:"content"`
	} `json:"tool_results"`
}

func zedMessage(raw rawJSON, uid string) []transcript.Message {
	var in zedEntry
	if len(raw) == 0 || raw[0] != '{' || decode(raw, &in) != nil {
		return nil
	}
	m := transcript.Message{UID: "m" + uid, Role: roleOf(in.Role)}
	var parts []zedPart
	var results []transcript.Message
	switch {
	case in.User != nil:
		m.Role, m.UID, parts = transcript.UserRole, first(in.User.ID, m.UID), in.User.Content
	case in.Agent != nil:
		m.Role, parts = transcript.Assistant, in.Agent.Content
		ids := make([]string, 0, len(in.Agent.Results))
		for id := range in.Agent.Results {
			ids = append(ids, id)
		}
		sort.Strings(ids)
		for _, id := range ids {
			r := in.Agent.Results[id]
			results = append(results, transcript.Message{UID: "result:" + id, Role: transcript.Tool, ToolCallID: id, ToolName: r.Name, IsError: r.IsError, Content: zedText(r.Content)})
		}
	default:
		for _, s := range in.Segments {
			if s.Type == "thinking" {
				m.Reasoning = join(m.Reasoning, s.Text)
			} else {
				m.Content = join(m.Content, s.Text)
			}
		}
		for _, u := range in.Uses {
			m.ToolCalls = append(m.ToolCalls, transcript.ToolCall{ID: u.ID, Name: u.Name, Args: args(u.Input)})
		}
		for _, r := range in.Results {
			results = append(results, transcript.Message{UID: "result:" + r.ID, Role: transcript.Tool, ToolCallID: r.ID, IsError: r.IsError, Content: zedText(r.Content)})
		}
	}
	for _, p := range parts {
		switch {
		case p.Text != nil:
			m.Content = join(m.Content, *p.Text)
		case p.Thinking != nil:
			m.Reasoning = join(m.Reasoning, p.Thinking.Text)
		case p.Mention != nil:
			m.Content = join(m.Content, p.Mention.Content)
		case len(p.Image) > 0:
			m.Content = join(m.Content, placeholder("image", "", 0))
		case p.ToolUse != nil:
			m.ToolCalls = append(m.ToolCalls, transcript.ToolCall{ID: p.ToolUse.ID, Name: p.ToolUse.Name, Args: args(p.ToolUse.Input)})
		}
	}
	if m.Role == "" {
		return results
	}
	return append([]transcript.Message{m}, results...)
}

// zedText returns a result's text: a string, or an object with Text.
func zedText(raw rawJSON) string {
	var p zedPart
	if s := str(raw); s != "" {
		return s
	}
	if len(raw) > 0 && raw[0] == '{' && decode(raw, &p) == nil && p.Text != nil {
		return *p.Text
	}
	return blockText(raw)
}
