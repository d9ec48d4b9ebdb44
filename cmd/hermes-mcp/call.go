package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/keeper"
	"github.com/hermes-mcp/hermes-mcp/serve"
)

func (a *app) callCommand() *cobra.Command {
	var how serving
	c := &cobra.Command{
		Use: "call TOOL [JSON]", Short: "Run a tool as a client would and print its result",
		Long: `Runs a tool through the same server, in process, and prints the JSON of its
result. JSON is an object of arguments; - reads it from standard input. The
exit code is 1 when the tool says that it failed.`,
		Example: `  hermes-mcp call memory '{"action":"add","target":"user","content":"prefers Go"}'`,
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.begin(cmd, false, func(ctx context.Context) error {
				raw := []byte("{}")
				if len(args) == 2 {
					raw = []byte(args[1])
				}
				if string(raw) == "-" {
					var err error
					if raw, err = io.ReadAll(a.in); err != nil {
						return fmt.Errorf("read arguments: %w", err)
					}
				}
				if !utf8.Valid(raw) { // or what is not would be kept as something else
					return usage("the arguments are not UTF-8")
				}
				if !json.Valid(raw) {
					return usage("the arguments are not JSON: %.60s; they are one object, such as {\"action\":\"read\"}", raw)
				}
				var object map[string]json.RawMessage
				if json.Unmarshal(raw, &object) != nil || object == nil {
					return usage("the arguments are no JSON object, such as {\"action\":\"read\"}: %.60s", raw)
				}
				return a.call(ctx, args[0], raw, how)
			})
		},
	}
	c.Flags().BoolVar(&how.readOnly, "read-only", false, "refuse every edit of the memory")
	c.Flags().BoolVar(&how.record, "record", false, "offer session_record, as serve --record does")
	return c
}

func (a *app) call(ctx context.Context, tool string, raw []byte, how serving) error {
	how.origin = originTool
	result, failed, err := a.runTool(ctx, tool, raw, how)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s\n", result)
	if failed {
		return failure{code: codeFailed}
	}
	return nil
}

// runTool runs one tool call as the server does, on a home that is made when
// it is not there.
func (a *app) runTool(ctx context.Context, tool string, args []byte, how serving) (result []byte, failed bool, err error) {
	reads, err := a.onlyReads()
	if err != nil {
		return nil, false, err
	}
	how.readOnly = how.readOnly || reads
	pending := a.pending() // before the call: it makes the archive
	how.pending = func(context.Context) string { return pending }
	srv, err := a.server(ctx, how)
	if err != nil {
		return nil, false, err
	}
	return serve.Call(ctx, srv, tool, args)
}

// pending is what a command says about what a search may have missed.
func (a *app) pending() string {
	if !a.archive.exists() {
		return "nothing is archived yet; run hermes-mcp ingest"
	}
	return keeper.Pending(a.home.MCP())
}
