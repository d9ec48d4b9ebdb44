package endpoint

import (
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
			for range 10 {
				if err := a.Admit(t.Context(), call); err != nil {
					t.Error(err)
				}
				if err := a.Settle(t.Context(), call, Cost{In: 1, Out: 2}, nil, false); err != nil {
					t.Error(err)
				}
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
