package source

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// deliver sends a message on.
func (p *codexPass) deliver(l codexLine, m transcript.Message) error {
	if err := p.announce(transcript.Session{EndReason: p.st.Known.EndReason}); err != nil {
		return err
	}
	if m.Role == transcript.Assistant && len(p.st.Reasoning) > 0 {
		m.Reasoning = clean(join(p.st.Reasoning...))
		p.st.Reasoning = nil
	}
	m.SessionID = codexID(p.st.ID)
	if m.At.IsZero() {
		m.At = l.At.Time
	}
	if m.At.IsZero() {
		m.At = first2(l.Payload.Timestamp, l.Created).Time
	}
	if m.Role == transcript.Assistant {
		m.Model = p.st.Known.Model
	}
	m.Dir, m.Branch = first(p.st.Dir, p.st.Known.Dir), p.st.Known.Branch
	m.Content = clean(m.Content)
	unfence(&m)
	if m.UID == "" {
		m.UID = p.st.Counter.id(m)
	}
	m.Global = isGlobalID(m.UID)
	return p.message(m)
}

func first2(a, b moment) moment {
	if a.IsZero() {
		return b
	}
	return a
}

// item reads a response_item: the traffic with the model, which is the truth
// for all but what a person typed.
func (p *codexPass) item(l codexLine) error {
	m := l.Payload
	switch m.Type {
	case "message", "":
		return p.spoken(l)
	case "reasoning":
		var parts []struct{ Text string }
		for _, raw := range []rawJSON{m.Summary, m.Content} {
			if len(raw) > 0 && decode(raw, &parts) == nil {
				for _, s := range parts {
					p.reason(s.Text)
				}
			}
		}
		return nil
	case "function_call", "custom_tool_call", "local_shell_call", "tool_search_call", "web_search_call", "tool_call", "image_generation_call":
		return p.call(l)
	case "function_call_output", "custom_tool_call_output", "tool_search_output", "tool_result":
		return p.result(l)
	case "agent_message":
		return p.deliver(l, transcript.Message{UID: string(m.ID), Role: transcript.System, Kind: "notice", Content: blockText(m.Content)})
	}
	return nil
}

func (p *codexPass) reason(texts ...string) {
	for _, t := range texts {
		held := false
		for _, r := range p.st.Reasoning {
			held = held || r == t
		}
		if t != "" && !held {
			p.st.Reasoning = append(p.st.Reasoning, t)
		}
	}
}

// spoken reads a message of the model's traffic.
func (p *codexPass) spoken(l codexLine) error {
	m := l.Payload
	text := codexText(m.Content)
	if text == "" {
		return nil
	}
	switch m.Role {
	case "user":
		typed, kind := codexPrompt(text)
		if kind != "" {
			return p.deliver(l, transcript.Message{UID: string(m.ID), Role: transcript.UserRole, Kind: kind, Content: text, OwnTrace: isOwnText(text)})
		}
		return p.prompt(l, typed, &p.st.Items)
	case "assistant":
		return p.answer(l, text, string(m.ID), &p.st.Items)
	}
	return p.deliver(l, transcript.Message{UID: string(m.ID), Role: transcript.System, Kind: "meta", Content: text, OwnTrace: isOwnText(text)})
}

// prompt delivers what a person typed. It stands in the file twice, once as
// an item and once as an event: the n-th of a text is the same one in both.
func (p *codexPass) prompt(l codexLine, typed string, channel *counter) error {
	uid := "p" + channel.next(hashOf("user", plain(typed)))
	if n := len(p.st.Prompts); n == 0 || p.st.Prompts[n-1] != uid {
		known := false
		for _, q := range p.st.Prompts {
			known = known || q == uid
		}
		if !known {
			if n >= maxPrompts {
				p.st.Prompts = p.st.Prompts[1:]
			}
			p.st.Prompts = append(p.st.Prompts, uid)
		}
	}
	return p.deliver(l, transcript.Message{UID: uid, Role: transcript.UserRole, Content: typed})
}

// plain returns a text without placeholders and space around it, to compare it
// with its twin.
func plain(s string) string {
	return strings.TrimSpace(imageMark.ReplaceAllString(s, ""))
}

var imageMark = regexp.MustCompile(`\[image[^\]\n]*\]`)

// answer delivers what the agent said; its twin is told like a prompt's.
func (p *codexPass) answer(l codexLine, text, id string, channel *counter) error {
	uid := "a" + channel.next(hashOf("assistant", plain(text)))
	m := transcript.Message{UID: uid, Role: transcript.Assistant, Content: text, FinishReason: l.Payload.Phase}
	if id != "" && isGlobalID(id) {
		m.Extra = extra(nil, "id", id)
	}
	return p.deliver(l, m)
}

// codexText returns the text of a content, images by their placeholder.
func codexText(raw rawJSON) string {
	if s := str(raw); s != "" {
		return s
	}
	var one struct{ Text string }
	if t := bytes.TrimSpace(raw); len(t) > 0 && t[0] == '{' && decode(t, &one) == nil {
		return one.Text
	}
	return openAIText(raw)
}

// injected begin the user messages that Codex itself puts in.
var injected = []string{"# AGENTS.md instructions", "<user_instructions>", "<environment_context>", "<turn_aborted>", "<skill>", "<INSTRUCTIONS>",
	"<codex_internal_context", "<goal_context>", "<subagent_notification>", "<recommended_plugins", "<permissions", "<collaboration_mode>"}

// envelope is a text that is one element from end to end.
var envelope = regexp.MustCompile(`(?s)^<([a-z][a-z_]{3,40})[ >].*</[a-z_]+>\s*$`)

// codexPrompt returns what a person typed in a user message, and its kind.
func codexPrompt(text string) (typed, kind string) {
	t := strings.TrimSpace(text)
	for _, not := range injected {
		if strings.HasPrefix(t, not) {
			return t, "meta"
		}
	}
	if strings.HasPrefix(t, "# Context from my IDE setup:") {
		if _, after, ok := strings.Cut(t, "## My request for Codex:"); ok {
			return strings.TrimSpace(after), ""
		}
		return t, "meta"
	}
	if m := envelope.FindStringSubmatch(t); m != nil && strings.Contains(m[1], "_") {
		return t, "meta"
	}
	return t, ""
}

// call reads a tool call.
func (p *codexPass) call(l codexLine) error {
	m := l.Payload
	c := transcript.ToolCall{ID: first(m.CallID, string(m.ID)), Name: first(m.Name, m.Function.Name)}
	if m.Namespace != "" {
		c.Name = m.Namespace + "__" + c.Name
	}
	switch {
	case len(m.Arguments) > 0:
		c.Args = args(m.Arguments)
	case len(m.Input) > 0:
		c.Args = args(m.Input)
	case len(m.Action) > 0:
		c.Args = args(m.Action)
	}
	if c.Name == "" {
		c.Name = strings.TrimSuffix(m.Type, "_call")
	}
	p.called(c)
	msg := transcript.Message{Role: transcript.Assistant, ToolCalls: []transcript.ToolCall{c}}
	if c.ID != "" {
		msg.UID = "call:" + c.ID
	}
	return p.deliver(l, msg)
}

func (p *codexPass) called(c transcript.ToolCall) {
	if c.ID == "" {
		return
	}
	if len(p.st.Tools) > maxTools {
		clear(p.st.Tools)
	}
	p.st.Tools[c.ID] = c.Name
}

// result reads a tool's output, in all the forms it had.
func (p *codexPass) result(l codexLine) error {
	m := l.Payload
	raw := m.Output
	if len(raw) == 0 {
		raw = m.Result
	}
	msg := transcript.Message{Role: transcript.Tool, ToolCallID: m.CallID, ToolName: first(p.st.Tools[m.CallID], m.Name), Content: codexText(raw)}
	var o struct {
		Output   string  `json:"output"`
		Content  rawJSON `json:"content"`
		Success  *bool   `json:"success"`
		Stdout   string  `json:"stdout"`
		Stderr   string  `json:"stderr"`
		ExitCode *int    `json:"exitCode"`
		Exit     *int    `json:"exit_code"`
		Metadata struct {
			Exit *int `json:"exit_code"`
		} `json:"metadata"`
	}
	object := []byte(raw)
	if s := str(raw); strings.HasPrefix(s, "{") {
		object = []byte(s)
	}
	if len(object) > 0 && object[0] == '{' && decode(object, &o) == nil {
		if t := join(o.Output, codexText(o.Content), o.Stdout, o.Stderr); t != "" {
			msg.Content = t
		}
		msg.ExitCode = o.Metadata.Exit
		for _, e := range []*int{o.ExitCode, o.Exit} {
			if e != nil {
				msg.ExitCode = e
			}
		}
		msg.IsError = o.Success != nil && !*o.Success
	}
	if msg.ExitCode == nil {
		msg.ExitCode = exitOf(msg.Content)
	}
	if msg.ExitCode != nil && *msg.ExitCode != 0 {
		msg.IsError = true
	}
	msg.OwnTrace = isOwnTool(msg.ToolName)
	if m.CallID != "" {
		msg.UID = "result:" + m.CallID
	}
	if msg.Content == "" && m.CallID == "" {
		return nil
	}
	return p.deliver(l, msg)
}

// event reads an event_msg: what a person typed, how commands ended, rollbacks.
func (p *codexPass) event(l codexLine) error {
	m := l.Payload
	switch m.Type {
	case "user_message":
		typed, kind := codexPrompt(str(m.Message))
		if typed == "" || kind != "" {
			return nil
		}
		return p.prompt(l, typed, &p.st.Events)
	case "agent_message":
		if text := str(m.Message); text != "" {
			return p.answer(l, text, "", &p.st.Events)
		}
	case "agent_reasoning", "agent_reasoning_raw_content":
		p.reason(m.Text)
	case "item_completed":
		return p.completed(l)
	case "exec_command_end":
		return p.execEnd(l)
	case "thread_rolled_back":
		return p.rolledBack(m.NumTurns)
	case "thread_name_updated":
		return p.announce(transcript.Session{Title: clean(first(m.Title, m.Name)), EndReason: p.st.Known.EndReason})
	case "turn_aborted":
		return p.deliver(l, transcript.Message{Role: transcript.System, Kind: "notice", Content: "turn aborted"})
	case "error":
		if text := str(m.Message); text != "" {
			return p.deliver(l, transcript.Message{Role: transcript.System, Kind: "notice", IsError: true, Content: text})
		}
	case "exited_review_mode":
		return p.review(l)
	}
	return nil
}

// completed reads an item of the paginated form; of these only what a person
// typed is taken, the rest comes as response items too.
func (p *codexPass) completed(l codexLine) error {
	var it struct {
		Type    string  `json:"type"`
		Content rawJSON `json:"content"`
	}
	if len(l.Payload.Item) == 0 || decode(l.Payload.Item, &it) != nil {
		return nil
	}
	text := openAIText(it.Content)
	switch {
	case text == "":
	case it.Type == "UserMessage":
		if typed, kind := codexPrompt(text); kind == "" && typed != "" {
			return p.prompt(l, typed, &p.st.Events)
		}
	case it.Type == "AgentMessage":
		return p.answer(l, text, "", &p.st.Events)
	}
	return nil
}

// execEnd reads how a command ended. One that no model called was typed by
// the user after a "!".
func (p *codexPass) execEnd(l codexLine) error {
	m := l.Payload
	if m.CallID == "" {
		return nil
	}
	msg := transcript.Message{UID: "result:" + m.CallID, Role: transcript.Tool, ToolCallID: m.CallID, ToolName: p.st.Tools[m.CallID], ExitCode: m.ExitCode}
	msg.IsError = m.ExitCode != nil && *m.ExitCode != 0
	if msg.ToolName == "" {
		c := transcript.ToolCall{ID: m.CallID, Name: "user_shell", Args: extra(nil, "command", m.Command)}
		p.called(c)
		if err := p.deliver(l, transcript.Message{UID: "call:" + m.CallID, Role: transcript.Assistant, ToolCalls: []transcript.ToolCall{c}}); err != nil {
			return err
		}
		msg.ToolName, msg.Content = c.Name, first(m.Aggregated, join(m.Stdout, m.Stderr))
	}
	return p.deliver(l, msg)
}

// rolledBack tells the sink that the last n turns were undone.
func (p *codexPass) rolledBack(n int) error {
	if n <= 0 || len(p.st.Prompts) == 0 {
		return nil
	}
	at := max(0, len(p.st.Prompts)-n)
	uid := p.st.Prompts[at]
	p.st.Prompts = p.st.Prompts[:at]
	if r, ok := p.sink.(transcript.Reviser); ok {
		return r.Rewind(codexID(p.st.ID), uid)
	}
	return nil
}

// review reads what a review found.
func (p *codexPass) review(l codexLine) error {
	var r struct {
		Explanation string `json:"overall_explanation"`
		Findings    []struct {
			Title, Body string
		} `json:"findings"`
	}
	if len(l.Payload.Review) == 0 || decode(l.Payload.Review, &r) != nil {
		return nil
	}
	parts := []string{r.Explanation}
	for _, f := range r.Findings {
		parts = append(parts, join(f.Title, f.Body))
	}
	text := join(parts...)
	if text == "" {
		return nil
	}
	return p.deliver(l, transcript.Message{Role: transcript.Assistant, Content: text})
}

// compacted reads a compaction. What replaces the history is a copy of it.
func (p *codexPass) compacted(l codexLine) error {
	if r, ok := p.sink.(transcript.Reviser); ok && p.st.Known.ID != "" {
		if err := r.Compact(codexID(p.st.ID)); err != nil {
			return err
		}
	}
	text := str(l.Payload.Message)
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return p.deliver(l, transcript.Message{Role: transcript.Summary, Content: text})
}

// bare reads a line from before rollouts, or of the prompt history.
func (p *codexPass) bare(l codexLine) error {
	if l.SessionID != "" && !l.TS.IsZero() && l.Text != "" {
		return p.history(l)
	}
	l.At = first2(l.At, l.Created)
	text := codexText(l.Content)
	if text == "" {
		text = codexText(l.Message)
	}
	if l.Model != "" {
		if err := p.announce(transcript.Session{Model: l.Model}); err != nil {
			return err
		}
	}
	switch {
	case l.Role == "user" && text != "":
		return p.deliver(l, transcript.Message{Role: transcript.UserRole, Content: text})
	case l.Role == "assistant" && text != "":
		return p.deliver(l, transcript.Message{Role: transcript.Assistant, Content: text})
	case l.Type == "tool_call" || l.Type == "function_call":
		c := transcript.ToolCall{Name: first(l.Function.Name, l.Name), Args: args(l.Arguments)}
		return p.deliver(l, transcript.Message{Role: transcript.Assistant, ToolCalls: []transcript.ToolCall{c}})
	case l.Type == "tool_result" || l.Type == "function_result":
		return p.deliver(l, transcript.Message{Role: transcript.Tool, ToolName: l.Name, Content: codexText(l.Result)})
	case l.Type == "error" && l.Text != "":
		return p.deliver(l, transcript.Message{Role: transcript.System, Kind: "notice", IsError: true, Content: l.Text})
	}
	return nil
}

// history reads a prompt of which no rollout is left.
func (p *codexPass) history(l codexLine) error {
	if p.threads == nil {
		root := globSafe(filepath.Dir(p.path))
		names, err := namesOf(filepath.Join(root, "sessions", "*", "*", "*", "rollout-*"), filepath.Join(root, "archived_sessions", "rollout-*"))
		if err != nil {
			return err
		}
		p.threads = map[string]bool{}
		for name := range names {
			if m := rolloutName.FindStringSubmatch(name); m != nil {
				p.threads[m[1]] = true
			}
		}
	}
	if p.threads[l.SessionID] {
		return nil
	}
	id := codexID(l.SessionID)
	if err := p.sink.Session(transcript.Session{ID: id, StartedAt: l.TS.Time, SourcePath: p.path}); err != nil {
		return err
	}
	m := transcript.Message{SessionID: id, Role: transcript.UserRole, Content: clean(l.Text), At: l.TS.Time}
	m.UID = p.st.Counter.id(m)
	return p.message(m)
}
