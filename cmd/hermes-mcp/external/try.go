package external

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hermes-mcp/hermes-mcp/provider"
)

// A Step is one thing that a test asks of the provider.
type Step struct {
	What  string  `json:"what"`
	Took  float64 `json:"seconds"`
	Found string  `json:"found,omitempty"`
	Error string  `json:"error,omitempty"`
}

// Test asks the provider for all that changes nothing, in a session of its own.
// What failed stands in the steps.
func (m Memory) Test(ctx context.Context, query string) (steps []Step, ok bool) {
	s := m.Session("hermes-mcp:test", "", "", true)
	ok = true
	if err := m.Guard.Resume(); err != nil { // a person who asks does not wait for the end of a pause
		return []Step{{What: "end the pause", Error: err.Error()}}, false
	}
	step := func(what string, ask func() (string, error)) {
		began := time.Now()
		found, err := ask()
		one := Step{What: what, Took: time.Since(began).Seconds(), Found: found}
		switch {
		case errors.Is(err, provider.ErrUnsupported):
			one.Found = "not offered"
		case err != nil:
			one.Error, ok = err.Error(), false
		}
		steps = append(steps, one)
	}
	step("recall", func() (string, error) {
		r, err := m.Guard.Recall(ctx, s, query)
		switch {
		case err != nil:
			return "", err
		case r.Skipped != "":
			return "not asked: " + r.Skipped, nil
		case len(r.Withheld) > 0:
			return fmt.Sprintf("%d memories, %d more withheld by the scanner", r.Count, len(r.Withheld)), nil
		}
		return fmt.Sprintf("%d memories", r.Count), nil
	})
	if !ok {
		return steps, false // it would fail at everything else too, and be left alone for it
	}
	step("words for the prompt", func() (string, error) {
		text, err := m.Guard.SystemBlock(ctx, s)
		if text == "" {
			text = "none"
		}
		return text, err
	})
	step("its own tools", func() (string, error) {
		own, dropped, err := m.Guard.Tools(ctx, func(context.Context) provider.Session { return s })
		names := "none"
		for i, t := range own {
			if names += ", " + t.Name; i == 0 {
				names = t.Name
			}
		}
		for _, why := range dropped {
			names += "; left out " + why
		}
		return names, err
	})
	step("what it holds", func() (string, error) {
		facts, err := m.Guard.List(ctx, s)
		return fmt.Sprintf("%d facts", len(facts)), err
	})
	return steps, ok
}
