package source

import (
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

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
	noteCall(p.st.Tools, c)
	msg := transcript.Message{Role: transcript.Assistant, ToolCalls: []transcript.ToolCall{c}}
	if c.ID != "" {
		msg.UID = "call:" + c.ID
	}
	return p.deliver(l, msg)
}

// result reads a tool's output, in all the forms it had.
func (p *codexPass) result(l codexLine) error {
	m := l.Payload
	raw := m.Output
	if len(raw) == 0 {
		raw = m.Result
	}
	name, own := callOf(p.st.Tools, m.CallID)
	msg := transcript.Message{Role: transcript.Tool, ToolCallID: m.CallID, ToolName: first(name, m.Name), Content: codexText(raw), OwnTrace: own || isOwnTool(m.Name)}
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
	msg := transcript.Message{UID: "result:" + m.CallID, Role: transcript.Tool, ToolCallID: m.CallID, ExitCode: m.ExitCode}
	msg.ToolName, msg.OwnTrace = callOf(p.st.Tools, m.CallID)
	msg.IsError = m.ExitCode != nil && *m.ExitCode != 0
	if msg.ToolName == "" {
		c := transcript.ToolCall{ID: m.CallID, Name: "user_shell", Args: extra(nil, "command", m.Command)}
		noteCall(p.st.Tools, c)
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
