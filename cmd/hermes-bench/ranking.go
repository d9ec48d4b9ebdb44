package main

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/hermes-mcp/hermes-mcp/summarizer/embedding"
	"github.com/hermes-mcp/hermes-mcp/transcript"
	"github.com/hermes-mcp/hermes-mcp/transcript/vector/static"
)

// A ranking is how an archive is searched.
type ranking struct {
	name   string
	embed  transcript.Embedder // nil for words alone
	weight float64
}

// rankings are words, and with an embedder meaning alone and both together.
// done closes what was opened.
func (r recallRun) rankings() (all []ranking, done func() error, err error) {
	all, done = []ranking{{name: "words"}}, func() error { return nil }
	var e transcript.Embedder
	switch {
	case r.embed == "":
		return all, done, nil
	case strings.HasPrefix(r.embed, "http://"), strings.HasPrefix(r.embed, "https://"):
		e = &embedding.Client{Model: r.model, BaseURL: r.embed, QueryTimeout: 30 * time.Second}
	default:
		m, err := static.Open(r.embed, 0)
		if err != nil {
			return nil, nil, err
		}
		e, done = m, m.Close
	}
	return append(all, ranking{"meaning", e, math.Inf(1)}, ranking{"fused", e, r.weight}), done, nil
}

// rankBy searches the bed's archive so from now on. What is to be embedded is.
func (b *bed) rankBy(ctx context.Context, k ranking) error {
	b.db.Embedder, b.db.MeaningWeight = k.embed, k.weight
	if err := b.db.Embed(ctx, nil); err != nil {
		return fmt.Errorf("embed the archive: %w", err)
	}
	return nil
}
