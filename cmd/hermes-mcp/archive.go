package main

import (
	"context"
	"errors"
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
	mu       sync.Mutex
	db       *transcript.DB
}

// open returns the archive, making it when there is none. A failure is tried
// again by the next call.
func (a *archive) open(ctx context.Context) (*transcript.DB, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.db != nil {
		return a.db, nil
	}
	// One caller's cancelled request must not fail the opening for the others.
	db, err := a.openOwn(context.WithoutCancel(ctx))
	if err != nil {
		return nil, err
	}
	a.db = db
	return db, nil
}

// openOwn opens the archive for a caller that closes it itself.
func (a *archive) openOwn(ctx context.Context) (*transcript.DB, error) {
	db, err := transcript.Open(ctx, a.path)
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
	if a.db == nil {
		return nil
	}
	db := a.db
	a.db = nil
	return db.Close()
}
