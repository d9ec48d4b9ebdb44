// Package engine opens one SQLite database that many processes share, and keeps
// it: schema, one writer, a pool of readers, damage told in plain words.
//
// It knows nothing of what is stored. The caller names the migrations, the
// application id in the file's header, and nothing else.
//
// # Locking
//
// One connection writes, under a mutex and BEGIN IMMEDIATE; waiting for other
// processes is jittered and ends after twenty seconds. Readers have connections
// of their own and never wait for writers (WAL). Opening waits, too.
//
// Where nothing may be written, OpenReadOnly reads the database as it is, without
// a connection that writes.
//
// # What is never done
//
// The file is never opened outside SQLite once it is there: closing it would
// drop the locks that this process holds on it.
package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver
)

const (
	// patience is how long a write, or opening, waits for other processes.
	patience = 20 * time.Second
	// Readers is how many connections read at once.
	Readers = 4
	// minSQLite is the oldest engine that keeps its promises in WAL mode with
	// many processes.
	minSQLite = "3.51.3"
)

var (
	// ErrNewer is returned by Open when a newer program made the file.
	ErrNewer = errors.New("archive was made by a newer version")
	// ErrDamaged is returned when the file is not a sound database. The
	// error's text says what to do; nothing is written to such a file.
	ErrDamaged = errors.New("archive is damaged")
	// ErrClosed is returned by what needs an open database.
	ErrClosed = errors.New("archive is closed")
)

// A Schema says what the database is.
type Schema struct {
	Steps         fs.FS // NNNN_name.sql, numbered from 1 without gaps
	ApplicationID int32 // in the file's header; a file with another is refused
	// Sound reads what is stored for Inspect and returns what is wrong with it; nil
	// leaves that to SQLite.
	Sound func(ctx context.Context, db *sql.DB) error
}

// A DB is an open database. Safe for concurrent use by goroutines and processes.
type DB struct {
	Path string
	Read *sql.DB // query only, a pool of Readers

	schema Schema
	mu     sync.Mutex // held for one write transaction
	pool   *sql.DB    // of the one connection that writes
	write  *sql.Conn
	stmts  map[string]*sql.Stmt // of write
	strict bool                 // synchronous is FULL

	readOnly bool
	still    fs.FileInfo // of a file that is read as unchanging; else nil
}

// Open opens or makes the database at path, its folder too, and applies the
// schema's steps. It waits for other processes that are opening it. Errors:
// ErrNewer, ErrDamaged.
func Open(ctx context.Context, path string, schema Schema) (*DB, error) {
	db := &DB{Path: path, schema: schema, stmts: make(map[string]*sql.Stmt)}
	if err := makePrivate(path); err != nil {
		return nil, err
	}
	var err error
	if db.pool, err = sql.Open("sqlite", dsn(path, "_pragma=busy_timeout(1)", "_pragma=cache_size(-16000)",
		"_pragma=wal_autocheckpoint(16000)", "_pragma=temp_store(memory)")); err != nil {
		return nil, err
	}
	if db.Read, err = sql.Open("sqlite", dsn(path, "_pragma=busy_timeout(5000)", "_pragma=cache_size(-8000)",
		"_pragma=query_only(1)", "_pragma=temp_store(memory)")); err != nil {
		return nil, errors.Join(err, db.pool.Close())
	}
	db.Read.SetMaxOpenConns(Readers)
	db.Read.SetMaxIdleConns(Readers)
	if err := db.start(ctx); err != nil {
		return nil, errors.Join(db.Explain(err), db.Close())
	}
	return db, nil
}

// start connects the writer, switches to WAL and migrates.
func (db *DB) start(ctx context.Context) error {
	err := retry(ctx, func() (err error) {
		if db.write == nil {
			db.write, err = db.pool.Conn(ctx)
			if err != nil {
				return err
			}
		}
		var mode string
		if err := db.write.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode); err != nil {
			return err
		}
		if mode != "wal" { // a new one, or a copy, which is one no more
			if _, err := db.write.ExecContext(ctx, "PRAGMA user_version=0"); err != nil {
				return err
			}
			return db.write.QueryRowContext(ctx, "PRAGMA journal_mode=WAL").Scan(&mode)
		}
		return nil
	})
	if err != nil {
		return err
	}
	var version string
	if err := db.write.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version); err != nil {
		return err
	}
	if !atLeast(version, minSQLite) {
		return fmt.Errorf("built with SQLite %s; %s or newer is needed", version, minSQLite)
	}
	return db.migrate(ctx)
}

// Close closes the database, checkpointing what it can without waiting.
func (db *DB) Close() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	var errs []error
	for _, s := range db.stmts {
		errs = append(errs, s.Close())
	}
	db.stmts = nil
	if db.write != nil {
		errs = append(errs, db.write.Close())
		db.write = nil
	}
	if db.pool != nil {
		errs = append(errs, db.pool.Close())
	}
	return errors.Join(append(errs, db.Read.Close())...)
}

// Check reads the whole archive and returns ErrDamaged when something is wrong
// with it. It takes seconds a gigabyte.
func (db *DB) Check(ctx context.Context) error { return check(ctx, db.Read, db.Path) }

// An asker is a connection, or a pool of them.
type asker interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

func check(ctx context.Context, in asker, path string) error {
	var verdict string
	err := in.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict)
	if err == nil && verdict != "ok" {
		err = fmt.Errorf("%w: %s; move %s aside and ingest again, or restore a backup", ErrDamaged, verdict, path)
	}
	return explain(path, err)
}

// atLeast compares dotted versions.
func atLeast(have, want string) bool {
	h, w := strings.Split(have, "."), strings.Split(want, ".")
	for i := range w {
		if i >= len(h) {
			return false
		}
		a, errA := strconv.Atoi(h[i])
		b, errB := strconv.Atoi(w[i])
		if errA != nil || errB != nil || a != b {
			return errA == nil && errB == nil && a > b
		}
	}
	return true
}
