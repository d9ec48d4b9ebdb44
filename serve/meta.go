package serve

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
)

type metaKey struct{}

// Meta returns what the client put beside its request as _meta, by name; nil
// when there is nothing. It is the client's word and proves nothing.
func Meta(ctx context.Context) map[string]any {
	fields, _ := ctx.Value(metaKey{}).(map[string]any)
	return fields
}

func withMeta(ctx context.Context, m *mcp.Meta) context.Context {
	if m == nil || len(m.AdditionalFields) == 0 {
		return ctx
	}
	return context.WithValue(ctx, metaKey{}, m.AdditionalFields)
}
