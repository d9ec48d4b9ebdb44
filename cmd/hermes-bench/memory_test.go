package main

import (
	"slices"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/memstore/conflict"
)

// A room of facts that contradict one another would make every answer list the
// whole file, which no file that is taken care of does.
func TestTheMeasuredFactsAreOfDifferentThings(t *testing.T) {
	for room := range 20 {
		var facts []string
		for i := range roomOfEntries {
			facts = append(facts, benchFact(room*roomOfEntries+i))
		}
		for _, p := range conflict.Pairs(facts) {
			t.Errorf("%s: %q and %q", p.Kind, facts[p.A], facts[p.B])
		}
		slices.Sort(facts)
		if n := len(slices.Compact(facts)); n != roomOfEntries {
			t.Errorf("%d different facts", n)
		}
	}
}
