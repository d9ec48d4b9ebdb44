// Package wiretest calls tools in tests as a client does.
package wiretest

import (
	"encoding/json"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// Call runs a tool as a client's arguments would, and checks what holds for
// every result.
func Call(t testing.TB, tool server.ServerTool, args string) (result map[string]any, failed bool) {
	t.Helper()
	req := mcp.CallToolRequest{}
	req.Params.Name = tool.Tool.Name
	req.Params.RawArguments = json.RawMessage(args)
	res, err := tool.Handler(t.Context(), req)
	if err != nil {
		t.Fatalf("%s %s: Go error %v", tool.Tool.Name, args, err)
	}
	if len(res.Content) != 1 {
		t.Fatalf("%s %s: %d contents", tool.Tool.Name, args, len(res.Content))
	}
	text := res.Content[0].(mcp.TextContent).Text
	if err := json.Unmarshal([]byte(text), &result); err != nil {
		t.Fatalf("%s %s: %v in %s", tool.Tool.Name, args, err, text)
	}
	if result["success"] != !res.IsError {
		t.Errorf("%s %s: success %v, isError %v", tool.Tool.Name, args, result["success"], res.IsError)
	}
	if res.IsError {
		if res.StructuredContent != nil || result["code"] == "" || result["error"] == "" {
			t.Errorf("%s %s: failure %s", tool.Tool.Name, args, text)
		}
	} else if s, _ := res.StructuredContent.(json.RawMessage); string(s) != text {
		t.Errorf("%s %s: structured content differs from the text", tool.Tool.Name, args)
	}
	return result, res.IsError
}
