package memstore

import (
	"cmp"
	"slices"
	"sort"
	"time"
	"unicode/utf8"

	"github.com/hermes-mcp/hermes-mcp/memstore/document"
)

// staleAfter is how long an entry may go unconfirmed before it is called stale.
const staleAfter = 90 * 24 * time.Hour

// A Room is an entry that could make room in a full file.
type Room struct {
	Entry   Entry
	Frees   int     // characters that removing it frees, its delimiter included
	Overlap float64 // share of its words that the new contents say too, 0 to 1
	Stale   bool    // not confirmed for 90 days
}

// Stale tells whether nothing has confirmed the entry for 90 days.
func (e Entry) Stale(now time.Time) bool {
	last := e.UpdatedAt
	if e.ConfirmedAt.After(last) {
		last = e.ConfirmedAt
	}
	return !last.IsZero() && now.Sub(last) > staleAfter
}

// NearlyFull tells whether the target is at least 80 % full, when it is time to
// consolidate rather than to wait for a refusal.
func (s State) NearlyFull() bool { return s.Limit > 0 && s.Chars*100 >= s.Limit*80 }

// room lists what could make room for ops: entries that overlap with their
// contents, and stale ones.
func (s *Store) room(st State, ops []Op) []Room {
	var all []Room
	adds := slices.ContainsFunc(ops, func(op Op) bool { return op.Action == Add })
	for _, e := range st.Entries {
		r := Room{Entry: e, Frees: utf8.RuneCountInString(e.Text), Stale: e.Stale(s.now())}
		if len(st.Entries) > 1 || adds { // parted from what is there, or from what comes
			r.Frees += utf8.RuneCountInString(document.Delimiter)
		}
		for _, op := range ops {
			if op.Action != Remove {
				r.Overlap = max(r.Overlap, document.Overlap(e.Text, op.Content))
			}
		}
		if r.Overlap >= 0.4 || r.Stale {
			all = append(all, r)
		}
	}
	sort.SliceStable(all, func(i, j int) bool {
		return cmp.Or(cmp.Compare(all[j].Overlap, all[i].Overlap), all[i].Entry.UpdatedAt.Compare(all[j].Entry.UpdatedAt)) < 0
	})
	return all
}
