package reconcile_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/memstore/journal"
	"github.com/hermes-mcp/hermes-mcp/provider"
	"github.com/hermes-mcp/hermes-mcp/provider/reconcile"
)

func entry(text string) memstore.Entry {
	return memstore.Entry{Text: text, Hash: journal.Hash([]byte(text))}
}

func mirrored(id, text, from string) provider.Fact {
	return provider.Fact{ID: id, Text: text, Entry: journal.Hash([]byte(from)), Target: memstore.User}
}

func TestDifferences(t *testing.T) {
	const key = "token ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
	blocked := entry("never leaves")
	blocked.Blocked = "prompt_injection"
	d := reconcile.Diff(map[memstore.Target][]memstore.Entry{
		memstore.User:   {entry("both say it"), entry("only here"), entry("mirrored, changed there"), blocked},
		memstore.Memory: {entry("known there without a hash"), entry(key)},
	}, []provider.Fact{
		mirrored("1", "both say it", "both say it"),
		mirrored("2", "says something else", "mirrored, changed there"),
		mirrored("3", "its entry is gone", "its entry is gone"),
		{ID: "4", Text: "known there without a hash"},
		{ID: "5", Text: "only there", Target: memstore.User},
		{ID: "6", Text: "only there, of no target"},
		mirrored("7", provider.Outgoing(key), key),
	})
	if d.Same != 3 {
		t.Errorf("%d are the same", d.Same)
	}
	if len(d.Here) != 1 || d.Here[0].Entry.Text != "only here" || d.Here[0].Target != memstore.User {
		t.Errorf("here %+v", d.Here)
	}
	if len(d.There) != 2 || len(d.Stale) != 1 || d.Stale[0].ID != "3" {
		t.Errorf("there %+v, stale %+v", d.There, d.Stale)
	}
	if len(d.Conflicts) != 1 || d.Conflicts[0].Fact.ID != "2" || d.Conflicts[0].Entry.Text != "mirrored, changed there" {
		t.Errorf("conflicts %+v", d.Conflicts)
	}
	push := d.Push(provider.Session{ID: "s"}, "p")
	if len(push) != 2 || push[0].Action != memstore.Remove || push[0].Old != "its entry is gone" || push[1].Action != memstore.Add || push[1].New != "only here" || push[0].ID == push[1].ID {
		t.Errorf("push %+v", push)
	}
	pull := d.Pull(memstore.Memory)
	if len(pull[memstore.User]) != 1 || pull[memstore.User][0].Content != "only there" || len(pull[memstore.Memory]) != 1 {
		t.Errorf("pull %+v", pull)
	}
}

// After both a push and a pull nothing is left but conflicts.
func TestPushAndPullTogetherLeaveOnlyConflicts(t *testing.T) {
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		entries := map[memstore.Target][]memstore.Entry{}
		for i := range rnd.IntN(8) {
			target := []memstore.Target{memstore.Memory, memstore.User}[rnd.IntN(2)]
			entries[target] = append(entries[target], entry(fmt.Sprint("fact ", i)))
		}
		var facts []provider.Fact
		for i := range rnd.IntN(8) {
			text := fmt.Sprint("fact ", rnd.IntN(12))
			f := mirrored(fmt.Sprint(i), text, text)
			switch rnd.IntN(3) {
			case 0:
				f.Entry = ""
			case 1:
				f.Entry = journal.Hash(fmt.Append(nil, "gone ", rnd.IntN(12)))
			}
			facts = append(facts, f)
		}
		d := reconcile.Diff(entries, facts)
		for _, w := range d.Push(provider.Session{}, "p") {
			if w.Action == memstore.Add {
				facts = append(facts, provider.Fact{ID: w.ID, Text: w.New, Entry: w.NewHash})
				continue
			}
			for i, f := range facts {
				if f.Text == w.Old && f.Entry == w.OldHash {
					facts = append(facts[:i:i], facts[i+1:]...)
					break
				}
			}
		}
		for target, ops := range d.Pull(memstore.Memory) {
			for _, op := range ops {
				entries[target] = append(entries[target], entry(op.Content))
			}
		}
		if again := reconcile.Diff(entries, facts); len(again.Here)+len(again.There)+len(again.Stale) != 0 || len(again.Conflicts) < len(d.Conflicts) {
			t.Errorf("seed %d: %+v", seed, again)
		}
	}
}
