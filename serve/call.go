package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/hermes-mcp/hermes-mcp/serve/wire"
)

// Call runs one tool through the same server, in process, and returns its
// result's JSON and whether it failed. args is a JSON object; nothing means
// none. The error says that there was no result: no such tool, arguments that
// are not an object, a bug of ours.
func Call(ctx context.Context, s *server.MCPServer, tool string, args []byte) (result []byte, failed bool, err error) {
	if len(args) == 0 {
		args = []byte("{}")
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(args, &object); err != nil || object == nil {
		return nil, false, fmt.Errorf("call %s: the arguments must be a JSON object", tool)
	}
	if s.GetTool(tool) == nil {
		return nil, false, fmt.Errorf("call %s: there is no such tool; there are %s", tool, strings.Join(slices.Sorted(maps.Keys(s.ListTools())), ", "))
	}
	params, err := json.Marshal(map[string]any{"name": tool, "arguments": json.RawMessage(args)})
	if err != nil {
		return nil, false, fmt.Errorf("call %s: %w", tool, err)
	}
	raw, err := json.Marshal(map[string]any{
		"jsonrpc": mcp.JSONRPC_VERSION, "id": 1, "method": mcp.MethodToolsCall, "params": json.RawMessage(params),
	})
	if err != nil {
		return nil, false, fmt.Errorf("call %s: %w", tool, err)
	}
	own := wire.NewSession("call")
	own.SetClientInfo(mcp.Implementation{Name: "hermes-mcp call"})
	own.Initialize()
	answer, err := wire.Ask(s.WithContext(ctx, own), s, raw)
	if err != nil {
		return nil, false, fmt.Errorf("call %s: %w", tool, err)
	}
	var got struct {
		Result struct {
			Content []struct{ Text string }
			IsError bool
		}
		Error *struct{ Message string }
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		return nil, false, fmt.Errorf("call %s: %w", tool, err)
	}
	if got.Error != nil {
		return nil, false, fmt.Errorf("call %s: %w", tool, errors.New(got.Error.Message))
	}
	if len(got.Result.Content) == 0 {
		return nil, got.Result.IsError, fmt.Errorf("call %s: empty result", tool)
	}
	return []byte(got.Result.Content[0].Text), got.Result.IsError, nil
}
