package source

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// ClaudeAI reads the export of Claude.ai: the zip, its conversations.json, or
// single conversations.
type ClaudeAI struct{}

// Name implements [transcript.Source].
func (ClaudeAI) Name() string { return "claude-ai" }

// Find finds nothing: exports lie where a person put them.
func (ClaudeAI) Find(context.Context, transcript.Places) ([]transcript.File, error) { return nil, nil }

// FindIn lists the exports at or below path.
func (c ClaudeAI) FindIn(ctx context.Context, path string) ([]transcript.File, error) {
	return findIn(ctx, c, path)
}

func (ClaudeAI) recognises(ctx context.Context, f *sniff) bool {
	return isExport(f, "chat_messages")
}

// Read implements [transcript.Source].
func (c ClaudeAI) Read(ctx context.Context, f transcript.File, _ transcript.Cursor, _ bool, sink transcript.Sink) error {
	err := readExport(ctx, f, sink, func(raw rawJSON) (int, error) {
		var conv claudeChat
		if err := decode(raw, &conv); err != nil {
			return 0, nil
		}
		return conv.deliver(f.Path, sink)
	})
	if err != nil {
		return fmt.Errorf("read claude.ai export: %w", err)
	}
	return nil
}

type claudeChat struct {
	UUID     string          `json:"uuid"`
	Name     string          `json:"name"`
	Created  moment          `json:"created_at"`
	Updated  moment          `json:"updated_at"`
	Messages []claudeChatMsg `json:"chat_messages"`
}

type claudeChatMsg struct {
	UUID        string  `json:"uuid"`
	Parent      string  `json:"parent_message_uuid"`
	Sender      string  `json:"sender"`
	Text        string  `json:"text"`
	Content     rawJSON `json:"content"`
	Created     moment  `json:"created_at"`
	Attachments []struct {
		Name    string `json:"file_name"`
		Content string `json:"extracted_content"`
	} `json:"attachments"`
	Files []struct {
		Name string `json:"file_name"`
	} `json:"files"`
}

// deliver delivers a conversation. Where messages name their parents, what
// does not lead to the newest one was asked or answered anew.
func (c claudeChat) deliver(path string, sink transcript.Sink) (int, error) {
	if c.UUID == "" {
		return 0, nil
	}
	s := transcript.Session{ID: ClaudeAI{}.Name() + ":" + c.UUID, Title: c.Name, Surface: "web", StartedAt: c.Created.Time, LastActive: c.Updated.Time, SourcePath: path}
	t := newThread(sink, s)
	if err := t.announce(); err != nil {
		return 0, err
	}
	on := c.path()
	for _, m := range c.Messages {
		for _, out := range m.messages() {
			out.ParentUID, out.At = m.Parent, m.Created.Time
			out.OffPath = on != nil && !on[m.UUID]
			if err := t.send(out); err != nil {
				return t.count, err
			}
		}
	}
	return t.count, nil
}

// path returns the messages from the newest to its root, nil when they do not
// name their parents.
func (c claudeChat) path() map[string]bool {
	parents := map[string]string{}
	named, leaf := false, -1
	for i, m := range c.Messages {
		parents[m.UUID] = m.Parent
		named = named || m.Parent != ""
		if leaf < 0 || !m.Created.Before(c.Messages[leaf].Created.Time) {
			leaf = i
		}
	}
	if !named {
		return nil
	}
	on := map[string]bool{}
	for at := c.Messages[leaf].UUID; at != "" && !on[at]; at = parents[at] {
		on[at] = true
	}
	return on
}

// unsupported stands in the flattened text for blocks that it does not show.
const unsupported = "This block is not supported on your current device yet."

// messages returns what a message becomes: text from its blocks, from the
// flattened text only where there are none, and what was pasted in.
func (m claudeChatMsg) messages() []transcript.Message {
	out := transcript.Message{UID: m.UUID, Role: transcript.Assistant}
	if m.Sender == "human" || m.Sender == "user" {
		out.Role = transcript.UserRole
	}
	var results []transcript.Message
	lastCall := transcript.ToolCall{}
	for i, b := range blocksOf(m.Content) {
		switch b.Type {
		case "thinking":
			out.Reasoning = join(out.Reasoning, b.Thinking)
		case "tool_use":
			lastCall = transcript.ToolCall{ID: first(b.ID, m.UUID+"/"+strconv.Itoa(i)), Name: b.Name, Args: args(b.Input)}
			out.ToolCalls = append(out.ToolCalls, lastCall)
		case "tool_result":
			results = append(results, transcript.Message{UID: m.UUID + "/" + strconv.Itoa(i), Role: transcript.Tool, ToolCallID: first(b.ToolUseID, lastCall.ID),
				ToolName: first(b.Name, lastCall.Name), Content: blockText(b.Content), IsError: b.IsError})
		case "token_budget", "flag":
		default:
			out.Content = join(out.Content, first(b.text(), b.Text))
		}
	}
	if out.Content == "" && len(out.ToolCalls) == 0 {
		out.Content = strings.TrimSpace(strings.ReplaceAll(m.Text, unsupported, ""))
	}
	for _, a := range m.Attachments {
		out.Content = join(out.Content, strings.TrimSpace("[file "+a.Name+"]\n"+a.Content))
	}
	for _, f := range m.Files {
		out.Content = join(out.Content, "[file "+f.Name+"]")
	}
	return append([]transcript.Message{out}, results...)
}
