package source

import (
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// cursorComposer is one conversation's own row.
type cursorComposer struct {
	ID      string                  `json:"composerId"`
	Name    string                  `json:"name"`
	Created moment                  `json:"createdAt"`
	Updated moment                  `json:"lastUpdatedAt"`
	Headers []cursorHeader          `json:"fullConversationHeadersOnly"`
	Inline  []cursorBubble          `json:"conversation"`
	Map     map[string]cursorBubble `json:"conversationMap"`
	Model   struct {
		Name string `json:"modelName"`
	} `json:"modelConfig"`
	Mode      string `json:"unifiedMode"`
	Workspace struct {
		URI struct {
			Path string `json:"fsPath"`
		} `json:"uri"`
	} `json:"workspaceIdentifier"`
	Parent string `json:"parentComposerId"`
}

type cursorHeader struct {
	ID string `json:"bubbleId"`
}

// cursorBubble is one message.
type cursorBubble struct {
	ID       string  `json:"bubbleId"`
	Type     int     `json:"type"`
	Text     string  `json:"text"`
	RawText  string  `json:"rawText"`
	RichText rawJSON `json:"richText"`
	Created  moment  `json:"createdAt"`
	Stamp    moment  `json:"timestamp"`
	Timing   struct {
		Start moment `json:"clientStartTime"`
	} `json:"timingInfo"`
	Thinking struct {
		Text string `json:"text"`
	} `json:"thinking"`
	Tool  *cursorTool `json:"toolFormerData"`
	Model struct {
		Name string `json:"modelName"`
	} `json:"modelInfo"`
	Dir string `json:"workspaceProjectDir"`
}

type cursorTool struct {
	ID      string  `json:"toolCallId"`
	Name    string  `json:"name"`
	RawArgs rawJSON `json:"rawArgs"`
	Params  rawJSON `json:"params"`
	Result  rawJSON `json:"result"`
	Status  string  `json:"status"`
	Error   rawJSON `json:"error"`
}

// text returns what the bubble says, from whichever field holds it.
func (b cursorBubble) text() string {
	if t := first(b.Text, b.RawText); t != "" {
		return t
	}
	rich := b.RichText
	if s := str(rich); s != "" {
		rich = rawJSON(s)
	}
	var root struct {
		Root lexical `json:"root"`
	}
	if len(rich) > 0 && decode(rich, &root) == nil {
		return strings.TrimSpace(root.Root.text(0))
	}
	return ""
}

// lexical is a node of the editor's document.
type lexical struct {
	Type     string    `json:"type"`
	Text     string    `json:"text"`
	Children []lexical `json:"children"`
}

func (n lexical) text(depth int) string {
	if depth > 100 {
		return ""
	}
	s := n.Text
	for _, c := range n.Children {
		s += c.text(depth + 1)
	}
	if n.Type == "paragraph" || n.Type == "linebreak" {
		s += "\n"
	}
	return s
}

func (b cursorBubble) at() moment {
	return first2(b.Created, first2(b.Stamp, b.Timing.Start))
}

// messages returns what the bubble becomes: itself, and a tool's result.
func (b cursorBubble) messages() []transcript.Message {
	m := transcript.Message{Role: transcript.Assistant, Content: b.text(), Reasoning: b.Thinking.Text, At: b.at().Time}
	if b.Type == 1 {
		m.Role = transcript.UserRole
		m.Content, _ = cursorQuery(m.Content)
	}
	t := b.Tool
	if t == nil || t.Name == "" {
		if m.Content == "" && m.Reasoning == "" {
			return nil
		}
		return []transcript.Message{m}
	}
	call := transcript.ToolCall{ID: first(t.ID, b.ID), Name: t.Name, Args: args(t.RawArgs)}
	if len(call.Args) == 0 || string(call.Args) == `""` {
		call.Args = args(t.Params)
	}
	m.Role, m.ToolCalls = transcript.Assistant, []transcript.ToolCall{call}
	r := transcript.Message{UID: b.ID + "/result", Role: transcript.Tool, ToolCallID: call.ID, ToolName: t.Name, Content: str(t.Result), At: m.At,
		IsError: t.Status == "error" || t.Status == "failed", OwnTrace: isOwnCall(call)}
	if r.Content == "" && len(t.Result) > 0 && t.Result[0] == '{' {
		r.Content = string(t.Result)
	}
	var out struct {
		Output string `json:"output"`
		Exit   *int   `json:"exitCodeV2"`
		Code   *int   `json:"exitCode"`
	}
	if strings.HasPrefix(r.Content, "{") && decode([]byte(r.Content), &out) == nil {
		if r.ExitCode = out.Exit; r.ExitCode == nil {
			r.ExitCode = out.Code
		}
		if out.Output != "" {
			r.Content = out.Output
		}
	}
	if r.Content == "" && r.IsError {
		r.Content = first(str(t.Error), string(t.Error))
	}
	if r.Content == "" && r.ExitCode == nil {
		return []transcript.Message{m}
	}
	return []transcript.Message{m, r}
}
