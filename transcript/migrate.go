package transcript

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

//go:embed migration/*.sql
var migrations embed.FS

// A migration is one numbered file.
type migration struct {
	number    int
	name, sql string
}

// applicationID stands in the file's header, so that a stranger's database is
// not taken for an archive.
const applicationID = 0x686d6370 // "hmcp"

// migrate brings the schema up to date, each step in a transaction of its own
// together with its record. An archive that holds something is copied first.
func (db *DB) migrate(ctx context.Context) error {
	steps, err := migrationSteps()
	if err != nil {
		return err
	}
	last := steps[len(steps)-1].number
	have, err := db.schema(ctx)
	if err != nil || have == last {
		return err
	}
	if have > last {
		return fmt.Errorf("%w: its schema is %d, this one knows %d; update hermes-mcp", ErrNewer, have, last)
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

// apply runs one step unless another process was faster.
func (db *DB) apply(ctx context.Context, step migration) error {
	return db.update(ctx, true, func(t *tx) error {
		have, err := db.schema(t.ctx)
		if err != nil || have >= step.number {
			return err
		}
		if have == 0 {
			if _, err := db.write.ExecContext(t.ctx, fmt.Sprintf(`PRAGMA application_id=%d;
				CREATE TABLE migration (number INTEGER PRIMARY KEY, name TEXT NOT NULL, at INTEGER NOT NULL)`, applicationID)); err != nil {
				return err
			}
		}
		if _, err := db.write.ExecContext(t.ctx, step.sql); err != nil {
			return err
		}
		_, err = db.write.ExecContext(t.ctx, "INSERT INTO migration VALUES (?, ?, ?)", step.number, step.name, db.now().UnixMilli())
		return err
	})
}

// schema returns the number of the newest step applied, 0 for a new file.
func (db *DB) schema(ctx context.Context) (int, error) {
	var n, tables, id int
	err := retry(ctx, func() error {
		if err := db.write.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil || tables == 0 {
			return err
		}
		if err := db.write.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil || id != applicationID {
			return err
		}
		return db.write.QueryRowContext(ctx, "SELECT coalesce(max(number), 0) FROM migration").Scan(&n)
	})
	if err == nil && tables > 0 && id != applicationID {
		err = errors.New("the file is a database of another program; name another path")
	}
	return n, err
}

// copyBefore copies the archive beside itself, once a schema.
func (db *DB) copyBefore(ctx context.Context, have int) error {
	to := fmt.Sprintf("%s.schema-%04d", db.path, have)
	if _, err := os.Stat(to); err == nil {
		return nil
	}
	part := fmt.Sprintf("%s.%d", to, os.Getpid())
	if _, err := db.write.ExecContext(ctx, "VACUUM INTO ?", part); err != nil {
		return errors.Join(err, ignoreMissing(os.Remove(part)))
	}
	if err := os.Chmod(part, 0o600); err != nil {
		return err
	}
	return os.Rename(part, to)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// migrationSteps lists the embedded steps in order.
func migrationSteps() ([]migration, error) {
	entries, err := migrations.ReadDir("migration") // sorted by name
	if err != nil {
		return nil, err
	}
	var steps []migration
	for _, e := range entries {
		number, name, ok := strings.Cut(strings.TrimSuffix(e.Name(), ".sql"), "_")
		n, err := strconv.Atoi(number)
		if !ok || err != nil {
			return nil, fmt.Errorf("migration %s: name is not NNNN_name.sql", e.Name())
		}
		text, err := migrations.ReadFile("migration/" + e.Name())
		if err != nil {
			return nil, err
		}
		steps = append(steps, migration{n, name, string(text)})
	}
	return steps, nil
}

// noRows tells whether err only says that a query found nothing.
func noRows(err error) bool { return errors.Is(err, sql.ErrNoRows) }
