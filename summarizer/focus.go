package summarizer

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

//go:embed focus.md
var focusPrompt string

const (
	focusTokens  = 1_200 // of an answer
	summaryChars = 1_500
	// mostFocused is how many sessions are summarised for one query.
	mostFocused = 5
)

// A Found is a session that a search found.
type Found struct {
	Session  transcript.Session
	Messages []transcript.Message // in order; all, or those around the matches
	Matches  []int64              // ids of the messages that matched, the best first
}

// A Summary is what a model says of one session. Every sentence cites messages
// as [m:ID], each of which it was shown.
type Summary struct {
	Text  string `json:"text"`
	Model string `json:"model"`
}

// Within is s shortened to whole sentences of at most n characters in all.
func (s Summary) Within(n int) Summary {
	if s.Text = within(s.Text, n); s.Text == "" {
		return Summary{}
	}
	return s
}

// Focus says of each session what it tells about query, at most five of them,
// several at once. The result has an element for each of found; one that could
// not be made, or of which no sentence could be kept, is zero. It returns what
// is there when the task's time is up. err says why some are missing.
func (c *Client) Focus(ctx context.Context, query string, found []Found) ([]Summary, error) {
	out := make([]Summary, len(found))
	if c == nil {
		return out, nil
	}
	ctx, cancel := c.task(ctx)
	defer cancel()
	errs := make([]error, len(found))
	slots := make(chan struct{}, c.concurrency())
	var all sync.WaitGroup
	for i := range found[:min(mostFocused, len(found))] {
		all.Go(func() {
			select {
			case slots <- struct{}{}:
				defer func() { <-slots }()
			case <-ctx.Done():
				errs[i] = c.because(ctx, ctx.Err())
				return
			}
			out[i], errs[i] = c.focus(ctx, query, found[i])
		})
	}
	all.Wait()
	return out, joined(errs)
}

// joined is one error for each thing that went wrong.
func joined(errs []error) error {
	seen := map[string]bool{}
	var out []error
	for _, err := range errs {
		if err != nil && !seen[err.Error()] {
			seen[err.Error()] = true
			out = append(out, err)
		}
	}
	return errors.Join(out...)
}

// focus summarises one session.
func (c *Client) focus(ctx context.Context, query string, f Found) (Summary, error) {
	pieces := around(f.Messages, f.Matches)
	if len(pieces) == 0 {
		return Summary{}, nil
	}
	text, _ := join(pieces)
	query = clean(query)
	r := request{
		system: focusPrompt, maxTokens: focusTokens,
		user: fmt.Sprintf("Topic: %s\n%s\n<session>\n%s</session>\n\nTopic again: %s\n", query, heading(f.Session), text, query),
	}
	key := c.cacheKey(r)
	if s, ok := c.cached(key); ok {
		return s, nil
	}
	answer, err := c.ask(ctx, r)
	if err != nil {
		return Summary{}, err
	}
	s := Summary{Model: c.Model, Text: within(supported(answer.text, pieces), summaryChars)}
	if s.Text == "" {
		s.Model = "" // nothing is said, by nobody
	}
	c.keep(key, s)
	return s, nil
}

// heading is what is told of a session before its text.
func heading(s transcript.Session) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Source: %s\n", s.Source())
	if s.Title != "" {
		fmt.Fprintf(&b, "Title: %s\n", clip(clean(s.Title), 120))
	}
	if !s.StartedAt.IsZero() {
		fmt.Fprintf(&b, "Date: %s\n", s.StartedAt.UTC().Format("2006-01-02"))
	}
	return b.String()
}

// within is the whole sentences of text that fit into n characters.
func within(text string, n int) string {
	var kept []string
	for _, s := range sentences(text) {
		if n -= utf8.RuneCountInString(s) + 1; n < 0 {
			break
		}
		kept = append(kept, s)
	}
	return strings.Join(kept, " ")
}
