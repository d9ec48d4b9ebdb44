package engine

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// steps is a schema of as many steps as are given.
func steps(sqls ...string) Schema {
	fs := fstest.MapFS{}
	for i, text := range sqls {
		fs["000"+string(rune('1'+i))+"_step.sql"] = &fstest.MapFile{Data: []byte(text)}
	}
	return Schema{Steps: fs, ApplicationID: 77}
}

func open(t *testing.T, path string, s Schema) *DB {
	t.Helper()
	db, err := Open(context.Background(), path, s)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func shut(t *testing.T, db *DB) {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

const (
	first  = "CREATE TABLE a (x); INSERT INTO a VALUES (1);"
	second = "CREATE TABLE b (y); INSERT INTO b SELECT x + 1 FROM a;"
)

func TestMigratingAppliesWhatIsNewAndCopiesTheFileFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	shut(t, open(t, path, steps(first)))
	if _, err := os.Stat(path + ".schema-0001"); err == nil {
		t.Error("a new file was copied")
	}
	for range 2 { // the second time nothing is left to do
		db := open(t, path, steps(first, second))
		var y int
		if err := db.Read.QueryRow("SELECT sum(y) FROM b").Scan(&y); err != nil || y != 2 {
			t.Errorf("%d, %v", y, err)
		}
		shut(t, db)
	}
	old := open(t, path+".schema-0001", steps(first))
	defer shut(t, old)
	var tables int
	if err := old.Read.QueryRow("SELECT count(*) FROM sqlite_schema WHERE name IN ('a', 'b')").Scan(&tables); err != nil || tables != 1 {
		t.Errorf("%d tables, %v", tables, err)
	}
}

func TestAFailedStepLeavesTheFileAsItWas(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	shut(t, open(t, path, steps(first)))
	if _, err := Open(context.Background(), path, steps(first, "CREATE TABLE b (y); SELECT nonsense FROM nowhere;")); err == nil {
		t.Fatal("a broken step passed")
	}
	db := open(t, path, steps(first))
	defer shut(t, db)
	var tables int
	if err := db.Read.QueryRow("SELECT count(*) FROM sqlite_schema WHERE name = 'b'").Scan(&tables); err != nil || tables != 0 {
		t.Errorf("%d tables, %v", tables, err)
	}
}

func TestANewerFileIsRefusedWithWords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	shut(t, open(t, path, steps(first, second)))
	_, err := Open(context.Background(), path, steps(first))
	if !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "update hermes-mcp") {
		t.Errorf("%v", err)
	}
}

func TestAnotherProgramsDatabaseIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.db")
	other, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Exec("CREATE TABLE important (x)"); err != nil {
		t.Fatal(err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(context.Background(), path, steps(first)); err == nil || !strings.Contains(err.Error(), "another program") {
		t.Errorf("%v", err)
	}
}

func TestADamagedFileIsNamedInPlainWords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("this is no database ", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(context.Background(), path, steps(first)); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "ingest again") {
		t.Errorf("%v", err)
	}
}

func TestAnUpdateIsAllOrNothingAndOutlivesItsCaller(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"), steps(first))
	defer shut(t, db)
	failed := errors.New("no")
	ctx, cancel := context.WithCancel(context.Background())
	if err := db.Update(ctx, true, func(tx *Tx) error {
		if err := tx.Exec("INSERT INTO a VALUES (5)"); err != nil {
			return err
		}
		return failed
	}); !errors.Is(err, failed) {
		t.Fatal(err)
	}
	if err := db.Update(ctx, false, func(tx *Tx) error {
		cancel() // too late to matter
		return tx.Exec("INSERT INTO a VALUES (7)")
	}); err != nil {
		t.Fatal(err)
	}
	if err := db.Update(ctx, false, func(*Tx) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	var sum int
	if err := db.Read.QueryRow("SELECT sum(x) FROM a").Scan(&sum); err != nil || sum != 8 {
		t.Errorf("%d, %v", sum, err)
	}
}

func TestVersionsAreComparedByNumber(t *testing.T) {
	for _, c := range []struct {
		have string
		ok   bool
	}{{"3.51.3", true}, {"3.54.1", true}, {"4.0.0", true}, {"3.51.2", false}, {"3.9.9", false}, {"3.51", false}, {"", false}} {
		if atLeast(c.have, minSQLite) != c.ok {
			t.Errorf("%q", c.have)
		}
	}
}

func TestTheLogIsCountedUntilItIsCopiedBack(t *testing.T) {
	ctx := context.Background()
	db := open(t, filepath.Join(t.TempDir(), "a.db"), steps(first))
	defer shut(t, db)
	for _, mode := range []string{"PASSIVE", "TRUNCATE"} {
		if err := db.Update(ctx, false, func(t *Tx) error { return t.Exec("INSERT INTO a VALUES (2)") }); err != nil {
			t.Fatal(err)
		}
		if n, err := db.Logged(ctx); err != nil || n < 1 {
			t.Errorf("%d pages, %v after a write", n, err)
		}
		if err := db.Checkpoint(ctx, mode); err != nil {
			t.Fatal(err)
		}
		if n, err := db.Logged(ctx); err != nil || n != 0 {
			t.Errorf("%d pages, %v after %s", n, err, mode)
		}
	}
}
