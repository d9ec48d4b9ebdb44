package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/health"
	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/settings"
	"github.com/hermes-mcp/hermes-mcp/summarizer"
	"github.com/hermes-mcp/hermes-mcp/summarizer/embedding"
	"github.com/hermes-mcp/hermes-mcp/summarizer/endpoint"
	"github.com/hermes-mcp/hermes-mcp/transcript"
	"github.com/hermes-mcp/hermes-mcp/transcript/plain"
	"github.com/hermes-mcp/hermes-mcp/transcript/vector/static"
)

// An embedder is what search by meaning asks, made by the first who needs it:
// reading a model from a folder takes some milliseconds.
type embedder struct {
	mu      sync.Mutex
	made    bool
	it      transcript.Embedder
	closer  io.Closer
	problem string // why there is none although one is named
}

func (e *embedder) close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closer == nil {
		return nil
	}
	c := e.closer
	e.closer, e.it = nil, nil
	return c.Close()
}

// embedding is what search by meaning asks, nil when nothing is named or when
// what is named cannot be asked, which status tells.
func (a *app) embedding() transcript.Embedder {
	e := &a.embedder
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.made {
		return e.it
	}
	e.made = true
	defer func() {
		if e.problem != "" {
			a.log.Warn().Str("problem", e.problem).Msg("search by meaning is not possible")
		}
	}()
	set := a.config.Embeddings
	if e.problem = set.Lacks(); e.problem != "" {
		return nil
	}
	switch set.Provider {
	case settings.OpenAI:
		c := &embedding.Client{
			Model: set.Model, BaseURL: set.BaseURL, Dimensions: set.Dimensions, QueryTimeout: set.Timeout, Batch: set.Batch,
			QueryPrefix: set.QueryPrefix, DocumentPrefix: set.DocumentPrefix, Account: a.embeddingAccount(),
		}
		if set.APIKeyEnv != "" {
			if c.APIKey = a.env(set.APIKeyEnv); c.APIKey == "" {
				e.problem = set.APIKeyEnv + " is not set"
				return nil
			}
		}
		e.it = c
	case settings.Model2Vec:
		m, err := static.Open(set.Path, set.Dimensions)
		if err != nil {
			e.problem = err.Error()
			return nil
		}
		e.it, e.closer = m, m
	}
	return e.it
}

// embeddingAccount is kept apart from that of the auxiliary models: an archive
// that is embedded must not use up their budget.
func (a *app) embeddingAccount() *summarizer.Account {
	return &summarizer.Account{Path: a.home.MCP("embeddings.json"), DailyTokens: int64(a.config.Embeddings.DailyTokens)}
}

// embeddingEndpoint names who is sent what was said, "" when nobody is.
func (a *app) embeddingEndpoint() string {
	if set := a.config.Embeddings; set.Provider == settings.OpenAI && set.Lacks() == "" {
		return endpoint.Shown(set.BaseURL)
	}
	return ""
}

// embeddings says what search by meaning is set to, nil when it is off.
func (a *app) embeddings() (*health.Embeddings, error) {
	set := a.config.Embeddings
	if set.Provider == settings.EmbeddingsOff {
		return nil, nil
	}
	a.embedding()
	a.embedder.mu.Lock()
	out := &health.Embeddings{Provider: set.Provider, Endpoint: a.embeddingEndpoint(), Problem: a.embedder.problem}
	a.embedder.mu.Unlock()
	if set.Provider == settings.Model2Vec {
		out.Path = set.Path
		return out, nil
	}
	out.Model = set.Model
	today, err := a.embeddingAccount().Statement()
	out.Spending, out.Health = today.Tasks[embedding.TaskName], today.Endpoints[out.Endpoint]
	return out, err
}

// embed gives what was archived its vectors, where search by meaning is set up.
// An endpoint that does not answer fails nothing: the words are archived, and a
// server or the next ingest goes on.
func (a *app) embed(ctx context.Context) error {
	if a.embedding() == nil {
		if problem := a.embedder.problem; problem != "" {
			fmt.Fprintf(a.err, "search by meaning is not possible: %s\n", problem)
		}
		return nil
	}
	db, err := a.archive.open(ctx)
	if err != nil {
		return err
	}
	c, err := db.VectorCoverage(ctx)
	if err != nil || c.Pending == 0 {
		return err
	}
	if to := a.embeddingEndpoint(); to != "" {
		fmt.Fprintf(a.err, "embedding %s, which %s is sent; interrupt and go on whenever you like\n", plain.Count(c.Pending, "session"), to)
	}
	last := time.Now()
	err = db.Embed(ctx, func(sessions int) {
		if time.Since(last) >= lineEvery {
			last = time.Now()
			fmt.Fprintf(a.err, "embedded %d of %d sessions\n", sessions, c.Pending)
		}
	})
	if err != nil && ctx.Err() == nil {
		fmt.Fprintf(a.err, "search by meaning has to wait: %s\n", err)
		return nil
	}
	if errors.Is(err, context.Canceled) {
		return nil // said by the caller
	}
	return err
}
