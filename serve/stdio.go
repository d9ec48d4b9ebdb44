package serve

import (
	"context"
	"io"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/hermes-mcp/hermes-mcp/serve/wire"
)

// Stdio serves one client on in and out until in ends or ctx is done, then
// answers what it has read and returns nil. Only JSON-RPC is written to out.
// The error is that of reading or writing. When ctx ends first and in can
// neither be given a deadline nor ends, one goroutine stays behind in Read.
func Stdio(ctx context.Context, s *server.MCPServer, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	lines := make(chan wire.Line)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r := wire.NewReader(in)
		for {
			next := r.Next()
			select {
			case lines <- next:
			case <-ctx.Done():
				return
			}
			if next.Err != nil {
				return
			}
		}
	}()
	err := wire.Run(ctx, s, wire.NewSession("stdio"), lines, out)
	stop()
	if d, ok := in.(interface{ SetReadDeadline(time.Time) error }); ok && d.SetReadDeadline(time.Unix(1, 0)) == nil {
		<-ended
	}
	return err
}
