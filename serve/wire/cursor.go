package wire

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// WrongCursor is the answer to a request for a page of a list by a cursor that
// the list never gave, else nil. The engine goes on after any name at all, or
// says what is wrong with its base64.
func WrongCursor(s *server.MCPServer, request []byte) []byte {
	var r struct {
		ID     json.RawMessage `json:"id"`
		Method mcp.MCPMethod   `json:"method"`
		Params struct {
			Cursor json.RawMessage `json:"cursor"`
		} `json:"params"`
	}
	if json.Unmarshal(request, &r) != nil || usableID(r.ID) == nil || r.Params.Cursor == nil {
		return nil
	}
	switch r.Method {
	case mcp.MethodToolsList, mcp.MethodPromptsList, mcp.MethodResourcesList, mcp.MethodResourcesTemplatesList:
	default:
		return nil
	}
	var cursor string
	if err := json.Unmarshal(r.Params.Cursor, &cursor); err == nil && (cursor == "" || gave(s, r.Method, cursor)) {
		return nil
	}
	return rpcError(r.ID, mcp.INVALID_PARAMS, "this cursor is not one that the list gave; ask for the list again without a cursor")
}

// gave walks the list to see whether a page of it ends with that cursor.
func gave(s *server.MCPServer, method mcp.MCPMethod, cursor string) bool {
	own := NewSession("cursor")
	own.Initialize()
	ctx := s.WithContext(context.Background(), own)
	next := ""
	for {
		page, err := json.Marshal(s.HandleMessage(ctx, request(method, next)))
		var got struct {
			Result struct {
				Next string `json:"nextCursor"`
			} `json:"result"`
		}
		if err != nil || json.Unmarshal(page, &got) != nil || got.Result.Next == "" || got.Result.Next == next {
			return false
		}
		if next = got.Result.Next; next == cursor {
			return true
		}
	}
}

// request asks for the page of a list behind a cursor.
func request(method mcp.MCPMethod, cursor string) json.RawMessage {
	return json.RawMessage(`{"jsonrpc":"2.0","id":1,"method":"` + string(method) + `","params":{"cursor":"` + cursor + `"}}`)
}
