package external

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"

	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/memstore/bridge"
	"github.com/hermes-mcp/hermes-mcp/provider"
	"github.com/hermes-mcp/hermes-mcp/provider/reconcile"
)

// originPull marks, in the journal, what was taken over from the provider,
// which knows it already.
const originPull = "provider"

// mostPulled bounds the facts that one pull looks at: the built-in memory holds
// a few dozen.
const mostPulled = 500

// Diff compares the built-in memory with what the provider holds, as far as it
// is told of it: see Mirrored. Errors: provider.ErrUnsupported, and those of
// asking.
func (m Memory) Diff(ctx context.Context, store *memstore.Store) (reconcile.Difference, error) {
	entries := map[memstore.Target][]memstore.Entry{}
	for _, t := range []memstore.Target{memstore.Memory, memstore.User} {
		if !Mirrored(t, store.User) {
			continue
		}
		st, err := store.State(ctx, t)
		if err != nil {
			return reconcile.Difference{}, err
		}
		entries[t] = st.Entries
	}
	facts, err := m.Guard.List(ctx, m.Session("", "", store.User, false))
	if err != nil {
		return reconcile.Difference{}, err
	}
	facts = slices.DeleteFunc(facts, func(f provider.Fact) bool { return f.Target != "" && !Mirrored(f.Target, store.User) })
	return reconcile.Diff(entries, facts), nil
}

// Push puts on their way the edits after which the provider says what the
// built-in memory says, but for conflicts. They are delivered like all others.
func (m Memory) Push(ctx context.Context, d reconcile.Difference) (int, error) {
	writes := d.Push(m.Session("", "", "", false), "push."+rand.Text())
	return len(writes), m.Guard.MemoryWritten(ctx, writes...)
}

// Pull is what the built-in memory would take over of what only the provider
// says, and what not and why. rest counts the facts that were not looked at.
func (m Memory) Pull(ctx context.Context, store *memstore.Store, d reconcile.Difference) (p bridge.Plan, rest int, err error) {
	wanted := d.Pull(memstore.Memory)
	var items []bridge.Item
	for _, t := range slices.Sorted(maps.Keys(wanted)) {
		for _, op := range wanted[t] {
			items = append(items, bridge.Item{Target: t, Text: op.Content, From: m.Guard.Name(), Source: memstore.AgentObserved})
		}
	}
	if rest = len(items) - mostPulled; rest > 0 {
		items = items[:mostPulled]
	}
	p, err = bridge.Fit(ctx, store, m.puller(), "", items)
	return p, max(0, rest), err
}

// Take makes the edits of a plan, all or none of a target.
func (m Memory) Take(ctx context.Context, store *memstore.Store, p bridge.Plan) error {
	for _, t := range slices.Sorted(maps.Keys(p.Take)) {
		if _, err := store.Apply(ctx, m.puller(), t, p.Take[t]...); err != nil {
			return fmt.Errorf("pull into %s: %w", t, err)
		}
	}
	return nil
}

func (m Memory) puller() memstore.Caller {
	return memstore.Caller{Client: "hermes-mcp", Origin: originPull}
}
