package engine

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// Prepared runs queries that are prepared once and kept, since preparing one
// takes longer than most of them run. The texts of its queries must be few: none
// is ever dropped. Safe for concurrent use.
type Prepared struct {
	db    *sql.DB
	stmts sync.Map // query → *sql.Stmt
}

// Prepare returns what keeps queries of db prepared. Close it before db.
func Prepare(db *sql.DB) *Prepared { return &Prepared{db: db} }

// Query runs a query that returns rows.
func (p *Prepared) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	s, err := p.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(ctx, args...)
}

// Row scans the one row that a query returns into dest. Errors: sql.ErrNoRows.
func (p *Prepared) Row(ctx context.Context, query string, args []any, dest ...any) error {
	s, err := p.statement(ctx, query)
	if err != nil {
		return err
	}
	return s.QueryRowContext(ctx, args...).Scan(dest...)
}

func (p *Prepared) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	if s, ok := p.stmts.Load(query); ok {
		return s.(*sql.Stmt), nil
	}
	s, err := p.db.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	first, loaded := p.stmts.LoadOrStore(query, s)
	if loaded {
		err = s.Close() // another was faster
	}
	return first.(*sql.Stmt), err
}

// Close frees what was prepared.
func (p *Prepared) Close() error {
	var errs []error
	p.stmts.Range(func(_, s any) bool {
		errs = append(errs, s.(*sql.Stmt).Close())
		return true
	})
	p.stmts.Clear()
	return errors.Join(errs...)
}
