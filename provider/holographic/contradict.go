package holographic

import (
	"context"
	"errors"
	"sort"

	"github.com/hermes-mcp/hermes-mcp/provider/holographic/hrr"
	"github.com/hermes-mcp/hermes-mcp/provider/holographic/wording"
)

// compared bounds the facts that are compared pair by pair; the newest count.
const compared = 2000

// A contradiction is two facts that may not both be true. Its JSON names are
// upstream's, and kind.
type contradiction struct {
	A       fact     `json:"fact_a"`
	B       fact     `json:"fact_b"`
	Overlap float64  `json:"entity_overlap"`
	Alike   float64  `json:"content_similarity"`
	Score   float64  `json:"contradiction_score"`
	Shared  []string `json:"shared_entities"`
	Kind    string   `json:"kind"` // see wording.Clash
}

// contradict returns pairs of facts of one subject that say different things
// of it, the surest first, and how many facts were compared.
func (p *Provider) contradict(ctx context.Context, f filter, threshold float64) (out []contradiction, n int, err error) {
	err = p.read(ctx, func(r *reader) error {
		where, args := "WHERE trust_score >= ?", []any{f.minTrust}
		if f.category != "" {
			where, args = where+" AND category = ?", append(args, f.category)
		}
		facts, err := r.facts(ctx, where+" ORDER BY updated_at DESC, fact_id DESC LIMIT ?", append(args, compared)...)
		if err != nil {
			return err
		}
		claims := make([]wording.Claim, len(facts))
		for i, x := range facts {
			names, err := r.entitiesOf(ctx, x.ID)
			if err != nil {
				return err
			}
			claims[i] = wording.NewClaim(x.Content, names)
		}
		n = len(claims)
		for i, a := range claims {
			if err := ctx.Err(); err != nil {
				return err
			}
			for j, b := range claims[i+1:] {
				if c, ok := wording.Compare(a, b); ok && c.Score >= threshold {
					out = append(out, contradiction{
						A: facts[i+1+j], B: facts[i], // the newest is first among facts
						Overlap: c.Overlap, Score: c.Score, Shared: c.Shared, Kind: c.Kind,
					})
				}
			}
		}
		sort.SliceStable(out, func(i, j int) bool { return out[j].Score < out[i].Score })
		out = out[:min(len(out), f.limit)]
		for i, c := range out {
			out[i].Alike = hrr.Similarity(r.space.Text(c.A.Content), r.space.Text(c.B.Content))
		}
		return nil
	})
	return out, n, err
}

func (r *reader) entitiesOf(ctx context.Context, id int64) (names []string, err error) {
	rows, err := r.QueryContext(ctx, "SELECT e.name FROM fact_entities l JOIN entities e ON e.entity_id = l.entity_id WHERE l.fact_id = ?", id)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}
