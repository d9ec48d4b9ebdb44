package endpoint

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

func TestEveryCallIsCountedWhoeverMakesIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "account.json")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			a := &Account{Path: path}
			call := Call{Task: "x", Most: Cost{In: 5, Out: 5}}
			// On a machine that is busy with other things the lock may not be had in
			// time; nothing was counted then.
			patiently := func(do func() error) {
				err := do()
				for tries := 0; errors.Is(err, context.DeadlineExceeded) && tries < 20; tries++ {
					err = do()
				}
				if err != nil {
					t.Error(err)
				}
			}
			for range 10 {
				patiently(func() error { return a.Admit(t.Context(), call) })
				patiently(func() error { return a.Settle(t.Context(), call, Cost{In: 1, Out: 2}, nil, false) })
			}
		})
	}
	all.Wait()
	a := &Account{Path: path}
	l, err := a.load()
	if err != nil || l.Tasks["x"].Calls != 80 || l.Tasks["x"].OutputTokens != 160 || l.HeldTokens != 0 {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestALongWaitThatAnEndpointAsksForIsKeptByAll(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		after, later time.Duration
		admitted     bool
	}{
		"a long one, too early":     {2 * time.Minute, time.Minute, false},
		"a long one, and it passed": {2 * time.Minute, 2*time.Minute + time.Second, true},
		"a day is not waited for":   {24 * time.Hour, longestRest + time.Second, true},
		"a short one is the call's": {2 * time.Second, 0, true},
	} {
		a := &Account{Now: func() time.Time { return now }}
		call := Call{Task: "x", Endpoint: "http://e"}
		busy := &StatusError{Code: 429, After: c.after}
		if err := errors.Join(a.Admit(t.Context(), call), a.Settle(t.Context(), call, Cost{}, busy, false)); err != nil {
			t.Fatal(err)
		}
		a.Now = func() time.Time { return now.Add(c.later) }
		if err := a.Admit(t.Context(), call); errors.Is(err, ErrDown) == c.admitted {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnAddressIsShownWithoutItsSecrets(t *testing.T) {
	for address, want := range map[string]string{
		"http://127.0.0.1:11434/v1":           "http://127.0.0.1:11434/v1",
		"https://bob:hunter2x@llm.example/v1": "https://bob:xxxxx@llm.example/v1",
		"https://llm.example/v1?key=hunter2x": "https://llm.example/v1?key=xxxxx",
		"https://bob:hunter2x@[llm/v1":        "an address that is no URL",
		"":                                    "",
	} {
		if got := Shown(address); got != want {
			t.Errorf("%s is shown as %s", address, got)
		}
	}
}
