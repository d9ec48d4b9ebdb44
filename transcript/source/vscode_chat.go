package source

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// chat is a session of VS Code's chat.
type chat struct {
	SessionID string        `json:"sessionId"`
	Title     string        `json:"customTitle"`
	Created   moment        `json:"creationDate"`
	Last      moment        `json:"lastMessageDate"`
	Requests  []chatRequest `json:"requests"`
}

type chatRequest struct {
	ID        string     `json:"requestId"`
	At        moment     `json:"timestamp"`
	ModelID   string     `json:"modelId"`
	Canceled  bool       `json:"isCanceled"`
	Message   chatSaid   `json:"message"`
	Response  []chatPart `json:"response"`
	Variables struct {
		Variables []struct {
			Name string `json:"name"`
		} `json:"variables"`
	} `json:"variableData"`
	Result struct {
		Metadata struct {
			Rounds  []chatRound           `json:"toolCallRounds"`
			Results map[string]chatResult `json:"toolCallResults"`
		} `json:"metadata"`
		Error struct {
			Message string `json:"message"`
		} `json:"errorDetails"`
	} `json:"result"`
}

type chatSaid struct {
	Text  string `json:"text"`
	Parts []struct {
		Text string `json:"text"`
	} `json:"parts"`
}

// UnmarshalJSON takes a bare string, too.
func (c *chatSaid) UnmarshalJSON(b []byte) error {
	*c = chatSaid{Text: str(b)}
	if c.Text != "" {
		return nil
	}
	type said chatSaid
	return decode(b, (*said)(c))
}

type chatRound struct {
	Response string `json:"response"`
	Thinking struct {
		Text rawJSON `json:"text"`
	} `json:"thinking"`
	Calls []struct {
		ID   string  `json:"id"`
		Name string  `json:"name"`
		Args rawJSON `json:"arguments"`
	} `json:"toolCalls"`
}

type chatResult struct {
	Content []struct {
		Value rawJSON `json:"value"`
	} `json:"content"`
}

// chatPart is a piece of a response.
type chatPart struct {
	Kind     string  `json:"kind"`
	Value    rawJSON `json:"value"`
	Content  rawJSON `json:"content"`
	ToolID   string  `json:"toolId"`
	CallID   string  `json:"toolCallId"`
	Invoking rawJSON `json:"invocationMessage"`
	Past     rawJSON `json:"pastTenseMessage"`
	Specific struct {
		Kind        string `json:"kind"`
		Command     string `json:"command"`
		CommandLine struct {
			Original   string `json:"original"`
			ToolEdited string `json:"toolEdited"`
		} `json:"commandLine"`
	} `json:"toolSpecificData"`
	URI       chatURI `json:"uri"`
	Reference struct {
		Name   string `json:"name"`
		Path   string `json:"path"`
		FsPath string `json:"fsPath"`
	} `json:"inlineReference"`
}

type chatURI struct {
	Path   string `json:"path"`
	FsPath string `json:"fsPath"`
}

// words returns a text that is a string or an object with a value.
func words(raw rawJSON) string {
	if s := str(raw); s != "" {
		return s
	}
	var v struct {
		Value string `json:"value"`
	}
	if len(raw) > 0 && raw[0] == '{' && decode(raw, &v) == nil {
		return v.Value
	}
	return ""
}

// deliver delivers the session. Ids of what is answered are made from the
// request's, which stays while the answer grows.
func (c chat) deliver(ctx context.Context, path string, sink transcript.Sink) (int, error) {
	id := first(c.SessionID, strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
	dir := workspaceFolder(filepath.Dir(filepath.Dir(path)))
	s := transcript.Session{ID: vscodeID(id), Title: clean(c.Title), Surface: "ide", Dir: dir, Project: gitRoot(dir), StartedAt: c.Created.Time, LastActive: c.Last.Time, SourcePath: path}
	for _, r := range c.Requests {
		s.Model = first(r.model(), s.Model)
		if s.StartedAt.IsZero() {
			s.StartedAt = r.At.Time
		}
	}
	if err := sink.Session(s); err != nil {
		return 0, err
	}
	n, count := numberer{}, 0
	for _, r := range c.Requests {
		if err := ctx.Err(); err != nil {
			return count, err
		}
		if r.ID == "" {
			r.ID = n.id(r.Message.Text)
		}
		for _, m := range r.messages() {
			m.SessionID, m.At, m.Dir = s.ID, r.At.Time, dir
			m.Content, m.Reasoning = clean(m.Content), clean(m.Reasoning)
			unfence(&m)
			count++
			if err := sink.Message(m); err != nil {
				return count, err
			}
		}
	}
	return count, nil
}

func (r chatRequest) model() string { return strings.TrimPrefix(r.ModelID, "copilot/") }

// messages returns what a request and its response become.
func (r chatRequest) messages() []transcript.Message {
	var out []transcript.Message
	text := r.Message.Text
	if text == "" {
		for _, p := range r.Message.Parts {
			text += p.Text
		}
	}
	if text != "" {
		out = append(out, transcript.Message{UID: r.ID, Role: transcript.UserRole, Content: text})
	}
	answer := r.answer()
	if rounds := r.Result.Metadata.Rounds; len(rounds) > 0 {
		said := ""
		for i, round := range rounds {
			out = append(out, r.round(i, round)...)
			said = join(said, round.Response)
		}
		if plainer(said, answer.Content) {
			answer.Content, answer.ToolCalls = "", nil
		} else {
			answer.ToolCalls = nil // the rounds tell them with their arguments
		}
	}
	if answer.Content != "" || len(answer.ToolCalls) > 0 {
		out = append(out, answer)
	}
	if e := r.Result.Error.Message; e != "" {
		out = append(out, transcript.Message{UID: r.ID + "/error", Role: transcript.System, Kind: "notice", IsError: true, Content: e})
	}
	return out
}

// plainer tells whether a text says no less than another, spaces aside.
func plainer(said, answer string) bool {
	strip := func(s string) string { return strings.Join(strings.Fields(s), "") }
	return strings.Contains(strip(said), strip(answer))
}

// round returns one round of the model with the results of its calls.
func (r chatRequest) round(i int, round chatRound) []transcript.Message {
	uid := r.ID + "/" + strconv.Itoa(i)
	m := transcript.Message{UID: uid, Role: transcript.Assistant, Content: round.Response, Reasoning: words(round.Thinking.Text), Model: r.model()}
	var results []transcript.Message
	for _, c := range round.Calls {
		call := transcript.ToolCall{ID: c.ID, Name: c.Name, Args: args(c.Args)}
		m.ToolCalls = append(m.ToolCalls, call)
		result, ok := r.Result.Metadata.Results[c.ID]
		if !ok {
			continue
		}
		var parts []string
		for _, p := range result.Content {
			parts = append(parts, nodeText(p.Value, 0))
		}
		text := join(parts...)
		results = append(results, transcript.Message{UID: "result:" + c.ID, Role: transcript.Tool, ToolCallID: c.ID, ToolName: c.Name, Content: text,
			ExitCode: exitOf(text), OwnTrace: isOwnCall(call)})
	}
	if m.Content == "" && m.Reasoning == "" && len(m.ToolCalls) == 0 {
		return results
	}
	return append([]transcript.Message{m}, results...)
}

// nodeText returns the text of a tool's result: a string, or a tree of nodes.
func nodeText(raw rawJSON, depth int) string {
	if s := str(raw); s != "" || depth > 60 {
		return s
	}
	var n struct {
		Text     string    `json:"text"`
		Break    bool      `json:"lineBreakBefore"`
		Node     rawJSON   `json:"node"`
		Children []rawJSON `json:"children"`
	}
	if len(raw) == 0 || raw[0] != '{' || decodeValid(raw, &n) != nil {
		return ""
	}
	text := n.Text
	if n.Break {
		text = "\n" + text
	}
	text += nodeText(n.Node, depth+1)
	for _, c := range n.Children {
		text += nodeText(c, depth+1)
	}
	return text
}

// answer returns the response as it was shown.
func (r chatRequest) answer() transcript.Message {
	m := transcript.Message{UID: r.ID + "/answer", Role: transcript.Assistant, Model: r.model()}
	if r.Canceled {
		m.FinishReason = "canceled"
	}
	for _, p := range r.Response {
		switch p.Kind {
		case "":
			m.Content += words(p.Value)
		case "markdownContent":
			m.Content += words(p.Content)
		case "inlineReference":
			name := first(p.Reference.Name, p.Reference.FsPath, p.Reference.Path)
			m.Content += "`" + name[strings.LastIndexByte(name, '/')+1:] + "`"
		case "thinking":
			m.Reasoning = join(m.Reasoning, words(p.Value))
		case "toolInvocationSerialized":
			c := transcript.ToolCall{ID: p.CallID, Name: first(p.ToolID, "tool")}
			if cmd := first(p.Specific.CommandLine.ToolEdited, p.Specific.CommandLine.Original, p.Specific.Command); cmd != "" {
				c.Args = extra(nil, "command", cmd)
			} else {
				c.Args = extra(nil, "message", first(words(p.Past), words(p.Invoking)))
			}
			m.ToolCalls = append(m.ToolCalls, c)
		case "textEditGroup":
			if path := first(p.URI.FsPath, p.URI.Path); path != "" {
				m.ToolCalls = append(m.ToolCalls, transcript.ToolCall{Name: "edit", Args: extra(nil, "path", path)})
			}
		}
	}
	m.Content = strings.TrimSpace(m.Content)
	return m
}
