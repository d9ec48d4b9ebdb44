package source

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the driver
)

// database is another program's database, opened for reading only.
type database struct {
	*sql.DB
	path string
	rest os.FileInfo // of a database read at rest: as it was when opened
}

// errMoved is returned when a database at rest was written while it was read.
var errMoved = errors.New("database was written while it was read; read it again")

// openDatabase opens the database at path read-only. It is never created, and
// never opened with a plain open(), which would drop the locks that this
// process holds on it elsewhere. One in WAL mode without its -wal file is at
// rest: it is read as it is, because SQLite would create that file and leave
// it behind. Call settled before trusting what was read.
func openDatabase(ctx context.Context, path string) (*database, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, os.ErrNotExist) {
		return tryDatabase(ctx, path, "mode=ro")
	}
	db, err := tryDatabase(ctx, path, "mode=ro&immutable=1")
	if err != nil {
		return nil, err
	}
	var version string // of the file format, for reading; empty file: none
	err = db.QueryRowContext(ctx, "SELECT hex(substr(data, 20, 1)) FROM sqlite_dbpage WHERE pgno = 1").Scan(&version)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, errors.Join(err, db.Close())
	}
	if version == "02" { // WAL
		db.rest = st
		return db, nil
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	return tryDatabase(ctx, path, "mode=ro")
}

// settled returns errMoved when the database was at rest and is no more.
func (db *database) settled() error {
	if db.rest == nil {
		return nil
	}
	st, err := os.Stat(db.path)
	if err != nil {
		return err
	}
	if _, err := os.Stat(db.path + "-wal"); err == nil || st.Size() != db.rest.Size() || !st.ModTime().Equal(db.rest.ModTime()) {
		return errMoved
	}
	return nil
}

func tryDatabase(ctx context.Context, path, mode string) (*database, error) {
	name := filepath.ToSlash(path)
	if !strings.HasPrefix(name, "/") {
		name = "/" + name // C:/…
	}
	dsn := (&url.URL{Scheme: "file", Path: name}).String() + "?" + mode + "&_pragma=busy_timeout(5000)&_pragma=query_only(1)"
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	var n int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master").Scan(&n); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &database{DB: db, path: path}, nil
}

// columns returns the columns of a table, none when there is no such table.
func (db *database) columns(ctx context.Context, table string) (map[string]bool, error) {
	rows, err := db.QueryContext(ctx, "SELECT name FROM pragma_table_info(?)", table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	cols := map[string]bool{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		cols[name] = true
	}
	return cols, rows.Err()
}

// pick returns a SELECT list with every wanted column, NULL for those that
// this version of the table does not have.
func pick(have map[string]bool, wanted ...string) string {
	list := make([]string, len(wanted))
	for i, c := range wanted {
		if have[c] {
			list[i] = `"` + c + `"`
		} else {
			list[i] = "NULL"
		}
	}
	return strings.Join(list, ", ")
}

// isDatabase tells whether a file's name is one that databases have. The file
// is not opened to find out: see openDatabase.
func isDatabase(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".db", ".sqlite", ".sqlite3", ".vscdb":
		return true
	}
	return false
}

// rowsOf runs a query and calls fn for each row. scan takes what stands in a
// column whatever its type is, see cell: one odd row costs no other.
func (db *database) rowsOf(ctx context.Context, fn func(scan func(...any) error) error, query string, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("query: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		err := fn(func(to ...any) error {
			return rows.Scan(cells(to...)...)
		})
		if err != nil {
			return err
		}
	}
	return rows.Err()
}
