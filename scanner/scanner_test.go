package scanner

import (
	"slices"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/scanner/rule"
)

func TestEveryRuleBehavesAsItsExamplesSay(t *testing.T) {
	examples, err := rule.Examples()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range examples {
		if !e.Found {
			if found := Scan(e.Text, Strict); found != nil {
				t.Errorf("rule %s: %q is refused by %s for %q", e.Rule, e.Text, found[0].Rule, found[0].Match)
			}
			continue
		}
		if !slices.ContainsFunc(Scan(e.Text, Scope(e.Scope)), func(f Finding) bool { return f.Rule == e.Rule }) {
			t.Errorf("rule %s misses %q", e.Rule, e.Text)
		}
	}
}
