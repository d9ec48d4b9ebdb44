package source

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// ChatGPT reads the export of ChatGPT: the zip, its conversations.json or
// shards of it, or single conversations.
type ChatGPT struct{}

// Name implements [transcript.Source].
func (ChatGPT) Name() string { return "chatgpt" }

// Find finds nothing: exports lie where a person put them.
func (ChatGPT) Find(context.Context, transcript.Places) ([]transcript.File, error) { return nil, nil }

// FindIn lists the exports at or below path.
func (c ChatGPT) FindIn(ctx context.Context, path string) ([]transcript.File, error) {
	return findIn(ctx, c, path)
}

func (ChatGPT) recognises(ctx context.Context, f *sniff) bool {
	return isExport(f, "mapping")
}

// Read implements [transcript.Source].
func (c ChatGPT) Read(ctx context.Context, f transcript.File, _ transcript.Cursor, _ bool, sink transcript.Sink) error {
	err := readExport(ctx, f, sink, func(raw rawJSON) (int, error) {
		var conv gptConversation
		if err := decode(raw, &conv); err != nil {
			return 0, nil
		}
		return conv.deliver(f.Path, sink)
	})
	if err != nil {
		return fmt.Errorf("read chatgpt export: %w", err)
	}
	return nil
}

type gptConversation struct {
	ID       string             `json:"id"`
	ConvID   string             `json:"conversation_id"`
	Title    string             `json:"title"`
	Created  moment             `json:"create_time"`
	Updated  moment             `json:"update_time"`
	Current  string             `json:"current_node"`
	Model    string             `json:"default_model_slug"`
	Mapping  map[string]gptNode `json:"mapping"`
	Archived bool               `json:"is_archived"`
}

type gptNode struct {
	Parent   string      `json:"parent"`
	Children []string    `json:"children"`
	Message  *gptMessage `json:"message"`
}

type gptMessage struct {
	ID     string `json:"id"`
	Author struct {
		Role string `json:"role"`
		Name string `json:"name"`
	} `json:"author"`
	Created   moment     `json:"create_time"`
	Content   gptContent `json:"content"`
	Recipient string     `json:"recipient"`
	Metadata  struct {
		Model       string `json:"model_slug"`
		Hidden      bool   `json:"is_visually_hidden_from_conversation"`
		Attachments []struct {
			Name string `json:"name"`
		} `json:"attachments"`
		Finish struct {
			Type string `json:"type"`
		} `json:"finish_details"`
	} `json:"metadata"`
}

type gptContent struct {
	Type     string    `json:"content_type"`
	Parts    []rawJSON `json:"parts"`
	Text     string    `json:"text"`
	Result   string    `json:"result"`
	Title    string    `json:"title"`
	URL      string    `json:"url"`
	Content  string    `json:"content"`
	Thoughts []struct {
		Summary string `json:"summary"`
		Content string `json:"content"`
	} `json:"thoughts"`
}

// deliver delivers a conversation in the order of its tree. What is not on the
// way to the current node was asked or answered anew.
func (c gptConversation) deliver(path string, sink transcript.Sink) (int, error) {
	id := first(c.ConvID, c.ID)
	if id == "" {
		return 0, nil
	}
	s := transcript.Session{ID: ChatGPT{}.Name() + ":" + id, Title: c.Title, Model: c.Model, Surface: "web", StartedAt: c.Created.Time, LastActive: c.Updated.Time, SourcePath: path}
	t := newThread(sink, s)
	if err := t.announce(); err != nil {
		return 0, err
	}
	onPath := c.path()
	at := c.Created
	for _, key := range c.order(onPath) {
		m := c.Mapping[key].Message
		if m == nil {
			continue
		}
		if !m.Created.IsZero() {
			at = m.Created
		}
		out, ok := m.message(c)
		if !ok {
			continue
		}
		out.UID = first(m.ID, key)
		out.At, out.OffPath = at.Time, !onPath[key]
		if up := c.Mapping[c.Mapping[key].Parent].Message; up != nil {
			out.ParentUID = first(up.ID, c.Mapping[key].Parent)
			if out.Role == transcript.Tool {
				out.ToolCallID = out.ParentUID
			}
		}
		for i := range out.ToolCalls {
			out.ToolCalls[i].ID = out.UID
		}
		if err := t.send(out); err != nil {
			return t.count, err
		}
	}
	return t.count, nil
}

// path returns the nodes from the current one to its root; from the newest
// leaf where there is no current one.
func (c gptConversation) path() map[string]bool {
	leaf := c.Current
	if _, ok := c.Mapping[leaf]; !ok {
		leaf = ""
		for _, k := range c.keys() {
			n := c.Mapping[k]
			if n.Message == nil || len(n.Children) > 0 {
				continue
			}
			if best := c.Mapping[leaf].Message; best == nil || n.Message.Created.After(best.Created.Time) {
				leaf = k
			}
		}
	}
	on := map[string]bool{}
	for leaf != "" && !on[leaf] {
		n, ok := c.Mapping[leaf]
		if !ok {
			break
		}
		on[leaf] = true
		leaf = n.Parent
	}
	return on
}

func (c gptConversation) keys() []string {
	keys := make([]string, 0, len(c.Mapping))
	for k := range c.Mapping {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// order returns all nodes, parents before children, other answers before the
// one that was gone on with. Nodes that no root leads to come last.
func (c gptConversation) order(onPath map[string]bool) []string {
	var out []string
	seen := map[string]bool{}
	visit := func(root string) {
		stack := []string{root}
		for len(stack) > 0 {
			k := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			n, ok := c.Mapping[k]
			if !ok || seen[k] {
				continue
			}
			seen[k] = true
			out = append(out, k)
			children := slices.Clone(n.Children)
			slices.Reverse(children) // the stack gives them back in order
			slices.SortStableFunc(children, func(a, b string) int {
				switch {
				case onPath[a] == onPath[b]:
					return 0
				case onPath[a]:
					return -1
				}
				return 1
			})
			stack = append(stack, children...)
		}
	}
	keys := c.keys()
	for _, k := range keys {
		if _, hasParent := c.Mapping[c.Mapping[k].Parent]; !hasParent {
			visit(k)
		}
	}
	for _, k := range keys {
		visit(k)
	}
	return out
}

// marks are citations in ChatGPT's own writing.
var marks = regexp.MustCompile("\ue200[^\ue201]{0,200}\ue201|【[^】]{1,80}†[^】]{0,80}】|[\ue200-\ue206]")

// message turns one into the archive's form; not ok is what is no part of the
// conversation: profiles and empty nodes.
func (m *gptMessage) message(c gptConversation) (out transcript.Message, ok bool) {
	if t := m.Content.Type; t == "user_editable_context" || t == "model_editable_context" {
		return out, false
	}
	text := strings.TrimSpace(marks.ReplaceAllString(m.Content.text(), ""))
	switch m.Author.Role {
	case "user":
		out.Role = transcript.UserRole
		for _, a := range m.Metadata.Attachments {
			text = join(text, "[file "+a.Name+"]")
		}
	case "assistant":
		out.Role, out.Model, out.FinishReason = transcript.Assistant, first(m.Metadata.Model, c.Model), m.Metadata.Finish.Type
	case "tool":
		out.Role, out.ToolName = transcript.Tool, m.Author.Name
		out.IsError = m.Content.Type == "system_error"
	case "system":
		out.Role, out.Kind = transcript.System, "meta"
	default:
		return out, false
	}
	switch {
	case m.Content.Type == "thoughts" || m.Content.Type == "reasoning_recap":
		out.Reasoning = text
	case out.Role == transcript.Assistant && m.Recipient != "" && m.Recipient != "all":
		out.ToolCalls = []transcript.ToolCall{{Name: m.Recipient, Args: callArgs(text)}}
	default:
		out.Content = text
	}
	if m.Metadata.Hidden {
		out.Kind = "meta"
	}
	return out, true
}

// callArgs returns the arguments that a text holds: an object as it is, other
// text as code.
func callArgs(text string) rawJSON {
	quoted, err := marshal(text)
	if err != nil {
		return nil
	}
	if a := args(quoted); len(a) > 0 && a[0] == '{' {
		return a
	}
	return extra(nil, "code", text)
}

// text returns the text of a content of any type.
func (c gptContent) text() string {
	var parts []string
	for _, raw := range c.Parts {
		if s := str(raw); s != "" {
			parts = append(parts, s)
			continue
		}
		var p struct {
			Type  string `json:"content_type"`
			Text  string `json:"text"`
			Size  int    `json:"size_bytes"`
			Width int    `json:"width"`
		}
		if len(raw) == 0 || raw[0] != '{' || decode(raw, &p) != nil {
			continue
		}
		switch {
		case p.Text != "":
			parts = append(parts, p.Text)
		case strings.Contains(p.Type, "image"):
			parts = append(parts, placeholder("image", "", p.Size))
		case strings.Contains(p.Type, "audio") || strings.Contains(p.Type, "video"):
			parts = append(parts, placeholder("audio", "", p.Size))
		}
	}
	for _, t := range c.Thoughts {
		parts = append(parts, join(t.Summary, t.Content))
	}
	return join(append(parts, c.Text, c.Title, c.URL, c.Result, c.Content)...)
}
