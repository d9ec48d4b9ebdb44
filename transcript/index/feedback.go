package index

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript/analysis"
	"github.com/hermes-mcp/hermes-mcp/transcript/rank"
)

const (
	feedbackFrom  = 5    // sessions whose best passage is read
	feedbackTerms = 10   // words taken from them
	feedbackRows  = 6000 // that these may stand in
	feedbackShare = 0.05 // of the query's weight, together
)

// feedback asks again with the words that the best passages of the first answer
// have in common with each other and with the rest of the archive, at a small
// weight: sessions that speak of the same thing in the same words gain on those
// that hold the query's words by chance. It is done when every match could be
// looked at.
func (s *search) feedback(ctx context.Context, order []int) error {
	if s.x.texts == nil || len(s.found.Sessions) < 2 {
		return nil
	}
	told, err := s.told(ctx)
	if err != nil || len(told) == 0 {
		return err
	}
	rows := 0.0
	for _, t := range told {
		if min(rows+t.df, float64(s.dir.corpus.Turns)) > feedbackRows {
			continue
		}
		rows += t.df
		order = append(order, len(s.plan.terms))
		s.plan.terms = append(s.plan.terms, t)
	}
	// Rows of the first answer lack the new terms, so they are asked for again.
	s.rows, s.hits = nil, nil
	clear(s.known)
	e := s.plan.matching(order, "")
	if err := s.titles(ctx, e); err != nil {
		return err
	}
	if err := s.collect(ctx, e, 0); err != nil {
		return err
	}
	model := s.plan.model(s.dir.corpus)
	s.score(model, s.preselect(model))
	return nil
}

// told returns the terms that the best passages of the first answer suggest,
// the weightiest first.
func (s *search) told(ctx context.Context) ([]term, error) {
	var ids []int64
	var best []Match
	var shares []float64
	top := s.found.Sessions[0].Score
	for _, f := range s.found.Sessions[:min(feedbackFrom, len(s.found.Sessions))] {
		if len(f.Matches) > 0 && top > 0 {
			ids, best, shares = append(ids, f.Matches[0].Message), append(best, f.Matches[0]), append(shares, f.Score/top)
		}
	}
	texts, err := s.x.texts(ctx, ids)
	if err != nil {
		return nil, err
	}
	asked := make(map[string]bool)
	for _, t := range s.plan.terms {
		for _, tok := range t.Tokens {
			asked[tok] = true
		}
	}
	weight := make(map[string]float64)
	for i, text := range texts {
		for word := range passageWords(text, best[i].Marks) {
			if !asked[word] {
				weight[word] += shares[i]
			}
		}
	}
	words, err := json.Marshal(slices.Sorted(maps.Keys(weight)))
	if err != nil {
		return nil, err
	}
	known, err := s.vocabulary(ctx, "SELECT term, df FROM term WHERE term IN (SELECT value FROM json_each(?)) AND df > 1", string(words))
	if err != nil {
		return nil, err
	}
	turns := float64(s.dir.corpus.Turns)
	for _, e := range known {
		weight[e.word] *= rank.IDF(turns+analysis.BackgroundTurns, min(e.df, turns)+analysis.Background(e.word))
	}
	sort.Slice(known, func(i, j int) bool {
		a, b := known[i].word, known[j].word
		return cmp.Or(cmp.Compare(weight[b], weight[a]), strings.Compare(a, b)) < 0
	})
	var out []term
	for _, e := range known[:min(feedbackTerms, len(known))] {
		out = append(out, term{Term: analysis.Term{Tokens: []string{e.word}, Text: e.word, At: -1}, phrases: []string{`"` + e.word + `"`}, df: e.df, told: true})
	}
	return out, nil
}

// passageWords returns the words that count of the passage of text with the
// most marks.
func passageWords(text string, marks []int) map[string]bool {
	tokens := analysis.Tokens(text)
	pieces := rank.Passages(len(tokens))
	if pieces == 0 {
		return nil
	}
	in := make([]int, pieces)
	best := 0
	for _, m := range marks {
		if i := m * pieces / len(tokens); i < pieces {
			if in[i]++; in[i] > in[best] {
				best = i
			}
		}
	}
	out := make(map[string]bool)
	for i, t := range tokens {
		if i*pieces/len(tokens) == best && t.Kind == analysis.Word && !analysis.Stop(strings.ToLower(text[t.Start:t.End])) {
			out[t.Text] = true
		}
	}
	return out
}
