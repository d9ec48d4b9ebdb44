package holographic

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/provider/holographic/hrr"
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
	Kind    string   `json:"kind"` // negation: one denies the other; value: the same is said to be different things
}

// A claim is a fact taken apart.
type claim struct {
	fact
	entities map[string]bool
	bag      map[string]bool // what it says, without negations and small words
	subject  string          // what it begins with
	denies   bool
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
		claims := make([]claim, len(facts))
		for i, x := range facts {
			names, err := r.entitiesOf(ctx, x.ID)
			if err != nil {
				return err
			}
			claims[i] = take(x, names)
		}
		n = len(claims)
		for i, a := range claims {
			if err := ctx.Err(); err != nil {
				return err
			}
			for _, b := range claims[i+1:] {
				if c, ok := clash(a, b); ok && c.Score >= threshold {
					c.Alike = hrr.Similarity(r.space.Text(c.A.Content), r.space.Text(c.B.Content))
					out = append(out, c)
				}
			}
		}
		return nil
	})
	slices.SortStableFunc(out, func(a, b contradiction) int { return cmp.Compare(b.Score, a.Score) })
	return out[:min(len(out), f.limit)], n, err
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
		names = append(names, strings.ToLower(name))
	}
	return names, rows.Err()
}

// denials turn what is said into its opposite. A word with another one after
// the colon means that one, denied.
var denials = func() map[string]string {
	set := map[string]string{}
	for _, w := range strings.Fields(`not no never without cannot can't don't doesn't didn't isn't aren't wasn't won't
		shouldn't neither nor none dislikes:likes dislike:like hates:likes hate:like disabled:enabled disables:enables
		disable:enable off:on false:true forbidden:allowed forbids:allows avoids:uses avoid:use stopped:started
		rejects:accepts lacks:has unsupported:supported refuses:accepts`) {
		word, means, _ := strings.Cut(w, ":")
		set[word] = means
	}
	return set
}()

// denialsUnspaced do the same where words are not apart.
var denialsUnspaced = strings.NewReplacer("不", "", "没有", "有", "没", "", "别", "", "无", "", "讨厌", "喜欢", "禁用", "启用", "关闭", "开启", "ない", "")

// filler says nothing that another fact could contradict.
var filler = map[string]bool{"now": true, "currently": true, "always": true, "still": true, "usually": true, "today": true, "actually": true}

// take takes a fact apart.
func take(x fact, names []string) claim {
	c := claim{fact: x, entities: map[string]bool{}, bag: map[string]bool{}}
	for _, n := range names {
		c.entities[n] = true
	}
	text := x.Content
	if hasUnspaced(text) {
		plain := denialsUnspaced.Replace(text)
		c.denies, text = plain != text, plain
	}
	for _, w := range words(strings.ReplaceAll(text, "’", "'")) {
		if means, denied := denials[w]; denied {
			c.denies = !c.denies
			w = means
		}
		w = strings.TrimSuffix(w, "'s")
		if w == "" || stopWords[w] || filler[w] {
			continue
		}
		if c.subject == "" {
			c.subject = stem(w)
		}
		if !hasUnspaced(w) {
			c.bag[stem(w)] = true
			continue
		}
		for _, part := range pairs(w) {
			c.bag[part] = true
		}
		if letters := []rune(c.subject); hasUnspaced(c.subject) && len(letters) > 2 {
			c.subject = string(letters[:2])
		}
	}
	return c
}

// stem takes a plural's or a verb's s off, so that like and likes are one.
func stem(w string) string {
	if len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
		return w[:len(w)-1]
	}
	return w
}

// clash tells whether two claims are of one subject and cannot both be true,
// as far as words tell: one denies what the other says, or they say the same
// but for a word or two on either side.
func clash(a, b claim) (contradiction, bool) {
	common := 0
	for w := range a.bag {
		if b.bag[w] {
			common++
		}
	}
	if common == 0 {
		return contradiction{}, false
	}
	c := contradiction{A: a.fact, B: b.fact, Shared: []string{}, Overlap: jaccard(a.entities, b.entities)}
	for name := range a.entities {
		if b.entities[name] {
			c.Shared = append(c.Shared, name)
		}
	}
	slices.Sort(c.Shared)
	if len(c.Shared) == 0 && a.subject != b.subject {
		return contradiction{}, false
	}
	alike := float64(common) / float64(len(a.bag)+len(b.bag)-common)
	onlyA, onlyB := len(a.bag)-common, len(b.bag)-common
	switch {
	case a.denies != b.denies && alike >= 0.4:
		c.Kind, c.Score = "negation", 0.5+alike/2
	case a.denies == b.denies && onlyA > 0 && onlyB > 0 && common >= 2 && alike >= 0.33:
		c.Kind, c.Score = "value", alike
	default:
		return contradiction{}, false
	}
	if len(c.Shared) > 0 {
		c.Score = min(1, c.Score+0.1)
	}
	if a.ID > b.ID {
		c.A, c.B = c.B, c.A
	}
	return c, true
}
