package source

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// Kimi reads the wire logs of Kimi Code.
type Kimi struct{}

// Name implements [transcript.Source].
func (Kimi) Name() string { return "kimi" }

// Find lists the wire logs under KIMI_HOME, ~/.kimi-code and ~/.kimi.
func (k Kimi) Find(ctx context.Context, p transcript.Places) ([]transcript.File, error) {
	var roots []string
	if dir := p.Env["KIMI_HOME"]; dir != "" {
		roots = append(roots, dir)
	}
	if p.Home != "" {
		roots = append(roots, filepath.Join(p.Home, ".kimi-code"), filepath.Join(p.Home, ".kimi"))
	}
	var found []transcript.File
	for _, root := range roots {
		files, err := walk(ctx, k.Name(), filepath.Join(root, "sessions"), func(path string) bool {
			return filepath.Base(path) == "wire.jsonl"
		})
		if err != nil {
			return found, err
		}
		found = append(found, files...)
	}
	return found, nil
}

// FindIn lists the wire logs at or below path.
func (k Kimi) FindIn(ctx context.Context, path string) ([]transcript.File, error) {
	return findIn(ctx, k, path)
}

func (Kimi) recognises(ctx context.Context, f *sniff) bool {
	return f.is(".jsonl") && isKimi(f)
}

func isKimi(f *sniff) bool {
	for _, v := range f.values(1) {
		var r struct {
			Type     string `json:"type"`
			Protocol word   `json:"protocol_version"`
		}
		return decode(v, &r) == nil && r.Type == "metadata" && r.Protocol != ""
	}
	return false
}

// kimiSession says whose a wire log is: sessions/<folder>/<session>/agents/
// <agent>/wire.jsonl, with state.json in the session's folder, or beside.
func kimiSession(path string) (id string, s transcript.Session) {
	id = stem(path)
	dir := filepath.Dir(path)
	state := filepath.Join(dir, "state.json")
	if filepath.Base(filepath.Dir(dir)) == "agents" {
		session := filepath.Dir(filepath.Dir(dir))
		id = filepath.Base(session)
		state = filepath.Join(session, "state.json")
		if agent := filepath.Base(dir); agent != "main" {
			s.ParentID, s.Relation = Kimi{}.Name()+":"+id, transcript.Subagent
			id += "/" + agent
		}
	} else if _, err := os.Stat(state); err != nil {
		state = filepath.Join(dir, id+".state.json")
	}
	raw, err := os.ReadFile(state)
	if err != nil {
		return id, s
	}
	var st struct {
		Title   string `json:"title"`
		WorkDir string `json:"workDir"`
		Created moment `json:"createdAt"`
	}
	if decode(raw, &st) == nil {
		s.Dir, s.StartedAt = st.WorkDir, st.Created.Time
		if s.ParentID == "" {
			s.Title = st.Title
		}
	}
	return id, s
}

// Read implements [transcript.Source].
func (k Kimi) Read(ctx context.Context, f transcript.File, from transcript.Cursor, final bool, sink transcript.Sink) error {
	id, s := kimiSession(f.Path)
	s.Surface = "cli"
	err := readLinear(ctx, k.Name(), id, f, from, final, sink, func(l *linear, v []byte) error {
		if !l.st.Known {
			if err := l.know(s); err != nil {
				return err
			}
		}
		return kimiLine(l, v)
	})
	if err != nil {
		return fmt.Errorf("read kimi session: %w", err)
	}
	return nil
}

// kimiEntry is one line.
type kimiEntry struct {
	Type    string `json:"type"`
	At      moment `json:"time"`
	Cwd     string `json:"cwd"`
	Model   string `json:"modelAlias"`
	Summary string `json:"summary"`
	Origin  struct {
		Kind string `json:"kind"`
	} `json:"origin"`
	Message struct {
		Role    string  `json:"role"`
		Content rawJSON `json:"content"`
		Origin  struct {
			Kind string `json:"kind"`
		} `json:"origin"`
	} `json:"message"`
	Event struct {
		Type   string  `json:"type"`
		UUID   string  `json:"uuid"`
		CallID string  `json:"toolCallId"`
		Turn   word    `json:"turnId"`
		Name   string  `json:"name"`
		Args   rawJSON `json:"args"`
		Part   struct {
			Type  string `json:"type"`
			Text  string `json:"text"`
			Think string `json:"think"`
		} `json:"part"`
		Result struct {
			Output  rawJSON `json:"output"`
			IsError bool    `json:"isError"`
		} `json:"result"`
	} `json:"event"`
}

func kimiLine(l *linear, v []byte) error {
	var e kimiEntry
	if decode(v, &e) != nil {
		return nil
	}
	ev := e.Event
	m := transcript.Message{At: e.At.Time}
	switch e.Type {
	case "config.update":
		if e.Cwd == "" && e.Model == "" {
			return nil
		}
		return l.know(transcript.Session{Dir: e.Cwd, Model: e.Model})
	case "context.apply_compaction":
		m.Content = e.Summary
		return l.compact(m)
	case "context.append_message":
		m.Role, m.Content = roleOf(e.Message.Role), blockText(e.Message.Content)
		if o := e.Message.Origin.Kind; m.Role == transcript.UserRole && o != "" && o != "user" {
			m.Kind = "notice"
		}
		return l.send(m)
	case "context.append_loop_event":
	default:
		return nil
	}
	switch ev.Type {
	case "content.part":
		m.UID, m.Role, m.Content, m.Reasoning = ev.UUID, transcript.Assistant, ev.Part.Text, ev.Part.Think
	case "tool.call": // call ids count anew in each turn
		id := string(ev.Turn) + ":" + ev.CallID
		m.UID, m.Role, m.ToolCalls = "call:"+id, transcript.Assistant, []transcript.ToolCall{{ID: id, Name: ev.Name, Args: args(ev.Args)}}
		l.st.Tools["last:"+ev.CallID] = id
	case "tool.result":
		id := first(l.st.Tools["last:"+ev.CallID], ev.CallID)
		m.UID, m.Role, m.ToolCallID, m.IsError = "result:"+id, transcript.Tool, id, ev.Result.IsError
		m.Content = first(str(ev.Result.Output), blockText(ev.Result.Output))
	}
	return l.send(m)
}
