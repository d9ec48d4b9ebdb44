package source

import (
	"context"
	"encoding/hex"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

var (
	userQuery = regexp.MustCompile(`(?s)<user_query>\s*(.*?)\s*</user_query>`)
	wrappings = regexp.MustCompile(`(?s)<(?:external_links|attached_files|timestamp|system_reminder|open_and_recently_viewed_files|user_info|cursor_commands|rules)>.*?</(?:external_links|attached_files|timestamp|system_reminder|open_and_recently_viewed_files|user_info|cursor_commands|rules)>\s*`)
)

// cursorQuery returns what a person typed, without what is wrapped around it.
func cursorQuery(text string) (typed, kind string) {
	if m := userQuery.FindStringSubmatch(text); m != nil {
		return m[1], ""
	}
	typed = strings.TrimSpace(wrappings.ReplaceAllString(text, ""))
	if typed == "" && strings.TrimSpace(text) != "" {
		return text, "meta"
	}
	return typed, ""
}

// cursorLog reads an exported agent transcript. Its lines have neither ids nor
// times, so it is read whole each time and equal messages are counted.
type cursorLog struct {
	*pass
	s         transcript.Session
	announced bool
	n         numberer
	was       numberer // of messages that are delivered in parts
}

func cursorSession(path string) transcript.Session {
	id := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	s := transcript.Session{ID: cursorID(id), Surface: "ide", SourcePath: path}
	if dir := filepath.Dir(path); filepath.Base(dir) == "subagents" {
		parent := filepath.Base(filepath.Dir(dir))
		s.ParentID, s.Relation = cursorID(parent), transcript.Subagent
	}
	return s
}

func readCursorLog(ctx context.Context, f transcript.File, final bool, sink transcript.Sink) error {
	r := cursorLog{s: cursorSession(f.Path), n: numberer{}, was: numberer{}}
	var err error
	if r.pass, err = openPass(ctx, f, transcript.Cursor{}, final, sink, nil); err != nil {
		return err
	}
	if !f.Modified.IsZero() {
		r.s.LastActive = f.Modified.UTC()
	}
	return r.run(&r, nil)
}

func (r *cursorLog) flush() error { return nil }
func (r *cursorLog) end() error   { return nil }

func (r *cursorLog) value(v []byte) error {
	var l struct {
		Type    string  `json:"type"`
		Role    string  `json:"role"`
		Error   rawJSON `json:"error"`
		Message struct {
			Content rawJSON `json:"content"`
		} `json:"message"`
		Model string `json:"model"`
	}
	if decode(v, &l) != nil {
		return nil
	}
	r.in.count(first(l.Type, l.Role, "None"), "")
	if l.Type == "error" {
		return r.send(transcript.Message{Role: transcript.System, Kind: "notice", IsError: true, Content: first(str(l.Error), string(l.Error))})
	}
	m := transcript.Message{Role: transcript.Assistant, Model: l.Model}
	if l.Role == "user" {
		m.Role = transcript.UserRole
	} else if l.Role != "assistant" {
		return nil
	}
	for _, b := range blocksOf(l.Message.Content) {
		switch b.Type {
		case "tool_use", "tool_call":
			m.ToolCalls = append(m.ToolCalls, transcript.ToolCall{ID: b.ID, Name: b.Name, Args: args(b.Input)})
		case "tool_result", "tool-result":
			if err := r.send(transcript.Message{Role: transcript.Tool, ToolCallID: b.ToolUseID, ToolName: b.Name, Content: blockText(b.Content), IsError: b.IsError}); err != nil {
				return err
			}
		case "thinking":
			m.Reasoning = join(m.Reasoning, b.Thinking)
		default:
			if t := first(b.text(), b.Text); strings.TrimSpace(t) != "[REDACTED]" {
				m.Content = join(m.Content, strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(t), "[REDACTED]")))
			}
		}
	}
	if m.Role == transcript.UserRole {
		m.Content, m.Kind = cursorQuery(m.Content)
		return r.send(m)
	}
	return r.sendApart(m)
}

// sendApart delivers what an assistant thinks, says and calls as the database
// tells of it: each by itself.
func (r *cursorLog) sendApart(m transcript.Message) error {
	var apart []transcript.Message
	if m.Reasoning != "" {
		apart = append(apart, transcript.Message{Role: m.Role, Model: m.Model, Reasoning: m.Reasoning})
	}
	if m.Content != "" {
		apart = append(apart, transcript.Message{Role: m.Role, Model: m.Model, Content: m.Content})
	}
	for _, c := range m.ToolCalls {
		apart = append(apart, transcript.Message{Role: m.Role, Model: m.Model, ToolCalls: []transcript.ToolCall{c}})
	}
	was := ""
	if len(apart) > 1 { // which were one message once
		was = r.was.id(partsOf(&m)...)
	}
	for _, one := range apart {
		one.Was = was
		if err := r.send(one); err != nil {
			return err
		}
	}
	return nil
}

func partsOf(m *transcript.Message) []string {
	parts := []string{string(m.Role), clean(m.Content)}
	for _, c := range m.ToolCalls {
		parts = append(parts, c.Name, string(c.Args))
	}
	return parts
}

func (r *cursorLog) send(m transcript.Message) error {
	if m.Content == "" && m.Reasoning == "" && len(m.ToolCalls) == 0 {
		return nil
	}
	if !r.announced {
		r.announced = true
		if err := r.sink.Session(r.s); err != nil {
			return err
		}
	}
	m.SessionID = r.s.ID
	m.Content, m.Reasoning = clean(m.Content), clean(m.Reasoning)
	unfence(&m)
	m.UID, m.Twin = r.n.id(partsOf(&m)...), true
	m.OwnTrace = m.OwnTrace || isOwnTool(m.ToolName)
	return r.message(m)
}

// readCursorText reads a transcript in the form of plain text: "user:" and
// "assistant:" lines, marks for tools, bodies below them.
func readCursorText(ctx context.Context, f transcript.File, sink transcript.Sink) error {
	raw, err := readDocument(f.Path)
	if err != nil {
		return err
	}
	r := cursorLog{pass: &pass{ctx: ctx, path: f.Path, sink: sink}, s: cursorSession(f.Path), n: numberer{}, was: numberer{}}
	var m transcript.Message
	var body []string
	flush := func() error {
		text := strings.TrimSpace(strings.Join(body, "\n"))
		body = nil
		switch {
		case m.Role == transcript.UserRole:
			m.Content, m.Kind = cursorQuery(text)
		case len(m.ToolCalls) > 0:
			m.ToolCalls[0].Args = extra(nil, "text", text)
		case m.Kind == "thinking":
			m.Kind, m.Reasoning = "", text
		default:
			m.Content = text
		}
		return r.send(m)
	}
	count := 0
	for line := range strings.SplitSeq(string(raw), "\n") {
		count++
		line = strings.TrimRight(line, "\r")
		var next transcript.Message
		name, isCall := strings.CutPrefix(line, "[Tool call] ")
		switch {
		case line == "user:":
			next.Role = transcript.UserRole
		case line == "assistant:":
			next.Role = transcript.Assistant
		case strings.HasPrefix(line, "[Thinking]"):
			next.Role, next.Kind = transcript.Assistant, "thinking"
			line = strings.TrimPrefix(line, "[Thinking]")
		case isCall:
			next.Role, next.ToolCalls = transcript.Assistant, []transcript.ToolCall{{Name: name}}
			line = ""
		case strings.HasPrefix(line, "[Tool result]"):
			next.Role, next.ToolName = transcript.Tool, strings.TrimSpace(strings.TrimPrefix(line, "[Tool result]"))
			line = ""
		default:
			body = append(body, line)
			continue
		}
		if err := flush(); err != nil {
			return err
		}
		if m = next; line != "" && line != "user:" && line != "assistant:" {
			body = append(body, line)
		}
	}
	if err := flush(); err != nil {
		return err
	}
	return sink.Mark(transcript.Cursor{Offset: int64(len(raw))}, transcript.Tally{Lines: count, Objects: count})
}

// readCursorStore reads the store of one conversation of Cursor's command
// line: its JSON blobs in the order in which they were written.
func readCursorStore(ctx context.Context, path string, sink transcript.Sink) error {
	db, err := openDatabase(ctx, path)
	if err != nil {
		return err
	}
	defer db.Close()
	var meta struct {
		ID      string `json:"agentId"`
		Name    string `json:"name"`
		Created moment `json:"createdAt"`
		Model   string `json:"lastUsedModel"`
	}
	err = db.rowsOf(ctx, func(scan func(...any) error) error {
		var value string
		if err := scan(&value); err != nil {
			return err
		}
		raw := []byte(value)
		if b, err := hex.DecodeString(value); err == nil {
			raw = b
		}
		if decode(raw, &meta) != nil {
			sink.Problem(0, "the store's own record is not valid JSON")
		}
		return nil
	}, "SELECT CAST(value AS TEXT) FROM meta WHERE key = '0'")
	if err != nil {
		return err
	}
	id := first(meta.ID, filepath.Base(filepath.Dir(path)))
	s := transcript.Session{ID: cursorID(id), Title: clean(meta.Name), Model: meta.Model, Surface: "cli", StartedAt: meta.Created.Time, SourcePath: path}
	if err := sink.Session(s); err != nil {
		return err
	}
	count := 0
	err = db.rowsOf(ctx, func(scan func(...any) error) error {
		var blob string
		var data []byte
		if err := scan(&blob, &data); err != nil {
			return err
		}
		if len(data) == 0 || data[0] != '{' {
			return nil // a node that links the others
		}
		for i, m := range aiSDKMessages(data) {
			m.SessionID, m.Model = s.ID, first(m.Model, meta.Model)
			m.UID = blob
			if i > 0 {
				m.UID += "/" + strings.Repeat("i", i)
			}
			count++
			if err := sink.Message(m); err != nil {
				return err
			}
		}
		return nil
	}, "SELECT id, data FROM blobs ORDER BY rowid")
	if err != nil {
		return err
	}
	if err := db.settled(); err != nil {
		return err
	}
	return sink.Mark(transcript.Cursor{Offset: 1}, transcript.Tally{Lines: count, Objects: count})
}

// aiSDKPart is a part of such a message.
type aiSDKPart struct {
	Type     string  `json:"type"`
	Text     string  `json:"text"`
	CallID   string  `json:"toolCallId"`
	ToolName string  `json:"toolName"`
	Args     rawJSON `json:"args"`
	Input    rawJSON `json:"input"`
	Result   rawJSON `json:"result"`
	Output   rawJSON `json:"output"`
	IsError  bool    `json:"isError"`
}

// aiSDKMessages reads a message in the shape of Vercel's AI SDK.
func aiSDKMessages(raw []byte) []transcript.Message {
	var in struct {
		Role    string  `json:"role"`
		Content rawJSON `json:"content"`
	}
	if decode(raw, &in) != nil {
		return nil
	}
	m := transcript.Message{}
	switch in.Role {
	case "user":
		m.Role = transcript.UserRole
	case "assistant":
		m.Role = transcript.Assistant
	case "system":
		m.Role, m.Kind = transcript.System, "meta"
	case "tool":
		m.Role = transcript.Tool
	default:
		return nil
	}
	if s := str(in.Content); s != "" {
		m.Content = s
	}
	var parts []aiSDKPart
	var out []transcript.Message
	if len(in.Content) > 0 && in.Content[0] == '[' && decode(in.Content, &parts) == nil {
		for _, p := range parts {
			switch p.Type {
			case "text":
				m.Content = join(m.Content, p.Text)
			case "reasoning":
				m.Reasoning = join(m.Reasoning, p.Text)
			case "tool-call":
				a := p.Args
				if len(a) == 0 {
					a = p.Input
				}
				m.ToolCalls = append(m.ToolCalls, transcript.ToolCall{ID: p.CallID, Name: p.ToolName, Args: args(a)})
			case "tool-result":
				r := p.Result
				if len(r) == 0 {
					r = p.Output
				}
				text := first(str(r), openAIText(r), string(r))
				out = append(out, transcript.Message{Role: transcript.Tool, ToolCallID: p.CallID, ToolName: p.ToolName, Content: clean(text),
					IsError: p.IsError, OwnTrace: isOwnTool(p.ToolName), ExitCode: exitOf(text)})
			}
		}
	}
	if m.Role == transcript.UserRole {
		var kind string
		if m.Content, kind = cursorQuery(m.Content); kind != "" {
			m.Kind = kind
		}
	}
	m.Content, m.Reasoning = clean(m.Content), clean(m.Reasoning)
	if m.Content != "" || m.Reasoning != "" || len(m.ToolCalls) > 0 {
		out = append([]transcript.Message{m}, out...)
	}
	return out
}
