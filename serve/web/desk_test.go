package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/hermes-mcp/hermes-mcp/serve"
)

// A desk is a server with a tool that writes and two that read. It keeps what
// was written, in order.
type desk struct {
	mu      sync.Mutex
	written []string
	begun   chan string   // told of every write that begins, when not nil
	release chan struct{} // every write waits for it, when not nil
}

func (d *desk) server() *server.MCPServer {
	tool := func(name string, reads bool, h func(ctx context.Context, text string) string) server.ServerTool {
		return server.ServerTool{
			Tool: mcp.NewTool(name, mcp.WithReadOnlyHintAnnotation(reads)),
			Handler: func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return mcp.NewToolResultText(h(ctx, req.GetString("text", ""))), nil
			},
		}
	}
	return serve.New(serve.Parts{
		Name: "hermes-mcp", Version: "0.0.0-test",
		Tools: []server.ServerTool{
			tool("note", false, d.note),
			tool("look", true, func(_ context.Context, text string) string { return text }),
			tool("who", true, func(ctx context.Context, _ string) string {
				name, version := serve.ClientName(ctx)
				return name + " " + version
			}),
		},
		Resources: []server.ServerResource{{
			Resource: mcp.NewResource("hermes://gone", "gone"),
			Handler: func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
				return nil, errors.Join(errors.New("session x"), server.ErrResourceNotFound)
			},
		}},
		Instructions: func(_ context.Context, client string) string { return "for " + client },
	})
}

func (d *desk) note(_ context.Context, text string) string {
	if d.begun != nil {
		d.begun <- text
	}
	if d.release != nil {
		<-d.release
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.written = append(d.written, text)
	return text
}

// An answer is one message from the server.
type answer struct {
	Result map[string]any
	line   string
}

func parseOne(t *testing.T, line string) answer {
	t.Helper()
	a := answer{line: line}
	if err := json.Unmarshal([]byte(strings.TrimSpace(line)), &a); err != nil {
		t.Fatalf("not JSON: %q (%v)", line, err)
	}
	return a
}

func (a answer) text() string {
	content, _ := a.Result["content"].([]any)
	if len(content) == 0 {
		return ""
	}
	s, _ := content[0].(map[string]any)["text"].(string)
	return s
}

func callLine(id int, tool, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"text":%q}}}`, id, tool, text)
}

const modern = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"moderner","version":"3"}}`
