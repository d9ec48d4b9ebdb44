package exec

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hermes-mcp/hermes-mcp/provider"
)

// Recall asks the program.
func (p *Provider) Recall(ctx context.Context, s provider.Session, query string) ([]provider.Memory, error) {
	out, err := p.call(ctx, request{Op: "recall", Session: &s, Query: query})
	if err != nil {
		return nil, err
	}
	var all []provider.Memory
	for _, m := range out.Memories {
		all = append(all, provider.Memory{Text: m.Text, At: moment(m.At), Label: m.Label})
	}
	return all, nil
}

// SyncTurn hands the turn to the program.
func (p *Provider) SyncTurn(ctx context.Context, t provider.Turn) error {
	return p.deliver(ctx, request{Op: "turn", Turn: &t})
}

// MirrorWrite hands the edit to the program, if it wants edits.
func (p *Provider) MirrorWrite(ctx context.Context, w provider.Write) error {
	_, err := p.offer(ctx, request{Op: "write", Write: &w})
	return err
}

// EndSession tells the program, if it wants to know.
func (p *Provider) EndSession(ctx context.Context, s provider.Session) error {
	_, err := p.offer(ctx, request{Op: "end", Session: &s})
	return err
}

// SwitchSession tells the program, if it wants to know.
func (p *Provider) SwitchSession(ctx context.Context, s provider.Switch) error {
	_, err := p.offer(ctx, request{Op: "switch", Switch: &s})
	return err
}

// PreCompress tells the program, if it wants to know.
func (p *Provider) PreCompress(ctx context.Context, c provider.Compression) error {
	_, err := p.offer(ctx, request{Op: "compress", Compress: &c})
	return err
}

// Delegated tells the program, if it wants to know.
func (p *Provider) Delegated(ctx context.Context, d provider.Delegation) error {
	_, err := p.offer(ctx, request{Op: "delegation", Delegation: &d})
	return err
}

// Prefetch gives the program the hint, if it wants hints.
func (p *Provider) Prefetch(ctx context.Context, s provider.Session, query string) error {
	_, err := p.offer(ctx, request{Op: "hint", Session: &s, Query: query})
	return err
}

// SystemBlock asks the program, if it has words for the prompt.
func (p *Provider) SystemBlock(ctx context.Context) (string, error) {
	out, err := p.offer(ctx, request{Op: "system"})
	return out.Text, err
}

// List asks the program for all that it holds. provider.ErrUnsupported when it
// cannot say.
func (p *Provider) List(ctx context.Context) ([]provider.Fact, error) {
	out, err := p.offer(ctx, request{Op: "list"})
	if err != nil {
		return nil, err
	}
	if out.Facts == nil {
		return nil, fmt.Errorf("%w: the program does not list what it holds", provider.ErrUnsupported)
	}
	all := []provider.Fact{}
	for _, f := range out.Facts {
		all = append(all, provider.Fact{ID: string(f.ID), Text: f.Text, Entry: f.Entry, Target: f.Target, At: moment(f.At)})
	}
	return all, nil
}

// Tools asks the program for tools of its own, if it has any.
func (p *Provider) Tools(ctx context.Context) ([]provider.Tool, error) {
	out, err := p.offer(ctx, request{Op: "tools"})
	if err != nil {
		return nil, err
	}
	var all []provider.Tool
	for _, t := range out.Tools {
		all = append(all, provider.Tool{
			Name: t.Name, Description: t.Description, Schema: t.Schema, ReadOnly: t.ReadOnly,
			Handle: func(ctx context.Context, arguments json.RawMessage) (json.RawMessage, error) {
				return p.tool(ctx, t.Name, arguments)
			},
		})
	}
	return all, nil
}

func (p *Provider) tool(ctx context.Context, name string, arguments json.RawMessage) (json.RawMessage, error) {
	out, err := p.call(ctx, request{Op: "tool", Session: &p.session, Name: name, Arguments: arguments})
	if err != nil {
		return nil, err
	}
	if len(out.Result) == 0 {
		return json.RawMessage("{}"), nil
	}
	return out.Result, nil
}

// Repeatable tells what the program said when it started; nothing before.
func (p *Provider) Repeatable(k provider.Kind) bool {
	return slices.Contains(p.hello.Load().Repeatable, string(k))
}
