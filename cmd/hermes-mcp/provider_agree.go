package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/provider"
	"github.com/hermes-mcp/hermes-mcp/provider/reconcile"
)

// A side is one thing that only one of two memories says, or both differently.
type side struct {
	Target memstore.Target `json:"target,omitempty"`
	ID     string          `json:"id,omitempty"` // the provider's
	Here   string          `json:"here,omitempty"`
	There  string          `json:"there,omitempty"`
}

func facts(all []provider.Fact) []side {
	out := []side{}
	for _, f := range all {
		out = append(out, side{Target: f.Target, ID: f.ID, There: f.Text})
	}
	return out
}

// compare asks the provider what it holds.
func (p *providerRun) compare(ctx context.Context) (*memstore.Store, reconcile.Difference, error) {
	if err := p.one(); err != nil {
		return nil, reconcile.Difference{}, err
	}
	store, err := p.openStore(ctx, p.dir())
	if err != nil {
		return nil, reconcile.Difference{}, err
	}
	d, err := p.external.Diff(ctx, store)
	return store, d, unsupported(err)
}

// mostListed is how many lines of a kind are printed for a person.
const mostListed = 20

func (p *providerRun) show(title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(p.out, "%s: %d\n", title, len(lines))
	for i, text := range lines {
		if i == mostListed {
			fmt.Fprintf(p.out, "  … and %d more (--json shows all)\n", len(lines)-i)
			break
		}
		fmt.Fprintf(p.out, "  %s\n", strings.ReplaceAll(text, "\n", "\n    "))
	}
}

func (p *providerRun) diff(ctx context.Context) error {
	_, d, err := p.compare(ctx)
	if err != nil {
		return err
	}
	here, both := []side{}, []side{}
	var hereLines, thereLines, staleLines, bothLines []string
	for _, h := range d.Here {
		here = append(here, side{Target: h.Target, Here: h.Entry.Text})
		hereLines = append(hereLines, fmt.Sprintf("%s: %s", h.Target, h.Entry.Text))
	}
	for _, c := range d.Conflicts {
		both = append(both, side{Target: c.Target, ID: c.Fact.ID, Here: c.Entry.Text, There: c.Fact.Text})
		bothLines = append(bothLines, fmt.Sprintf("%s: here %q, there %q (%s)", c.Target, c.Entry.Text, c.Fact.Text, c.Fact.ID))
	}
	if p.json {
		return p.printJSON(map[string]any{
			"success": true, "provider": p.external.Guard.Name(), "same": d.Same,
			"here": here, "there": facts(d.There), "stale": facts(d.Stale), "conflicts": both,
		})
	}
	for _, f := range d.There {
		thereLines = append(thereLines, f.Text)
	}
	for _, f := range d.Stale {
		staleLines = append(staleLines, f.Text)
	}
	fmt.Fprintf(p.out, "the same on both sides: %d\n", d.Same)
	p.show("only in the built-in memory (provider push)", hereLines)
	p.show("only in "+p.external.Guard.Name()+" (provider pull)", thereLines)
	p.show("mirrored to it from entries that are gone (provider push removes them)", staleLines)
	p.show("said differently, for you to settle: edit one side", bothLines)
	return nil
}

func (p *providerRun) push(ctx context.Context) error {
	store, d, err := p.compare(ctx)
	if err != nil {
		return err
	}
	if store.User != "" {
		return usage("push is for the whole home: leave --user out")
	}
	writes := d.Push(provider.Session{}, "preview")
	if p.yes && len(writes) > 0 {
		if _, err := p.external.Push(ctx, d); err != nil {
			return err
		}
		if _, err := p.external.Guard.Drain(ctx); err != nil {
			fmt.Fprintf(p.err, "hermes-mcp: not all is delivered yet: %v\n", err)
		}
	}
	var lines []string
	for _, w := range writes {
		sign, text := "+", w.New
		if w.Action == memstore.Remove {
			sign, text = "-", w.Old
		}
		lines = append(lines, fmt.Sprintf("%s %s: %s", sign, w.Target, text))
	}
	if p.json {
		return p.printJSON(map[string]any{"success": true, "done": p.yes, "writes": lines, "conflicts": len(d.Conflicts)})
	}
	p.show("to tell "+p.external.Guard.Name(), lines)
	p.settled(len(lines) == 0, len(d.Conflicts))
	return nil
}

func (p *providerRun) pull(ctx context.Context) error {
	store, d, err := p.compare(ctx)
	if err != nil {
		return err
	}
	plan, rest, err := p.external.Pull(ctx, store, d)
	if err != nil {
		return err
	}
	if p.yes {
		if err := p.external.Take(ctx, store, plan); err != nil {
			return err
		}
	}
	var lines, left []string
	for _, t := range []memstore.Target{memstore.Memory, memstore.User} {
		for _, op := range plan.Take[t] {
			lines = append(lines, fmt.Sprintf("+ %s: %s", t, op.Content))
		}
	}
	for _, s := range plan.Skipped {
		left = append(left, fmt.Sprintf("%s (%s)", s.Text, s.Why))
	}
	if p.json {
		return p.printJSON(map[string]any{"success": true, "done": p.yes, "entries": lines, "left_out": left, "not_looked_at": rest, "conflicts": len(d.Conflicts)})
	}
	p.show("to take over", lines)
	p.show("left out", left)
	if rest > 0 {
		fmt.Fprintf(p.out, "%d more facts were not looked at\n", rest)
	}
	p.settled(len(lines) == 0, len(d.Conflicts))
	return nil
}

// settled ends what a push or a pull says.
func (p *providerRun) settled(nothing bool, conflicts int) {
	if conflicts > 0 {
		fmt.Fprintf(p.out, "%d said differently are left as they are: provider diff\n", conflicts)
	}
	switch {
	case nothing:
		fmt.Fprintln(p.out, "nothing to do")
	case !p.yes:
		fmt.Fprintln(p.out, "nothing is changed yet; --yes does it")
	default:
		fmt.Fprintln(p.out, "done")
	}
}
