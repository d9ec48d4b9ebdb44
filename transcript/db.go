package transcript

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/hermes-mcp/hermes-mcp/transcript/index"
)

const (
	// patience is how long a write, or opening, waits for other processes.
	patience = 20 * time.Second
	// readers is how many searches run at once.
	readers = 4
	// minSQLite is the oldest engine that keeps its promises in WAL mode with
	// many processes.
	minSQLite = "3.51.3"
)

// ErrDamaged is returned when the archive's file is not a sound database. The
// error's text says what to do; nothing is written to such a file.
var ErrDamaged = errors.New("archive is damaged")

// A DB is the archive of one home. Safe for concurrent use by goroutines and
// processes. Set the fields before first use.
type DB struct {
	Now func() time.Time // time.Now when nil

	path string
	read *sql.DB // query only, a pool

	mu     sync.Mutex // held for one write transaction
	pool   *sql.DB    // of the one connection that writes
	write  *sql.Conn
	stmts  map[string]*sql.Stmt // of write
	strict bool                 // synchronous is FULL

	index *index.Index
}

// Open opens or makes the archive at path, its folder too, applying
// migrations. It waits for other processes that are opening it. Errors:
// ErrNewer, ErrDamaged.
func Open(ctx context.Context, path string) (*DB, error) {
	db := &DB{path: path, stmts: make(map[string]*sql.Stmt)}
	if err := makePrivate(path); err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	var err error
	if db.pool, err = sql.Open("sqlite", dsn(path, "_pragma=busy_timeout(100)", "_pragma=cache_size(-16000)",
		"_pragma=wal_autocheckpoint(16000)", "_pragma=temp_store(memory)")); err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	if db.read, err = sql.Open("sqlite", dsn(path, "_pragma=busy_timeout(5000)", "_pragma=cache_size(-8000)",
		"_pragma=query_only(1)", "_pragma=temp_store(memory)")); err != nil {
		return nil, errors.Join(fmt.Errorf("open archive: %w", err), db.pool.Close())
	}
	db.index = index.New(db.read, db.indexTexts)
	db.read.SetMaxOpenConns(readers)
	db.read.SetMaxIdleConns(readers)
	if err := db.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open archive %s: %w", path, db.explain(err)), db.Close())
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
		if mode != "wal" {
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

// Close closes the archive, checkpointing what it can without waiting.
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
	return errors.Join(append(errs, db.index.Close(), db.read.Close(), db.pool.Close())...)
}

func (db *DB) now() time.Time {
	if db.Now != nil {
		return db.Now()
	}
	return time.Now()
}

var errClosed = errors.New("archive is closed")

// update runs fn in one write transaction. It begins with the write lock, so fn
// never fails for another writer; waiting for the lock is jittered and ends
// after patience. Once begun, the transaction does not depend on ctx. durable
// says that the commit survives a power cut; without it, it survives a killed
// process. fn may run more than once and must not keep state of a failed run.
func (db *DB) update(ctx context.Context, durable bool, fn func(*tx) error) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.write == nil {
		return errClosed
	}
	if db.strict != durable {
		level := "NORMAL"
		if durable {
			level = "FULL"
		}
		if _, err := db.write.ExecContext(ctx, "PRAGMA synchronous="+level); err != nil {
			return db.explain(err)
		}
		db.strict = durable
	}
	return db.explain(retry(ctx, func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		ctx := context.WithoutCancel(ctx)
		if _, err := db.write.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
			return err
		}
		err := fn(&tx{ctx: ctx, db: db})
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

// A tx is one write transaction on the writer's connection.
type tx struct {
	ctx context.Context
	db  *DB
}

// stmt returns the prepared statement of query, made once a connection.
func (t *tx) stmt(query string) (*sql.Stmt, error) {
	if s, ok := t.db.stmts[query]; ok {
		return s, nil
	}
	s, err := t.db.write.PrepareContext(t.ctx, query)
	if err != nil {
		return nil, err
	}
	t.db.stmts[query] = s
	return s, nil
}

func (t *tx) exec(query string, args ...any) error {
	s, err := t.stmt(query)
	if err != nil {
		return err
	}
	_, err = s.ExecContext(t.ctx, args...)
	return err
}

// row runs a query of one row into dest. Errors: sql.ErrNoRows.
func (t *tx) row(query string, args []any, dest ...any) error {
	s, err := t.stmt(query)
	if err != nil {
		return err
	}
	return s.QueryRowContext(t.ctx, args...).Scan(dest...)
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

// explain puts words to a damaged file.
func (db *DB) explain(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%w: stop every hermes-mcp, move %s aside and ingest again, or restore a backup: %w", ErrDamaged, db.path, err)
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("the disk that holds %s is full: %w", db.path, err)
	}
	return err
}

// Check reads the whole archive and returns ErrDamaged when something is wrong
// with it. It takes seconds a gigabyte.
func (db *DB) Check(ctx context.Context) error {
	var verdict string
	err := db.read.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict)
	if err == nil && verdict != "ok" {
		err = fmt.Errorf("%w: %s; move %s aside and ingest again, or restore a backup", ErrDamaged, verdict, db.path)
	}
	return db.explain(err)
}

// dsn names the database file for the driver.
func dsn(path string, params ...string) string {
	p := filepath.ToSlash(path)
	if runtime.GOOS == "windows" && !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	return "file:" + (&url.URL{Path: p}).EscapedPath() + "?" + strings.Join(params, "&")
}

// ownFolder is the name of the folder that holds nothing but our files.
const ownFolder = "mcp"

// makePrivate makes the archive's folder and file for their owner alone;
// SQLite's helper files inherit the file's rights. Our own folder is narrowed
// when it is wider, another's is left alone.
func makePrivate(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if runtime.GOOS == "windows" {
		return nil
	}
	if filepath.Base(dir) == ownFolder {
		if err := narrow(dir, 0o700); err != nil {
			return err
		}
	}
	// Nobody holds a lock on a file that is not there, so making it outside
	// SQLite is safe; opening one that is there would not be.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return narrow(path, 0o600)
	}
	if err != nil {
		return err
	}
	return f.Close()
}

func narrow(path string, mode os.FileMode) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	return os.Chmod(path, mode)
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
