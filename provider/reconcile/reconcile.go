// Package reconcile compares the built-in memory with what a provider holds,
// and says what would make them agree. It changes nothing: the caller shows
// what it would do, and does it when a person says so.
package reconcile

import (
	"cmp"
	"maps"
	"slices"
	"sort"

	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/provider"
)

// A Difference is what the built-in memory and a provider do not both say.
type Difference struct {
	Same      int             // entries that the provider holds as they are
	Here      []Held          // entries that the provider does not hold
	There     []provider.Fact // facts that are not in the built-in memory and never were mirrored
	Stale     []provider.Fact // facts mirrored from entries that are gone
	Conflicts []Conflict      // facts mirrored from an entry that say something else now
}

// A Held is an entry with its target.
type Held struct {
	Target memstore.Target
	Entry  memstore.Entry
}

// A Conflict is one entry that both sides hold, differently.
type Conflict struct {
	Held
	Fact provider.Fact
}

// Diff compares entries with what the provider's Lister says. A fact belongs
// to an entry by the entry's hash; a fact without one, by its text. Blocked
// entries are never sent, so they are left out. Nothing is decided: a conflict
// is only shown.
func Diff(entries map[memstore.Target][]memstore.Entry, facts []provider.Fact) Difference {
	var d Difference
	byHash, byText := map[string]Held{}, map[string]Held{}
	var all []Held
	for _, t := range slices.Sorted(maps.Keys(entries)) {
		for _, e := range entries[t] {
			h := Held{t, e}
			if e.Blocked == "" {
				all = append(all, h)
			}
			byHash[e.Hash], byText[provider.Outgoing(e.Text)] = h, h
		}
	}
	found := map[string]bool{} // hashes of entries that the provider holds in some form
	for _, f := range facts {
		h, ok := byHash[f.Entry]
		same, equal := byText[f.Text]
		switch {
		case ok && equal && same.Entry.Hash == f.Entry:
			d.Same++
		case ok:
			d.Conflicts = append(d.Conflicts, Conflict{h, f})
		case equal: // its own, or mirrored from an entry with the same words
			if h = same; !found[h.Entry.Hash] {
				d.Same++
			}
		case f.Entry != "":
			d.Stale = append(d.Stale, f)
			continue
		default:
			d.There = append(d.There, f)
			continue
		}
		found[h.Entry.Hash] = true
	}
	for _, h := range all {
		if !found[h.Entry.Hash] {
			d.Here = append(d.Here, h)
		}
	}
	for _, all := range [][]provider.Fact{d.There, d.Stale} {
		sort.Slice(all, func(i, j int) bool {
			return cmp.Or(cmp.Compare(all[i].Text, all[j].Text), cmp.Compare(all[i].ID, all[j].ID)) < 0
		})
	}
	return d
}

// Push is what makes the provider say what the built-in memory says: adds of
// what it lacks, removes of what is stale. Conflicts are left. id makes the
// writes' ids: one for each push, so that the same push is delivered once.
func (d Difference) Push(s provider.Session, id string) []provider.Write {
	var out []provider.Write
	for _, f := range d.Stale {
		out = append(out, provider.Write{
			ID: id + ".remove." + f.ID, Session: s, Target: f.Target,
			Action: memstore.Remove, Old: f.Text, OldHash: f.Entry,
		})
	}
	for _, h := range d.Here {
		out = append(out, provider.Write{
			ID: id + ".add." + h.Entry.Hash, Session: s, Target: h.Target,
			Action: memstore.Add, New: h.Entry.Text, NewHash: h.Entry.Hash, At: h.Entry.UpdatedAt,
		})
	}
	return out
}

// Pull is what makes the built-in memory say what the provider says: adds of
// what it lacks. They are ordinary edits, for memstore.Store.Apply, so that the
// scanner and the budget hold. Facts that name no target go to otherwise.
func (d Difference) Pull(otherwise memstore.Target) map[memstore.Target][]memstore.Op {
	out := map[memstore.Target][]memstore.Op{}
	for _, f := range d.There {
		t := cmp.Or(f.Target, otherwise)
		out[t] = append(out[t], memstore.Op{Action: memstore.Add, Content: f.Text})
	}
	return out
}
