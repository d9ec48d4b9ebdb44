package holographic

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/provider/holographic/entity"
	"github.com/hermes-mcp/hermes-mcp/provider/holographic/hrr"
	"github.com/hermes-mcp/hermes-mcp/provider/holographic/wording"
)

// most bounds the facts of one entity that are compared; the newest count.
const most = 2000

// A presence is how much an entity is in a fact, from its vector: about 1/√n
// of n parts. A fact without a vector that is linked or says the name counts
// as one of four parts.
type presence map[int64]float64

const unseen = 0.5

// strength is upstream's score of a presence, from 0 to the fact's trust.
func strength(presence, trust float64) float64 { return (presence + 1) / 2 * trust }

// probe returns the facts about an entity.
func (p *Provider) probe(ctx context.Context, name string, f filter) (out []fact, err error) {
	return p.reason(ctx, []string{name}, f)
}

// reason returns the facts about all of the entities.
func (p *Provider) reason(ctx context.Context, names []string, f filter) (out []fact, err error) {
	err = p.read(ctx, func(r *reader) error {
		var least presence
		facts := map[int64]fact{}
		for i, name := range names {
			about, err := p.about(ctx, r, name, facts)
			if err != nil {
				return err
			}
			if i == 0 {
				least = about
				continue
			}
			for id, had := range least {
				if is, ok := about[id]; ok {
					least[id] = min(had, is)
				} else {
					delete(least, id)
				}
			}
		}
		for id, much := range least {
			x := facts[id]
			x.Score = strength(much, x.Trust)
			out = append(out, x)
		}
		out = best(out, f)
		return nil
	})
	return out, err
}

// related returns the facts about an entity and those that are one entity
// away: linked to another entity of those facts.
func (p *Provider) related(ctx context.Context, name string, f filter) (out []fact, err error) {
	err = p.read(ctx, func(r *reader) error {
		facts := map[int64]fact{}
		about, err := p.about(ctx, r, name, facts)
		if err != nil {
			return err
		}
		ids := make([]int64, 0, len(about))
		for id := range about {
			ids = append(ids, id)
		}
		next, err := r.neighbours(ctx, ids)
		if err != nil {
			return err
		}
		more, err := r.some(ctx, next)
		if err != nil {
			return err
		}
		for _, x := range more {
			facts[x.ID] = x
		}
		keys := []hrr.Vector{r.space.Entity(name), r.space.Word(name)}
		for _, x := range facts {
			much := 0.0
			if x.vector != nil {
				much = max(hrr.Similarity(x.vector, keys[0]), hrr.Similarity(x.vector, keys[1]))
			} else {
				much = about[x.ID]
			}
			x.Score = strength(much, x.Trust)
			out = append(out, x)
		}
		out = best(out, f)
		return nil
	})
	return out, err
}

// about returns the facts that are linked to the entity or say its name, and
// puts them into facts.
func (p *Provider) about(ctx context.Context, r *reader, name string, facts map[int64]fact) (presence, error) {
	name = strings.TrimSpace(name)
	linked, spellings, err := r.linked(ctx, name)
	if err != nil {
		return nil, err
	}
	said, err := p.saying(ctx, r, name)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(linked, said)
	slices.Sort(all)
	all = slices.Compact(all)
	got, err := r.some(ctx, all[max(0, len(all)-most):])
	if err != nil {
		return nil, err
	}
	keys := []hrr.Vector{r.space.Content(name)}
	for _, s := range spellings {
		keys = append(keys, r.space.Entity(s))
	}
	out := presence{}
	for _, x := range got {
		isLinked := slices.Contains(linked, x.ID)
		if !isLinked && !wording.Says(x.Content, name) {
			continue
		}
		much := unseen
		if x.vector != nil {
			much = 0
			for _, key := range keys {
				much = max(much, hrr.Similarity(x.vector, key))
			}
		}
		facts[x.ID], out[x.ID] = x, much
	}
	return out, nil
}

// linked returns the facts that are linked to the entity, under any spelling
// or alias of its name, and those spellings.
func (r *reader) linked(ctx context.Context, name string) (ids []int64, spellings []string, err error) {
	rows, err := r.QueryContext(ctx, `SELECT entity_id, name FROM entities
		WHERE lower(replace(replace(name, '-', ' '), '_', ' ')) = ?1
		OR instr(',' || lower(replace(replace(replace(aliases, ', ', ','), '-', ' '), '_', ' ')) || ',', ',' || ?1 || ',') > 0`, entity.Key(name))
	if err != nil {
		return nil, nil, err
	}
	var entities []int64
	for rows.Next() {
		var id int64
		var spelling string
		if err := rows.Scan(&id, &spelling); err != nil {
			return nil, nil, errors.Join(err, rows.Close())
		}
		entities, spellings = append(entities, id), append(spellings, spelling)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, nil, err
	}
	for _, id := range entities {
		more, err := r.numbers(ctx, "SELECT fact_id FROM fact_entities WHERE entity_id = ? ORDER BY fact_id DESC LIMIT ?", id, most)
		if err != nil {
			return nil, nil, err
		}
		ids = append(ids, more...)
	}
	return ids, spellings, nil
}

// neighbours returns the facts that share an entity with some of these, the
// newest of the entities' first, at most a few hundred.
func (r *reader) neighbours(ctx context.Context, ids []int64) ([]int64, error) {
	seen := map[int64]bool{}
	var out []int64
	for _, id := range ids[:min(len(ids), 100)] {
		more, err := r.numbers(ctx, `SELECT b.fact_id FROM fact_entities a JOIN fact_entities b ON b.entity_id = a.entity_id
			WHERE a.fact_id = ? ORDER BY b.fact_id DESC LIMIT 20`, id)
		if err != nil {
			return nil, err
		}
		for _, n := range more {
			if !seen[n] && len(out) < 500 {
				seen[n] = true
				out = append(out, n)
			}
		}
	}
	return out, nil
}

// saying returns the facts that may say the name.
func (p *Provider) saying(ctx context.Context, r *reader, name string) ([]int64, error) {
	var ids []int64
	if len(wording.Parts(name)) > 0 {
		found, err := r.numbers(ctx, "SELECT rowid FROM facts_fts WHERE facts_fts MATCH ? ORDER BY rowid DESC LIMIT ?", "content : "+quote(name), most)
		if err != nil {
			return nil, err
		}
		ids = found
	}
	asked := wording.Pairs(name)
	if len(asked) == 0 {
		return ids, nil
	}
	g, err := p.pairsOf(ctx, r, asked)
	if err != nil {
		return nil, err
	}
	for id, share := range g.Match(asked, most) {
		if share > 0.999 {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// numbers reads one column of numbers.
func (r *reader) numbers(ctx context.Context, query string, args ...any) (out []int64, err error) {
	rows, err := r.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, rows.Err()
}
