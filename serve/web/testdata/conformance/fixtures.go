package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/hermes-mcp/hermes-mcp/serve"
	"github.com/hermes-mcp/hermes-mcp/serve/wire"
)

// What the scenarios look for, by the names and texts that they fix.
const (
	plainText = "text/plain"
	pngType   = "image/png"
	about     = "a fixture of the conformance suite"
)

var described = mcp.WithDescription(about)

// The smallest picture and the smallest sound.
var (
	picture = base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n"))
	sound   = base64.StdEncoding.EncodeToString([]byte("RIFF\x24\x00\x00\x00WAVEfmt "))
)

// A shop is the server of the scenarios.
type shop struct{ *server.MCPServer }

func fixtures() *server.MCPServer {
	hooks := &server.Hooks{}
	wire.Watch(hooks)
	s := shop{server.NewMCPServer("hermes-mcp-fixtures", "1.0.0",
		server.WithToolCapabilities(true),
		server.WithResourceCapabilities(true, true),
		server.WithPromptCapabilities(true),
		server.WithCompletions(), server.WithLogging(), server.WithElicitation(),
		server.WithHooks(hooks), server.WithCacheHints(0, mcp.CacheScopePrivate))}
	s.EnableSampling()
	s.answers()
	s.notices()
	s.asks()
	s.rounds()
	s.resources()
	s.prompts()
	return s.MCPServer
}

// tool adds a tool without arguments.
func (s shop) tool(name string, h server.ToolHandlerFunc) {
	s.AddTool(mcp.NewTool(name, described), h)
}

// answers are the tools that just answer.
func (s shop) answers() {
	text := func(t string) mcp.Content { return mcp.TextContent{Type: "text", Text: t} }
	embedded := func(uri, kind, t string) mcp.Content {
		return mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: uri, MIMEType: kind, Text: t})
	}
	for name, content := range map[string][]mcp.Content{
		"test_simple_text":       {text("This is a simple text response for testing.")},
		"test_image_content":     {mcp.NewImageContent(picture, pngType)},
		"test_audio_content":     {mcp.NewAudioContent(sound, "audio/wav")},
		"test_embedded_resource": {embedded("test://embedded-resource", plainText, "This is an embedded resource content.")},
		"test_multiple_content_types": {
			text("Multiple content types test:"),
			mcp.NewImageContent(picture, pngType),
			embedded("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`),
		},
	} {
		s.tool(name, func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: content}, nil
		})
	}
	s.tool("test_error_handling", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultError("This tool intentionally returns an error for testing"), nil
	})
	fine := func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("ok"), nil
	}
	s.AddTool(mcp.NewToolWithRawSchema("json_schema_2020_12_tool", "keywords of JSON Schema 2020-12", json.RawMessage(`{
		"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
		"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
		"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},
			"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},
		"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
		"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},
		"then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}`)), fine)
	s.AddTool(mcp.NewToolWithRawSchema("test_header_mirror", "an argument that a header repeats", json.RawMessage(
		`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}},"required":["region"]}`)), fine)
}

// notices are the tools that tell something while they run.
func (s shop) notices() {
	say := func(ctx context.Context, messages ...string) error {
		for _, m := range messages {
			time.Sleep(50 * time.Millisecond)
			if err := s.SendLogMessageToClient(ctx, mcp.NewLoggingMessageNotification(mcp.LoggingLevelInfo, "fixtures", m)); err != nil {
				return err
			}
		}
		return nil
	}
	s.tool("test_tool_with_logging", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("logged"), say(ctx, "Tool execution started", "Tool processing data", "Tool execution completed")
	})
	s.tool("test_logging_tool", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("logged"), say(ctx, "one")
	})
	s.tool("test_tool_with_progress", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for _, stage := range []string{"begun", "half", "done"} {
			serve.Progress(ctx, stage)
		}
		return mcp.NewToolResultText("done"), nil
	})
	s.tool("test_trigger_tool_change", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.tool("test_"+fmt.Sprint(time.Now().UnixNano()), nil)
		return mcp.NewToolResultText("changed"), nil
	})
	s.tool("test_trigger_prompt_change", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.AddPrompt(mcp.NewPrompt("test_"+fmt.Sprint(time.Now().UnixNano()), mcp.WithPromptDescription(about)), nil)
		return mcp.NewToolResultText("changed"), nil
	})
}

func (s shop) resources() {
	s.AddResource(mcp.NewResource("test://static-text", "Static text", mcp.WithMIMEType(plainText)),
		func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: "test://static-text", MIMEType: plainText, Text: "This is the content of the static text resource."}}, nil
		})
	s.AddResource(mcp.NewResource("test://static-binary", "Static binary", mcp.WithMIMEType(pngType)),
		func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{mcp.BlobResourceContents{URI: "test://static-binary", MIMEType: pngType, Blob: picture}}, nil
		})
	s.AddResource(mcp.NewResource("test://watched-resource", "Watched", mcp.WithMIMEType(plainText)),
		func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: "test://watched-resource", MIMEType: plainText, Text: "watched"}}, nil
		})
	s.AddResourceTemplate(mcp.NewResourceTemplate("test://template/{id}/data", "Template", mcp.WithTemplateMIMEType("application/json")),
		func(_ context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			ids, _ := req.Params.Arguments["id"].([]string)
			text, err := json.Marshal(map[string]any{"id": ids[0], "templateTest": true, "data": "Data for ID: " + ids[0]})
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: req.Params.URI, MIMEType: "application/json", Text: string(text)}}, err
		})
}

func (s shop) prompts() {
	text := func(t string) mcp.Content { return mcp.TextContent{Type: "text", Text: t} }
	add := func(name string, says func(args map[string]string) []mcp.Content, args ...string) {
		options := []mcp.PromptOption{mcp.WithPromptDescription(about)}
		for _, a := range args {
			options = append(options, mcp.WithArgument(a, mcp.RequiredArgument()))
		}
		s.AddPrompt(mcp.NewPrompt(name, options...), func(_ context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			res := &mcp.GetPromptResult{}
			for _, c := range says(req.Params.Arguments) {
				res.Messages = append(res.Messages, mcp.PromptMessage{Role: mcp.RoleUser, Content: c})
			}
			return res, nil
		})
	}
	add("test_simple_prompt", func(map[string]string) []mcp.Content {
		return []mcp.Content{text("This is a simple prompt for testing.")}
	})
	add("test_prompt_with_arguments", func(a map[string]string) []mcp.Content {
		return []mcp.Content{text(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", a["arg1"], a["arg2"]))}
	}, "arg1", "arg2")
	add("test_prompt_with_embedded_resource", func(a map[string]string) []mcp.Content {
		return []mcp.Content{
			mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: a["resourceUri"], MIMEType: plainText, Text: "Embedded resource content for testing."}),
			text("Please process the embedded resource above."),
		}
	}, "resourceUri")
	add("test_prompt_with_image", func(map[string]string) []mcp.Content {
		return []mcp.Content{mcp.NewImageContent(picture, pngType), text("Please analyze the image above.")}
	})
}
