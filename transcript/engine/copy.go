package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
)

var (
	// ErrInUse is returned when another process has the archive open.
	ErrInUse = errors.New("another process has the archive open")
	// ErrForeign is returned for a file that is no archive.
	ErrForeign = errors.New("not an archive")
)

// Copy writes the database as it is now into a new file, for its owner alone,
// while others read and write. It is there whole, checked and on the disk, or
// not at all; part names the file while it is being written.
func (db *DB) Copy(ctx context.Context, to, part string) error {
	err := db.Explain(CopyFile(ctx, db.Path, part))
	if err == nil {
		_, err = db.schema.Inspect(ctx, part)
	}
	if err == nil {
		err = syncFile(part)
	}
	if err == nil {
		err = os.Link(part, to) // unlike a rename, it does not replace
		if err != nil && !errors.Is(err, os.ErrExist) {
			return os.Rename(part, to) // a file system without links
		}
	}
	return errors.Join(err, ignoreMissing(os.Remove(part)))
}

// CopyFile writes what the database from holds into the file to, for its owner
// alone, over whatever is there. It has a connection of its own: nobody waits.
func CopyFile(ctx context.Context, from, to string) error {
	own, err := sql.Open("sqlite", dsn(from, "mode=ro", "_pragma=busy_timeout(5000)", "_pragma=temp_store(file)"))
	if err != nil {
		return err
	}
	if err := ignoreMissing(os.Remove(to)); err != nil {
		return errors.Join(err, own.Close())
	}
	err = retry(ctx, func() error {
		_, err := own.ExecContext(ctx, "VACUUM INTO ?", to)
		return err
	})
	if err = errors.Join(err, own.Close()); err != nil {
		return err
	}
	return os.Chmod(to, 0o600)
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Inspect reads a database that nobody has open from end to end, changes nothing
// and returns the number of its schema. Errors: ErrForeign, ErrDamaged, ErrNewer.
func (s Schema) Inspect(ctx context.Context, path string) (number int, err error) {
	if err := looksLike(path); err != nil {
		return 0, err
	}
	steps, err := s.steps()
	if err != nil {
		return 0, err
	}
	db, err := sql.Open("sqlite", dsn(path, "mode=ro", "_pragma=busy_timeout(5000)"))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var id int32
	if err := db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil {
		return 0, fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
	}
	if id != s.ApplicationID {
		return 0, fmt.Errorf("%w: %s is a database of another program", ErrForeign, path)
	}
	if err := db.QueryRowContext(ctx, "SELECT coalesce(max(number), 0) FROM migration").Scan(&number); err != nil {
		return 0, fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
	}
	if last := steps[len(steps)-1].number; number > last {
		return number, fmt.Errorf("%w: the schema of %s is %d, this one knows %d; update hermes-mcp", ErrNewer, path, number, last)
	}
	var verdict string
	err = db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&verdict)
	if err == nil && verdict != "ok" {
		err = errors.New(verdict)
	}
	if err != nil {
		return number, fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
	}
	return number, nil
}

// looksLike judges a file by its first bytes.
func looksLike(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%w: %s is no file", ErrForeign, path)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	head := make([]byte, 16)
	n, readErr := f.Read(head)
	if err := f.Close(); err != nil {
		return err
	}
	if readErr != nil || string(head[:n]) != "SQLite format 3\x00" {
		return fmt.Errorf("%w: %s is no database", ErrForeign, path)
	}
	return nil
}

// Replace puts the content of the database from, which nobody has open, in the
// place of that at path, in one transaction. Errors: ErrInUse; then nothing was
// changed.
func Replace(ctx context.Context, path, from string) error {
	if err := Alone(ctx, path); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", dsn(from))
	if err != nil {
		return err
	}
	err = withConn(ctx, db, func(own any) error {
		c, ok := own.(interface {
			NewBackup(string) (*sqlite.Backup, error)
		})
		if !ok {
			return errors.New("the driver copies no databases")
		}
		b, err := c.NewBackup(dsn(path, "_pragma=busy_timeout(2000)", "_pragma=synchronous(FULL)"))
		if err != nil {
			return err
		}
		_, err = b.Step(-1)
		return errors.Join(err, b.Finish())
	})
	if isBusy(err) {
		err = fmt.Errorf("%w: %w", ErrInUse, err)
	}
	return errors.Join(err, db.Close())
}

func withConn(ctx context.Context, db *sql.DB, fn func(own any) error) error {
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	return errors.Join(c.Raw(fn), c.Close())
}

// Alone copies the log of the database at path back and removes it, which only
// works while nobody else has it open. Errors: ErrInUse.
func Alone(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", dsn(path, "_pragma=busy_timeout(1000)"))
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	var mode string
	err = db.QueryRowContext(ctx, "PRAGMA journal_mode=DELETE").Scan(&mode)
	if isBusy(err) || err == nil && mode != "delete" {
		err = ErrInUse
	}
	return errors.Join(err, db.Close())
}

// Aside moves a database that cannot be read out of the way, with its log, and
// returns where it is now.
func Aside(path, folder string) (string, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	to := filepath.Join(folder, "damaged-"+time.Now().Format("20060102-150405")+filepath.Ext(path))
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if err := ignoreMissing(os.Rename(path+suffix, to+suffix)); err != nil {
			return "", err
		}
	}
	return to, os.Rename(path, to)
}
