package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Update runs fn in one write transaction. It begins with the write lock, so fn
// never fails for another writer; waiting for the lock is jittered and ends
// after patience. Once begun, the transaction does not depend on ctx. durable
// says that the commit survives a power cut; without it, it survives a killed
// process. fn may run more than once and must not keep state of a failed run.
func (db *DB) Update(ctx context.Context, durable bool, fn func(*Tx) error) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.write == nil {
		return db.unwritten()
	}
	if db.strict != durable {
		level := "NORMAL"
		if durable {
			level = "FULL"
		}
		if _, err := db.write.ExecContext(ctx, "PRAGMA synchronous="+level); err != nil {
			return db.Explain(err)
		}
		db.strict = durable
	}
	return db.Explain(retry(ctx, func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		ctx := context.WithoutCancel(ctx)
		if err := db.begin(ctx); err != nil {
			return err
		}
		err := fn(&Tx{Ctx: ctx, db: db})
		if err == nil {
			_, err = db.write.ExecContext(ctx, "COMMIT")
		}
		if err != nil {
			if _, undo := db.write.ExecContext(ctx, "ROLLBACK"); undo != nil && !strings.Contains(undo.Error(), "no transaction") {
				err = errors.Join(err, undo)
			}
		}
		return err
	}))
}

const (
	// eager is how long a writer asks again and again for the write lock, so
	// often that it does not miss a gap between two transactions of a bulk load.
	eager      = 300 * time.Millisecond
	eagerEvery = 2 * time.Millisecond
	// Gap is what a bulk load leaves between two transactions to other
	// processes.
	Gap = 2 * eagerEvery
)

// begin takes the write lock. SQLite's own waiting sleeps too long to see a gap.
func (db *DB) begin(ctx context.Context) error {
	for start := time.Now(); ; time.Sleep(eagerEvery) {
		_, err := db.write.ExecContext(ctx, "BEGIN IMMEDIATE")
		if !isBusy(err) || time.Since(start) > eager {
			return err
		}
	}
}

// A Tx is one write transaction on the writer's connection.
type Tx struct {
	Ctx context.Context // does not end with the caller's
	db  *DB
}

// Stmt returns the prepared statement of query, made once a connection.
func (t *Tx) Stmt(query string) (*sql.Stmt, error) {
	if s, ok := t.db.stmts[query]; ok {
		return s, nil
	}
	s, err := t.db.write.PrepareContext(t.Ctx, query)
	if err != nil {
		return nil, err
	}
	t.db.stmts[query] = s
	return s, nil
}

// Exec runs a statement without rows.
func (t *Tx) Exec(query string, args ...any) error {
	s, err := t.Stmt(query)
	if err != nil {
		return err
	}
	_, err = s.ExecContext(t.Ctx, args...)
	return err
}

// Row runs a query of one row into dest. Errors: sql.ErrNoRows.
func (t *Tx) Row(query string, args []any, dest ...any) error {
	s, err := t.Stmt(query)
	if err != nil {
		return err
	}
	return s.QueryRowContext(t.Ctx, args...).Scan(dest...)
}

// retry runs fn until it does something other than find the database locked.
func retry(ctx context.Context, fn func() error) error {
	deadline := time.Now().Add(patience)
	for {
		err := fn()
		if !isBusy(err) {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("another process held the archive's lock for %s; the archive is healthy, try again: %w", patience, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(20+rand.IntN(130)) * time.Millisecond):
		}
	}
}

// isBusy tells whether err means that another process is in the way.
func isBusy(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return true
	}
	return false
}

// Explain puts words to a file that is damaged, cannot be written, or has no
// room.
func (db *DB) Explain(err error) error { return explain(db.Path, err) }

func explain(path string, err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%w: stop every hermes-mcp, then hermes-mcp archive restore BACKUP; without a backup move %s aside and ingest again: %w", ErrDamaged, path, cleared{err})
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("the disk that holds %s is full: %w", path, cleared{err})
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN:
		return fmt.Errorf("%s or its folder cannot be opened for writing: see to whom they belong and whether the disk is read-only: %w", path, cleared{err})
	case sqlite3.SQLITE_IOERR:
		if e.Code() == sqlite3.SQLITE_IOERR_WRITE {
			return fmt.Errorf("%s could not be written: the disk may be full, or a limit on its use or on the size of files be reached: %w", path, cleared{err})
		}
	}
	return cleared{err}
}

// cleared is an error of SQLite without what the driver puts in front of all
// that goes wrong while it opens a file.
type cleared struct{ err error }

func (c cleared) Error() string {
	return strings.ReplaceAll(c.err.Error(), "automatic extension loading failed: ", "")
}

func (c cleared) Unwrap() error { return c.err }

// Logged returns how many pages of the log wait for a checkpoint.
func (db *DB) Logged(ctx context.Context) (pages int, err error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.write == nil {
		return 0, db.unwritten()
	}
	var busy, log, done int
	err = db.write.QueryRowContext(ctx, "PRAGMA wal_checkpoint(NOOP)").Scan(&busy, &log, &done)
	if isBusy(err) {
		return 0, nil
	}
	return log - done, db.Explain(err)
}

// Checkpoint copies the log back as far as no reader is in the way. PASSIVE
// waits for nobody; TRUNCATE, which also makes the file short, gives up when
// somebody reads.
func (db *DB) Checkpoint(ctx context.Context, mode string) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.write == nil {
		return db.unwritten()
	}
	var busy, log, done int
	err := db.write.QueryRowContext(ctx, "PRAGMA wal_checkpoint("+mode+")").Scan(&busy, &log, &done)
	if isBusy(err) {
		return nil
	}
	return db.Explain(err)
}

// Column reads the first column of rows and closes them.
func Column[T any](rows *sql.Rows, err error) ([]T, error) {
	if err != nil {
		return nil, err
	}
	var out []T
	for rows.Next() {
		var v T
		if err := rows.Scan(&v); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		out = append(out, v)
	}
	return out, errors.Join(rows.Err(), rows.Close())
}
