package main

import (
	"context"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/hermes-mcp/hermes-mcp/provider"
	"github.com/hermes-mcp/hermes-mcp/tools"
)

// introduction is how long a server that starts waits for the provider to name
// its own tools.
const introduction = 3 * time.Second

// withExternal is what a server offers: own, and what asks the external memory
// where there is one. A failure of it is told in the next result.
func (a *app) withExternal(ctx context.Context, how serving, dir string, own []server.ServerTool) []server.ServerTool {
	g := a.external.Guard
	if g == nil {
		return own
	}
	session := func(ctx context.Context) provider.Session {
		return a.external.Session(how.who(ctx).ID, dir, how.user, how.readOnly)
	}
	all := append(slices.Clone(own), tools.Recall(g, session))
	if a.config.Provider.NativeTools {
		ctx, cancel := context.WithTimeout(ctx, introduction)
		defer cancel()
		native, dropped, err := g.Tools(ctx, session)
		for _, why := range dropped {
			a.log.Warn().Str("provider", g.Name()).Msg("tool left out: " + why)
		}
		if err != nil {
			a.log.Warn().Err(err).Msg("the provider's own tools are not offered")
		}
		all = append(all, tools.Native(native)...)
	}
	if how.origin == originCLI { // a person sees the status, not the result
		return all
	}
	for i, t := range all {
		all[i] = tools.Noticing(t, g)
	}
	return all
}
