package settings

import (
	"fmt"
	"net/url"
	"strings"
	"time"
)

// The words of embeddings.provider.
const (
	EmbeddingsOff = "off"
	OpenAI        = "openai"    // an endpoint
	Model2Vec     = "model2vec" // a folder
)

// An Embeddings is what search by meaning goes by. No secret is in it.
type Embeddings struct {
	Provider                    string
	BaseURL, Model              string // of the endpoint
	APIKeyEnv                   string // the variable that holds its key
	Path                        string // of the folder
	Dimensions                  int    // 0 is the model's own
	Timeout                     time.Duration
	Batch                       int
	QueryPrefix, DocumentPrefix string
	Weight                      float64
	DailyTokens                 int // 0 is no limit
}

// Lacks says what is missing before anything can be embedded, "" when nothing
// is, or when it is off.
func (e Embeddings) Lacks() string {
	switch {
	case e.Provider == OpenAI && e.BaseURL == "":
		return "embeddings.base_url does not say where to send"
	case e.Provider == OpenAI && e.Model == "":
		return "embeddings.model names no model"
	case e.Provider == Model2Vec && e.Path == "":
		return "embeddings.path names no folder"
	}
	return ""
}

// embeddings are the rows below embeddings.
var embeddings = []Setting{
	{Key: "embeddings.provider", Type: "off/openai/model2vec", Default: EmbeddingsOff, Meaning: "what search by meaning asks beside the words: nothing, an endpoint that speaks OpenAI's `/v1/embeddings`, or a model2vec folder on this machine", put: choice(func(c *Config) *string { return &c.Embeddings.Provider }, EmbeddingsOff, OpenAI, Model2Vec)},
	{Key: "embeddings.base_url", Type: "text", Meaning: "the endpoint, such as `http://127.0.0.1:11434/v1`; it is sent what was said in every session, secrets masked", put: bare(func(c *Config) *string { return &c.Embeddings.BaseURL })},
	{Key: "embeddings.model", Type: "text", Meaning: "the endpoint's model, such as `nomic-embed-text`; another one embeds everything anew", put: text(func(c *Config) *string { return &c.Embeddings.Model })},
	{Key: "embeddings.api_key_env", Type: "text", Meaning: "the variable that holds the endpoint's key; none is sent when empty", put: text(func(c *Config) *string { return &c.Embeddings.APIKeyEnv })},
	{Key: "embeddings.path", Type: "text", Meaning: "the folder with `model.safetensors` and `tokenizer.json`", put: text(func(c *Config) *string { return &c.Embeddings.Path })},
	{Key: "embeddings.dimensions", Type: "number", Default: "0", Meaning: "numbers of a vector, for models that can be cut; 0 is all. A session takes about as many bytes for every 400 characters said", put: number(0, 8192, func(c *Config) *int { return &c.Embeddings.Dimensions })},
	{Key: "embeddings.timeout", Type: "duration", Default: "800ms", Meaning: "how long a search waits for the endpoint before it goes by words alone", put: duration(func(c *Config) *time.Duration { return &c.Embeddings.Timeout })},
	{Key: "embeddings.batch", Type: "number", Default: "32", Meaning: "texts a request", put: number(1, 512, func(c *Config) *int { return &c.Embeddings.Batch })},
	{Key: "embeddings.query_prefix", Type: "text", Meaning: "what stands before a question, for models that want it, such as `search_query: `", put: text(func(c *Config) *string { return &c.Embeddings.QueryPrefix })},
	{Key: "embeddings.document_prefix", Type: "text", Meaning: "what stands before what was said, such as `search_document: `", put: text(func(c *Config) *string { return &c.Embeddings.DocumentPrefix })},
	{Key: "embeddings.weight", Type: "fraction", Default: "0.02", Meaning: "what meaning counts for beside words, above 0 and up to 1; a strong model may have 0.2", put: fraction(func(c *Config) *float64 { return &c.Embeddings.Weight })},
	{Key: "embeddings.daily_tokens", Type: "number", Default: "0", Meaning: "tokens a day after which the endpoint is not asked; 0 is no limit", put: number(0, 2_000_000_000, func(c *Config) *int { return &c.Embeddings.DailyTokens })},
}

// bare takes the address of an endpoint that holds no secret: it is shown.
func bare(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, text string) error {
		u, err := url.Parse(text)
		if err == nil && (u.User != nil || u.RawQuery != "" || u.Fragment != "") {
			return fmt.Errorf("the address holds more than a host and a path; a key belongs into the variable that embeddings.api_key_env names")
		}
		return address(field)(c, strings.TrimSuffix(text, "/"))
	}
}
