package health

import (
	"cmp"
	"context"
	"fmt"

	"github.com/hermes-mcp/hermes-mcp/summarizer"
	"github.com/hermes-mcp/hermes-mcp/transcript/plain"
)

// Embeddings are what status says of search by meaning.
type Embeddings struct {
	Provider string `json:"provider"`
	Model    string `json:"model,omitempty"`
	Endpoint string `json:"endpoint,omitempty"` // what sees transcripts; none for a folder
	Path     string `json:"path,omitempty"`
	Sessions int    `json:"sessions"`
	Embedded int    `json:"embedded"` // of these, with vectors
	Pending  int    `json:"pending"`  // without, or changed since
	Chunks   int    `json:"chunks"`
	Old      int    `json:"old_chunks,omitempty"` // of a model named before, kept until all is embedded and not searched
	summarizer.Spending
	Health  summarizer.Health `json:"health,omitzero"`
	Problem string            `json:"problem,omitempty"`
}

// String is all that on one line.
func (e Embeddings) String() string {
	line := cmp.Or(e.Model, e.Path, "no model")
	if e.Endpoint != "" {
		line += " at " + e.Endpoint + ", which sees what was said in sessions"
	}
	if e.Problem == "" {
		line += fmt.Sprintf("; %d of %s embedded, %s", e.Embedded, plain.Count(e.Sessions, "session"), plain.Count(e.Chunks, "chunk"))
	}
	if e.Pending > 0 {
		line += fmt.Sprintf(", %s to do", plain.Count(e.Pending, "session"))
	}
	if e.Old > 0 {
		line += fmt.Sprintf(", %d chunks of an older model kept until then, not searched", e.Old)
	}
	if e.Calls > 0 {
		line += fmt.Sprintf("; today %d calls, %d failed, %d tokens", e.Calls, e.Failures, e.InputTokens)
	}
	if !e.Health.OpenUntil.IsZero() {
		line += fmt.Sprintf("; left alone until %s: %s", e.Health.OpenUntil.Local().Format("15:04:05"), e.Health.LastError)
	}
	if e.Problem != "" {
		line += "; " + e.Problem
	}
	return line
}

// embeddings adds to what they are set to how far they have come.
func (s Subject) embeddings(ctx context.Context) *Embeddings {
	if s.Embeddings == nil || s.Open == nil {
		return s.Embeddings
	}
	e := *s.Embeddings
	db, err := s.Open(ctx)
	if err != nil {
		return &e // told beside the archive
	}
	c, err := db.VectorCoverage(ctx)
	if err != nil {
		e.Problem = err.Error()
	}
	e.Sessions, e.Embedded, e.Pending, e.Chunks, e.Old = c.Sessions, c.Embedded, c.Pending, c.Chunks, c.Old
	return &e
}

func (s Subject) checkEmbeddings(ctx context.Context, add addCheck) {
	e := s.embeddings(ctx)
	if e == nil {
		return
	}
	v := Fine
	if e.Problem != "" || !e.Health.OpenUntil.IsZero() {
		v = Warn
	}
	add("meaning", v, "%s", e)
}
