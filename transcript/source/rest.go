package source

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// A lineFormat is an agent's log of one session that needs nothing but to be
// recognised and to have its lines read.
type lineFormat struct {
	name   string
	places []string                   // folders below the home, "/"-separated
	is     func(first []rawJSON) bool // by the first lines
	line   func(l *linear, v []byte) error
	id     func(path string) string
	about  func(path string) transcript.Session // what files beside it say
}

// Name implements [transcript.Source].
func (s lineFormat) Name() string { return s.name }

// Find lists the logs in the agent's folders.
func (s lineFormat) Find(ctx context.Context, p transcript.Places) ([]transcript.File, error) {
	var found []transcript.File
	if p.Home == "" {
		return nil, nil
	}
	for _, dir := range s.places {
		files, err := s.FindIn(ctx, filepath.Join(p.Home, filepath.FromSlash(dir)))
		if err != nil {
			return found, err
		}
		found = append(found, files...)
	}
	return found, nil
}

// FindIn lists the logs at or below path.
func (s lineFormat) FindIn(ctx context.Context, path string) ([]transcript.File, error) {
	return findIn(ctx, s, path)
}

func (s lineFormat) recognises(_ context.Context, f *sniff) bool {
	if !f.is(".jsonl") {
		return false
	}
	var first []rawJSON
	for _, v := range f.values(4) {
		first = append(first, v)
	}
	return len(first) > 0 && s.is(first)
}

// Read implements [transcript.Source].
func (s lineFormat) Read(ctx context.Context, f transcript.File, from transcript.Cursor, final bool, sink transcript.Sink) error {
	err := readLinear(ctx, s.name, s.id(f.Path), f, from, final, sink, func(l *linear, v []byte) error {
		if !l.st.Known && s.about != nil {
			if err := l.know(s.about(f.Path)); err != nil {
				return err
			}
		}
		return s.line(l, v)
	})
	if err != nil {
		return fmt.Errorf("read %s session: %w", s.name, err)
	}
	return nil
}

// folderName returns the name of the folder that a file lies in.
func folderName(path string) string { return filepath.Base(filepath.Dir(path)) }

// Grok reads the chat histories of xAI's Grok command line.
func Grok() transcript.Source {
	return lineFormat{name: "grok", places: []string{".grok/sessions"}, id: folderName, line: grokLine, about: grokAbout, is: func(first []rawJSON) bool {
		for _, v := range first {
			var r struct {
				Type    string  `json:"type"`
				Content rawJSON `json:"content"`
				UUID    string  `json:"uuid"`
				ID      string  `json:"id"`
				At      rawJSON `json:"timestamp"`
				Model   string  `json:"model_id"`
			}
			if decode(v, &r) != nil || r.UUID != "" || len(r.At) > 0 || !(r.Type == "system" || r.Type == "user" || r.Type == "assistant" || r.Type == "reasoning" || r.Type == "tool_result") {
				return false
			}
			if r.Type != "reasoning" && len(r.Content) == 0 {
				return false
			}
		}
		return true
	}}
}

func grokAbout(path string) (s transcript.Session) {
	var d struct {
		Info struct {
			ID  string `json:"id"`
			Cwd string `json:"cwd"`
		} `json:"info"`
		Summary string `json:"session_summary"`
		Created moment `json:"created_at"`
		Model   string `json:"current_model_id"`
		Parent  string `json:"parent_session_id"`
	}
	raw, err := os.ReadFile(filepath.Join(filepath.Dir(path), "summary.json"))
	if err != nil || decode(raw, &d) != nil {
		return s
	}
	s = transcript.Session{ID: d.Info.ID, Dir: d.Info.Cwd, Title: d.Summary, StartedAt: d.Created.Time, Model: d.Model, Surface: "cli"}
	if d.Parent != "" {
		s.ParentID, s.Relation = "grok:"+d.Parent, transcript.Subagent
	}
	return s
}

func grokLine(l *linear, v []byte) error {
	var e struct {
		Type      string  `json:"type"`
		Content   rawJSON `json:"content"`
		Synthetic string  `json:"synthetic_reason"`
		Calls     rawJSON `json:"tool_calls"`
		CallID    string  `json:"tool_call_id"`
		Model     string  `json:"model_id"`
		Summary   rawJSON `json:"summary"`
		Kind      struct {
			Type   string  `json:"tool_type"`
			Action rawJSON `json:"action"`
			ID     string  `json:"id"`
		} `json:"kind"`
	}
	if decode(v, &e) != nil {
		return nil
	}
	m := transcript.Message{Role: roleOf(e.Type), Content: first(blockText(e.Content), openAIText(e.Content))}
	switch e.Type {
	case "reasoning":
		l.st.Pending = join(l.st.Pending, openAIText(e.Summary))
		return nil
	case "user":
		if e.Synthetic != "" {
			m.Kind = "meta"
		}
	case "system":
		m.Kind = "meta"
	case "assistant":
		m.Model, m.ToolCalls = e.Model, openAICalls(e.Calls)
	case "tool_result":
		m.Role, m.ToolCallID, m.UID = transcript.Tool, e.CallID, "result:"+e.CallID
	case "backend_tool_call":
		m.Role, m.UID, m.ToolCalls = transcript.Assistant, e.Kind.ID, []transcript.ToolCall{{ID: e.Kind.ID, Name: e.Kind.Type, Args: args(e.Kind.Action)}}
	}
	return l.send(m)
}

// Gptme reads the conversations of gptme.
func Gptme() transcript.Source {
	return lineFormat{name: "gptme", places: []string{".local/share/gptme/logs"}, id: folderName, line: func(l *linear, v []byte) error {
		var e struct {
			Role     string `json:"role"`
			Content  string `json:"content"`
			At       moment `json:"timestamp"`
			Hide     bool   `json:"hide"`
			Metadata struct {
				Model string `json:"model"`
			} `json:"metadata"`
		}
		if decode(v, &e) != nil {
			return nil
		}
		m := transcript.Message{Role: roleOf(e.Role), Content: e.Content, At: e.At.Time, Model: e.Metadata.Model}
		if m.Role == transcript.System || e.Hide {
			m.Kind = "meta"
		}
		return l.send(m)
	}, is: func(first []rawJSON) bool {
		var r struct {
			Role    string  `json:"role"`
			Content *string `json:"content"`
			At      string  `json:"timestamp"`
			Model   string  `json:"model"`
			Type    string  `json:"type"`
		}
		return decode(first[0], &r) == nil && roleOf(r.Role) != "" && r.Content != nil && r.At != "" && r.Model == "" && r.Type == ""
	}}
}

// Windsurf reads the transcripts that a hook of Windsurf's writes; its own
// files are encrypted.
func Windsurf() transcript.Source {
	return lineFormat{name: "windsurf", places: []string{".windsurf/transcripts"}, id: stem, line: windsurfLine, is: func(first []rawJSON) bool {
		var r struct {
			Status string `json:"status"`
			Type   string `json:"type"`
		}
		return decode(first[0], &r) == nil && r.Status != "" && r.Type != "" && strings.ToLower(r.Type) == r.Type && strings.Contains(string(first[0]), `"`+r.Type+`":`)
	}}
}

func windsurfLine(l *linear, v []byte) error {
	var e struct {
		Status string `json:"status"`
		Type   string `json:"type"`
		Input  struct {
			Text string `json:"user_response"`
		} `json:"user_input"`
		Planner struct {
			Text     string `json:"response"`
			Thinking string `json:"thinking"`
		} `json:"planner_response"`
		Run struct {
			Command string `json:"command"`
			Cwd     string `json:"cwd"`
			Exit    *int   `json:"exit_code"`
			Output  string `json:"output"`
			Refused bool   `json:"user_rejected"`
		} `json:"run_command"`
		View struct {
			Path    string `json:"path"`
			Content string `json:"content"`
		} `json:"view_file"`
		Code struct {
			Path    string `json:"path"`
			Content string `json:"new_content"`
		} `json:"code_action"`
	}
	if decode(v, &e) != nil || e.Status == "canceled" {
		return nil
	}
	call := func(name string, arg string, value string) transcript.Message {
		id := l.st.Counter.next(hashOf("call", name, value))
		return transcript.Message{UID: "call:" + id, Role: transcript.Assistant, ToolCalls: []transcript.ToolCall{{ID: id, Name: name, Args: extra(nil, arg, value)}}}
	}
	var all []transcript.Message
	switch e.Type {
	case "user_input":
		all = append(all, transcript.Message{Role: transcript.UserRole, Content: e.Input.Text})
	case "planner_response":
		all = append(all, transcript.Message{Role: transcript.Assistant, Content: e.Planner.Text, Reasoning: e.Planner.Thinking})
	case "run_command":
		c := call("run_command", "command", e.Run.Command)
		c.Dir = e.Run.Cwd
		r := transcript.Message{Role: transcript.Tool, ToolCallID: c.ToolCalls[0].ID, Content: e.Run.Output, ExitCode: e.Run.Exit, IsError: e.Run.Exit != nil && *e.Run.Exit != 0 || e.Run.Refused}
		r.UID = "result:" + r.ToolCallID
		all = append(all, c, r)
	case "view_file":
		c := call("view_file", "path", filePath(e.View.Path))
		all = append(all, c, transcript.Message{UID: "result:" + c.ToolCalls[0].ID, Role: transcript.Tool, ToolCallID: c.ToolCalls[0].ID, Content: e.View.Content})
	case "code_action":
		c := call("edit_file", "path", filePath(e.Code.Path))
		c.ToolCalls[0].Args = extra(c.ToolCalls[0].Args, "content", e.Code.Content)
		all = append(all, c)
	}
	for _, m := range all {
		if err := l.send(m); err != nil {
			return err
		}
	}
	return nil
}

// Antigravity reads the logs that Antigravity writes beside its encrypted
// files.
func Antigravity() transcript.Source {
	return lineFormat{name: "antigravity", places: []string{".gemini/antigravity/brain", ".gemini/antigravity-cli/brain"}, id: func(path string) string {
		// brain/<id>/.system_generated/logs/transcript.jsonl
		if dir := filepath.Dir(filepath.Dir(path)); filepath.Base(dir) == ".system_generated" {
			return filepath.Base(filepath.Dir(dir))
		}
		return stem(path)
	}, line: antigravityLine, is: func(first []rawJSON) bool {
		var r struct {
			Step   *int   `json:"step_index"`
			Source string `json:"source"`
			Type   string `json:"type"`
		}
		return decode(first[0], &r) == nil && r.Step != nil && r.Source != "" && r.Type != ""
	}}
}

var antigravityRequest = regexp.MustCompile(`(?s)<USER_REQUEST>\s*(.*?)\s*</USER_REQUEST>`)

func antigravityLine(l *linear, v []byte) error {
	var e struct {
		Source   string `json:"source"`
		Type     string `json:"type"`
		At       moment `json:"created_at"`
		Content  string `json:"content"`
		Thinking string `json:"thinking"`
		Calls    []struct {
			Name string  `json:"name"`
			Args rawJSON `json:"args"`
		} `json:"tool_calls"`
	}
	if decode(v, &e) != nil {
		return nil
	}
	m := transcript.Message{At: e.At.Time, Content: e.Content, Reasoning: e.Thinking}
	switch {
	case e.Type == "USER_INPUT":
		m.Role = transcript.UserRole
		if r := antigravityRequest.FindStringSubmatch(e.Content); r != nil {
			m.Content = r[1]
		}
	case e.Type == "PLANNER_RESPONSE":
		m.Role = transcript.Assistant
		for _, c := range e.Calls {
			m.ToolCalls = append(m.ToolCalls, transcript.ToolCall{Name: c.Name, Args: unquoted(c.Args)})
		}
	case e.Type == "CHECKPOINT":
		return l.compact(m)
	case e.Source == "SYSTEM":
		m.Role, m.Kind = transcript.System, "meta"
	default:
		m.Role, m.ToolName = transcript.Tool, strings.ToLower(e.Type)
	}
	return l.send(m)
}

// unquoted returns an object whose values are JSON in strings with the values
// themselves.
func unquoted(raw rawJSON) rawJSON {
	var in map[string]rawJSON
	if len(raw) == 0 || decode(raw, &in) != nil {
		return args(raw)
	}
	out := map[string]any{}
	for k, v := range in {
		var inner any
		if s := str(v); s != "" && decode([]byte(s), &inner) == nil && inner != nil {
			out[k] = inner
		} else {
			out[k] = v
		}
	}
	b, err := marshal(out)
	if err != nil {
		return args(raw)
	}
	return b
}
