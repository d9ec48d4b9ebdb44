package transcript

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/transcript/residue"
)

// A place is a closed archive beside which backups are kept.
type place struct{ path, backups string }

func newPlace(t *testing.T) place {
	dir := filepath.Join(t.TempDir(), "mcp")
	return place{filepath.Join(dir, "archive.db"), filepath.Join(dir, "backups")}
}

// with opens the archive for do.
func (p place) with(t *testing.T, do func(db *DB)) {
	t.Helper()
	db, err := Open(context.Background(), p.path)
	if err != nil {
		t.Fatal(err)
	}
	do(db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func (p place) restore(t *testing.T, from string, revive bool) Restored {
	t.Helper()
	done, err := Restore(context.Background(), p.path, from, p.backups, revive)
	if err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(p.path), Stages))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	return done
}

func TestABackupIsRestoredAndWhatWasThereIsKept(t *testing.T) {
	p, copied := newPlace(t), filepath.Join(t.TempDir(), "copy.db")
	var before, later map[string][]any
	p.with(t, func(db *DB) {
		rich(t, db)
		before = contents(t, db)
		if err := db.Backup(context.Background(), copied); err != nil {
			t.Fatal(err)
		}
		if err := db.Backup(context.Background(), copied); !errors.Is(err, os.ErrExist) {
			t.Errorf("a second backup over the first: %v", err)
		}
		put(t, db, "test:later", "said after the backup")
		later = contents(t, db)
	})
	// What a killed restore left behind is of no use, and goes.
	if err := os.WriteFile(filepath.Join(filepath.Dir(p.path), stagePrefix+"7"+stageSuffix+"-wal"), []byte("left"), 0o600); err != nil {
		t.Fatal(err)
	}
	done := p.restore(t, copied, false)
	if done.Sessions != 4 || done.Aside == "" || done.Damaged != nil {
		t.Errorf("%+v", done)
	}
	p.with(t, func(db *DB) {
		if got := contents(t, db); !reflect.DeepEqual(got, before) {
			t.Errorf("got %+v\nwant %+v", got, before)
		}
		put(t, db, "test:new", "the archive goes on")
	})
	p.restore(t, done.Aside, false)
	p.with(t, func(db *DB) {
		if got := contents(t, db); !reflect.DeepEqual(got, later) {
			t.Errorf("got %+v\nwant %+v", got, later)
		}
	})
}

func TestARestoreForgetsWhatWasForgottenSince(t *testing.T) {
	p, copied := newPlace(t), filepath.Join(t.TempDir(), "copy.db")
	p.with(t, func(db *DB) {
		full(t, db, "test:goes", "quokkaflange")
		full(t, db, "test:stays", "walrusbeam")
		if err := db.Backup(context.Background(), copied); err != nil {
			t.Fatal(err)
		}
		forget(t, db, Choice{Sessions: []string{"goes"}}, true)
	})
	if done := p.restore(t, copied, false); done.Forgotten != 1 || done.Sessions != 1 {
		t.Errorf("%+v", done)
	}
	if found, err := residue.Find(filepath.Dir(p.path), "quokkaflange"); err != nil || len(found) > 0 {
		t.Errorf("it stands in %v, %v", found, err)
	}
	p.with(t, func(db *DB) {
		if r, err := db.Receipts(context.Background()); err != nil || len(r) != 1 || r[0].Sessions[0] != "test:goes" {
			t.Errorf("receipts %+v, %v", r, err)
		}
		if err := db.Put(context.Background(), Session{ID: "test:goes"}, []Message{{Role: UserRole, Content: "again"}}); !errors.Is(err, ErrForgotten) {
			t.Errorf("put: %v", err)
		}
	})
	if done := p.restore(t, copied, true); done.Forgotten != 0 || done.Sessions != 2 {
		t.Errorf("%+v", done)
	}
}

func TestARestoreRefusesWhatItCannotDoAndChangesNothing(t *testing.T) {
	p, dir := newPlace(t), t.TempDir()
	good := filepath.Join(dir, "good.db")
	p.with(t, func(db *DB) {
		put(t, db, "test:here", "what is here")
		if err := db.Backup(context.Background(), good); err != nil {
			t.Fatal(err)
		}
	})
	raw, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, raw []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	torn := append([]byte(nil), raw...)
	for i := 2 * 4096; i < len(torn); i++ {
		torn[i] = 'x'
	}
	other := append([]byte(nil), raw...)
	copy(other[68:], "oops")
	newer := write("newer.db", raw)
	func() {
		db, err := Open(context.Background(), newer)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.sqlite.Read.Exec("PRAGMA query_only=0; INSERT INTO migration VALUES (999, 'later', 0)"); err != nil {
			t.Fatal(err)
		}
	}()
	for name, c := range map[string]struct {
		from string
		want error
	}{
		"a file that is not there":              {filepath.Join(dir, "nowhere.db"), os.ErrNotExist},
		"a folder":                              {dir, ErrForeign},
		"a file of text":                        {write("text.db", []byte(strings.Repeat("text ", 4000))), ErrForeign},
		"an empty file":                         {write("empty.db", nil), ErrForeign},
		"a database of another program":         {write("other.db", other), ErrForeign},
		"a backup whose pages were overwritten": {write("torn.db", torn), ErrDamaged},
		"a backup that was cut short":           {write("short.db", raw[:len(raw)/2]), ErrDamaged},
		"a backup of a newer version":           {newer, ErrNewer},
		"the archive itself":                    {p.path, nil},
	} {
		if _, err := Restore(context.Background(), p.path, c.from, p.backups, false); err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	p.with(t, func(db *DB) {
		put(t, db, "test:more", "and more")
		if _, err := Restore(context.Background(), p.path, good, p.backups, false); !errors.Is(err, ErrInUse) {
			t.Errorf("while it is open: %v", err)
		}
		if got := contents(t, db); len(got) != 2 {
			t.Errorf("%v", got)
		}
	})
}

func TestABackupTakesTheDamagedArchivesPlace(t *testing.T) {
	p := newPlace(t)
	good := filepath.Join(t.TempDir(), "good.db")
	p.with(t, func(db *DB) {
		put(t, db, "test:here", "what is here")
		if err := db.Backup(context.Background(), good); err != nil {
			t.Fatal(err)
		}
	})
	if err := os.WriteFile(p.path, []byte(strings.Repeat("not a database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	done := p.restore(t, good, false)
	if !errors.Is(done.Damaged, ErrDamaged) || done.Sessions != 1 {
		t.Errorf("%+v", done)
	}
	if raw, err := os.ReadFile(done.Aside); err != nil || !strings.HasPrefix(string(raw), "not a database") {
		t.Errorf("%s is not what was there, %v", done.Aside, err)
	}
	p.with(t, func(db *DB) {
		if got := contents(t, db); len(got) != 1 {
			t.Errorf("%v", got)
		}
	})
}

// A body's words stand in it as they are, and nothing but a sum tells of one that
// changes.
func TestABackupOfWhichOneByteChangedIsRefused(t *testing.T) {
	p, dir := newPlace(t), t.TempDir()
	good := filepath.Join(dir, "good.db")
	var want map[string][]any
	p.with(t, func(db *DB) {
		rich(t, db)
		want = contents(t, db)
		if err := db.Backup(context.Background(), good); err != nil {
			t.Fatal(err)
		}
	})
	raw, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(dir, "bad.db")
	for at := 110; at < len(raw); at += 4999 {
		raw[at] ^= 4
		if err := os.WriteFile(bad, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		raw[at] ^= 4
		if _, err := Restore(context.Background(), p.path, bad, p.backups, false); !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrForeign) {
			t.Errorf("byte %d: %v", at, err)
		}
	}
	p.with(t, func(db *DB) {
		if got := contents(t, db); !reflect.DeepEqual(got, want) {
			t.Error("the archive is another one")
		}
	})
	// What a restore keeps is as good, also once somebody has looked into it.
	done := p.restore(t, good, false)
	place{path: done.Aside}.with(t, func(*DB) {})
	if err := Seal(context.Background(), done.Aside); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(done.Aside)
	if err != nil {
		t.Fatal(err)
	}
	kept[len(kept)-100] ^= 1
	if err := os.WriteFile(bad, kept, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(context.Background(), p.path, bad, p.backups, false); !errors.Is(err, ErrDamaged) {
		t.Errorf("one that was kept: %v", err)
	}
	p.restore(t, done.Aside, false)
	p.with(t, func(db *DB) {
		if got := contents(t, db); !reflect.DeepEqual(got, want) {
			t.Error("what was kept is another archive")
		}
	})
}
