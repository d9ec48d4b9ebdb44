package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// ErrReadOnly is returned by what writes to a database that OpenReadOnly opened.
var ErrReadOnly = errors.New("archive is open for reading only")

// OpenReadOnly opens the database at path, which is there, where this process may
// write neither it nor its folder. Reading works and makes nothing; what writes
// returns ErrReadOnly. Errors: ErrNewer, ErrDamaged, and ErrReadOnly for one that
// has to be written before it can be read.
//
// A database that nobody has open is read as a file that does not change. When
// somebody who may write it does, Stale tells so, and it is to be opened again.
func OpenReadOnly(ctx context.Context, path string, schema Schema) (*DB, error) {
	db := &DB{Path: path, schema: schema, readOnly: true}
	params := []string{"mode=ro", "_pragma=busy_timeout(5000)", "_pragma=cache_size(-8000)", "_pragma=query_only(1)", "_pragma=temp_store(memory)"}
	_, shared := os.Stat(path + "-shm")
	log, err := os.Stat(path + "-wal")
	switch {
	case err == nil && shared == nil:
		// Somebody has it open, or did not come to close it: its log is read too.
	case err == nil && log.Size() > 0:
		return nil, fmt.Errorf("%w: what was written last stands in %s-wal and can only be taken in where the folder may be written: run hermes-mcp status there once", ErrReadOnly, path)
	default:
		if db.still, err = os.Stat(path); err != nil {
			return nil, err
		}
		params = append(params, "immutable=1")
	}
	if db.Read, err = sql.Open("sqlite", dsn(path, params...)); err != nil {
		return nil, err
	}
	db.Read.SetMaxOpenConns(Readers)
	db.Read.SetMaxIdleConns(Readers)
	if err := db.current(ctx); err != nil {
		var e *sqlite.Error
		if errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_CANTOPEN {
			err = fmt.Errorf("%s cannot be read: see to whom it belongs: %w", path, cleared{err})
		} else {
			err = db.Explain(err)
		}
		return nil, errors.Join(err, db.Read.Close())
	}
	return db, nil
}

// current tells a database of another schema from one that can be read as it is.
func (db *DB) current(ctx context.Context) error {
	steps, err := db.schema.steps()
	if err != nil {
		return err
	}
	last := steps[len(steps)-1].number
	have, err := db.version(ctx, db.Read)
	switch {
	case err != nil:
		return err
	case have > last:
		return newer(have, last)
	case have < last:
		return fmt.Errorf("%w: it was made by an older hermes-mcp and is to be brought up to date: run hermes-mcp status once where its folder may be written", ErrReadOnly)
	}
	return nil
}

// Stale tells whether a database that was read as unchanging has been written.
func (db *DB) Stale() bool {
	if db.still == nil {
		return false
	}
	now, err := os.Stat(db.Path)
	if err != nil || now.Size() != db.still.Size() || !now.ModTime().Equal(db.still.ModTime()) {
		return true
	}
	log, err := os.Stat(db.Path + "-wal")
	return err == nil && log.Size() > 0
}

// unwritten is why there is no connection that writes.
func (db *DB) unwritten() error {
	if db.readOnly {
		return fmt.Errorf("%w: nothing is recorded in %s", ErrReadOnly, db.Path)
	}
	return ErrClosed
}
