package summarizer

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/summarizer/endpoint"
)

// maxAnswer bounds the bytes of an answer.
const maxAnswer = 1 << 20

// post sends body as JSON and decodes the answer into out.
func (c *Client) post(ctx context.Context, url string, header http.Header, body map[string]any, out any) error {
	raw, err := c.encode(body)
	if err != nil {
		return err
	}
	return endpoint.Post(ctx, c.web(), endpoint.Request{URL: url, Header: header, Body: raw, MaxAnswer: maxAnswer}, out)
}

// encode is the request with the user's own fields over ours; a null takes one
// of ours out.
func (c *Client) encode(body map[string]any) ([]byte, error) {
	if len(c.ExtraBody) > 0 {
		var extra map[string]any
		if err := json.Unmarshal(c.ExtraBody, &extra); err != nil {
			return nil, fmt.Errorf("extra_body is not a JSON object: %w", err)
		}
		for name, v := range extra {
			if v == nil {
				delete(body, name)
				continue
			}
			body[name] = v
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(body); err != nil {
		return nil, fmt.Errorf("encode a request: %w", err)
	}
	return b.Bytes(), nil
}

// chat asks an endpoint that speaks OpenAI's chat completions.
func (c *Client) chat(ctx context.Context, r request) (reply, error) {
	limit := "max_tokens"
	if c.BaseURL == "" || strings.Contains(c.BaseURL, "//api.openai.com") {
		limit = "max_completion_tokens" // OpenAI's newer models refuse the old name, others know only that
	}
	body := map[string]any{
		"model": c.Model, limit: r.maxTokens,
		"messages": []map[string]string{{"role": "system", "content": r.system}, {"role": "user", "content": r.user}},
	}
	if r.tool != nil {
		body["tools"] = []any{map[string]any{"type": "function", "function": map[string]any{
			"name": r.tool.name, "description": r.tool.description, "parameters": r.tool.schema,
		}}}
	}
	var got struct {
		Choices []struct {
			FinishReason string `json:"finish_reason"`
			Message      struct {
				Content   string `json:"content"`
				Refusal   string `json:"refusal"`
				ToolCalls []struct {
					Function struct {
						Name      string          `json:"name"`
						Arguments json.RawMessage `json:"arguments"`
					} `json:"function"`
				} `json:"tool_calls"`
			} `json:"message"`
		} `json:"choices"`
		Usage struct {
			PromptTokens     int64   `json:"prompt_tokens"`
			CompletionTokens int64   `json:"completion_tokens"`
			Cost             float64 `json:"cost"` // OpenRouter tells
		} `json:"usage"`
		Error json.RawMessage `json:"error"` // OpenRouter answers 200 with it
	}
	header := http.Header{}
	if c.APIKey != "" {
		header.Set("Authorization", "Bearer "+c.APIKey)
	}
	err := c.post(ctx, strings.TrimSuffix(c.address(), "/")+"/chat/completions", header, body, &got)
	out := reply{in: got.Usage.PromptTokens, out: got.Usage.CompletionTokens, dollars: got.Usage.Cost}
	switch {
	case err != nil:
		return out, err
	case len(got.Choices) == 0 && len(got.Error) > 0 && string(got.Error) != "null":
		return out, &endpoint.StatusError{Code: http.StatusBadGateway, Said: endpoint.Complaint(fmt.Appendf(nil, `{"error":%s}`, got.Error))}
	case len(got.Choices) == 0:
		return out, fmt.Errorf("%w: it has no choices", ErrAnswer)
	}
	first := got.Choices[0]
	out.text, out.refused, out.cut = answerOf(first.Message.Content), first.Message.Refusal, first.FinishReason == "length"
	if first.FinishReason == "content_filter" && out.refused == "" {
		out.refused = "content filter"
	}
	for _, call := range first.Message.ToolCalls {
		if r.tool != nil && call.Function.Name == r.tool.name {
			out.calls = append(out.calls, call.Function.Arguments)
		}
	}
	return out, nil
}

// answerOf is a text without what local models think aloud before it.
func answerOf(text string) string {
	for {
		start := strings.Index(text, "<think>")
		if start < 0 {
			return strings.TrimSpace(text)
		}
		n := strings.Index(text[start:], "</think>")
		if n < 0 {
			return strings.TrimSpace(text[:start])
		}
		text = text[:start] + text[start+n+len("</think>"):]
	}
}

// anthropicVersion is the version of the API that is spoken.
const anthropicVersion = "2023-06-01"

// messages asks Anthropic's Messages API, or an endpoint that speaks it.
func (c *Client) messages(ctx context.Context, r request) (reply, error) {
	body := map[string]any{
		"model": c.Model, "max_tokens": r.maxTokens, "system": r.system,
		"messages": []map[string]string{{"role": "user", "content": r.user}},
	}
	if r.tool != nil {
		body["tools"] = []any{map[string]any{"name": r.tool.name, "description": r.tool.description, "input_schema": r.tool.schema}}
	}
	var got struct {
		StopReason string `json:"stop_reason"`
		Content    []struct {
			Type  string          `json:"type"`
			Text  string          `json:"text"`
			Name  string          `json:"name"`
			Input json.RawMessage `json:"input"`
		} `json:"content"`
		Usage struct {
			Input  int64 `json:"input_tokens"`
			Write  int64 `json:"cache_creation_input_tokens"`
			Read   int64 `json:"cache_read_input_tokens"`
			Output int64 `json:"output_tokens"`
		} `json:"usage"`
	}
	header := http.Header{"Anthropic-Version": {anthropicVersion}}
	if c.APIKey != "" {
		header.Set("X-Api-Key", c.APIKey)
	}
	base := strings.TrimSuffix(strings.TrimSuffix(c.address(), "/"), "/v1")
	err := c.post(ctx, base+"/v1/messages", header, body, &got)
	out := reply{in: got.Usage.Input + got.Usage.Write + got.Usage.Read, out: got.Usage.Output, cut: got.StopReason == "max_tokens"}
	if err != nil {
		return out, err
	}
	if len(got.Content) == 0 && got.StopReason == "" {
		return out, fmt.Errorf("%w: it has no content", ErrAnswer)
	}
	for _, block := range got.Content {
		switch {
		case block.Type == "text":
			out.text += block.Text
		case block.Type == "tool_use" && r.tool != nil && block.Name == r.tool.name:
			out.calls = append(out.calls, block.Input)
		}
	}
	out.text = answerOf(out.text)
	if got.StopReason == "refusal" {
		out.refused = cmp.Or(out.text, "no reason given")
	}
	return out, nil
}
