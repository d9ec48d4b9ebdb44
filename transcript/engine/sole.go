package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	"modernc.org/sqlite"
)

// A Sole holds a database for itself: until Close, no other process and no other
// connection reads or writes it. Those that open it wait as for a write.
type Sole struct {
	path string
	pool *sql.DB
	conn *sql.Conn
}

// Seize takes the database at path, which is there, for its caller alone, with
// what stands in its log. Errors: ErrInUse, ErrDamaged.
func Seize(ctx context.Context, path string) (*Sole, error) {
	pool, err := sql.Open("sqlite", dsn(path, "_pragma=busy_timeout(1000)", "_pragma=locking_mode(EXCLUSIVE)",
		"_pragma=synchronous(FULL)", "_pragma=temp_store(file)"))
	if err != nil {
		return nil, err
	}
	s := &Sole{path: path, pool: pool}
	s.conn, err = pool.Conn(ctx)
	if err == nil {
		err = s.lock(ctx)
	}
	if err != nil {
		if isBusy(err) {
			err = fmt.Errorf("%w: %w", ErrInUse, err)
		}
		return nil, errors.Join(explain(path, err), s.Close())
	}
	return s, nil
}

// lock ends WAL mode, which only works while nobody else has the database open,
// and takes the lock that exclusive mode then keeps.
func (s *Sole) lock(ctx context.Context) error {
	var mode string
	if err := s.conn.QueryRowContext(ctx, "PRAGMA journal_mode=DELETE").Scan(&mode); err != nil {
		return err
	}
	if mode != "delete" {
		return ErrInUse
	}
	_, err := s.conn.ExecContext(ctx, "BEGIN EXCLUSIVE; COMMIT")
	return err
}

// Close lets the others in.
func (s *Sole) Close() error {
	var err error
	if s.conn != nil {
		err = s.conn.Close()
	}
	return errors.Join(err, s.pool.Close())
}

// Copy writes what the database holds into the new file to, for its owner alone.
// Part is as for DB.Copy. Errors: ErrDamaged, fs.ErrExist.
func (s *Sole) Copy(ctx context.Context, to, part string) error {
	tmp, err := newPart(to, part)
	if err != nil {
		return err
	}
	if _, err = s.conn.ExecContext(ctx, "VACUUM INTO ?", tmp); err == nil {
		err = publish(tmp, to)
	}
	return errors.Join(explain(s.path, err), ignoreMissing(os.Remove(tmp)))
}

// Check is DB.Check. Errors: ErrDamaged.
func (s *Sole) Check(ctx context.Context) error { return check(ctx, s.conn, s.path) }

// Replace puts the content of the database from, which nobody has open, in the
// place of what is here, in one transaction.
func (s *Sole) Replace(ctx context.Context, from string) error {
	err := s.conn.Raw(func(own any) error {
		c, ok := own.(interface {
			NewRestore(string) (*sqlite.Backup, error)
		})
		if !ok {
			return errors.New("the driver copies no databases")
		}
		b, err := c.NewRestore(dsn(from))
		if err != nil {
			return err
		}
		_, err = b.Step(-1)
		return errors.Join(err, b.Finish())
	})
	return explain(s.path, err)
}
