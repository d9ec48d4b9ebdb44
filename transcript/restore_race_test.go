package transcript

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
)

func TestWhatIsArchivedDuringARestoreIsInTheArchiveOrInTheCopyOfIt(t *testing.T) {
	p, copied := newPlace(t), filepath.Join(t.TempDir(), "copy.db")
	p.with(t, func(db *DB) {
		for i := range 150 {
			put(t, db, fmt.Sprintf("test:old-%d", i), strings.Repeat(fmt.Sprintf("old words %d ", i), 200))
		}
		if err := db.Backup(t.Context(), copied); err != nil {
			t.Fatal(err)
		}
	})
	var over atomic.Bool
	var acknowledged []string
	var beside sync.WaitGroup
	beside.Go(func() {
		var last string
		for i := 0; !over.Load(); i++ {
			stages, err := filepath.Glob(filepath.Join(filepath.Dir(p.path), stagePrefix+"*"+stageSuffix))
			if err != nil {
				t.Error(err)
			}
			if len(stages) == 0 || stages[0] == last {
				last = strings.Join(stages, "")
				continue // the restore has not come so far, or was written beside already
			}
			last = stages[0]
			db, err := Open(t.Context(), p.path)
			if err != nil {
				continue // it is held
			}
			id := fmt.Sprintf("test:new-%d", i)
			if err := db.Put(t.Context(), Session{ID: id}, []Message{{UID: "1", Role: UserRole, Content: "new"}}); err == nil {
				acknowledged = append(acknowledged, id)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	for range 5 {
		if _, err := Restore(t.Context(), p.path, copied, p.backups, false); err != nil && !errors.Is(err, ErrInUse) {
			t.Error(err)
		}
	}
	over.Store(true)
	beside.Wait()
	if len(acknowledged) == 0 {
		t.Error("nothing was archived beside a restore")
	}
	found := make(map[string]bool)
	kept, err := filepath.Glob(filepath.Join(p.backups, "*.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(kept, p.path) {
		place{path, ""}.with(t, func(db *DB) {
			names, err := engine.Column[string](db.read.Query("SELECT name FROM session"))
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range names {
				found[name] = true
			}
		})
	}
	for _, id := range acknowledged {
		if !found[id] {
			t.Errorf("%s was acknowledged and is nowhere", id)
		}
	}
}

func TestTwoBackupsAtOnceMakeOneOfThemAndRefuseTheOther(t *testing.T) {
	p, to := newPlace(t), filepath.Join(t.TempDir(), "copy.db")
	p.with(t, func(db *DB) {
		put(t, db, "test:here", "what is here")
		var made atomic.Int64
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if err := db.Backup(t.Context(), to); err == nil {
					made.Add(1)
				} else if !errors.Is(err, fs.ErrExist) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if made.Load() != 1 {
			t.Errorf("%d were made", made.Load())
		}
	})
	files, err := os.ReadDir(filepath.Dir(to))
	if err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
	if info, err := files[0].Info(); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestOpeningRemovesWhatAStoppedRestoreLeft(t *testing.T) {
	p := newPlace(t)
	p.with(t, func(*DB) {})
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.WriteFile(filepath.Join(filepath.Dir(p.path), stagePrefix+"7"+stageSuffix+suffix), []byte("left"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.with(t, func(*DB) {})
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(p.path), Stages)); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestABackupThatLacksSomethingIsDamaged(t *testing.T) {
	for name, change := range map[string]string{
		"a table":                     "DROP TABLE member",
		"an index":                    "DROP INDEX message_session",
		"a body that cannot be read":  "UPDATE message SET body = x'02ffffffffff'",
		"and it has a trigger on top": "CREATE TRIGGER t AFTER INSERT ON session BEGIN DELETE FROM session; END",
	} {
		t.Run(name, func(t *testing.T) {
			p, copied := newPlace(t), filepath.Join(t.TempDir(), "copy.db")
			p.with(t, func(db *DB) {
				put(t, db, "test:here", "what is here")
				if err := db.Backup(context.Background(), copied); err != nil {
					t.Fatal(err)
				}
			})
			place{copied, ""}.with(t, func(db *DB) {
				if _, err := db.read.Exec("PRAGMA query_only=0; " + change); err != nil {
					t.Fatal(err)
				}
				if err := db.Backup(context.Background(), copied+".again"); !errors.Is(err, ErrDamaged) {
					t.Errorf("a backup of it: %v", err)
				}
			})
			if _, err := Restore(context.Background(), p.path, copied, p.backups, false); !errors.Is(err, ErrDamaged) {
				t.Errorf("%v", err)
			}
			p.with(t, func(db *DB) {
				if got := contents(t, db); len(got) != 1 {
					t.Errorf("%v", got)
				}
			})
		})
	}
}

func TestTheNetSizeIsThatOfTheArchiveWrittenAnew(t *testing.T) {
	newPlace(t).with(t, func(db *DB) {
		for i := range 60 {
			words := ""
			for j := range 100 {
				words += fmt.Sprintf("%x ", sha256.Sum256([]byte{byte(i), byte(j)}))
			}
			put(t, db, fmt.Sprintf("test:%d", i), words)
		}
		if err := db.update(t.Context(), true, func(tx *engine.Tx) error { return tx.Exec("DELETE FROM message") }); err != nil {
			t.Fatal(err)
		}
		before, err := db.FileSize(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		net, err := db.NetSize(t.Context())
		if err != nil || net >= before {
			t.Errorf("net %d of %d, %v", net, before, err)
		}
		if err := db.sqlite.Checkpoint(t.Context(), "TRUNCATE"); err != nil {
			t.Fatal(err)
		}
		if now, err := db.FileSize(t.Context()); err != nil || now != before {
			t.Errorf("with an empty log %d, before %d, %v", now, before, err)
		}
		if err := db.Scrub(t.Context()); err != nil {
			t.Fatal(err)
		}
		net, err = db.NetSize(t.Context())
		if after, sizeErr := db.FileSize(t.Context()); err != nil || sizeErr != nil || net != after {
			t.Errorf("net %d, %v; takes %d, %v", net, err, after, sizeErr)
		}
	})
}
