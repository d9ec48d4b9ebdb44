package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"
)

// A migration is one numbered file.
type migration struct {
	number    int
	name, sql string
}

// migrate brings the schema up to date, each step in a transaction of its own
// together with its record. An archive that holds something is copied first.
func (db *DB) migrate(ctx context.Context) error {
	steps, err := db.schema.steps()
	if err != nil {
		return err
	}
	last := steps[len(steps)-1].number
	have, err := db.version(ctx, db.write)
	if err != nil || have == last {
		return err
	}
	if have > last {
		return newer(have, last)
	}
	if have > 0 {
		if err := db.copyBefore(ctx, have); err != nil {
			return fmt.Errorf("copy before migrating: %w", err)
		}
	}
	for _, step := range steps {
		if err := db.apply(ctx, step); err != nil {
			return fmt.Errorf("migrate to %04d_%s: %w", step.number, step.name, err)
		}
	}
	return nil
}

func newer(have, last int) error {
	return fmt.Errorf("%w: its schema is %d, this one knows %d; update hermes-mcp", ErrNewer, have, last)
}

// apply runs one step unless another process was faster.
func (db *DB) apply(ctx context.Context, step migration) error {
	return db.Update(ctx, true, func(t *Tx) error {
		have, err := db.version(t.Ctx, db.write)
		if err != nil || have >= step.number {
			return err
		}
		if have == 0 {
			if _, err := db.write.ExecContext(t.Ctx, fmt.Sprintf(`PRAGMA application_id=%d;
				CREATE TABLE migration (number INTEGER PRIMARY KEY, name TEXT NOT NULL, at INTEGER NOT NULL)`, db.schema.ApplicationID)); err != nil {
				return err
			}
		}
		if _, err := db.write.ExecContext(t.Ctx, step.sql); err != nil {
			return err
		}
		_, err = db.write.ExecContext(t.Ctx, "INSERT INTO migration VALUES (?, ?, ?)", step.number, step.name, time.Now().UnixMilli())
		return err
	})
}

// version returns the number of the newest step applied, 0 for a new file.
func (db *DB) version(ctx context.Context, in asker) (int, error) {
	var n, tables int
	var id int32
	err := retry(ctx, func() error {
		if err := in.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil || tables == 0 {
			return err
		}
		if err := in.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil || id != db.schema.ApplicationID {
			return err
		}
		return in.QueryRowContext(ctx, "SELECT coalesce(max(number), 0) FROM migration").Scan(&n)
	})
	if err == nil && tables > 0 && id != db.schema.ApplicationID {
		err = errors.New("the file is a database of another program; name another path")
	}
	return n, err
}

// copyBefore copies the archive beside itself, once a schema.
func (db *DB) copyBefore(ctx context.Context, have int) error {
	to := fmt.Sprintf("%s.schema-%04d", db.Path, have)
	if _, err := os.Stat(to); err == nil {
		return nil
	}
	part := fmt.Sprintf("%s.%d", to, os.Getpid())
	if err := empty(part); err != nil {
		return err
	}
	if _, err := db.write.ExecContext(ctx, "VACUUM INTO ?", part); err != nil {
		return errors.Join(err, ignoreMissing(os.Remove(part)))
	}
	return os.Rename(part, to)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// steps lists the steps in order.
func (s Schema) steps() ([]migration, error) {
	entries, err := fs.ReadDir(s.Steps, ".") // sorted by name
	if err != nil {
		return nil, err
	}
	var steps []migration
	for _, e := range entries {
		number, name, ok := strings.Cut(strings.TrimSuffix(e.Name(), ".sql"), "_")
		n, err := strconv.Atoi(number)
		if !ok || err != nil || n != len(steps)+1 {
			return nil, fmt.Errorf("migration %s: the name should be %04d_name.sql", e.Name(), len(steps)+1)
		}
		text, err := fs.ReadFile(s.Steps, e.Name())
		if err != nil {
			return nil, err
		}
		steps = append(steps, migration{n, name, string(text)})
	}
	return steps, nil
}
