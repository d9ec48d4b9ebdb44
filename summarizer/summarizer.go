// Package summarizer asks the auxiliary model.
//
// A [Client] is one task's model at one endpoint, spoken to as OpenAI's chat
// completions or as Anthropic's messages. It can do two things: [Client.Focus]
// says what sessions tell about a query, and [Client.Propose] asks which edits
// of the curated memory a conversation calls for. It applies nothing.
//
// A nil *Client means that the user named no model: nothing is called, and
// callers go on without.
//
// # What is sent
//
// The prompts in this folder and pieces of sessions, secrets masked and fences
// of recalled memory taken out; nothing is sent before a task is due. Results
// of tools are never sent for Propose.
//
// # What is believed
//
// Nothing without evidence. A sentence of a summary must cite messages among
// those sent, and say what stands in them; any other is dropped, and so is one
// that reads like an order to a model, which a session may well quote. On failure
// there is no text at all.
//
// # Limits
//
// Task.Timeout bounds a whole task, retries and waits included. Answers over
// 1 MiB are refused. After repeated failures, or when it asks for a long wait, an
// endpoint is left alone for a while (ErrDown), and a day's budget stops all
// calls (ErrBudget). Both are kept in the [Account], which processes share. No
// goroutine outlives its call.
package summarizer

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/hermes-mcp/hermes-mcp/summarizer/endpoint"
)

// What is spent is kept by package endpoint; these are its types under the
// names by which the other rooms know them.
type (
	Account  = endpoint.Account
	Spending = endpoint.Spending
	Health   = endpoint.Health
)

// The kinds of endpoint.
const (
	OpenAI    = "openai"    // any that speaks chat completions: OpenAI, OpenRouter, Ollama, LM Studio, vLLM, llama.cpp
	Anthropic = "anthropic" // Anthropic's Messages API
)

// The tasks that a model can be named for.
const (
	SessionSearch    = "session_search"
	FlushMemories    = "flush_memories"
	BackgroundReview = "background_review"
)

// A Task says which model does something, and within which limits.
type Task struct {
	Name           string        // for the account: SessionSearch, FlushMemories, BackgroundReview
	Provider       string        // OpenAI or Anthropic
	Model          string        // as the endpoint calls it
	BaseURL        string        // with the version for OpenAI ("http://127.0.0.1:11434/v1"); "" is the provider's own
	APIKey         string        // "" for an endpoint that wants none
	Timeout        time.Duration // of the whole task; 30 s when 0
	MaxConcurrency int           // calls at once; 3 when 0
	// ExtraBody is a JSON object whose fields go into every request, over ours.
	ExtraBody json.RawMessage
	// Dollars per million tokens, for the count of costs; 0 is unknown. An
	// endpoint that names its price is believed instead.
	InputPrice, OutputPrice float64
}

// A Client asks one task's model. Set the fields before first use; safe for
// concurrent use.
type Client struct {
	Task
	Account *Account     // what was spent; nil counts nothing and knows no breaker
	HTTP    *http.Client // http.DefaultClient when nil; its Timeout should be 0

	cache cache
}

var (
	// ErrDown and ErrBudget are returned without a call: while an endpoint is
	// left alone after repeated failures, and when the day's budget does not
	// cover it.
	ErrDown, ErrBudget = endpoint.ErrDown, endpoint.ErrBudget
	// ErrRefused is returned when the model declined to answer.
	ErrRefused = errors.New("model refused")
	// ErrAnswer is returned when the answer is not what was asked for: no JSON,
	// cut off, too large, or empty.
	ErrAnswer = endpoint.ErrAnswer
	// ErrTimeout is returned when the task's time ran out.
	ErrTimeout = endpoint.ErrTimeout
)

const (
	defaultTimeout     = 30 * time.Second
	defaultConcurrency = 3
)

func (c *Client) timeout() time.Duration {
	if c.Timeout > 0 {
		return c.Timeout
	}
	return defaultTimeout
}

func (c *Client) concurrency() int {
	if c.MaxConcurrency > 0 {
		return c.MaxConcurrency
	}
	return defaultConcurrency
}

// Endpoint is where transcripts go, for people to see: the base address, without
// what is secret in it.
func (t Task) Endpoint() string { return endpoint.Shown(t.address()) }

// address is where transcripts go.
func (t Task) address() string {
	if t.BaseURL != "" {
		return t.BaseURL
	}
	if t.Provider == Anthropic {
		return "https://api.anthropic.com"
	}
	return "https://api.openai.com/v1"
}

func (c *Client) web() *http.Client {
	if c.HTTP != nil {
		return c.HTTP
	}
	return http.DefaultClient
}
