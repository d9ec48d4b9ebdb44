package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

// recallReport says how often session_search finds the sessions that answer a
// question. recall@k is the share of a question's gold sessions among the
// first k, averaged over questions; hit@k that there is at least one; mrr the
// mean reciprocal rank of the first.
type recallReport struct {
	Data      string                    `json:"data"`
	Form      string                    `json:"form"`
	OneDB     bool                      `json:"one_db"`
	Questions int                       `json:"questions"`
	Empty     int                       `json:"empty"`
	Recall1   float64                   `json:"recall@1"`
	Recall3   float64                   `json:"recall@3"`
	Recall5   float64                   `json:"recall@5"`
	Recall10  float64                   `json:"recall@10"`
	Hit1      float64                   `json:"hit@1"`
	Hit5      float64                   `json:"hit@5"`
	MRR       float64                   `json:"mrr"`
	P50       float64                   `json:"p50_ms"`
	P95       float64                   `json:"p95_ms"`
	Category  map[string]categoryReport `json:"by_category"`
	// Others are the same questions in other rankings, under their names.
	Others []recallReport `json:"others,omitempty"`
}

type categoryReport struct {
	Questions int     `json:"questions"`
	Recall5   float64 `json:"recall@5"`
	Hit1      float64 `json:"hit@1"`
	MRR       float64 `json:"mrr"`
}

// An outcome is how one question went.
type outcome struct {
	category        string
	r1, r3, r5, r10 float64
	hit1, hit5, rr  float64
	empty           bool
	took            time.Duration
}

func recallCommand(show func(report) error) *cobra.Command {
	var data string
	var how recallRun
	c := &cobra.Command{
		Use:   "recall",
		Short: "How often session_search finds the right sessions",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if !slices.Contains([]string{"question", "content", "rare2"}, how.form) {
				return fmt.Errorf("--form is question, content or rare2, not %q", how.form)
			}
			if how.limit < 1 || how.limit > 10 {
				return fmt.Errorf("--limit is from 1 to 10, not %d", how.limit)
			}
			hs, err := readHistories(data)
			if err != nil {
				return err
			}
			r, err := how.run(c.Context(), hs)
			if err != nil {
				return err
			}
			r.Data = filepath.Base(data)
			return show(r)
		},
	}
	c.Flags().StringVar(&data, "data", "", "file of histories: [{id, sessions, qa}]")
	c.Flags().StringVar(&how.form, "form", "question", "question as typed, content words, or the rare2 words")
	c.Flags().BoolVar(&how.oneDB, "one-db", false, "put all histories into one archive")
	c.Flags().IntVar(&how.limit, "limit", 10, "sessions asked for, 1 to 10")
	c.Flags().StringVar(&how.embed, "embed", "", "also search by meaning: a model2vec folder, or the address of an endpoint")
	c.Flags().StringVar(&how.model, "embed-model", "", "the endpoint's model")
	c.Flags().Float64Var(&how.weight, "embed-weight", 0, "what meaning counts for; the default when 0")
	_ = c.MarkFlagRequired("data") // the flag exists: it was defined above
	return c
}

// A recallRun is how the questions are asked.
type recallRun struct {
	form         string
	oneDB        bool
	limit        int
	embed, model string
	weight       float64
}

// run asks every question of every history, in each of the rankings.
func (r recallRun) run(ctx context.Context, hs []history) (_ recallReport, err error) {
	rankings, done, err := r.rankings()
	if err != nil {
		return recallReport{}, err
	}
	defer func() { err = errors.Join(err, done()) }()
	groups := [][]history{hs}
	if !r.oneDB {
		groups = nil
		for _, h := range hs {
			groups = append(groups, []history{h})
		}
	}
	outcomes := make([][]outcome, len(rankings))
	for _, group := range groups {
		b, err := newBed(ctx, "")
		if err != nil {
			return recallReport{}, err
		}
		got, err := b.askAll(ctx, group, r, rankings)
		if err = closing(b, err); err != nil {
			return recallReport{}, err
		}
		for i := range got {
			outcomes[i] = append(outcomes[i], got[i]...)
		}
	}
	out := summarize(outcomes[0])
	out.Form, out.OneDB = r.form, r.oneDB
	for i, k := range rankings[1:] {
		other := summarize(outcomes[i+1])
		other.Data, other.Form, other.OneDB = k.name, r.form, r.oneDB
		out.Others = append(out.Others, other)
	}
	return out, nil
}

// askAll asks the questions in each of the rankings.
func (b *bed) askAll(ctx context.Context, hs []history, how recallRun, rankings []ranking) ([][]outcome, error) {
	for _, h := range hs {
		for _, s := range h.Sessions {
			session, msgs := h.session(s)
			if err := b.db.Put(ctx, session, msgs); err != nil {
				return nil, fmt.Errorf("put %s: %w", session.ID, err)
			}
		}
	}
	outcomes := make([][]outcome, len(rankings))
	for i, k := range rankings {
		if err := b.rankBy(ctx, k); err != nil {
			return nil, err
		}
		for _, h := range hs {
			rarity := h.frequencies()
			for _, q := range h.QA {
				o, err := b.ask(ctx, h, q, reform(q.Question, how.form, rarity), how.limit)
				if err != nil {
					return nil, err
				}
				outcomes[i] = append(outcomes[i], o)
			}
		}
	}
	return outcomes, nil
}

func (b *bed) ask(ctx context.Context, h history, q question, query string, limit int) (outcome, error) {
	start := time.Now()
	found, err := b.search(ctx, query, limit)
	if err != nil {
		return outcome{}, fmt.Errorf("search %q: %w", query, err)
	}
	o := outcome{category: q.Category, took: time.Since(start), empty: len(found) == 0}
	share := func(k int) float64 {
		n := 0
		for _, g := range q.Gold {
			if slices.Contains(found[:min(k, len(found))], h.sessionID(g)) {
				n++
			}
		}
		return float64(n) / float64(max(1, len(q.Gold)))
	}
	o.r1, o.r3, o.r5, o.r10 = share(1), share(3), share(5), share(10)
	for i, id := range found {
		if slices.ContainsFunc(q.Gold, func(g string) bool { return h.sessionID(g) == id }) {
			o.rr = 1 / float64(i+1)
			break
		}
	}
	if o.r1 > 0 {
		o.hit1 = 1
	}
	if o.r5 > 0 {
		o.hit5 = 1
	}
	return o, nil
}

func summarize(os []outcome) recallReport {
	mean := func(os []outcome, f func(outcome) float64) float64 {
		sum := 0.0
		for _, o := range os {
			sum += f(o)
		}
		return ratio(sum, float64(len(os)))
	}
	r := recallReport{Questions: len(os), Category: map[string]categoryReport{}}
	by := map[string][]outcome{}
	var took []time.Duration
	for _, o := range os {
		by[o.category] = append(by[o.category], o)
		took = append(took, o.took)
		if o.empty {
			r.Empty++
		}
	}
	recall5 := func(o outcome) float64 { return o.r5 }
	hit1 := func(o outcome) float64 { return o.hit1 }
	mrr := func(o outcome) float64 { return o.rr }
	r.Recall1 = mean(os, func(o outcome) float64 { return o.r1 })
	r.Recall3 = mean(os, func(o outcome) float64 { return o.r3 })
	r.Recall5 = mean(os, recall5)
	r.Recall10 = mean(os, func(o outcome) float64 { return o.r10 })
	r.Hit1, r.Hit5, r.MRR = mean(os, hit1), mean(os, func(o outcome) float64 { return o.hit5 }), mean(os, mrr)
	r.P50, r.P95 = ms(percentile(took, 50)), ms(percentile(took, 95))
	for name, c := range by {
		r.Category[name] = categoryReport{len(c), mean(c, recall5), mean(c, hit1), mean(c, mrr)}
	}
	return r
}

func (r recallReport) table(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "%s\tquestions\tempty\trecall@1\t@3\t@5\t@10\thit@1\thit@5\tmrr\tp50 ms\tp95 ms\t\n", r.Data)
	for i, one := range append([]recallReport{r}, r.Others...) {
		name := one.Form
		if i > 0 {
			name = one.Data
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.2f\t%.2f\t\n", name,
			one.Questions, one.Empty, one.Recall1, one.Recall3, one.Recall5, one.Recall10, one.Hit1, one.Hit5, one.MRR, one.P50, one.P95)
	}
	names := make([]string, 0, len(r.Category))
	for name := range r.Category {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		c := r.Category[name]
		fmt.Fprintf(t, "%s\t%d\t\t\t\t%.3f\t\t%.3f\t\t%.3f\t\t\t\n", name, c.Questions, c.Recall5, c.Hit1, c.MRR)
	}
	return t.Flush()
}

func readHistories(path string) ([]history, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var hs []history
	if err := json.Unmarshal(raw, &hs); err != nil {
		return nil, fmt.Errorf("%s is not a list of histories: %w", path, err)
	}
	return hs, nil
}
