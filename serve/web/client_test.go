package web

import (
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// The engine's own client is not an independent one, but it does speak the
// whole of both transports and both eras.
func TestAClientLibraryDoesTheMainJob(t *testing.T) {
	home := t.TempDir()
	s := (&desk{}).site(t, func(h *HTTP) { h.Grants[0].Server = memoryServer(t, home) })
	headers := map[string]string{"Authorization": "Bearer " + token}
	for name, dial := range map[string]func() (*client.Client, error){
		"streamable, sessions": func() (*client.Client, error) {
			//lint:ignore SA1019 the older era has the stream
			c, err := transport.NewStreamableHTTP(s.url+"/mcp", transport.WithHTTPHeaders(headers), transport.WithContinuousListening())
			return client.NewClient(c, client.WithProtocolVersion(mcp.ProtocolVersion20251125)), err
		},
		"streamable, newest": func() (*client.Client, error) {
			return client.NewStreamableHttpClient(s.url+"/mcp", transport.WithHTTPHeaders(headers))
		},
		"sse": func() (*client.Client, error) {
			return client.NewSSEMCPClient(s.url+"/sse", client.WithHeaders(headers))
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := dial()
			if err != nil {
				t.Fatal(err)
			}
			ctx := t.Context()
			if err := c.Start(ctx); err != nil {
				t.Fatal(err)
			}
			var hello mcp.InitializeRequest
			hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
			hello.Params.ClientInfo = mcp.Implementation{Name: "library", Version: "1"}
			if init, err := c.Initialize(ctx, hello); err != nil || init.ServerInfo.Name != "hermes-mcp" || init.Instructions == "" {
				t.Fatalf("initialize: %+v %v", init, err)
			}
			if list, err := c.ListTools(ctx, mcp.ListToolsRequest{}); err != nil || len(list.Tools) != 1 {
				t.Fatalf("tools: %+v %v", list, err)
			}
			var call mcp.CallToolRequest
			call.Params.Name = "memory"
			call.Params.Arguments = map[string]any{"action": "add", "content": "said by " + name}
			if res, err := c.CallTool(ctx, call); err != nil || res.IsError {
				t.Fatalf("call: %+v %v", res, err)
			}
			var read mcp.ReadResourceRequest
			read.Params.URI = "hermes://memory/live"
			if res, err := c.ReadResource(ctx, read); err != nil || len(res.Contents) != 1 {
				t.Fatalf("read: %+v %v", res, err)
			}
			if err := c.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
	s.close()
	noneLeft(t)
}
