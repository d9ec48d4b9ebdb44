package source

import (
	"bytes"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// geminiPart is a part of a content.
type geminiPart struct {
	Text    string `json:"text"`
	Thought bool   `json:"thought"`
	Inline  *struct {
		Type string `json:"mimeType"`
		Data string `json:"data"`
	} `json:"inlineData"`
	File *struct {
		Type string `json:"mimeType"`
		URI  string `json:"fileUri"`
	} `json:"fileData"`
	Call *struct {
		ID   string  `json:"id"`
		Name string  `json:"name"`
		Args rawJSON `json:"args"`
	} `json:"functionCall"`
	Response *struct {
		ID       string  `json:"id"`
		Name     string  `json:"name"`
		Response rawJSON `json:"response"`
	} `json:"functionResponse"`
}

// geminiSaid returns what a tool answered: its output and error where it is told
// so, else all of the response.
func geminiSaid(raw rawJSON) (content string, failed bool) {
	var r struct {
		Output  rawJSON `json:"output"`
		Error   rawJSON `json:"error"`
		Content rawJSON `json:"content"`
	}
	if len(raw) == 0 || decode(raw, &r) != nil {
		return "", false
	}
	content = join(first(str(r.Output), string(r.Output)), first(str(r.Error), string(r.Error)))
	if content == "" && string(raw) != "{}" && string(raw) != "null" {
		content = first(blockText(r.Content), str(raw), string(raw))
	}
	return content, len(r.Error) > 0
}

// geminiParts reads a content: a string, or parts of text, files, calls and
// responses.
func geminiParts(raw rawJSON) (text string, calls []transcript.ToolCall, results []transcript.Message) {
	if s := str(raw); s != "" {
		return s, nil, nil
	}
	if t := bytes.TrimSpace(raw); len(t) > 0 && t[0] == '{' {
		raw = append(append([]byte{'['}, t...), ']')
	}
	var all []rawJSON
	if len(raw) == 0 || decode(raw, &all) != nil {
		return "", nil, nil
	}
	for _, one := range all {
		var p geminiPart
		if s := str(one); s != "" || decode(one, &p) != nil {
			text = join(text, s)
			continue
		}
		switch {
		case p.Thought:
		case p.Text != "":
			text = join(text, p.Text)
		case p.Inline != nil:
			text = join(text, placeholder("file", p.Inline.Type, base64Size(len(p.Inline.Data))))
		case p.File != nil:
			text = join(text, "[file "+p.File.URI+"]")
		case p.Call != nil:
			calls = append(calls, transcript.ToolCall{ID: p.Call.ID, Name: p.Call.Name, Args: args(p.Call.Args)})
		case p.Response != nil:
			content, failed := geminiSaid(p.Response.Response)
			results = append(results, transcript.Message{Role: transcript.Tool, ToolCallID: p.Response.ID, ToolName: p.Response.Name, Content: content, IsError: failed})
		}
	}
	return text, calls, results
}
