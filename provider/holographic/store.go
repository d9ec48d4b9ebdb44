package holographic

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/hermes-mcp/hermes-mcp/provider"
	"github.com/hermes-mcp/hermes-mcp/provider/holographic/hrr"
)

// A store is the file, opened when it is needed: once for reading, and once
// more for writing.
type store struct {
	path string

	mu    sync.Mutex
	ro    *sql.DB
	rw    *sql.DB
	ready bool // the schema is there
}

// dsn is the address of the file for the driver.
func (s *store) dsn(query string) (string, error) {
	abs, err := filepath.Abs(s.path)
	if err != nil {
		return "", err
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(abs), RawQuery: query}
	return u.String(), nil
}

// readable returns the file for reading, nil when there is none. It has one
// connection, so that what is cached can be tied to its data_version.
func (s *store) readable() (*sql.DB, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ro != nil {
		return s.ro, nil
	}
	info, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && info.IsDir() {
		return nil, errors.New("it is a folder where a file is needed: move it aside, or name another path")
	}
	at, err := s.dsn("mode=ro&_pragma=busy_timeout(10000)&_pragma=temp_store(memory)&_pragma=cache_size(-8000)")
	if err != nil {
		return nil, err
	}
	if s.ro, err = sql.Open("sqlite", at); err != nil {
		return nil, err
	}
	s.ro.SetMaxOpenConns(1)
	return s.ro, nil
}

//go:embed schema.sql
var schema string

// writable returns the file for writing, made when it is missing.
func (s *store) writable(ctx context.Context) (*sql.DB, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rw == nil {
		if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
			return nil, err
		}
		f, err := os.OpenFile(s.path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, err
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
		at, err := s.dsn("mode=rw&_txlock=immediate&_pragma=busy_timeout(10000)")
		if err != nil {
			return nil, err
		}
		if s.rw, err = sql.Open("sqlite", at); err != nil {
			return nil, err
		}
		s.rw.SetMaxOpenConns(1)
	}
	if !s.ready {
		if err := prepare(ctx, s.rw); err != nil {
			return nil, err
		}
		s.ready = true
	}
	return s.rw, nil
}

// prepare makes what is missing of the schema.
func prepare(ctx context.Context, db *sql.DB) error {
	var mode string
	if err := db.QueryRowContext(ctx, "PRAGMA journal_mode=WAL").Scan(&mode); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, schema)
	var has bool
	if err == nil {
		err = tx.QueryRowContext(ctx, "SELECT count(*) > 0 FROM pragma_table_info('facts') WHERE name = 'hrr_vector'").Scan(&has)
	}
	if err == nil && !has {
		_, err = tx.ExecContext(ctx, "ALTER TABLE facts ADD COLUMN hrr_vector BLOB")
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// plain says of a file that is no database what to do, in place of the driver's
// own words.
func plain(err error) error {
	var e *sqlite.Error
	if errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_NOTADB {
		return fmt.Errorf("%w: it is no SQLite database: move it aside, or name another path", errNoStore)
	}
	return err
}

var errNoStore = errors.New("no store of facts")

func (s *store) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	for _, db := range []*sql.DB{s.ro, s.rw} {
		if db != nil {
			err = errors.Join(err, db.Close())
		}
	}
	s.ro, s.rw = nil, nil
	return err
}

// A reader is the one connection for reading, held for one question.
type reader struct {
	*sql.Conn
	version int64 // changes when anybody writes
	space   *hrr.Space
	vectors string // the vector's column, or NULL where there is none
}

// A shape is what the vectors of a store are like.
type shape struct {
	version int64
	raw     bool
	space   *hrr.Space
	vectors string
}

// read asks a question. Where there is no file, or nothing in it, fn is not
// called.
func (p *Provider) read(ctx context.Context, fn func(r *reader) error) error {
	db, err := p.store.readable()
	if err != nil {
		return fmt.Errorf("open %s: %w", p.store.path, err)
	}
	if db == nil {
		return ctx.Err()
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("open %s: %w", p.store.path, plain(err))
	}
	err = p.ask(ctx, conn, fn)
	if err = errors.Join(err, conn.Close()); err != nil {
		return fmt.Errorf("read %s: %w", p.store.path, plain(err))
	}
	return nil
}

func (p *Provider) ask(ctx context.Context, conn *sql.Conn, fn func(r *reader) error) error {
	r := &reader{Conn: conn}
	if err := conn.QueryRowContext(ctx, "PRAGMA data_version").Scan(&r.version); err != nil {
		return err
	}
	var tables int
	if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master WHERE name IN ('facts', 'facts_fts', 'entities', 'fact_entities')").Scan(&tables); err != nil {
		return err
	}
	if tables == 0 {
		return nil // made by somebody, and empty still
	}
	if tables < 4 {
		return fmt.Errorf("%w: it is a database of something else", errNoStore)
	}
	p.mu.Lock()
	s := p.shape
	p.mu.Unlock()
	if s == nil || s.version != r.version {
		var err error
		if s, err = shapeOf(ctx, conn); err != nil {
			return err
		}
		s.version = r.version
		p.mu.Lock()
		p.shape = s
		p.mu.Unlock()
	}
	r.space, r.vectors = s.space, s.vectors
	return fn(r)
}

// defaultDim is the dimension of a new store.
const defaultDim = 1024

// queryer is a connection or a transaction.
type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// shapeOf looks at the newest vector.
func shapeOf(ctx context.Context, q queryer) (*shape, error) {
	s := &shape{vectors: "hrr_vector"}
	dim := defaultDim
	var has bool
	if err := q.QueryRowContext(ctx, "SELECT count(*) > 0 FROM pragma_table_info('facts') WHERE name = 'hrr_vector'").Scan(&has); err != nil {
		return nil, err
	}
	if !has {
		s.vectors = "NULL"
	} else {
		var size int
		var head []byte
		err := q.QueryRowContext(ctx, "SELECT length(hrr_vector), CAST(substr(hrr_vector, 1, 4) AS BLOB) FROM facts WHERE length(hrr_vector) >= 8 ORDER BY fact_id DESC LIMIT 1").Scan(&size, &head)
		switch {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return nil, err
		case string(head) == "HRR1" && size%4 == 0:
			dim = size/4 - 1
		case size%8 == 0:
			dim, s.raw = size/8, true
		}
	}
	s.space = hrr.NewSpace(dim)
	return s, nil
}

// write makes a change, all of it or nothing.
func (p *Provider) write(ctx context.Context, fn func(tx *writer) error) error {
	db, err := p.store.writable(ctx)
	if err != nil {
		return fmt.Errorf("%w: open %s: %w", provider.ErrNotTaken, p.store.path, err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("%w: write %s: %w", provider.ErrNotTaken, p.store.path, err)
	}
	s, err := shapeOf(ctx, tx)
	if err == nil {
		err = fn(&writer{Tx: tx, shape: s, trust: or(p.DefaultTrust, 0.5)})
	}
	if err == nil {
		err = tx.Commit()
	} else {
		err = errors.Join(err, tx.Rollback())
	}
	if err != nil {
		return fmt.Errorf("%w: write %s: %w", provider.ErrNotTaken, p.store.path, err)
	}
	return nil
}
