package main

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/health"
	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/settings"
	"github.com/hermes-mcp/hermes-mcp/summarizer"
)

// account is what the auxiliary models of this home share.
func (a *app) account() *summarizer.Account {
	return &summarizer.Account{
		Path: a.home.MCP("auxiliary.json"), DailyTokens: int64(a.config.Auxiliary.DailyTokens), DailyCost: a.config.Auxiliary.DailyCost,
	}
}

// model is the client of a task, nil when no model is named for it, or when it
// cannot be told where to send.
func (a *app) model(name string) *summarizer.Client {
	t := a.config.Auxiliary.Tasks[name]
	if t.Model == "" || undecided(t) != "" {
		return nil
	}
	task := summarizer.Task{
		Name: name, Provider: cmp.Or(t.Provider, summarizer.OpenAI), Model: t.Model, BaseURL: t.BaseURL, APIKey: t.APIKey,
		Timeout: t.Timeout, MaxConcurrency: t.MaxConcurrency, InputPrice: t.InputPrice, OutputPrice: t.OutputPrice,
	}
	if t.ExtraBody != "" {
		task.ExtraBody = json.RawMessage(t.ExtraBody)
	}
	if name := keyVariable(t); task.APIKey == "" && name != "" {
		task.APIKey = a.env(name)
	}
	return &summarizer.Client{Task: task, Account: a.account()}
}

// undecided says what a task lacks before anything can be sent.
func undecided(t settings.Task) string {
	switch {
	case t.Model == "" && (t.Provider != "" || t.BaseURL != ""):
		return "names no model"
	case t.Model != "" && t.Provider == "" && t.BaseURL == "":
		return "names a model but neither provider nor base_url"
	}
	return ""
}

// keyVariable is the variable that holds a task's key, "" for an endpoint of
// the user's own that may want none.
func keyVariable(t settings.Task) string {
	switch {
	case t.APIKeyEnv != "":
		return t.APIKeyEnv
	case t.BaseURL != "":
		return ""
	case t.Provider == summarizer.Anthropic:
		return "ANTHROPIC_API_KEY"
	}
	return "OPENAI_API_KEY"
}

// models says of every task that is set what it is set to and what it did
// today.
func (a *app) models() ([]health.Model, error) {
	if len(a.config.Auxiliary.Tasks) == 0 {
		return nil, nil
	}
	today, err := a.account().Statement()
	var all []health.Model
	for _, name := range settings.Tasks {
		t, set := a.config.Auxiliary.Tasks[name]
		if !set {
			continue
		}
		s := health.Model{Task: name, Model: t.Model, Problem: undecided(t), Spending: today.Tasks[name]}
		if c := a.model(name); c != nil {
			s.Endpoint = c.Endpoint()
			s.Health = today.Endpoints[s.Endpoint]
			if v := keyVariable(t); v != "" && c.APIKey == "" {
				s.Problem = v + " is not set"
			}
		}
		all = append(all, s)
	}
	return all, err
}

// endpoints names who is sent pieces of sessions, "" when nobody is.
func (a *app) endpoints() string {
	var all []string
	for _, name := range settings.Tasks {
		if c := a.model(name); c != nil && !slices.Contains(all, c.Endpoint()) {
			all = append(all, c.Endpoint())
		}
	}
	return strings.Join(all, ", ")
}
