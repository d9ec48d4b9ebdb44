package source

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// maxDocument is the longest file that is read as one JSON document.
const maxDocument = 512 << 20

// hermesMessage is a message in OpenAI's shape, as session files hold it and
// as a row of the database is put together.
type hermesMessage struct {
	Role             string  `json:"role"`
	Content          rawJSON `json:"content"`
	ToolCallID       string  `json:"tool_call_id"`
	ToolName         string  `json:"tool_name"`
	Name             string  `json:"name"`
	Calls            rawJSON `json:"tool_calls"`
	Finish           string  `json:"finish_reason"`
	Reasoning        string  `json:"reasoning"`
	ReasoningContent string  `json:"reasoning_content"`
	Timestamp        moment  `json:"timestamp"`
	Model            string  `json:"model"`
	SessionID        word    `json:"session_id"`
	Platform         string  `json:"platform"`
	Cwd              string  `json:"cwd"`

	// Of the archival export.
	Text    string `json:"text"`
	State   string `json:"state"`
	Actions []struct {
		ID     string `json:"action_id"`
		Exit   *int   `json:"exit_code"`
		Failed bool   `json:"is_error"`
		Output string `json:"output_preview"`
	} `json:"tool_results"`
}

// compactionHeads begin the summary that stands in for compressed turns.
var compactionHeads = []string{"[CONTEXT COMPACTION", "[CONTEXT SUMMARY]"}

// message turns it into the archive's form, without identity and session.
func (h hermesMessage) message(text string) transcript.Message {
	m := transcript.Message{Content: text, ToolCallID: h.ToolCallID, ToolName: h.ToolName, FinishReason: h.Finish,
		Model: h.Model, At: h.Timestamp.Time, Reasoning: clean(h.ReasoningContent)}
	if m.Reasoning == "" {
		m.Reasoning = clean(h.Reasoning)
	}
	switch h.Role {
	case "assistant":
		m.Role = transcript.Assistant
	case "tool", "function":
		m.Role = transcript.Tool
		if m.ToolName == "" {
			m.ToolName = h.Name
		}
		m.OwnTrace = isOwnTool(m.ToolName) || m.ToolName == "memory"
		m.ExitCode, m.IsError = hermesOutcome(text)
	case "system", "developer":
		m.Role, m.Kind = transcript.System, "meta"
	default:
		m.Role = transcript.UserRole
	}
	for _, head := range compactionHeads {
		if m.Role != transcript.Tool && strings.HasPrefix(text, head) {
			m.Role, m.Kind = transcript.Summary, ""
		}
	}
	m.ToolCalls = openAICalls(h.Calls)
	unfence(&m)
	return m
}

// openAICalls reads tool calls in OpenAI's shape, whose arguments are a string.
func openAICalls(raw rawJSON) []transcript.ToolCall {
	var calls []struct {
		ID       string `json:"id"`
		CallID   string `json:"call_id"`
		Name     string `json:"name"`
		Function struct {
			Name      string  `json:"name"`
			Arguments rawJSON `json:"arguments"`
		} `json:"function"`
		Arguments rawJSON `json:"arguments"`
		ActionID  string  `json:"action_id"`
		Tool      string  `json:"tool_name"`
		ArgsJSON  rawJSON `json:"arguments_json"`
	}
	if len(raw) == 0 || decode(raw, &calls) != nil {
		return nil
	}
	var out []transcript.ToolCall
	for _, c := range calls {
		t := transcript.ToolCall{ID: c.ID, Name: c.Function.Name, Args: args(c.Function.Arguments)}
		if t.ID == "" {
			t.ID = c.CallID
		}
		if t.Name == "" {
			t.Name, t.Args = c.Name, args(c.Arguments)
		}
		if t.Name == "" {
			t.ID, t.Name, t.Args = c.ActionID, c.Tool, args(c.ArgsJSON)
		}
		out = append(out, t)
	}
	return out
}

// hermesOutcome reads what a tool's JSON result says about how it went.
func hermesOutcome(text string) (exit *int, failed bool) {
	if !strings.HasPrefix(text, "{") {
		return exitOf(text), false
	}
	var r struct {
		Exit    *int    `json:"exit_code"`
		Error   rawJSON `json:"error"`
		Success *bool   `json:"success"`
	}
	if decode([]byte(text), &r) != nil {
		return nil, false
	}
	failed = r.Success != nil && !*r.Success || str(r.Error) != "" || r.Exit != nil && *r.Exit != 0
	return r.Exit, failed
}

// isHermesFile recognises session files: session_*.json with a session_id and
// messages, or .jsonl that begins with a session_meta line or whose lines are
// bare OpenAI messages named like a session.
func isHermesFile(f *sniff) bool {
	name := filepath.Base(f.path)
	if strings.HasPrefix(name, "request_dump_") || name == "sessions.json" {
		return false
	}
	switch filepath.Ext(f.path) {
	case ".json":
		keys := f.keys()
		return keys["session_id"] && keys["messages"] && (keys["platform"] || keys["session_start"] || keys["model"] || keys["last_updated"] || keys["producer"])
	case ".jsonl":
		vals := f.values(1)
		if len(vals) == 0 {
			return false
		}
		var first struct {
			Role     string  `json:"role"`
			Messages rawJSON `json:"messages"`
			Source   string  `json:"source"`
			ID       word    `json:"id"`
			Started  rawJSON `json:"started_at"`
			Model    rawJSON `json:"model"`
		}
		if decode(vals[0], &first) != nil {
			return false
		}
		return first.Role == "session_meta" || len(first.Messages) > 0 && first.ID != "" && first.Source != "" && len(first.Started) > 0
	}
	return false
}

// topKeys returns the keys of the object that b begins with, as far as b goes.
func topKeys(b []byte) map[string]bool {
	keys := map[string]bool{}
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(b, []byte("\xEF\xBB\xBF"))))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return keys
	}
	depth := 0
	isKey := true
	for {
		t, err := dec.Token()
		if err != nil {
			return keys
		}
		switch d, isDelim := t.(json.Delim); {
		case isDelim && (d == '{' || d == '['):
			depth++
		case isDelim:
			if depth--; depth < 0 {
				return keys
			}
			isKey = isKey || depth == 0
		case depth == 0 && isKey:
			if s, ok := t.(string); ok {
				keys[s] = true
			}
			isKey = false
		case depth == 0:
			isKey = true
		}
	}
}

// readDocument returns a file that is one JSON document.
func readDocument(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var whole bytes.Buffer
	whole.Grow(int(min(st.Size(), maxDocument)) + bytes.MinRead) // so that it is not copied while it grows
	if _, err := whole.ReadFrom(io.LimitReader(f, maxDocument+1)); err != nil {
		return nil, err
	}
	b := whole.Bytes()
	if len(b) > maxDocument {
		return nil, fmt.Errorf("document over %d MiB", maxDocument>>20)
	}
	return bytes.TrimPrefix(b, []byte("\xEF\xBB\xBF")), nil
}

func marshal(v any) (json.RawMessage, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode cursor: %w", err)
	}
	return raw, nil
}

// hermesDocument is a session file of older versions, or one session of an export.
type hermesDocument struct {
	SessionID word            `json:"session_id"`
	ID        word            `json:"id"`
	Model     string          `json:"model"`
	Platform  string          `json:"platform"`
	Source    string          `json:"source"`
	Start     moment          `json:"session_start"`
	Started   moment          `json:"started_at"`
	Updated   moment          `json:"last_updated"`
	Ended     moment          `json:"ended_at"`
	EndReason string          `json:"end_reason"`
	Parent    string          `json:"parent_session_id"`
	Cwd       string          `json:"cwd"`
	Title     string          `json:"title"`
	Created   moment          `json:"created_at"`
	RepoCwd   string          `json:"repository_cwd"`
	RepoRoot  string          `json:"git_repo_root"`
	Branch    string          `json:"git_branch"`
	Messages  []hermesMessage `json:"messages"`
}

// readHermesJSON reads a session_*.json file, whole each time.
func readHermesJSON(ctx context.Context, path string, sink transcript.Sink) error {
	raw, err := readDocument(path)
	if err != nil {
		return err
	}
	var d hermesDocument
	if err := decode(raw, &d); err != nil {
		sink.Problem(0, "not valid JSON: "+err.Error())
		return nil
	}
	n, err := d.deliver(ctx, path, sink)
	if err != nil {
		return err
	}
	return sink.Mark(transcript.Cursor{Offset: int64(len(raw))}, transcript.Tally{Lines: 1, Objects: 1, Types: map[string]int{"message": n}})
}

func (d hermesDocument) deliver(ctx context.Context, path string, sink transcript.Sink) (int, error) {
	id := string(d.SessionID)
	if id == "" {
		id = string(d.ID)
	}
	if id == "" {
		id = strings.TrimPrefix(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), "session_")
	}
	s := transcript.Session{ID: hermesID(id), Chat: hermesChats(filepath.Dir(path))[id], Title: clean(d.Title), Dir: d.Cwd, Model: d.Model, Surface: d.Platform, SourcePath: path,
		StartedAt: d.Start.Time, LastActive: d.Updated.Time, EndedAt: d.Ended.Time, EndReason: d.EndReason, Project: gitRoot(d.Cwd)}
	if s.Surface == "" {
		s.Surface = d.Source
	}
	if s.StartedAt.IsZero() {
		s.StartedAt = first2(d.Started, d.Created).Time
	}
	s.Dir, s.Branch = first(s.Dir, d.RepoCwd), d.Branch
	s.Project = first(d.RepoRoot, s.Project)
	if d.Parent != "" {
		s.ParentID, s.Relation = hermesID(d.Parent), transcript.Delegate
	}
	if err := sink.Session(s); err != nil {
		return 0, err
	}
	n := numberer{}
	for _, h := range d.Messages {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if h.Model == "" && h.Role == "assistant" {
			h.Model = d.Model
		}
		if err := h.deliver(s.ID, d.Cwd, n, sink); err != nil {
			return 0, err
		}
	}
	return len(d.Messages), nil
}

func (h hermesMessage) deliver(session, dir string, n numberer, sink transcript.Sink) error {
	text := openAIText(h.Content)
	if s := str(h.Content); s != "" {
		text = hermesText(s)
	}
	if text == "" {
		text = h.Text
	}
	if len(h.Actions) == 1 {
		h.ToolCallID = h.Actions[0].ID
		text = first(text, h.Actions[0].Output)
	}
	if text == "" && len(h.Content) > 0 && h.Content[0] == '{' {
		text = string(h.Content) // what a tool gave, not as text
	}
	m := h.message(clean(text))
	if len(h.Actions) == 1 {
		m.ExitCode, m.IsError = h.Actions[0].Exit, h.Actions[0].Failed
	}
	m.Compacted, m.Rewound = h.State == "compacted", h.State == "rewound" || h.State == "inactive"
	if m.Content == "" && m.Reasoning == "" && len(m.ToolCalls) == 0 && m.Role != transcript.Tool {
		return nil
	}
	m.SessionID, m.Dir = session, dir
	m.UID = n.id(string(m.Role), m.Content, m.ToolCallID, callIDs(m.ToolCalls))
	return sink.Message(m)
}

// hermesLines reads sessions/<id>.jsonl: a session_meta line, then one message
// a line; or an export, one session a line. It is read whole each time,
// because identities count equal messages from the start.
type hermesLines struct {
	*pass
	session, dir string
	announced    bool
	n            numberer
}

func readHermesLines(ctx context.Context, f transcript.File, final bool, sink transcript.Sink) error {
	r := hermesLines{session: hermesID(strings.TrimSuffix(filepath.Base(f.Path), filepath.Ext(f.Path))), n: numberer{}}
	var err error
	if r.pass, err = openPass(ctx, f, transcript.Cursor{}, final, sink, nil); err != nil {
		return err
	}
	return r.run(&r, nil)
}

// chat is the key of the chat that the session belongs to, or "".
func (r *hermesLines) chat() string {
	return hermesChats(filepath.Dir(r.path))[strings.TrimPrefix(r.session, hermesID(""))]
}

func (r *hermesLines) flush() error { return nil }
func (r *hermesLines) end() error   { return nil }

func (r *hermesLines) value(v []byte) error {
	var h hermesMessage
	var d hermesDocument
	if decode(v, &h) != nil || decode(v, &d) != nil {
		return nil
	}
	r.in.count(h.Role, string(h.SessionID))
	switch {
	case len(d.Messages) > 0:
		_, err := d.deliver(r.ctx, r.path, r.sink)
		return err
	case h.Role == "session_meta":
		if h.SessionID != "" {
			r.session = hermesID(string(h.SessionID))
		}
		r.dir, r.announced = h.Cwd, true
		return r.sink.Session(transcript.Session{ID: r.session, Chat: r.chat(), Dir: r.dir, Model: h.Model, Surface: h.Platform, StartedAt: h.Timestamp.Time, SourcePath: r.path})
	case h.Role == "":
		return nil
	}
	if !r.announced {
		r.announced = true
		if err := r.sink.Session(transcript.Session{ID: r.session, Chat: r.chat(), SourcePath: r.path}); err != nil {
			return err
		}
	}
	return h.deliver(r.session, r.dir, r.n, r.sink)
}
