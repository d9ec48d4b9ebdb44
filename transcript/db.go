package transcript

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
	"github.com/hermes-mcp/hermes-mcp/transcript/index"
)

//go:embed migration/*.sql
var migrations embed.FS

// applicationID stands in the file's header, so that a stranger's database is
// not taken for an archive.
const applicationID = 0x686d6370 // "hmcp"

var (
	// ErrNewer is returned by Open when a newer hermes-mcp made the archive.
	ErrNewer = engine.ErrNewer
	// ErrDamaged is returned when the archive's file is not a sound database.
	// The error's text says what to do; nothing is written to such a file.
	ErrDamaged = engine.ErrDamaged
)

// A DB is the archive of one home. Safe for concurrent use by goroutines and
// processes. Set the fields before first use.
type DB struct {
	Now func() time.Time // time.Now when nil

	sqlite *engine.DB
	read   *sql.DB // of sqlite
	index  *index.Index
}

// Open opens or makes the archive at path, its folder too, applying
// migrations. It waits for other processes that are opening it. Errors:
// ErrNewer, ErrDamaged.
func Open(ctx context.Context, path string) (*DB, error) {
	steps, err := fs.Sub(migrations, "migration")
	if err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	db := &DB{}
	db.sqlite, err = engine.Open(ctx, path, engine.Schema{Steps: steps, ApplicationID: applicationID})
	if err != nil {
		return nil, fmt.Errorf("open archive %s: %w", path, err)
	}
	db.read = db.sqlite.Read
	db.index = index.New(db.read, db.indexTexts)
	return db, nil
}

// Close closes the archive.
func (db *DB) Close() error { return errors.Join(db.index.Close(), db.sqlite.Close()) }

// Check reads the whole archive and returns ErrDamaged when something is wrong
// with it. It takes seconds a gigabyte.
func (db *DB) Check(ctx context.Context) error { return db.sqlite.Check(ctx) }

func (db *DB) now() time.Time {
	if db.Now != nil {
		return db.Now()
	}
	return time.Now()
}

func (db *DB) update(ctx context.Context, durable bool, fn func(*engine.Tx) error) error {
	return db.sqlite.Update(ctx, durable, fn)
}

func (db *DB) explain(err error) error { return db.sqlite.Explain(err) }

// noRows tells whether err only says that a query found nothing.
func noRows(err error) bool { return errors.Is(err, sql.ErrNoRows) }
