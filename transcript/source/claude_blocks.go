package source

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// maxSpilled is how much of a tool's spilled output is read.
const maxSpilled = 16 << 20

// claudeMessage is the API message inside a line.
type claudeMessage struct {
	ID         string  `json:"id"`
	Role       string  `json:"role"`
	Model      string  `json:"model"`
	Content    rawJSON `json:"content"`
	StopReason string  `json:"stop_reason"`
}

// block is one content block, in the shapes of Anthropic's API.
type block struct {
	Type      string      `json:"type"`
	Text      string      `json:"text"`
	Thinking  string      `json:"thinking"`
	ID        string      `json:"id"`
	Name      string      `json:"name"`
	Input     rawJSON     `json:"input"`
	ToolUseID string      `json:"tool_use_id"`
	Content   rawJSON     `json:"content"`
	IsError   bool        `json:"is_error"`
	Source    blockSource `json:"source"`
	Title     string      `json:"title"`
	ToolName  string      `json:"tool_name"`
	Arguments rawJSON     `json:"arguments"`
}

type blockSource struct {
	Type      string  `json:"type"`
	MediaType string  `json:"media_type"`
	Data      rawJSON `json:"data"`
	URL       string  `json:"url"`
}

// blocksOf returns the blocks of a content that is a string, a list of blocks
// or strings, or one block. Anything else, such as an object with numeric
// keys that a crash left behind, has none.
func blocksOf(raw rawJSON) []block {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return nil
	}
	switch raw[0] {
	case '"':
		if s := str(raw); s != "" {
			return []block{{Type: "text", Text: s}}
		}
	case '{':
		var b block
		if decode(raw, &b) == nil && b.Type != "" {
			return []block{b}
		}
	case '[':
		var all []rawJSON
		if decode(raw, &all) != nil {
			return nil
		}
		var blocks []block
		for _, one := range all {
			if len(one) > 0 && one[0] != '[' {
				blocks = append(blocks, blocksOf(one)...)
			}
		}
		return blocks
	}
	return nil
}

// text returns what a person would see of a block that is not a tool call.
func (b block) text() string {
	switch b.Type {
	case "text", "input_text", "output_text":
		return b.Text
	case "image", "document":
		if b.Source.Type == "text" {
			return str(b.Source.Data)
		}
		if b.Source.URL != "" {
			return "[" + b.Type + " " + b.Source.URL + "]"
		}
		return placeholder(b.Type, b.Source.MediaType, base64Size(max(0, len(b.Source.Data)-2)))
	case "tool_reference":
		return b.ToolName
	case "tool_result", "web_search_tool_result", "advisor_tool_result", "web_search_result":
		return join(b.Title, blockText(b.Content))
	}
	return b.Text // of a block that is not known yet
}

// blockText returns the text of a content, its blocks joined by blank lines.
func blockText(raw rawJSON) string {
	var parts []string
	for _, b := range blocksOf(raw) {
		parts = append(parts, b.text())
	}
	return join(parts...)
}

// messageText returns the text and role of an API message.
func messageText(raw rawJSON) (text, role string, err error) {
	var m claudeMessage
	if len(raw) > 0 && raw[0] == '"' {
		return str(raw), "", nil
	}
	if err := decode(raw, &m); err != nil {
		return "", "", err
	}
	return blockText(m.Content), m.Role, nil
}

// assistantLine takes in one block, or several, of an assistant message. One
// response of the API stands on as many lines as it has blocks, all with the
// message's id; they are gathered while they follow each other.
func (p *claudePass) assistantLine(l claudeLine) error {
	var m claudeMessage
	if err := decode(l.Message, &m); err != nil {
		return nil // null or a bare string: nothing was said
	}
	uid := m.ID
	if uid == "" {
		uid = l.UUID
	}
	id, _ := p.owner(l)
	if p.open == nil || uid == "" || p.open.UID != uid || p.open.SessionID != id {
		if err := p.flush(); err != nil {
			return err
		}
		p.open = &transcript.Message{UID: uid, SessionID: id, Role: transcript.Assistant}
		p.openLine, p.blocks = l, nil
		if l.Parent != "" {
			p.open.ParentUID = p.uidOf(l.Parent)
		}
	}
	if l.UUID != "" {
		p.alias(l.UUID, uid)
	}
	o := p.open
	if m.Model != "" && m.Model != "<synthetic>" {
		o.Model = m.Model
	}
	if m.StopReason != "" {
		o.FinishReason = m.StopReason
	}
	if l.APIError {
		o.Kind, o.IsError = "notice", true
	}
	for _, b := range blocksOf(m.Content) {
		p.take(b)
	}
	return nil
}

// take adds a block to the open message unless it is there already. Some
// versions write growing snapshots: a text that continues a held one replaces it.
func (p *claudePass) take(b block) {
	o := p.open
	switch b.Type {
	case "tool_use", "server_tool_use", "mcp_tool_use":
		for i, c := range o.ToolCalls {
			if b.ID != "" && c.ID == b.ID {
				if len(b.Input) > len(c.Args) {
					o.ToolCalls[i].Args = args(b.Input)
				}
				return
			}
		}
		call := transcript.ToolCall{ID: b.ID, Name: b.Name, Args: args(b.Input)}
		o.ToolCalls = append(o.ToolCalls, call)
		noteCall(p.st.Tools, call)
	case "thinking":
		o.Reasoning = p.grow(o.Reasoning, "thinking", b.Thinking)
	default:
		o.Content = p.grow(o.Content, "text", b.text())
	}
}

// grow appends a piece to a text unless the text holds it, or replaces the
// piece of which it is the continuation.
func (p *claudePass) grow(have, kind, piece string) string {
	if piece == "" {
		return have
	}
	for i, held := range p.blocks {
		body, ok := strings.CutPrefix(held, kind+":")
		if !ok {
			continue
		}
		if strings.HasPrefix(body, piece) {
			return have
		}
		if strings.HasPrefix(piece, body) && strings.Contains(have, body) {
			p.blocks[i] = kind + ":" + piece
			return strings.Replace(have, body, piece, 1)
		}
	}
	p.blocks = append(p.blocks, kind+":"+piece)
	return join(have, piece)
}

// flush delivers the open assistant message.
func (p *claudePass) flush() error {
	o := p.open
	if o == nil {
		return nil
	}
	p.open = nil
	if o.Content == "" && o.Reasoning == "" && len(o.ToolCalls) == 0 {
		return nil
	}
	return p.send(p.openLine, *o)
}

// exitHead is how Claude Code begins the result of a command that failed.
var exitHead = regexp.MustCompile(`^(?:Error: )?Exit code (\d{1,5})\b`)

// toolResult delivers one result block. Its id is made from the call's: after
// a compaction the same result can come again under a new line id.
func (p *claudePass) toolResult(l claudeLine, b block, n int) error {
	m := transcript.Message{Role: transcript.Tool, ToolCallID: b.ToolUseID, IsError: b.IsError, Content: blockText(b.Content)}
	if m.Content == "" {
		m.Content = str(l.ToolResult) // what went wrong, in some versions
	}
	m.ToolName, m.OwnTrace = callOf(p.st.Tools, b.ToolUseID)
	switch {
	case b.ToolUseID != "":
		m.UID = "result:" + b.ToolUseID
	case l.UUID != "":
		m.UID = l.UUID + "/" + strconv.Itoa(n)
	}
	delete(p.st.Tools, b.ToolUseID)
	var r struct {
		Stdout      *string `json:"stdout"`
		Stderr      *string `json:"stderr"`
		Interrupted bool    `json:"interrupted"`
		Background  string  `json:"backgroundTaskId"`
		Meaning     string  `json:"returnCodeInterpretation"`
		ExitCode    *int    `json:"exitCode"`
		Spilled     string  `json:"persistedOutputPath"`
	}
	if len(l.ToolResult) > 0 && l.ToolResult[0] == '{' {
		if err := decode(l.ToolResult, &r); err != nil {
			return err
		}
	}
	switch found := exitHead.FindStringSubmatch(m.Content); {
	case r.ExitCode != nil:
		m.ExitCode = r.ExitCode
	case found != nil && b.IsError:
		if code, err := strconv.Atoi(found[1]); err == nil {
			m.ExitCode = &code
		}
	case r.Stdout != nil && !b.IsError && !r.Interrupted && r.Background == "" && r.Meaning == "":
		zero := 0
		m.ExitCode = &zero
	}
	if r.Spilled != "" || strings.HasPrefix(m.Content, "<persisted-output>") {
		if full := p.spilled(r.Spilled, m.Content); full != "" {
			m.Content = full
		}
	}
	return p.deliver(l, m)
}

var spilledPath = regexp.MustCompile(`(?m)Full output saved to:\s*(.+?)\s*$`)

// spilled returns the full output that was written to a file, when the file
// lies inside the session's own folder; that is the only copy of it.
func (p *claudePass) spilled(named, content string) string {
	if named == "" {
		found := spilledPath.FindStringSubmatch(content)
		if found == nil {
			return ""
		}
		named = found[1]
	}
	named = strings.ReplaceAll(named, `\`, "/")
	dir := filepath.Join(strings.TrimSuffix(p.path, ".jsonl"), "tool-results")
	if p.kind == claudeAgent {
		dir = filepath.Join(filepath.Dir(filepath.Dir(p.path)), "tool-results")
	}
	// The session may have been copied elsewhere: only the name counts.
	path := filepath.Join(dir, named[strings.LastIndexByte(named, '/')+1:])
	st, err := os.Lstat(path)
	if err != nil || !st.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSpilled))
	if err != nil {
		return ""
	}
	return string(b)
}

// bareToolLine reads a tool call or result that stands on a line of its own,
// not inside a message.
func (p *claudePass) bareToolLine(l claudeLine) error {
	if l.Type == "tool_use" {
		call := transcript.ToolCall{ID: l.UUID, Name: l.Name, Args: args(l.Input)}
		noteCall(p.st.Tools, call)
		return p.deliver(l, transcript.Message{UID: l.UUID, Role: transcript.Assistant, ToolCalls: []transcript.ToolCall{call}})
	}
	text := str(l.Output)
	if text == "" && len(l.Output) > 0 && l.Output[0] != '"' {
		text = string(slices.Clone(l.Output))
	}
	return p.deliver(l, transcript.Message{UID: l.UUID, Role: transcript.Tool, ToolName: l.Name, Content: text, OwnTrace: isOwnTool(l.Name)})
}
