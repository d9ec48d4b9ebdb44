package embedding

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/summarizer/endpoint"
)

// errUnfit is an answer that was understood and is not what was asked for; the
// same question gets the same one again.
var errUnfit = fmt.Errorf("%w", endpoint.ErrAnswer)

// Bounds of an answer: vectors of 4,096 numbers, written with all their digits.
const (
	answerBase    = 64 << 10
	answerPerText = 128 << 10
)

// exchange is one exchange over HTTP.
func (c *Client) exchange(ctx context.Context, texts []string) (vectors [][]float32, tokens int64, err error) {
	body := map[string]any{"model": c.Model, "input": texts}
	if c.Dimensions > 0 {
		body["dimensions"] = c.Dimensions
	}
	var raw bytes.Buffer
	e := json.NewEncoder(&raw)
	e.SetEscapeHTML(false)
	if err := e.Encode(body); err != nil {
		return nil, 0, fmt.Errorf("encode a request: %w", err)
	}
	header := http.Header{}
	if c.APIKey != "" {
		header.Set("Authorization", "Bearer "+c.APIKey)
	}
	web := c.HTTP
	if web == nil {
		web = http.DefaultClient
	}
	var got answer
	err = endpoint.Post(ctx, web, endpoint.Request{
		URL: strings.TrimSuffix(c.BaseURL, "/") + "/embeddings", Header: header, Body: raw.Bytes(),
		MaxAnswer: answerBase + answerPerText*len(texts),
	}, &got)
	tokens = got.Usage.PromptTokens
	switch {
	case err != nil:
		return nil, tokens, err
	case len(got.Data) == 0 && len(got.Error) > 0 && string(got.Error) != "null":
		return nil, tokens, &endpoint.StatusError{Code: http.StatusBadGateway, Said: endpoint.Complaint(fmt.Appendf(nil, `{"error":%s}`, got.Error))}
	}
	vectors, err = c.read(got, len(texts))
	return vectors, tokens, err
}

// An answer is what endpoints send.
type answer struct {
	Data []struct {
		Index     int             `json:"index"`
		Embedding json.RawMessage `json:"embedding"`
	} `json:"data"`
	Usage struct {
		PromptTokens int64 `json:"prompt_tokens"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// read checks an answer to n texts and brings its vectors into their order.
func (c *Client) read(got answer, n int) ([][]float32, error) {
	if len(got.Data) != n {
		return nil, fmt.Errorf("%w: %d vectors for %d texts", errUnfit, len(got.Data), n)
	}
	out, dims := make([][]float32, n), int(c.dims.Load())
	for _, d := range got.Data {
		if d.Index < 0 || d.Index >= n || out[d.Index] != nil {
			return nil, fmt.Errorf("%w: index %d of %d vectors is not one of them or is there twice", errUnfit, d.Index, n)
		}
		v, err := vectorOf(d.Embedding)
		if err != nil {
			return nil, err
		}
		if dims == 0 {
			dims = len(v)
		}
		if len(v) != dims {
			return nil, fmt.Errorf("%w: a vector of %d numbers where others have %d", errUnfit, len(v), dims)
		}
		out[d.Index] = v
	}
	c.dims.CompareAndSwap(0, int64(dims))
	return out, nil
}

// vectorOf reads one vector and makes its length one.
func vectorOf(raw json.RawMessage) ([]float32, error) {
	var v []float32
	if bytes.Contains(raw, []byte("null")) { // what some servers write for a number that is none
		return nil, fmt.Errorf("%w: a vector with numbers that are none", errUnfit)
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, fmt.Errorf("%w: %w", errUnfit, err)
	}
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return nil, fmt.Errorf("%w: a vector of nothing", errUnfit)
	}
	norm := 1 / math.Sqrt(sum)
	for i, x := range v {
		v[i] = float32(float64(x) * norm)
	}
	return v, nil
}
