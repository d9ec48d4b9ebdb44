package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/hermes-mcp/hermes-mcp/scanner"
	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// An archive is opened by the first who asks: a client's initialize does not
// wait for a database, and a command that needs none opens none.
type archive struct {
	path string
	mask bool // secrets, before they are stored
	// embedder is what search by meaning asks, nil or nil where nothing is named.
	embedder func() transcript.Embedder
	weight   float64 // of meaning
	// unwritable is why the archive can only be read, nil where it is written.
	unwritable func() error

	mu    sync.Mutex
	db    *transcript.DB
	stale *transcript.DB // what db was before it was opened again, perhaps in use still
}

// open returns the archive, making it when there is none. A failure is tried
// again by the next call.
func (a *archive) open(ctx context.Context) (*transcript.DB, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.db != nil && !a.db.Stale() {
		return a.db, nil
	}
	// One caller's cancelled request must not fail the opening for the others.
	db, err := a.openOwn(context.WithoutCancel(ctx))
	if err != nil {
		return nil, err
	}
	err = closed(a.stale)
	a.stale, a.db = a.db, db
	return db, err
}

// openOwn opens the archive for a caller that closes it itself.
func (a *archive) openOwn(ctx context.Context) (*transcript.DB, error) {
	open := transcript.Open
	if a.unwritable != nil {
		if err := a.unwritable(); err != nil && !a.exists() {
			return nil, fmt.Errorf("nothing is archived yet, and %w", err)
		} else if err != nil {
			open = transcript.OpenReadOnly
		}
	}
	db, err := open(ctx, a.path)
	if err != nil {
		return nil, err
	}
	if a.mask {
		db.Mask = scanner.Redact
	}
	if a.embedder != nil {
		db.Embedder, db.MeaningWeight = a.embedder(), a.weight
	}
	return db, nil
}

// exists tells whether there is an archive, without opening it.
func (a *archive) exists() bool {
	_, err := os.Stat(a.path)
	return !errors.Is(err, fs.ErrNotExist)
}

func (a *archive) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	err := errors.Join(closed(a.stale), closed(a.db))
	a.stale, a.db = nil, nil
	return err
}

// closed closes an archive, if there is one.
func closed(db *transcript.DB) error {
	if db == nil {
		return nil
	}
	return db.Close()
}
