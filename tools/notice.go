package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/hermes-mcp/hermes-mcp/provider"
	"github.com/hermes-mcp/hermes-mcp/tools/wire"
)

// Noticing is t with a failure of the external memory told in its next result,
// under "notice": nobody looks for what fails in silence.
func Noticing(t server.ServerTool, g *provider.Guard) server.ServerTool {
	next := t.Handler
	t.Handler = func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		res, err := next(ctx, req)
		if err != nil || res == nil {
			return res, err
		}
		words := g.Notice()
		if words == "" {
			return res, nil
		}
		return noted(res, words)
	}
	return t
}

// noted puts words into the object that a result holds.
func noted(res *mcp.CallToolResult, words string) (*mcp.CallToolResult, error) {
	if len(res.Content) != 1 {
		return res, nil
	}
	said, ok := res.Content[0].(mcp.TextContent)
	body, object := strings.CutSuffix(said.Text, "}")
	if !ok || !object {
		return res, nil
	}
	note, err := wire.Encode(words)
	if err != nil {
		return nil, fmt.Errorf("tell a failure of the provider: %w", err)
	}
	said.Text = body + `,"notice":` + string(note) + "}"
	out := *res
	out.Content = []mcp.Content{said}
	if res.StructuredContent != nil {
		out.StructuredContent = json.RawMessage(said.Text)
	}
	return &out, nil
}
