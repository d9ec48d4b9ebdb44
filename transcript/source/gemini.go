package source

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// Gemini reads the sessions of Gemini CLI: documents, the logs that replaced
// them, and saved checkpoints.
type Gemini struct{}

// Name implements [transcript.Source].
func (Gemini) Name() string { return "gemini" }

// Find lists the chats under GEMINI_CLI_HOME/.gemini or ~/.gemini.
func (g Gemini) Find(ctx context.Context, p transcript.Places) ([]transcript.File, error) {
	home := first(p.Env["GEMINI_CLI_HOME"], p.Home)
	if home == "" {
		return nil, nil
	}
	return walk(ctx, g.Name(), filepath.Join(home, ".gemini", "tmp"), func(path string) bool {
		name, ext := filepath.Base(path), filepath.Ext(path)
		return (ext == ".json" || ext == ".jsonl") && strings.Contains(filepath.ToSlash(path), "/chats/") || strings.HasPrefix(name, "checkpoint-") && ext == ".json"
	})
}

// FindIn lists the sessions at or below path.
func (g Gemini) FindIn(ctx context.Context, path string) ([]transcript.File, error) {
	return findIn(ctx, g, path)
}

func (Gemini) recognises(ctx context.Context, f *sniff) bool {
	return isGemini(f)
}

func isGemini(f *sniff) bool {
	switch filepath.Ext(f.path) {
	case ".json":
		b := f.bytes()
		k := f.keys()
		return k["sessionId"] && k["messages"] && (k["projectHash"] || k["startTime"]) ||
			k["history"] && bytes.Contains(b, []byte(`"parts"`)) || strings.HasPrefix(filepath.Base(f.path), "checkpoint-") && bytes.Contains(b, []byte(`"parts"`))
	case ".jsonl":
		for _, v := range f.values(3) {
			var r struct {
				SessionID string  `json:"sessionId"`
				Start     string  `json:"startTime"`
				Type      string  `json:"type"`
				ID        string  `json:"id"`
				UUID      string  `json:"uuid"`
				Content   rawJSON `json:"content"`
				Message   rawJSON `json:"message"`
				Role      string  `json:"role"`
				At        string  `json:"timestamp"`
			}
			if decode(v, &r) != nil || r.UUID != "" || r.Role != "" || len(r.Message) > 0 {
				return false
			}
			if r.SessionID != "" && r.Start != "" || r.ID != "" && r.At != "" && len(r.Content) > 0 && geminiRoles[r.Type] != "" {
				return true
			}
		}
	}
	return false
}

var geminiRoles = map[string]transcript.Role{"user": transcript.UserRole, "gemini": transcript.Assistant, "model": transcript.Assistant,
	"info": transcript.System, "warning": transcript.System, "error": transcript.System}

// geminiDoc is a session, whole.
type geminiDoc struct {
	SessionID   string          `json:"sessionId"`
	Start       moment          `json:"startTime"`
	Updated     moment          `json:"lastUpdated"`
	Summary     string          `json:"summary"`
	Directories []string        `json:"directories"`
	Messages    []geminiMessage `json:"messages"`
	History     []geminiMessage `json:"history"`
	Meta        struct {
		Model string `json:"model"`
	} `json:"meta"`
}

type geminiMessage struct {
	ID       string  `json:"id"`
	At       moment  `json:"timestamp"`
	TS       moment  `json:"ts"`
	Type     string  `json:"type"`
	Role     string  `json:"role"`
	Content  rawJSON `json:"content"`
	Parts    rawJSON `json:"parts"`
	Model    string  `json:"model"`
	Thoughts []struct {
		Subject     string `json:"subject"`
		Description string `json:"description"`
	} `json:"thoughts"`
	Calls []struct {
		ID     string  `json:"id"`
		Name   string  `json:"name"`
		Args   rawJSON `json:"args"`
		Status string  `json:"status"`
		Result rawJSON `json:"result"`
		Shown  rawJSON `json:"resultDisplay"`
	} `json:"toolCalls"`

	dead bool // taken back by a rewind
}

// Read implements [transcript.Source].
func (g Gemini) Read(ctx context.Context, f transcript.File, from transcript.Cursor, final bool, sink transcript.Sink) error {
	var err error
	if filepath.Ext(f.Path) == ".jsonl" {
		err = readGeminiLog(ctx, f, final, sink)
	} else {
		err = readGeminiDoc(f.Path, sink)
	}
	if err != nil {
		return fmt.Errorf("read gemini session: %w", err)
	}
	return nil
}

func readGeminiDoc(path string, sink transcript.Sink) error {
	raw, err := readDocument(path)
	if err != nil {
		return err
	}
	var d geminiDoc
	if t := bytes.TrimSpace(raw); len(t) > 0 && t[0] == '[' {
		err = decode(raw, &d.History)
	} else {
		err = decode(raw, &d)
	}
	if err != nil {
		sink.Problem(0, "not valid JSON: "+err.Error())
		return nil
	}
	n, err := d.deliver(path, sink)
	if err != nil {
		return err
	}
	return done(sink, int64(len(raw)), n)
}

// geminiLog replays a log: records replace the earlier one with their id,
// rewinds take back, a snapshot of all messages begins anew. It is read whole
// each time.
type geminiLog struct {
	*pass
	doc  geminiDoc
	byID map[string]int
}

func readGeminiLog(ctx context.Context, f transcript.File, final bool, sink transcript.Sink) error {
	r := geminiLog{byID: map[string]int{}}
	var err error
	if r.pass, err = openPass(ctx, f, transcript.Cursor{}, final, sink, nil); err != nil {
		return err
	}
	r.in.hold, r.final = !final, true
	return r.run(&r, nil)
}

func (r *geminiLog) flush() error { return nil }

func (r *geminiLog) value(v []byte) error {
	var l struct {
		geminiMessage
		Set    rawJSON `json:"$set"`
		Rewind *string `json:"$rewindTo"`
	}
	if decode(v, &l) != nil {
		return nil
	}
	r.in.count(first(l.Type, "None"), "")
	switch {
	case l.Rewind != nil:
		at, known := r.byID[*l.Rewind]
		if !known {
			at = 0
		}
		for i := at; i < len(r.doc.Messages); i++ {
			r.doc.Messages[i].dead = true
		}
	case len(l.Set) > 0:
		return r.set(l.Set)
	case l.ID != "" && (len(l.Content) > 0 || len(l.Calls) > 0 || len(l.Parts) > 0):
		r.put(l.geminiMessage)
	default:
		return r.set(v)
	}
	return nil
}

// put adds a message or replaces the one with its id.
func (r *geminiLog) put(m geminiMessage) {
	if i, ok := r.byID[m.ID]; ok {
		r.doc.Messages[i] = m
		return
	}
	r.byID[m.ID] = len(r.doc.Messages)
	r.doc.Messages = append(r.doc.Messages, m)
}

// set merges what is known of the session; a list of messages replaces all
// there were, which are kept as taken back where it does not hold them.
func (r *geminiLog) set(raw []byte) error {
	var d geminiDoc
	if decode(raw, &d) != nil {
		return nil
	}
	to := &r.doc
	to.SessionID, to.Summary = first(d.SessionID, to.SessionID), first(d.Summary, to.Summary)
	to.Start, to.Updated = first2(d.Start, to.Start), first2(d.Updated, to.Updated)
	if len(d.Directories) > 0 {
		to.Directories = d.Directories
	}
	if d.Messages == nil {
		return nil
	}
	for i := range to.Messages {
		to.Messages[i].dead = true
	}
	for _, m := range d.Messages {
		r.put(m)
	}
	return nil
}

func (r *geminiLog) end() error {
	_, err := r.doc.deliver(r.path, r.sink)
	return err
}

// deliver delivers the session.
func (d geminiDoc) deliver(path string, sink transcript.Sink) (int, error) {
	name := Gemini{}.Name() + ":"
	stem := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	s := transcript.Session{ID: name + first(d.SessionID, stem), Title: d.Summary, Surface: "cli", StartedAt: d.Start.Time, LastActive: d.Updated.Time, SourcePath: path, Model: d.Meta.Model}
	dir := filepath.Dir(path)
	if parent := filepath.Base(dir); filepath.Base(filepath.Dir(dir)) == "chats" && parent != d.SessionID {
		s.ParentID, s.Relation = name+parent, transcript.Subagent
		dir = filepath.Dir(dir)
	}
	if len(d.Directories) > 0 {
		s.Dir = d.Directories[0]
	} else if root, err := os.ReadFile(filepath.Join(filepath.Dir(dir), ".project_root")); err == nil {
		s.Dir = strings.TrimSpace(string(root))
	}
	all := append(d.Messages, d.History...)
	for _, m := range all {
		s.Model = first(m.Model, s.Model)
	}
	t := newThread(sink, s)
	if err := t.announce(); err != nil {
		return 0, err
	}
	for _, m := range all {
		for _, out := range m.messages() {
			out.At, out.Rewound = first2(m.At, m.TS).Time, m.dead
			if err := t.send(out); err != nil {
				return t.count, err
			}
		}
	}
	return t.count, nil
}

var geminiExit = regexp.MustCompile(`(?m)^Exit Code: (\d{1,5})\s*$`)

// messages returns what a message becomes, with the results of its calls.
func (m geminiMessage) messages() []transcript.Message {
	kind := first(m.Type, m.Role)
	out := transcript.Message{UID: m.ID, Role: geminiRoles[kind], Model: m.Model}
	if out.Role == "" {
		return nil
	}
	var results []transcript.Message
	content := m.Content
	if len(content) == 0 {
		content = m.Parts
	}
	out.Content, out.ToolCalls, results = geminiParts(content)
	for _, th := range m.Thoughts {
		out.Reasoning = join(out.Reasoning, strings.TrimPrefix(th.Subject+": "+th.Description, ": "))
	}
	for _, c := range m.Calls {
		out.ToolCalls = append(out.ToolCalls, transcript.ToolCall{ID: c.ID, Name: c.Name, Args: args(c.Args)})
		_, _, found := geminiParts(c.Result)
		r := transcript.Message{Role: transcript.Tool, ToolCallID: c.ID, ToolName: c.Name, IsError: c.Status == "error" || c.Status == "cancelled"}
		for _, f := range found {
			r.Content = join(r.Content, f.Content)
			r.IsError = r.IsError || f.IsError
		}
		if r.Content == "" {
			r.Content = first(str(c.Result), str(c.Shown))
		}
		results = append(results, r)
	}
	for i := range results {
		r := &results[i]
		if r.UID = "result:" + r.ToolCallID; r.ToolCallID == "" {
			r.UID = m.ID + "/" + strconv.Itoa(i)
		}
		if e := geminiExit.FindStringSubmatch(r.Content); e != nil {
			if code, err := strconv.Atoi(e[1]); err == nil {
				r.ExitCode = &code
			}
		}
	}
	switch {
	case out.Role == transcript.System:
		out.Kind, out.IsError = "notice", kind == "error"
	case out.Role == transcript.UserRole && strings.HasPrefix(out.Content, "<session_context>"):
		out.Kind = "meta"
	case out.Role == transcript.UserRole && strings.HasPrefix(out.Content, "/") && !strings.ContainsAny(out.Content, " \n"):
		out.Kind = "command"
	}
	return append([]transcript.Message{out}, results...)
}
