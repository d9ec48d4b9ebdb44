package health

import (
	"context"
	"strings"
	"time"

	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/transcript/plain"
)

// checkFacts looks at what the curated files say: how a file that was edited by
// hand was understood, which entries contradict or repeat one another, and which
// nothing has confirmed for long. None of it is decided here.
func (s Subject) checkFacts(ctx context.Context, add addCheck) {
	now := time.Now()
	for _, t := range s.targets(ctx) {
		st, err := s.Store.State(ctx, t.Target)
		if err != nil {
			continue // told already
		}
		name := string(t.Target)
		for _, note := range st.Notes {
			add(name, Fine, "%s %s; it was read as %s", st.Path, note, plain.Count(len(st.Entries), "entry"))
		}
		for _, p := range memstore.Pairs(st.Entries) {
			add(name, Warn, "%s: %q (%s) and %q; memory replace or remove settles it", p.Kind, brief(p.Entry.Text), day(p.Entry.UpdatedAt), brief(p.With))
		}
		for _, e := range st.Entries {
			if e.Stale(now) {
				add(name, Warn, "not confirmed for long: %q (%s); memory add of the same text confirms it", brief(e.Text), day(e.UpdatedAt))
			}
		}
	}
}

func day(t time.Time) string { return t.Local().Format(time.DateOnly) }

// brief is an entry on one short line.
func brief(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > 100 {
		text = string(r[:99]) + "…"
	}
	return text
}
