package source

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// Copilot reads the event logs of GitHub Copilot CLI.
type Copilot struct{}

// Name implements [transcript.Source].
func (Copilot) Name() string { return "copilot-cli" }

// Find lists the logs under COPILOT_HOME or ~/.copilot.
func (c Copilot) Find(ctx context.Context, p transcript.Places) ([]transcript.File, error) {
	home := p.Env["COPILOT_HOME"]
	if home == "" {
		if p.Home == "" {
			return nil, nil
		}
		home = filepath.Join(p.Home, ".copilot")
	}
	return walk(ctx, c.Name(), filepath.Join(home, "session-state"), func(path string) bool {
		return filepath.Base(path) == "events.jsonl" || filepath.Ext(path) == ".jsonl" && folderName(path) == "session-state"
	})
}

// FindIn lists the command line's logs at or below path. Those of the VS Code
// extension, which have the same form, belong to [VSCode].
func (c Copilot) FindIn(ctx context.Context, path string) ([]transcript.File, error) {
	return findIn(ctx, c, path)
}

func (Copilot) recognises(ctx context.Context, f *sniff) bool {
	return f.is(".jsonl") && isCopilot(f) == copilotCLI
}

type copilotKind int

const (
	noCopilot copilotKind = iota
	copilotCLI
	copilotVSCode
)

var copilotType = regexp.MustCompile(`^(?:session|user|assistant|tool|system|hook|permission|skill|subagent)\.[a-z_]+$|^abort$`)

// isCopilot recognises an event log, and whose it is.
func isCopilot(f *sniff) copilotKind {
	kind, known, strange := noCopilot, 0, 0 // strange are types that are not known yet
	for _, v := range f.values(6) {
		var r struct {
			Type string  `json:"type"`
			Data rawJSON `json:"data"`
		}
		if decode(v, &r) != nil {
			continue
		}
		if !strings.Contains(r.Type, ".") && r.Type != "abort" || len(r.Data) == 0 || r.Data[0] != '{' {
			return noCopilot
		}
		if !copilotType.MatchString(r.Type) {
			strange++
			continue
		}
		known++
		var d struct {
			VSCode string `json:"vscodeVersion"`
		}
		if decode(r.Data, &d) == nil && d.VSCode != "" {
			return copilotVSCode
		}
		kind = copilotCLI
	}
	if known <= strange {
		return noCopilot
	}
	if strings.Contains(filepath.ToSlash(f.path), "/GitHub.copilot-chat/") {
		return copilotVSCode
	}
	return kind
}

// Read implements [transcript.Source].
func (c Copilot) Read(ctx context.Context, f transcript.File, from transcript.Cursor, final bool, sink transcript.Sink) error {
	if err := readCopilot(ctx, c.Name(), f, from, final, sink, transcript.Session{}); err != nil {
		return fmt.Errorf("read copilot session: %w", err)
	}
	return nil
}

// copilotState is what a later read needs to go on.
type copilotState struct {
	ID        string            `json:"id,omitempty"`
	Model     string            `json:"model,omitempty"`
	Dir       string            `json:"dir,omitempty"`
	Branch    string            `json:"branch,omitempty"`
	Tools     map[string]string `json:"tools,omitempty"`
	Subs      map[string]string `json:"subs,omitempty"` // subagents: their call, their name
	Known     map[string]bool   `json:"known,omitempty"`
	Reasoning string            `json:"reasoning,omitempty"`
	Counter   counter           `json:"counter,omitempty"`
}

type copilotPass struct {
	*pass
	source string
	base   transcript.Session // what is known from elsewhere
	st     copilotState
}

// readCopilot reads an event log for a source. base holds what the source
// knows of the session from elsewhere.
func readCopilot(ctx context.Context, source string, f transcript.File, from transcript.Cursor, final bool, sink transcript.Sink, base transcript.Session) error {
	p := copilotPass{source: source, base: base}
	var err error
	if p.pass, err = openPass(ctx, f, from, final, sink, &p.st); err != nil {
		return err
	}
	for _, m := range []*map[string]string{&p.st.Tools, &p.st.Subs} {
		if *m == nil {
			*m = map[string]string{}
		}
	}
	if p.st.Known == nil {
		p.st.Known = map[string]bool{}
	}
	return p.run(&p, &p.st)
}

func (p *copilotPass) flush() error { return nil }
func (p *copilotPass) end() error   { return nil }

// copilotEvent is one line; its data holds the fields of all types.
type copilotEvent struct {
	Type string `json:"type"`
	ID   string `json:"id"`
	At   moment `json:"timestamp"`
	Data struct {
		SessionID string `json:"sessionId"`
		Version   string `json:"copilotVersion"`
		VSCode    string `json:"vscodeVersion"`
		Start     moment `json:"startTime"`
		Context   struct {
			Cwd     string `json:"cwd"`
			GitRoot string `json:"gitRoot"`
			Branch  string `json:"branch"`
		} `json:"context"`
		SelectedModel string  `json:"selectedModel"`
		NewModel      string  `json:"newModel"`
		Model         string  `json:"model"`
		Message       string  `json:"message"`
		Content       rawJSON `json:"content"`
		Source        string  `json:"source"`
		MessageID     string  `json:"messageId"`
		Reasoning     string  `json:"reasoningText"`
		Parent        string  `json:"parentToolCallId"`
		Requests      []struct {
			ID   string  `json:"toolCallId"`
			Name string  `json:"name"`
			Args rawJSON `json:"arguments"`
		} `json:"toolRequests"`
		CallID    string  `json:"toolCallId"`
		ToolName  string  `json:"toolName"`
		Arguments rawJSON `json:"arguments"`
		Success   *bool   `json:"success"`
		Result    rawJSON `json:"result"` // an object with content, or a string
		Error     rawJSON `json:"error"`  // an object with message, or a string
		Summary   string  `json:"summaryContent"`
		Agent     string  `json:"agentDisplayName"`
		Name      string  `json:"agentName"`
		Shutdown  string  `json:"shutdownType"`
		Reason    string  `json:"reason"`
	} `json:"data"`
}

func (p *copilotPass) value(v []byte) error {
	if len(v) == 0 || v[0] != '{' {
		p.in.count("<non-object>", "")
		return nil
	}
	var e copilotEvent
	if err := decode(v, &e); err != nil {
		return fmt.Errorf("line %d: %w", p.in.no, err)
	}
	p.in.count(first(e.Type, "None"), "")
	d := e.Data
	switch e.Type {
	case "session.start", "session.resume":
		return p.start(e)
	case "session.model_change":
		p.st.Model = first(d.NewModel, p.st.Model)
		return p.announce(transcript.Session{Model: d.NewModel})
	case "session.shutdown":
		return p.announce(transcript.Session{EndedAt: e.At.Time, EndReason: d.Shutdown})
	case "user.message":
		m := transcript.Message{UID: e.ID, Role: transcript.UserRole, Content: blockText(d.Content)}
		if d.Source != "" && d.Source != "user" {
			m.Kind = "notice"
		}
		return p.deliver(e, m)
	case "assistant.message":
		return p.assistant(e)
	case "assistant.reasoning":
		p.st.Reasoning = join(p.st.Reasoning, blockText(d.Content))
	case "tool.execution_start", "tool.user_requested":
		return p.started(e)
	case "tool.execution_complete":
		return p.completed(e)
	case "subagent.started":
		p.st.Subs[d.CallID] = first(d.Agent, d.Name)
	case "session.compaction_complete":
		return p.compacted(e)
	case "session.error":
		return p.deliver(e, transcript.Message{UID: e.ID, Role: transcript.System, Kind: "notice", IsError: true, Content: d.Message})
	case "system.message":
		return p.deliver(e, transcript.Message{UID: e.ID, Role: transcript.System, Kind: "meta", Content: blockText(d.Content)})
	case "system.notification":
		return p.deliver(e, transcript.Message{UID: e.ID, Role: transcript.System, Kind: "notice", Content: blockText(d.Content)})
	case "abort":
		return p.deliver(e, transcript.Message{UID: e.ID, Role: transcript.System, Kind: "notice", Content: "aborted: " + d.Reason})
	}
	return nil
}

// start reads the event that begins or resumes the session.
func (p *copilotPass) start(e copilotEvent) error {
	d := e.Data
	if p.st.ID == "" {
		p.st.ID = d.SessionID
	}
	p.st.Model = first(d.SelectedModel, p.st.Model)
	p.st.Branch = first(d.Context.Branch, p.st.Branch)
	s := transcript.Session{Branch: d.Context.Branch, Model: d.SelectedModel, Version: d.Version, Surface: "cli"}
	if p.st.Dir == "" {
		s.Dir, s.Project = d.Context.Cwd, first(d.Context.GitRoot, gitRoot(d.Context.Cwd))
	}
	p.st.Dir = first(d.Context.Cwd, p.st.Dir)
	if d.VSCode != "" {
		s.Surface = "ide"
	}
	if e.Type == "session.start" {
		s.StartedAt = first2(d.Start, e.At).Time
	}
	return p.announce(s)
}

// session returns the archive's id of the session, or of the subagent that a
// call started.
func (p *copilotPass) session(call string) string {
	if p.st.ID == "" {
		name := strings.TrimSuffix(filepath.Base(p.path), filepath.Ext(p.path))
		if name == "events" {
			name = filepath.Base(filepath.Dir(p.path))
		}
		p.st.ID = name
	}
	if call != "" {
		return p.source + ":" + p.st.ID + "/" + call
	}
	return p.source + ":" + p.st.ID
}

func (p *copilotPass) announce(s transcript.Session) error {
	s.ID, s.SourcePath = p.session(""), p.path
	if !p.st.Known[s.ID] {
		p.st.Known[s.ID] = true
		s.Title, s.Dir, s.Project = first(s.Title, p.base.Title), first(s.Dir, p.base.Dir), first(s.Project, p.base.Project)
	}
	return p.sink.Session(s)
}

func (p *copilotPass) deliver(e copilotEvent, m transcript.Message) error {
	if m.Content == "" && m.Reasoning == "" && len(m.ToolCalls) == 0 && m.Role != transcript.Tool {
		return nil
	}
	if !p.st.Known[p.session("")] {
		if err := p.announce(transcript.Session{StartedAt: e.At.Time}); err != nil {
			return err
		}
	}
	m.SessionID = p.session(e.Data.Parent)
	if call := e.Data.Parent; call != "" && !p.st.Known[m.SessionID] {
		p.st.Known[m.SessionID] = true
		s := transcript.Session{ID: m.SessionID, ParentID: p.session(""), Relation: transcript.Subagent, Title: p.st.Subs[call], Dir: p.st.Dir, StartedAt: e.At.Time, SourcePath: p.path}
		if err := p.sink.Session(s); err != nil {
			return err
		}
	}
	m.At, m.Dir, m.Branch = e.At.Time, p.st.Dir, p.st.Branch
	m.Content, m.Reasoning = clean(m.Content), clean(m.Reasoning)
	unfence(&m)
	if m.UID == "" {
		m.UID = p.st.Counter.id(m)
	}
	m.Global = isGlobalID(m.UID)
	return p.message(m)
}

func (p *copilotPass) assistant(e copilotEvent) error {
	d := e.Data
	p.st.Model = first(d.Model, p.st.Model)
	m := transcript.Message{UID: first(d.MessageID, e.ID), Role: transcript.Assistant, Content: blockText(d.Content), Reasoning: d.Reasoning, Model: p.st.Model}
	if m.Reasoning == "" {
		m.Reasoning = p.st.Reasoning
	}
	p.st.Reasoning = ""
	for _, r := range d.Requests {
		call := transcript.ToolCall{ID: r.ID, Name: r.Name, Args: args(r.Args)}
		m.ToolCalls = append(m.ToolCalls, call)
		noteCall(p.st.Tools, call)
	}
	return p.deliver(e, m)
}

// started reads the start of a tool that no message asked for.
func (p *copilotPass) started(e copilotEvent) error {
	d := e.Data
	if _, asked := p.st.Tools[d.CallID]; asked || d.CallID == "" {
		return nil
	}
	call := transcript.ToolCall{ID: d.CallID, Name: d.ToolName, Args: args(d.Arguments)}
	noteCall(p.st.Tools, call)
	return p.deliver(e, transcript.Message{UID: "call:" + d.CallID, Role: transcript.Assistant, Model: p.st.Model, ToolCalls: []transcript.ToolCall{call}})
}

var completedExit = regexp.MustCompile(`completed with exit code (-?\d{1,5})>\s*$`)

// toolSaid returns what a result or an error says.
func toolSaid(raw rawJSON) string {
	var r struct {
		Content rawJSON `json:"content"`
		Message string  `json:"message"`
	}
	if s := str(raw); s != "" || len(raw) == 0 || decode(raw, &r) != nil {
		return s
	}
	return first(blockText(r.Content), r.Message)
}

func (p *copilotPass) completed(e copilotEvent) error {
	d := e.Data
	name, own := callOf(p.st.Tools, d.CallID)
	m := transcript.Message{Role: transcript.Tool, ToolCallID: d.CallID, ToolName: first(name, d.ToolName), OwnTrace: own || isOwnTool(d.ToolName),
		Content: first(toolSaid(d.Result), toolSaid(d.Error)), IsError: d.Success != nil && !*d.Success}
	if d.CallID != "" {
		m.UID = "result:" + d.CallID
	}
	if m.Content == "" && !m.IsError {
		return nil
	}
	if found := completedExit.FindStringSubmatch(m.Content[max(0, len(m.Content)-120):]); found != nil {
		if code, err := strconv.Atoi(found[1]); err == nil {
			m.ExitCode = &code
		}
	}
	return p.deliver(e, m)
}

func (p *copilotPass) compacted(e copilotEvent) error {
	if d := e.Data; d.Success != nil && !*d.Success {
		return nil
	}
	if r, ok := p.sink.(transcript.Reviser); ok && p.st.Known[p.session("")] {
		if err := r.Compact(p.session("")); err != nil {
			return err
		}
	}
	return p.deliver(e, transcript.Message{UID: e.ID, Role: transcript.Summary, Content: e.Data.Summary})
}
