package engine

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

var (
	// ErrInUse is returned when another process has the archive open.
	ErrInUse = errors.New("another process has the archive open")
	// ErrForeign is returned for a file that is no archive.
	ErrForeign = errors.New("not an archive")
)

// Copy writes the database as it is now into a new file, for its owner alone,
// while others read and write. It is there whole, checked, sealed and on the disk,
// or not at all; while it is being written it has the name of to with part and what
// tells it from every other behind it. Errors: fs.ErrExist, ErrDamaged.
func (db *DB) Copy(ctx context.Context, to, part string) error {
	tmp, err := newPart(to, part)
	if err != nil {
		return err
	}
	err = explain(db.Path, CopyFile(ctx, db.Path, tmp))
	if err == nil {
		_, err = db.schema.Inspect(ctx, tmp)
	}
	if err == nil {
		err = Seal(ctx, tmp)
	}
	if err == nil {
		err = publish(tmp, to)
	}
	return errors.Join(err, ignoreMissing(os.Remove(tmp)))
}

// newPart makes the empty file of a copy that is to become to: nobody else's.
func newPart(to, part string) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(to), filepath.Base(to)+part+"-*")
	if err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}

// publish gives the whole file tmp its name, which nothing may have yet. Errors:
// fs.ErrExist.
func publish(tmp, to string) error {
	if err := syncFile(tmp); err != nil {
		return err
	}
	err := os.Link(tmp, to) // unlike a rename, it does not replace
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	// A file system without links: the name is taken first.
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err = errors.Join(f.Close(), os.Rename(tmp, to)); err != nil {
		err = errors.Join(err, os.Remove(to))
	}
	return err
}

// CopyFile writes what the database from holds into the file to, for its owner
// alone, over whatever is there. It has a connection of its own: nobody waits.
func CopyFile(ctx context.Context, from, to string) error {
	own, err := sql.Open("sqlite", dsn(from, "mode=ro", "_pragma=busy_timeout(5000)", "_pragma=temp_store(file)"))
	if err != nil {
		return err
	}
	err = retry(ctx, func() error {
		if err := empty(to); err != nil {
			return err
		}
		_, err := own.ExecContext(ctx, "VACUUM INTO ?", to)
		return err
	})
	return errors.Join(err, own.Close())
}

// empty makes path an empty file that only its owner may read, before anything
// stands in it.
func empty(path string) error {
	if err := ignoreMissing(os.Remove(path)); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
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
	if err := s.sealed(path); err != nil {
		return 0, fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
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
	if err := s.compare(ctx, db, number); err != nil {
		return number, fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
	}
	if s.Sound != nil {
		if err := s.Sound(ctx, db); err != nil {
			return number, fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
		}
	}
	return number, nil
}

// compare tells what of the schema with that number is missing in db, or stands
// there and runs code of its own.
func (s Schema) compare(ctx context.Context, db *sql.DB, number int) (err error) {
	fresh, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fresh.Close()) }()
	fresh.SetMaxOpenConns(1) // each connection has a memory of its own
	steps, err := s.steps()
	if err != nil {
		return err
	}
	for _, step := range steps[:number] {
		if _, err := fresh.ExecContext(ctx, step.sql); err != nil {
			return err
		}
	}
	want, err := objects(ctx, fresh)
	if err != nil {
		return err
	}
	have, err := objects(ctx, db)
	if err != nil {
		return err
	}
	for name, kind := range want {
		if have[name] != kind {
			return fmt.Errorf("the %s %s is missing", kind, name)
		}
	}
	for name, kind := range have {
		if want[name] == "" && (kind == "trigger" || kind == "view") {
			return fmt.Errorf("the %s %s is none of an archive's", kind, name)
		}
	}
	return nil
}

// objects lists what a database consists of: kinds by name.
func objects(ctx context.Context, db *sql.DB) (all map[string]string, err error) {
	rows, err := db.QueryContext(ctx, "SELECT name, type FROM sqlite_schema")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	all = make(map[string]string)
	for rows.Next() {
		var name, kind string
		if err := rows.Scan(&name, &kind); err != nil {
			return nil, err
		}
		all[name] = kind
	}
	return all, rows.Err()
}

// Made tells whether path is a database of this schema, sound or not, by its
// header. Nobody in this process may have it open.
func (s Schema) Made(path string) (bool, error) {
	head, err := header(path)
	return len(head) == headerSize && string(head[:16]) == magic && int32(binary.BigEndian.Uint32(head[applicationAt:])) == s.ApplicationID, err
}

// The header of a database, as https://sqlite.org/fileformat2.html gives it.
const (
	magic         = "SQLite format 3\x00"
	sealAt        = 60 // user_version
	applicationAt = 68
	headerSize    = applicationAt + 4 // as much of it as is looked at
	wholeHeader   = 100
)

// header returns the first bytes of a file, fewer when there are no more.
func header(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	head := make([]byte, headerSize)
	n, err := io.ReadFull(f, head)
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return head[:n], errors.Join(err, f.Close())
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
	head, err := header(path)
	if err != nil {
		return err
	}
	if len(head) < len(magic) || string(head[:len(magic)]) != magic {
		return fmt.Errorf("%w: %s is no database", ErrForeign, path)
	}
	return nil
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
