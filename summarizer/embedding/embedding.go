// Package embedding asks an endpoint that speaks OpenAI's /v1/embeddings what
// texts mean: Ollama, llama.cpp, LM Studio, vLLM, or a hosted one.
//
// A [Client] makes a vector of length one of each text. It is handed to the
// archive, which knows nothing of endpoints. What it is given it sends, so
// secrets have to be masked before.
//
// # What is believed
//
// An answer has as many vectors as texts were sent, each with as many numbers as
// the first that this client got, none of them missing, and not all zero. Any
// other answer is an error, and none of it is used.
//
// # Limits
//
// A question has QueryTimeout and is asked once; texts have Timeout, retries and
// waits included. After repeated failures the endpoint is left alone for a
// while: then nothing is sent and nothing waited for. Budget and breaker are
// kept in the account, which processes share. No goroutine is started.
package embedding

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hermes-mcp/hermes-mcp/summarizer/endpoint"
)

// A Client asks one model at one endpoint. Set the fields before first use; safe
// for concurrent use.
type Client struct {
	Model        string
	BaseURL      string        // with the version, as "http://127.0.0.1:11434/v1"
	APIKey       string        // "" for an endpoint that wants none
	Dimensions   int           // asked for, where the model can be cut; 0 leaves it to the model
	QueryTimeout time.Duration // of a question; 1 s when 0
	Timeout      time.Duration // of one Documents; 1 min when 0
	Batch        int           // texts a request; 32 when 0
	// QueryPrefix and DocumentPrefix stand before each text, for models that are
	// trained with such, as "search_query: " and "search_document: ".
	QueryPrefix, DocumentPrefix string

	Account *endpoint.Account // what was spent; nil counts nothing and knows no breaker
	HTTP    *http.Client      // http.DefaultClient when nil; its Timeout should be 0

	dims atomic.Int64 // of the first answer
	down atomic.Int64 // Unix nanoseconds until which the account need not be asked
}

// TaskName is what the account counts under.
const TaskName = "embeddings"

const (
	defaultQueryTimeout = time.Second
	defaultTimeout      = time.Minute
	defaultBatch        = 32
	attempts            = 3
	// charsPerToken is low, so that estimates err on the side of too many.
	charsPerToken = 3
	// believeDown is how long an endpoint that the account said is down is not
	// even asked about.
	believeDown = 5 * time.Second
	// shortest is the length in bytes below which a text that the endpoint
	// refuses is not shortened any more.
	shortest = 200
)

// Name says which vectors can be compared with those of this client: model,
// dimensions asked for, and what is put before documents.
func (c *Client) Name() string {
	name := "openai:" + c.Model
	if c.Dimensions > 0 {
		name += fmt.Sprintf("/%d", c.Dimensions)
	}
	if c.DocumentPrefix != "" {
		h := fnv.New32a()
		h.Write([]byte(c.DocumentPrefix))
		name += fmt.Sprintf("#%08x", h.Sum32())
	}
	return name
}

// Query returns the vector of a question. It is asked once, and waits no longer
// than QueryTimeout. Errors: endpoint.ErrDown, ErrBudget, ErrAnswer, ErrTimeout.
func (c *Client) Query(ctx context.Context, text string) ([]float32, error) {
	if time.Now().UnixNano() < c.down.Load() {
		return nil, endpoint.ErrDown
	}
	wait := c.QueryTimeout
	if wait <= 0 {
		wait = defaultQueryTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, wait, endpoint.ErrTimeout)
	defer cancel()
	got, err := c.once(ctx, []string{c.QueryPrefix + text})
	if err != nil {
		return nil, because(ctx, err)
	}
	return got[0], nil
}

// Documents returns the vectors of texts, in order. A text that the endpoint
// refuses although it takes others is asked for again shortened, and has no
// vector (nil) when it still is refused. Errors: those of Query.
func (c *Client) Documents(ctx context.Context, texts []string) ([][]float32, error) {
	wait := c.Timeout
	if wait <= 0 {
		wait = defaultTimeout
	}
	batch := c.Batch
	if batch <= 0 {
		batch = defaultBatch
	}
	out := make([][]float32, 0, len(texts))
	for len(texts) > 0 {
		n := min(batch, len(texts))
		part := make([]string, n)
		for i, t := range texts[:n] {
			part[i] = c.DocumentPrefix + t
		}
		got, err := c.timed(ctx, wait, part)
		if err != nil {
			return nil, err
		}
		out, texts = append(out, got...), texts[n:]
	}
	return out, nil
}

func (c *Client) timed(ctx context.Context, wait time.Duration, texts []string) ([][]float32, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, wait, endpoint.ErrTimeout)
	defer cancel()
	got, err := c.part(ctx, texts)
	if err != nil {
		return nil, because(ctx, err)
	}
	return got, nil
}

// part asks for a few texts, and for fewer when they are refused together.
func (c *Client) part(ctx context.Context, texts []string) ([][]float32, error) {
	got, err := c.ask(ctx, texts)
	if err == nil || !endpoint.AboutRequest(err) || ctx.Err() != nil {
		return got, err
	}
	if len(texts) > 1 {
		half := len(texts) / 2
		first, err := c.part(ctx, texts[:half])
		if err != nil {
			return nil, err
		}
		second, err := c.part(ctx, texts[half:])
		return append(first, second...), err
	}
	if c.dims.Load() == 0 { // it may refuse everything: a wrong model, for example
		return nil, err
	}
	if len(texts[0]) < shortest {
		return [][]float32{nil}, nil
	}
	return c.part(ctx, []string{strings.ToValidUTF8(texts[0][:len(texts[0])/2], "")})
}

// ask makes one request, again where that may help and ctx leaves the time.
func (c *Client) ask(ctx context.Context, texts []string) ([][]float32, error) {
	var err error
	for try := range attempts {
		if try > 0 && !endpoint.Pause(ctx, endpoint.WaitFor(err, try)) {
			break
		}
		var got [][]float32
		if got, err = c.once(ctx, texts); err == nil {
			return got, nil
		}
		if !endpoint.WorthAgain(err) || errors.Is(err, errUnfit) || ctx.Err() != nil {
			break
		}
	}
	return nil, err
}

// because puts the end of the time before what it caused.
func because(ctx context.Context, err error) error {
	switch {
	case ctx.Err() == nil:
		return err
	case errors.Is(context.Cause(ctx), endpoint.ErrTimeout):
		return endpoint.ErrTimeout
	}
	return ctx.Err()
}

// once makes one request, if the account lets it.
func (c *Client) once(ctx context.Context, texts []string) ([][]float32, error) {
	size := 0
	for _, t := range texts {
		size += len(t)
	}
	guess := endpoint.Cost{In: int64(size/charsPerToken + 1)}
	call := endpoint.Call{Task: TaskName, Endpoint: endpoint.Shown(c.BaseURL), Most: guess}
	if err := c.Account.Admit(ctx, call); err != nil {
		if errors.Is(err, endpoint.ErrDown) {
			c.down.Store(time.Now().Add(believeDown).UnixNano())
		}
		return nil, err
	}
	got, tokens, err := c.exchange(ctx, texts)
	used := endpoint.Cost{In: tokens}
	if err == nil && tokens == 0 { // not told: the guess stands, so that a budget stops in any case
		used = guess
	}
	neutral := endpoint.AboutRequest(err) || ctx.Err() != nil && !errors.Is(context.Cause(ctx), endpoint.ErrTimeout)
	if settled := c.Account.Settle(ctx, call, used, err, neutral); err == nil {
		err = settled
	}
	return got, err
}
