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
