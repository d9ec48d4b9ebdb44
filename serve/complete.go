package serve

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
)

// A completer gives the engine the proposals of Parts.Complete.
type completer Parts

// CompletePromptArgument proposes values for a prompt's argument.
func (c completer) CompletePromptArgument(ctx context.Context, prompt string, a mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	return c.complete(ctx, prompt, a)
}

// CompleteResourceArgument proposes values for a template's argument.
func (c completer) CompleteResourceArgument(ctx context.Context, uri string, a mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	return c.complete(ctx, uri, a)
}

func (c completer) complete(ctx context.Context, of string, a mcp.CompleteArgument) (out *mcp.Completion, err error) {
	p := Parts(c)
	defer func() { err = p.settle(ctx, "completion of "+of, err, recover()) }()
	values, err := c.Complete(ctx, of, a.Name, a.Value)
	if err != nil {
		return nil, err
	}
	return &mcp.Completion{Values: values, Total: len(values)}, nil
}
