package source

import (
	"context"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// openInfo is a session's own record.
type openInfo struct {
	ID        string `json:"id"`
	ParentID  string `json:"parentID"`
	Directory string `json:"directory"`
	Title     string `json:"title"`
	Version   string `json:"version"`
	Time      struct {
		Created moment `json:"created"`
		Updated moment `json:"updated"`
	} `json:"time"`
}

// openMessage is a message with its parts.
type openMessage struct {
	Info  openMessageInfo `json:"info"`
	Parts []openPart      `json:"parts"`
}

type openMessageInfo struct {
	ID        string `json:"id"`
	SessionID string `json:"sessionID"`
	Role      string `json:"role"`
	ParentID  string `json:"parentID"`
	Time      struct {
		Created moment `json:"created"`
	} `json:"time"`
	ModelID string `json:"modelID"`
	Model   struct {
		ID string `json:"modelID"`
	} `json:"model"`
	Path struct {
		Cwd string `json:"cwd"`
	} `json:"path"`
	Finish  string  `json:"finish"`
	Summary rawJSON `json:"summary"`
	Error   struct {
		Name string `json:"name"`
		Data struct {
			Message string `json:"message"`
		} `json:"data"`
	} `json:"error"`
}

type openPart struct {
	ID          string `json:"id"`
	MessageID   string `json:"messageID"`
	Type        string `json:"type"`
	Text        string `json:"text"`
	Synthetic   bool   `json:"synthetic"`
	Ignored     bool   `json:"ignored"`
	Tool        string `json:"tool"`
	CallID      string `json:"callID"`
	Filename    string `json:"filename"`
	Mime        string `json:"mime"`
	Description string `json:"description"`
	Prompt      string `json:"prompt"`
	State       struct {
		Status   string  `json:"status"`
		Input    rawJSON `json:"input"`
		Output   rawJSON `json:"output"`
		Error    rawJSON `json:"error"`
		Metadata struct {
			Exit *int `json:"exit"`
		} `json:"metadata"`
	} `json:"state"`
}

// deliverOpen delivers a session. Whatever stands before the last summary
// left the context.
func deliverOpen(info openInfo, msgs []openMessage, path string, sink transcript.Sink) (int, error) {
	name := OpenCode{}.Name() + ":"
	s := transcript.Session{ID: name + info.ID, Title: info.Title, Dir: info.Directory, Version: info.Version, Surface: "cli",
		StartedAt: info.Time.Created.Time, LastActive: info.Time.Updated.Time, SourcePath: path}
	if info.ParentID != "" {
		s.ParentID, s.Relation = name+info.ParentID, transcript.Fork
		if strings.Contains(info.Title, "subagent)") {
			s.Relation = transcript.Subagent
		}
	}
	summary := -1
	for i, m := range msgs {
		s.Model = first(m.Info.ModelID, m.Info.Model.ID, s.Model)
		s.Dir = first(s.Dir, m.Info.Path.Cwd)
		if string(m.Info.Summary) == "true" {
			summary = i
		}
	}
	t := newThread(sink, s)
	if err := t.announce(); err != nil {
		return 0, err
	}
	for i, m := range msgs {
		for _, out := range m.messages() {
			out.Compacted = i < summary
			if err := t.send(out); err != nil {
				return t.count, err
			}
		}
	}
	return t.count, nil
}

// messages returns what a message becomes, with the results of its tools.
func (m openMessage) messages() []transcript.Message {
	out := transcript.Message{UID: m.Info.ID, ParentUID: m.Info.ParentID, Role: transcript.Assistant, At: m.Info.Time.Created.Time,
		FinishReason: m.Info.Finish, Dir: m.Info.Path.Cwd}
	switch {
	case m.Info.Role == "user":
		out.Role = transcript.UserRole
	case string(m.Info.Summary) == "true":
		out.Role = transcript.Summary
	}
	if out.Role != transcript.UserRole {
		out.Model = first(m.Info.ModelID, m.Info.Model.ID)
	}
	var results []transcript.Message
	for _, p := range m.Parts {
		switch p.Type {
		case "text":
			if !p.Synthetic && !p.Ignored {
				out.Content = join(out.Content, p.Text)
			}
		case "reasoning":
			out.Reasoning = join(out.Reasoning, p.Text)
		case "file":
			out.Content = join(out.Content, strings.TrimSpace("[file "+first(p.Filename, p.Mime))+"]")
		case "subtask":
			out.Content = join(out.Content, "[subtask] "+join(p.Description, p.Prompt))
		case "tool":
			call := transcript.ToolCall{ID: first(p.CallID, p.ID), Name: p.Tool, Args: args(p.State.Input)}
			out.ToolCalls = append(out.ToolCalls, call)
			failed := p.State.Status == "error"
			text := first(str(p.State.Output), str(p.State.Error))
			if text == "" && len(p.State.Output) > 0 && p.State.Output[0] != '"' {
				text = string(p.State.Output)
			}
			if text != "" || failed {
				results = append(results, transcript.Message{UID: first(p.ID, p.CallID), Role: transcript.Tool, ToolCallID: call.ID, ToolName: p.Tool, Content: text,
					At: out.At, Dir: out.Dir, ExitCode: p.State.Metadata.Exit, IsError: failed || p.State.Metadata.Exit != nil && *p.State.Metadata.Exit != 0})
			}
		}
	}
	var title struct {
		Title string `json:"title"`
		Body  string `json:"body"`
	}
	if out.Role == transcript.UserRole && len(m.Parts) == 0 && len(m.Info.Summary) > 0 && decode(m.Info.Summary, &title) == nil {
		out.Content = first(title.Body, title.Title) // all that is left of it
	}
	if e := m.Info.Error; e.Name != "" {
		results = append(results, transcript.Message{UID: m.Info.ID + "/error", Role: transcript.System, Kind: "notice", IsError: true, At: out.At, Content: first(e.Data.Message, e.Name)})
	}
	return append([]transcript.Message{out}, results...)
}

// readOpenStored reads a session from its folder of small files.
func readOpenStored(ctx context.Context, f transcript.File, sink transcript.Sink) error {
	slash := filepath.ToSlash(f.Path)
	var root string
	var info openInfo
	if m := storedMessage.FindStringSubmatch(slash); m != nil {
		root, info.ID = m[1], m[2]
	} else {
		m := storedSession.FindStringSubmatch(slash)
		root = m[1]
		raw, err := readDocument(f.Path)
		if err != nil {
			return err
		}
		if err := decode(raw, &info); err != nil {
			sink.Problem(0, "not valid JSON: "+err.Error())
			return nil
		}
		info.ID = first(info.ID, m[2])
	}
	root = filepath.FromSlash(root)
	parts := map[string][]openPart{}
	loose, err := filepath.Glob(filepath.Join(globSafe(root), "part", "*.json"))
	if err != nil {
		return err
	}
	if err := readParts(loose, sink, func(p openPart) { parts[p.MessageID] = append(parts[p.MessageID], p) }); err != nil {
		return err
	}
	msgs, err := storedMessages(ctx, root, info.ID, parts, sink)
	if err != nil {
		return err
	}
	if storedMessage.MatchString(slash) {
		if len(msgs) == 0 {
			return done(sink, 1, 0)
		}
		info.ID = first(msgs[0].Info.SessionID, info.ID)
	}
	sort.SliceStable(msgs, func(i, j int) bool { return msgs[i].Info.Time.Created.Before(msgs[j].Info.Time.Created.Time) })
	n, err := deliverOpen(info, msgs, f.Path, sink)
	if err != nil {
		return err
	}
	return done(sink, 1, n)
}

// storedMessages reads the messages of a session with their parts; loose are
// those that lie in no folder of their message.
func storedMessages(ctx context.Context, root, session string, loose map[string][]openPart, sink transcript.Sink) ([]openMessage, error) {
	files, err := filepath.Glob(filepath.Join(globSafe(root), "message", globSafe(session), "*.json"))
	if err != nil {
		return nil, err
	}
	var msgs []openMessage
	for _, path := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		raw, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var m openMessage
		if err := decode(raw, &m.Info); err != nil {
			sink.Problem(0, filepath.Base(path)+" is not valid JSON")
			continue
		}
		m.Info.ID = first(m.Info.ID, strings.TrimSuffix(filepath.Base(path), ".json"))
		m.Parts = loose[m.Info.ID]
		own, err := filepath.Glob(filepath.Join(globSafe(root), "part", globSafe(m.Info.ID), "*.json"))
		if err != nil {
			return nil, err
		}
		if err := readParts(own, sink, func(p openPart) { m.Parts = append(m.Parts, p) }); err != nil {
			return nil, err
		}
		msgs = append(msgs, m)
	}
	return msgs, nil
}

// readParts reads the files of parts. One that vanished is passed over.
func readParts(files []string, sink transcript.Sink, add func(openPart)) error {
	for _, path := range files {
		raw, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return err
		}
		var p openPart
		if decode(raw, &p) != nil {
			sink.Problem(0, filepath.Base(path)+" is not valid JSON")
			continue
		}
		p.ID = first(p.ID, strings.TrimSuffix(filepath.Base(path), ".json"))
		add(p)
	}
	return nil
}

// readOpenExport reads what "opencode export" wrote.
func readOpenExport(path string, sink transcript.Sink) error {
	raw, err := readDocument(path)
	if err != nil {
		return err
	}
	var d struct {
		Info     openInfo      `json:"info"`
		Messages []openMessage `json:"messages"`
	}
	if err := decode(raw, &d); err != nil {
		sink.Problem(0, "not valid JSON: "+err.Error())
		return nil
	}
	d.Info.ID = first(d.Info.ID, strings.TrimSuffix(filepath.Base(path), ".json"))
	n, err := deliverOpen(d.Info, d.Messages, path, sink)
	if err != nil {
		return err
	}
	return done(sink, int64(len(raw)), n)
}
