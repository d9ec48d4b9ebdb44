package source

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

var hermesColumns = []string{"id", "role", "content", "tool_call_id", "tool_calls", "tool_name", "timestamp", "finish_reason",
	"reasoning", "reasoning_content", "reasoning_details", "codex_reasoning_items", "active", "compacted", "display_kind", "_compressed_summary"}

// messages delivers a session's messages with an id over since. The others
// are read too, because a message's identity is its role and text and how
// many equal ones came before: row ids change when a transcript is rewritten,
// and the same session may stand in a file without any.
func (d *hermesDB) messages(id string, since int64, s hermesSession) error {
	if len(d.sessionCols) == 0 {
		if err := d.sink.Session(transcript.Session{ID: hermesID(id), SourcePath: d.path}); err != nil {
			return err
		}
	}
	n, waiting := numberer{}, map[string]string{}
	err := d.db.rowsOf(d.ctx, func(scan func(...any) error) error {
		var r hermesMessageRow
		if err := scan(r.fields()...); err != nil {
			return err
		}
		m := r.message()
		m.SessionID = hermesID(id)
		m.UID = n.id(string(m.Role), m.Content, m.ToolCallID, callIDs(m.ToolCalls))
		for _, c := range m.ToolCalls {
			noteCall(waiting, c)
		}
		if _, own := callOf(waiting, m.ToolCallID); own && m.Role == transcript.Tool {
			m.OwnTrace = true
		}
		if r.id <= since {
			return nil
		}
		d.st.LastID = max(d.st.LastID, r.id)
		if m.Model == "" && m.Role == transcript.Assistant {
			m.Model = s.model
		}
		m.Dir, m.Branch = s.dir, s.branch
		m.Compacted = m.Compacted || s.compressed
		d.st.Messages++
		return d.sink.Message(m)
	}, "SELECT "+pick(d.cols, hermesColumns...)+" FROM messages WHERE session_id = ? ORDER BY id", id)
	if err != nil {
		return fmt.Errorf("session %s: %w", id, err)
	}
	return nil
}

func callIDs(calls []transcript.ToolCall) string {
	ids := make([]string, len(calls))
	for i, c := range calls {
		ids[i] = c.ID + " " + c.Name
	}
	return strings.Join(ids, ",")
}

// hermesMessageRow is a row of the messages table.
type hermesMessageRow struct {
	id                                                                 int64
	role                                                               string
	content, callID, calls, tool                                       sql.NullString
	at                                                                 sql.NullFloat64
	finish, reasoning, reasoningContent, details, items, kind, summary sql.NullString
	active, compacted                                                  sql.NullInt64
}

func (r *hermesMessageRow) fields() []any {
	return []any{&r.id, &r.role, &r.content, &r.callID, &r.calls, &r.tool, &r.at, &r.finish, &r.reasoning,
		&r.reasoningContent, &r.details, &r.items, &r.active, &r.compacted, &r.kind, &r.summary}
}

// message turns a row into a message without identity.
func (r hermesMessageRow) message() transcript.Message {
	m := hermesMessage{
		Role: r.role, ToolCallID: r.callID.String, ToolName: r.tool.String, Finish: r.finish.String,
		Reasoning: r.reasoning.String, ReasoningContent: r.reasoningContent.String,
		Calls: rawJSON(r.calls.String),
	}.message(hermesText(r.content.String))
	m.At = epoch(r.at.Float64)
	m.Rewound = r.active.Valid && r.active.Int64 == 0 && r.compacted.Int64 == 0
	m.Compacted = r.compacted.Int64 != 0
	if r.kind.String == "hidden" {
		m.Kind = "meta"
	}
	if s := r.summary.String; s != "" && s != "0" {
		m.Role, m.Kind = transcript.Summary, ""
	}
	for key, col := range map[string]sql.NullString{"reasoning_details": r.details, "codex_reasoning_items": r.items} {
		if kept := withoutCiphertext([]byte(col.String)); kept != nil {
			m.Extra = extra(m.Extra, key, kept)
		}
	}
	return m
}

// hermesText returns the text of a content column: plain, or a NUL, "json:"
// and a list of parts.
func hermesText(s string) string {
	rest, ok := strings.CutPrefix(s, "\x00json:")
	if !ok {
		return clean(s)
	}
	if !json.Valid([]byte(rest)) {
		return clean(rest)
	}
	if text := openAIText(rawJSON(rest)); text != "" {
		return clean(text)
	}
	return clean(rest)
}

// openAIText returns the text of a content in OpenAI's forms: a string, or
// parts of type text, image_url, input_image, input_audio, file.
func openAIText(raw rawJSON) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return ""
	}
	if raw[0] == '"' {
		return str(raw)
	}
	if raw[0] == '{' {
		raw = append(append([]byte{'['}, raw...), ']')
	}
	var all []rawJSON
	if decode(raw, &all) != nil {
		return ""
	}
	var texts []string
	for _, one := range all {
		var p struct {
			Type     string  `json:"type"`
			Text     string  `json:"text"`
			Refusal  string  `json:"refusal"`
			Content  rawJSON `json:"content"`
			ImageURL rawJSON `json:"image_url"`
			Filename string  `json:"filename"`
		}
		if s := str(one); s != "" || decode(one, &p) != nil {
			texts = append(texts, s)
			continue
		}
		switch {
		case p.Text != "":
			texts = append(texts, p.Text)
		case p.Refusal != "":
			texts = append(texts, p.Refusal)
		case len(p.ImageURL) > 0:
			texts = append(texts, imageURL(p.ImageURL))
		case p.Filename != "":
			texts = append(texts, "[file "+p.Filename+"]")
		case len(p.Content) > 0:
			texts = append(texts, openAIText(p.Content))
		case strings.Contains(p.Type, "image") || strings.Contains(p.Type, "audio"):
			texts = append(texts, "["+p.Type+"]")
		}
	}
	return join(texts...)
}

// imageURL returns what stands for an image that is named by an URL.
func imageURL(raw rawJSON) string {
	var at struct {
		URL string `json:"url"`
	}
	if at.URL = str(raw); at.URL == "" && decode(raw, &at) != nil {
		return "[image]"
	}
	if strings.HasPrefix(at.URL, "data:") {
		media, data, _ := strings.Cut(strings.TrimPrefix(at.URL, "data:"), ",")
		return placeholder("image", strings.TrimSuffix(media, ";base64"), base64Size(len(data)))
	}
	return "[image " + at.URL + "]"
}

// withoutCiphertext returns a JSON value without encrypted content and
// signatures, nil when nothing worth keeping is left.
func withoutCiphertext(raw []byte) any {
	var v any
	if len(raw) == 0 || json.Unmarshal(raw, &v) != nil {
		return nil
	}
	return pruned(v)
}

func pruned(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			if k == "encrypted_content" || k == "signature" || k == "thinkingSignature" {
				continue
			}
			if x = pruned(x); x != nil {
				out[k] = x
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case []any:
		var out []any
		for _, x := range v {
			if x = pruned(x); x != nil {
				out = append(out, x)
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	}
	return v
}
