// Package holographic is a provider that lives on this machine: facts in an
// SQLite file, found by their words and by their holographic vectors (package
// hrr), each with a trust that feedback raises and lowers.
//
// # The file
//
// It is Hermes Agent's memory_store.db: the same tables, triggers and vectors,
// so that both programs may use one file. Vectors are read in both of Hermes'
// forms and written in the one that the newest fact has. A store with another
// dimension than 1,024 keeps it.
//
// Reading never changes a store: it is opened read-only, nothing is counted,
// and no file is made. The first write makes what is missing.
//
// # Where the ranking is not upstream's
//
//   - search compares facts with the question bound to the role that a fact's
//     text has; unbound, as upstream has it, the term is the same for all.
//   - probe and reason return facts that are linked to the entities or say
//     them, scored by the presence of the key in the fact's vector. Upstream
//     unbinds the key and compares with the rest, which is noise.
//   - related is upstream's formula, for the facts about the entity and those
//     one entity away; upstream ranks all other facts as well.
//   - contradict compares what two facts of one subject say, not their whole
//     vectors, which the subject makes alike.
//   - min_trust holds everywhere.
//   - Scripts without blanks between words are found by pairs of characters.
//   - A category's bank is dropped when a fact changes, not rebuilt: nothing
//     reads it here, and Hermes makes it anew.
//
// # What it does not do
//
// A turn teaches it nothing: it takes edits of the built-in memory, and what is
// given to its tools. It makes no facts out of conversations by itself.
package holographic

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/provider"
)

// A Provider is one store. Safe for concurrent use by goroutines and
// processes. Set the fields before first use.
type Provider struct {
	DefaultTrust float64          // of a new fact; 0.5 when 0
	MinTrust     float64          // below it nothing is recalled; 0.3 when 0
	Limit        int              // memories of a recall; 5 when 0
	HalfLife     time.Duration    // after which a fact counts half in a search; 0: never
	Now          func() time.Time // for HalfLife; time.Now when nil

	store store

	mu    sync.Mutex // of the caches
	grams *grams
	shape *shape
}

// New returns the store at path. Nothing is opened or made.
func New(path string) *Provider {
	return &Provider{store: store{path: path}}
}

func or[T int | float64](set, otherwise T) T {
	if set > 0 {
		return set
	}
	return otherwise
}

// Name is holographic.
func (p *Provider) Name() string { return "holographic" }

// Start tells whether the file, if there is one, is a store.
func (p *Provider) Start(ctx context.Context, _ provider.Session) error {
	return p.read(ctx, func(*reader) error { return nil })
}

// SystemBlock says what this memory is.
func (p *Provider) SystemBlock(context.Context) (string, error) {
	return "An external memory of facts (holographic) stands beside the built-in one. memory_recall asks it.", nil
}

// Recall searches.
func (p *Provider) Recall(ctx context.Context, _ provider.Session, query string) ([]provider.Memory, error) {
	found, err := p.search(ctx, query, filter{minTrust: or(p.MinTrust, 0.3), limit: or(p.Limit, 5)})
	if err != nil {
		return nil, err
	}
	var out []provider.Memory
	for _, f := range found {
		out = append(out, provider.Memory{Text: f.Content, At: f.at(), Label: fmt.Sprintf("%s, trust %.2g", f.Category, f.Trust)})
	}
	return out, nil
}

// SyncTurn does nothing: a turn teaches it nothing.
func (p *Provider) SyncTurn(context.Context, provider.Turn) error { return nil }

// Repeatable: everything, since an edit is known by its text and its hash.
func (p *Provider) Repeatable(provider.Kind) bool { return true }

// Close closes the file.
func (p *Provider) Close() error { return p.store.close() }

// mark is the tag that ties a fact to the entry it was mirrored from.
const mark = "entry:"

// category is where edits of a target go.
func category(t memstore.Target) string {
	switch t {
	case memstore.User:
		return "user_pref"
	case memstore.Project:
		return "project"
	default:
		return "general"
	}
}

// MirrorWrite takes an edit over. A fact that was there without the built-in
// memory is left as it is.
func (p *Provider) MirrorWrite(ctx context.Context, w provider.Write) error {
	return p.write(ctx, func(tx *writer) error {
		old, err := tx.marked(ctx, w.OldHash)
		if err != nil {
			return err
		}
		same, err := tx.find(ctx, w.New)
		switch {
		case err != nil:
			return err
		case w.New == "" && old == 0:
			return nil
		case w.New == "":
			return tx.remove(ctx, old)
		case old != 0 && (same == 0 || same == old):
			tags := mark + w.NewHash
			return tx.update(ctx, old, change{content: &w.New, tags: &tags})
		case old != 0:
			return tx.remove(ctx, old)
		case same != 0:
			return nil
		}
		_, _, err = tx.add(ctx, w.New, category(w.Target), mark+w.NewHash)
		return err
	})
}

// List is every fact, by its number.
func (p *Provider) List(ctx context.Context) ([]provider.Fact, error) {
	all, err := p.list(ctx, filter{limit: -1})
	if err != nil {
		return nil, err
	}
	out := []provider.Fact{}
	for _, f := range all {
		fact := provider.Fact{ID: fmt.Sprint(f.ID), Text: f.Content, At: f.at()}
		if hash, ok := strings.CutPrefix(f.Tags, mark); ok {
			fact.Entry, _, _ = strings.Cut(hash, ",")
		}
		switch f.Category {
		case "user_pref":
			fact.Target = memstore.User
		case "general":
			fact.Target = memstore.Memory
		case "project":
			if fact.Entry != "" { // others are of whatever project
				fact.Target = memstore.Project
			}
		}
		out = append(out, fact)
	}
	return out, nil
}
