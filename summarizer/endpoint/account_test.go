package endpoint

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
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
