// Package serve carries the tools, resources and prompts over MCP.
//
// [New] builds the protocol server out of [Parts]; [Stdio] serves one client
// on a pair of streams; [Call] runs one tool in the same process; serve/web
// serves many clients over HTTP. The protocol engine is mcp-go; the loop
// around it (serve/wire) is ours, because a memory must not lose or reorder
// what a client asked it to write.
//
// # Promises
//
// A handler that panics or that returns a Go error is answered with a bare
// internal error: what went wrong is told to [Parts].Bug, never to the client.
// What a client is offered depends on configuration, never on the connection.
// A call that takes longer than a second is reported to a client that asked for
// it by a progressToken, every few seconds until its answer.
//
// # What is never done
//
// No request is sent to a client: no sampling, no roots, no elicitation.
package serve

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/hermes-mcp/hermes-mcp/serve/wire"
)

// Parts is what a server offers. The list depends on configuration, never on
// the connection.
type Parts struct {
	Name, Version string
	Tools         []server.ServerTool
	Resources     []server.ServerResource
	Templates     []server.ServerResourceTemplate
	Prompts       []server.ServerPrompt
	// Instructions returns what the client of that name is told. It is asked
	// once for every initialize and server/discover. May be nil.
	Instructions func(ctx context.Context, client string) string
	// Admit refuses to have a resource read or a prompt made; the client is told
	// why. Tools refuse in their own words. May be nil.
	Admit func(ctx context.Context) error
	// Complete proposes values for an argument of a prompt, by its name, or of a
	// template, by its address. May be nil.
	Complete func(ctx context.Context, of, argument, value string) ([]string, error)
	// Done is told of every finished tool call, for the log: name, whether it
	// failed, and how long it took. May be nil.
	Done func(tool string, failed bool, seconds float64)
	// Bug is told of every panic and every Go error of a handler, for the log.
	// May be nil.
	Bug func(where string, err error)
}

// pageSize is how many items of a list are sent at once. What this program
// offers is one page; a list that grows must not become one endless answer.
const pageSize = 100

// listTTL is how long, in milliseconds, a client may keep the lists: they
// change only with the configuration, so with a restart.
const listTTL = 5 * 60 * 1000

// errInternal is all a client learns of a bug of ours.
var errInternal = errors.New(wire.InternalError)

// New builds the protocol server. It is safe for concurrent use by any number
// of transports.
func New(p Parts) *server.MCPServer {
	hooks := &server.Hooks{}
	if p.Instructions != nil {
		hooks.AddAfterInitialize(func(ctx context.Context, _ any, m *mcp.InitializeRequest, r *mcp.InitializeResult) {
			r.Instructions = p.Instructions(ctx, m.Params.ClientInfo.Name)
		})
		hooks.AddAfterDiscover(func(ctx context.Context, _ any, _ *mcp.DiscoverRequest, r *mcp.DiscoverResult) {
			name, _ := ClientName(ctx)
			r.Instructions = p.Instructions(ctx, name)
		})
	}
	wire.Watch(hooks)
	hooks.AddBeforeReadResource(func(_ context.Context, _ any, m *mcp.ReadResourceRequest) {
		m.Params.URI = escapeURI(m.Params.URI)
	})
	if p.Bug != nil {
		hooks.AddOnError(func(_ context.Context, _ any, method mcp.MCPMethod, _ any, err error) {
			if errors.Is(err, wire.ErrEngine) {
				p.Bug(string(method), err)
			}
		})
	}
	options := []server.ServerOption{
		server.WithTitle("Hermes memory"),
		server.WithDescription("Curated memory and the archive of every past session"),
		server.WithToolCapabilities(false),
		server.WithResourceCapabilities(false, false),
		server.WithPromptCapabilities(false),
		server.WithHooks(hooks),
		server.WithPaginationLimit(pageSize),
		server.WithToolHandlerMiddleware(p.guardTool),
		server.WithResourceHandlerMiddleware(p.guardResource),
		server.WithPromptHandlerMiddleware(p.guardPrompt),
		// Everything is one user's; what is read or discovered must be asked
		// for again, since it follows the session.
		server.WithCacheHints(0, mcp.CacheScopePrivate),
		server.WithMethodCacheHints(mcp.MethodToolsList, listTTL, mcp.CacheScopePrivate),
		server.WithMethodCacheHints(mcp.MethodPromptsList, listTTL, mcp.CacheScopePrivate),
		server.WithMethodCacheHints(mcp.MethodResourcesList, listTTL, mcp.CacheScopePrivate),
		server.WithMethodCacheHints(mcp.MethodResourcesTemplatesList, listTTL, mcp.CacheScopePrivate),
	}
	if p.Complete != nil {
		options = append(options, server.WithCompletions(),
			server.WithPromptCompletionProvider(completer(p)), server.WithResourceCompletionProvider(completer(p)))
	}
	s := server.NewMCPServer(p.Name, p.Version, options...)
	s.AddTools(p.Tools...)
	s.AddResources(p.Resources...)
	s.AddResourceTemplates(p.Templates...)
	s.AddPrompts(p.Prompts...)
	return s
}

// ClientName returns the name and version of the client that ctx belongs to,
// as the client gives them: in the request itself, else at initialize.
func ClientName(ctx context.Context) (name, version string) {
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.ClientInfo != nil {
		return info.ClientInfo.Name, info.ClientInfo.Version
	}
	if s, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo); ok {
		info := s.GetClientInfo()
		return info.Name, info.Version
	}
	return "", ""
}

// Progress tells the client that ctx belongs to what its call is at now, if it
// asked to be told. Nobody else hears of it; it is nothing to rely on.
func Progress(ctx context.Context, stage string) { wire.ProgressOf(ctx).Say(stage) }

// guardTool keeps panics and Go errors from the client and tells Done.
func (p Parts) guardTool(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (res *mcp.CallToolResult, err error) {
		start := time.Now()
		defer func() {
			err = p.settle(ctx, "tool "+req.Params.Name, err, recover())
			if p.Done != nil {
				p.Done(req.Params.Name, err != nil || res == nil || res.IsError, time.Since(start).Seconds())
			}
		}()
		defer wire.ProgressOf(ctx).Beat()()
		return next(withMeta(ctx, req.Params.Meta), req)
	}
}

func (p Parts) guardResource(next server.ResourceHandlerFunc) server.ResourceHandlerFunc {
	return func(ctx context.Context, req mcp.ReadResourceRequest) (res []mcp.ResourceContents, err error) {
		ctx = withMeta(ctx, req.Params.Meta)
		if p.Admit != nil {
			if err := p.Admit(ctx); err != nil {
				return nil, err
			}
		}
		defer func() { err = p.settle(ctx, "resource "+req.Params.URI, err, recover()) }()
		return next(ctx, req)
	}
}

func (p Parts) guardPrompt(next server.PromptHandlerFunc) server.PromptHandlerFunc {
	return func(ctx context.Context, req mcp.GetPromptRequest) (res *mcp.GetPromptResult, err error) {
		ctx = withMeta(ctx, req.Params.Meta)
		if p.Admit != nil {
			if err := p.Admit(ctx); err != nil {
				return nil, err
			}
		}
		defer func() { err = p.settle(ctx, "prompt "+req.Params.Name, err, recover()) }()
		return next(ctx, req)
	}
}

// settle turns what a handler left behind into what the client may hear.
func (p Parts) settle(ctx context.Context, where string, err error, panicked any) error {
	switch {
	case panicked != nil:
		err = fmt.Errorf("panic: %v\n%s", panicked, debug.Stack())
	case err == nil:
		return nil
	case errors.Is(err, server.ErrResourceNotFound):
		return err
	case ctx.Err() != nil:
		return ctx.Err() // the client went away: no bug, and no answer
	}
	if p.Bug != nil {
		p.Bug(where, err)
	}
	return errInternal
}

// escapeURI percent-encodes the colons and such after the scheme: the engine
// matches a template's {id} only in that form, while session ids hold a colon.
func escapeURI(uri string) string {
	scheme, rest, ok := strings.Cut(uri, "://")
	if !ok || !strings.ContainsAny(rest, reserved) {
		return uri
	}
	var b strings.Builder
	b.WriteString(scheme + "://")
	for i := range len(rest) {
		if strings.IndexByte(reserved, rest[i]) >= 0 {
			fmt.Fprintf(&b, "%%%02X", rest[i])
		} else {
			b.WriteByte(rest[i])
		}
	}
	return b.String()
}

// reserved are the characters that {id} does not match as they are, without
// the slash, which parts an address, and the percent sign.
const reserved = ":?#[]@!$&'()*+,;= \"<>\\^`{|}"
