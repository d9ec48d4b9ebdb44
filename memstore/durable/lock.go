package durable

import (
	"context"
	"errors"
	"fmt"

	"github.com/gofrs/flock"
)

// Lock takes the lock file at path, made when it is missing, exclusively among
// processes and among callers in this one. It waits until ctx is done, then
// returns ErrBusy, or ctx's error when it was cancelled.
func Lock(ctx context.Context, path string) (unlock func() error, err error) {
	l := flock.New(path)
	ok, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if ok {
		return l.Unlock, nil
	}
	// A blocking wait is served in turn, polling is not: a busy neighbour that
	// takes the lock again at once would win for seconds.
	got := make(chan error, 1)
	go func() { got <- l.Lock() }()
	select {
	case err := <-got:
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		return l.Unlock, nil
	case <-ctx.Done():
		go func() { // a wait in the kernel cannot be called off; give back what it gets
			if <-got == nil {
				l.Unlock()
			}
		}()
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%w: %s is held by another program", ErrBusy, path)
	}
}
