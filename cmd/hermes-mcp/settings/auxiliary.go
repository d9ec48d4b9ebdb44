package settings

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/hermes-mcp/hermes-mcp/summarizer"
)

// Tasks are what an auxiliary model can be named for, as keys write them.
var Tasks = []string{summarizer.SessionSearch, summarizer.FlushMemories, summarizer.BackgroundReview}

// An Auxiliary is what the auxiliary models go by. Secrets are not in it: a
// task names the variable that holds its key.
type Auxiliary struct {
	Tasks       map[string]Task // by name; no entry is no model
	UseHermes   bool
	DailyTokens int // 0 is no limit
	DailyCost   float64
}

// A Task is one block below auxiliary.
type Task struct {
	Provider, Model, BaseURL string
	APIKeyEnv                string
	APIKey                   string // only from Hermes' own file
	Timeout                  time.Duration
	MaxConcurrency           int
	ExtraBody                string // a JSON object
	InputPrice, OutputPrice  float64
}

// anyTask stands in a key of the table for the name of a task.
const anyTask = "<task>"

// task makes a put of a row that is there once for every task.
func task(set func(t *Task, text string) error) func(name string) func(*Config, string) error {
	return func(name string) func(*Config, string) error {
		return func(c *Config, text string) error {
			t := c.Auxiliary.Tasks[name]
			if err := set(&t, text); err != nil {
				return err
			}
			if c.Auxiliary.Tasks == nil {
				c.Auxiliary.Tasks = map[string]Task{}
			}
			c.Auxiliary.Tasks[name] = t
			return nil
		}
	}
}

// viaConfig lends a task's field to the parsers of the table.
func viaConfig[T any](parse func(func(*Config) *T) func(*Config, string) error, field func(*Task) *T) func(*Task, string) error {
	return func(t *Task, text string) error {
		return parse(func(*Config) *T { return field(t) })(nil, text)
	}
}

func atMost(low, high int) func(func(*Config) *int) func(*Config, string) error {
	return func(field func(*Config) *int) func(*Config, string) error { return number(low, high, field) }
}

// dollars takes an amount of money.
func dollars(field func(*Config) *float64) func(*Config, string) error {
	return func(c *Config, text string) error {
		f, err := strconv.ParseFloat(strings.TrimPrefix(text, "$"), 64)
		if err != nil || f < 0 || f > 1e6 {
			return fmt.Errorf("%q is no amount of dollars", text)
		}
		*field(c) = f
		return nil
	}
}

func jsonObject(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, text string) error {
		var o map[string]any
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			return fmt.Errorf("is no object: %w", err)
		}
		*field(c) = text
		return nil
	}
}

// address takes where an endpoint is.
func address(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, text string) error {
		u, err := url.Parse(text)
		if text != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
			return fmt.Errorf("%q is no address of a server: it begins with http:// or https://, such as http://127.0.0.1:11434/v1", text)
		}
		*field(c) = text
		return nil
	}
}

func endpointKind(field func(*Config) *string) func(*Config, string) error {
	return choice(field, summarizer.OpenAI, summarizer.Anthropic)
}

// auxiliary are the rows below auxiliary.
var auxiliary = []Setting{
	{Key: "auxiliary.<task>.provider", Type: "openai/anthropic", Meaning: "how the endpoint is spoken to; `openai` is every one with chat completions, also local ones", putTask: task(viaConfig(endpointKind, func(t *Task) *string { return &t.Provider }))},
	{Key: "auxiliary.<task>.model", Type: "text", Meaning: "the model; without one the task is not done. Tasks: `session_search`, `flush_memories`, `background_review`", putTask: task(viaConfig(text, func(t *Task) *string { return &t.Model }))},
	{Key: "auxiliary.<task>.base_url", Type: "text", Meaning: "the endpoint, such as `http://127.0.0.1:11434/v1`; the provider's own when empty", putTask: task(viaConfig(address, func(t *Task) *string { return &t.BaseURL }))},
	{Key: "auxiliary.<task>.api_key_env", Type: "text", Meaning: "the variable that holds the key; `OPENAI_API_KEY` or `ANTHROPIC_API_KEY` for the provider's own endpoint", putTask: task(viaConfig(text, func(t *Task) *string { return &t.APIKeyEnv }))},
	{Key: "auxiliary.<task>.timeout", Type: "duration", Meaning: "of the whole task, retries included; `30s` when empty", putTask: task(viaConfig(duration, func(t *Task) *time.Duration { return &t.Timeout }))},
	{Key: "auxiliary.<task>.max_concurrency", Type: "number", Meaning: "calls at once; `3` when empty", putTask: task(viaConfig(atMost(1, 16), func(t *Task) *int { return &t.MaxConcurrency }))},
	{Key: "auxiliary.<task>.extra_body", Type: typeObject, Meaning: "fields for every request, over ours; one that is null takes ours out", putTask: task(viaConfig(jsonObject, func(t *Task) *string { return &t.ExtraBody }))},
	{Key: "auxiliary.<task>.input_price", Type: "dollars", Meaning: "of a million tokens sent, to count costs", putTask: task(viaConfig(dollars, func(t *Task) *float64 { return &t.InputPrice }))},
	{Key: "auxiliary.<task>.output_price", Type: "dollars", Meaning: "of a million tokens answered", putTask: task(viaConfig(dollars, func(t *Task) *float64 { return &t.OutputPrice }))},
	{Key: "auxiliary.daily_tokens", Type: "number", Default: "0", Meaning: "tokens a day, all tasks together, after which no model is asked; 0 is no limit", put: number(0, 2_000_000_000, func(c *Config) *int { return &c.Auxiliary.DailyTokens })},
	{Key: "auxiliary.daily_cost", Type: "dollars", Default: "0", Meaning: "dollars a day likewise, as far as prices are known", put: dollars(func(c *Config) *float64 { return &c.Auxiliary.DailyCost })},
	{Key: "auxiliary.use_hermes", Type: "true/false", Default: "false", Meaning: "take a task's model from Hermes Agent's own `auxiliary` where none is named here", put: truth(func(c *Config) *bool { return &c.Auxiliary.UseHermes })},
}

// typeObject is a value that is a block of keys itself.
const typeObject = "object"

// of returns the row of a key that stands for every task, made for the one that
// key names.
func (s Setting) of(key string) (Setting, bool) {
	before, after, ok := strings.Cut(s.Key, anyTask)
	if !ok {
		return s, false
	}
	name := strings.TrimSuffix(strings.TrimPrefix(key, before), after)
	if key != before+name+after || !slices.Contains(Tasks, name) {
		return s, false
	}
	s.Key, s.put, s.putTask = key, s.putTask(name), nil
	return s, true
}

// objectText is a block of keys as JSON.
func objectText(n *yaml.Node) (string, error) {
	var v any
	if err := n.Decode(&v); err != nil {
		return "", err
	}
	raw, err := json.Marshal(v)
	return string(raw), err
}

// hermesKinds says how Hermes' names of providers are spoken to here.
var hermesKinds = map[string]Task{
	"openai":     {Provider: summarizer.OpenAI},
	"custom":     {Provider: summarizer.OpenAI},
	"anthropic":  {Provider: summarizer.Anthropic},
	"openrouter": {Provider: summarizer.OpenAI, BaseURL: "https://openrouter.ai/api/v1", APIKeyEnv: "OPENROUTER_API_KEY"},
}

// borrow takes from Hermes' own file the tasks for which no model is named here.
// One whose endpoint cannot be told from it is left out, and said.
func (c *Config) borrow(home string) []Problem {
	path := filepath.Join(home, "config.yaml")
	values, err := leaves(path)
	if err != nil {
		return nil // told already
	}
	theirs := map[string]map[string]string{}
	for _, l := range values {
		rest, ok := strings.CutPrefix(l.key, "auxiliary.")
		if name, key, cut := strings.Cut(rest, "."); ok && cut && slices.Contains(Tasks, name) && c.Auxiliary.Tasks[name].Model == "" {
			if theirs[name] == nil {
				theirs[name] = map[string]string{}
			}
			theirs[name][key] = l.text
		}
	}
	var problems []Problem
	for _, name := range Tasks {
		k := theirs[name]
		if k["model"] == "" {
			continue
		}
		t, known := hermesKinds[k["provider"]]
		if !known && k["base_url"] != "" {
			t, known = hermesKinds["custom"], true
		}
		if !known {
			problems = append(problems, Problem{Where: path, Key: "auxiliary." + name, Reason: fmt.Sprintf("provider %q does not say where to send; name the model in mcp/config.yaml", k["provider"]), Foreign: true})
			continue
		}
		t.Model, t.APIKey = k["model"], k["api_key"]
		if k["base_url"] != "" {
			if err := viaConfig(address, func(t *Task) *string { return &t.BaseURL })(&t, k["base_url"]); err != nil {
				problems = append(problems, Problem{Where: path, Key: "auxiliary." + name + ".base_url", Reason: err.Error(), Foreign: true})
				continue
			}
		}
		if k["extra_body"] != "" && k["extra_body"] != "{}" {
			t.ExtraBody = k["extra_body"]
		}
		if k["timeout"] != "" {
			if err := viaConfig(duration, func(t *Task) *time.Duration { return &t.Timeout })(&t, k["timeout"]); err != nil {
				problems = append(problems, Problem{Where: path, Key: "auxiliary." + name + ".timeout", Reason: err.Error(), Foreign: true})
			}
		}
		if c.Auxiliary.Tasks == nil {
			c.Auxiliary.Tasks = map[string]Task{}
		}
		c.Auxiliary.Tasks[name] = t
		c.Origins["auxiliary."+name] = path
	}
	return problems
}
