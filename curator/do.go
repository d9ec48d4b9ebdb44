package curator

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/summarizer"
	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// do judges one proposal on the memory as it is by now, and acts.
func (c *Curator) do(ctx context.Context, why summarizer.Occasion, session string, msgs []transcript.Message, p summarizer.Proposal, out *Outcome) error {
	k := matter{why: why, proposal: p, enabled: c.Enabled == nil || c.Enabled[p.Target], approve: c.Approve}
	for _, m := range msgs {
		if slices.Contains(p.Evidence, m.ID) {
			k.evidence = append(k.evidence, m)
		}
	}
	if k.enabled {
		var err error
		if k.state, err = c.Store.State(ctx, p.Target); err != nil {
			return err
		}
	}
	v, reason := judge(k)
	op := p.Op
	op.Evidence = nil
	for _, id := range p.Evidence {
		op.Evidence = append(op.Evidence, fmt.Sprintf("%s/%d", session, id))
	}
	op.Source = memstore.UserExplicit
	if why == summarizer.Review || v == stage {
		op.Source = memstore.Review
	}
	j := Judged{Target: p.Target, Op: op, Why: reason}
	if v == drop {
		out.Dropped = append(out.Dropped, j)
		return nil
	}
	by := memstore.Caller{Session: session, Client: "hermes-mcp", Origin: string(why)}
	if v == apply && op.Action == memstore.Add {
		_, err := c.Store.Apply(ctx, by, p.Target, op)
		return settle(j, err, &out.Applied, out)
	}
	if waiting, err := c.waits(ctx, j); err != nil || waiting {
		return err
	}
	pinned, err := c.Store.Propose(ctx, by, p.Target, op)
	if err != nil {
		return settle(j, err, nil, out)
	}
	j.Pending = pinned.ID
	if v == apply {
		// Approving is only good for the very entry that was judged: one that
		// somebody edits meanwhile stays, and the proposal waits.
		_, err := c.Store.Approve(ctx, pinned.ID)
		if err == nil {
			j.Pending = ""
			out.Applied = append(out.Applied, j)
			return nil
		}
		j.Why = err.Error()
	}
	out.Staged = append(out.Staged, j)
	return nil
}

// settle files an edit where it belongs. What the store refuses is the answer,
// not a failure of the look; what it could not do is one.
func settle(j Judged, err error, done *[]Judged, out *Outcome) error {
	var refused *memstore.OpError
	switch {
	case err == nil:
		*done = append(*done, j)
		return nil
	case errors.As(err, &refused) && !errors.Is(err, memstore.ErrBusy):
		j.Why = err.Error()
		out.Dropped = append(out.Dropped, j)
		return nil
	}
	return err
}

// waits tells whether the same edit is waiting already.
func (c *Curator) waits(ctx context.Context, j Judged) (bool, error) {
	all, err := c.Store.Proposals(ctx)
	for _, p := range all {
		if p.Target == j.Target && len(p.Ops) == 1 && p.Ops[0].Action == j.Op.Action &&
			p.Ops[0].Content == j.Op.Content && p.Ops[0].OldText == j.Op.OldText {
			return true, nil
		}
	}
	return false, err
}
