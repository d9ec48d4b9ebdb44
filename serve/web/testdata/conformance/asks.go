package main

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// object is a form with these fields.
func object(fields map[string]any) map[string]any {
	return map[string]any{"type": "object", "properties": fields}
}

func form(message, field, kind string) mcp.ElicitationParams {
	return mcp.ElicitationParams{Message: message, RequestedSchema: object(map[string]any{field: map[string]any{"type": kind}})}
}

func sample(text string) mcp.CreateMessageParams {
	return mcp.CreateMessageParams{
		Messages:  []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.TextContent{Type: "text", Text: text}}},
		MaxTokens: 100,
	}
}

// asks are the tools that ask the client while it waits, as only the older
// era allows.
func (s shop) asks() {
	s.AddTool(mcp.NewTool("test_sampling", described, mcp.WithString("prompt", mcp.Required())),
		func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			//lint:ignore SA1019 the older era has it, and its scenarios ask for it
			got, err := s.RequestSampling(ctx, mcp.CreateMessageRequest{
				Request:             mcp.Request{Method: string(mcp.MethodSamplingCreateMessage)},
				CreateMessageParams: sample(req.GetString("prompt", "")),
			})
			if err != nil {
				return mcp.NewToolResultError(err.Error()), nil
			}
			return mcp.NewToolResultText(fmt.Sprint("LLM response: ", got.Content)), nil
		})
	elicit := func(name, says string, params mcp.ElicitationParams, options ...mcp.ToolOption) {
		s.AddTool(mcp.NewTool(name, append(options, described)...), func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			own := params
			own.Message = req.GetString("message", params.Message)
			got, err := s.RequestElicitation(ctx, mcp.ElicitationRequest{
				Request: mcp.Request{Method: string(mcp.MethodElicitationCreate)}, Params: own,
			})
			if err != nil {
				return mcp.NewToolResultError(err.Error()), nil
			}
			return mcp.NewToolResultText(fmt.Sprintf("%s: action=%s, content=%v", says, got.Action, got.Content)), nil
		})
	}
	elicit("test_elicitation", "User response", form("?", "response", "string"), mcp.WithString("message", mcp.Required()))
	elicit("test_elicitation_sep1034_defaults", "Elicitation completed", mcp.ElicitationParams{Message: "?", RequestedSchema: object(map[string]any{
		"name":     map[string]any{"type": "string", "default": "John Doe"},
		"age":      map[string]any{"type": "integer", "default": 30},
		"score":    map[string]any{"type": "number", "default": 95.5},
		"status":   map[string]any{"type": "string", "enum": []string{"active", "inactive", "pending"}, "default": "active"},
		"verified": map[string]any{"type": "boolean", "default": true},
	})})
	titled := func(title string) []any {
		return []any{map[string]any{"const": "value1", "title": title + " 1"}, map[string]any{"const": "value2", "title": title + " 2"}}
	}
	plain := []string{"option1", "option2", "option3"}
	elicit("test_elicitation_sep1330_enums", "Elicitation completed", mcp.ElicitationParams{Message: "?", RequestedSchema: object(map[string]any{
		"untitledSingle": map[string]any{"type": "string", "enum": plain},
		"titledSingle":   map[string]any{"type": "string", "oneOf": titled("Option")},
		"legacyEnum":     map[string]any{"type": "string", "enum": []string{"opt1", "opt2"}, "enumNames": []string{"Option One", "Option Two"}},
		"untitledMulti":  map[string]any{"type": "array", "items": map[string]any{"type": "string", "enum": plain}},
		"titledMulti":    map[string]any{"type": "array", "items": map[string]any{"anyOf": titled("Choice")}},
	})})
}

// rounds are the tools that ask by answering that they need more, as the newer
// era has it.
func (s shop) rounds() {
	round := func(name string, complete func(mcp.CallToolRequest) bool, ask func(ctx context.Context) *server.InputRequestBuilder) {
		s.tool(name, func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if complete(req) {
				return mcp.NewToolResultText("complete"), nil
			}
			return ask(ctx).ToolResult(), nil
		})
	}
	has := func(keys ...string) func(mcp.CallToolRequest) bool {
		return func(req mcp.CallToolRequest) bool {
			for _, k := range keys {
				if _, ok := server.InputResponse(req.Params.InputResponses, k); !ok {
					return false
				}
			}
			return true
		}
	}
	name := form("What is your name?", "name", "string")
	asking := func(state string) *server.InputRequestBuilder { return server.NewInputRequestBuilder(state) }
	round("test_input_required_result_elicitation",
		func(req mcp.CallToolRequest) bool {
			return server.ElicitationResponse(req.Params.InputResponses, "user_name") != nil
		},
		func(context.Context) *server.InputRequestBuilder { return asking("").Elicit("user_name", name) })
	round("test_input_required_result_sampling", has("capital"),
		func(context.Context) *server.InputRequestBuilder {
			return asking("").Sample("capital", sample("What is the capital of France?"))
		})
	round("test_input_required_result_list_roots", has("roots"),
		func(context.Context) *server.InputRequestBuilder { return asking("").Roots("roots") })
	round("test_input_required_result_request_state",
		func(req mcp.CallToolRequest) bool { return has("confirm")(req) && req.Params.RequestState == "state" },
		func(context.Context) *server.InputRequestBuilder {
			return asking("state").Elicit("confirm", form("Please confirm", "ok", "boolean"))
		})
	round("test_input_required_result_multiple_inputs", has("user_name", "greeting", "client_roots"),
		func(context.Context) *server.InputRequestBuilder {
			return asking("state").Elicit("user_name", name).Sample("greeting", sample("Generate a greeting")).Roots("client_roots")
		})
	round("test_input_required_result_capabilities", has("capital"), func(ctx context.Context) *server.InputRequestBuilder {
		b, can := asking(""), capabilities(ctx)
		if can.Sampling != nil {
			b.Sample("capital", sample("What is the capital of France?"))
		}
		if can.Elicitation != nil {
			b.Elicit("user_name", name)
		}
		return b
	})
	round("test_streaming_elicitation", has("user_name"),
		func(context.Context) *server.InputRequestBuilder { return asking("").Elicit("user_name", name) })
	s.tool("test_input_required_result_multi_round", func(_ context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		switch {
		case has("step2")(req) && req.Params.RequestState == "second":
			return mcp.NewToolResultText("complete"), nil
		case has("step1")(req) && req.Params.RequestState == "first":
			return asking("second").Elicit("step2", form("Step 2: What is your favorite color?", "color", "string")).ToolResult(), nil
		}
		return asking("first").Elicit("step1", form("Step 1: What is your name?", "name", "string")).ToolResult(), nil
	})
	s.tool("test_missing_capability", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if capabilities(ctx).Sampling == nil {
			return nil, mcp.MissingRequiredClientCapabilityError{Capability: "sampling"}
		}
		return mcp.NewToolResultText("ok"), nil
	})
	s.tamper()
	s.AddPrompt(mcp.NewPrompt("test_input_required_result_prompt", mcp.WithPromptDescription(about)), func(_ context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		if server.ElicitationResponse(req.Params.InputResponses, "user_context") == nil {
			return asking("").Elicit("user_context", form("What context should the prompt use?", "context", "string")).PromptResult(), nil
		}
		return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{{Role: mcp.RoleUser, Content: mcp.TextContent{Type: "text", Text: "complete"}}}}, nil
	})
}

// tamper is the tool whose state carries a proof that it is ours.
func (s shop) tamper() {
	key := []byte(rand.Text())
	sign := func(state string) string {
		m := hmac.New(sha256.New, key)
		m.Write([]byte(state))
		return state + "." + hex.EncodeToString(m.Sum(nil))
	}
	s.tool("test_input_required_result_tampered_state", func(_ context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		given := req.Params.RequestState
		if given == "" {
			return server.NewInputRequestBuilder(sign("first")).Elicit("confirm", form("Please confirm", "ok", "boolean")).ToolResult(), nil
		}
		state, _, _ := strings.Cut(given, ".")
		if !hmac.Equal([]byte(sign(state)), []byte(given)) {
			return nil, errors.New("the state is not one that was given out")
		}
		return mcp.NewToolResultText("complete"), nil
	})
}

// capabilities are those that the request declares.
func capabilities(ctx context.Context) mcp.ClientCapabilities {
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.ClientCapabilities != nil {
		return *info.ClientCapabilities
	}
	return mcp.ClientCapabilities{}
}
