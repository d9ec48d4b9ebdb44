package transcript

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
	"github.com/hermes-mcp/hermes-mcp/transcript/record"
	"github.com/hermes-mcp/hermes-mcp/transcript/removal"
)

var (
	// ErrInUse is returned by Restore while another process has the archive open.
	ErrInUse = engine.ErrInUse
	// ErrForeign is returned by Restore for a file that is no archive.
	ErrForeign = engine.ErrForeign
)

// Names of files that exist only while a backup or a restore is made. What a
// kill leaves of them is of no use.
const (
	PartSuffix  = ".part"
	stagePrefix = "restore-"
	stageSuffix = ".stage"
	// Stages is the pattern of the latter, beside the archive.
	Stages = stagePrefix + "*" + stageSuffix + "*"
)

// Backup writes the archive as it is now into a new file, while others read and
// write, and checks it to the last message. The file is there whole or not at
// all. Errors: fs.ErrExist, ErrDamaged.
func (db *DB) Backup(ctx context.Context, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	if err := db.sqlite.Copy(ctx, to, PartSuffix); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	return nil
}

// Seal notes in a backup that nobody has open what its bytes are now, so that
// Restore refuses it when one of them changes. Backup does so itself; opening a
// backup as an archive takes the seal off.
func Seal(ctx context.Context, path string) error {
	if err := engine.Seal(ctx, path); err != nil {
		return fmt.Errorf("seal backup: %w", err)
	}
	return nil
}

// Copies lists the files below folder that are archives, whatever their names,
// other than the one at path. Errors say what could not be looked at.
func Copies(folder, path string) (found []string, failed error) {
	schema, err := archiveSchema()
	if err != nil {
		return nil, err
	}
	here, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(folder, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			failed = errors.Join(failed, err)
			return nil // on with the rest
		}
		info, err := os.Stat(at) // what a link leads to
		if err != nil || !info.Mode().IsRegular() || os.SameFile(here, info) {
			return nil // it went, or is no file of its own
		}
		made, err := schema.Made(at)
		if failed = errors.Join(failed, err); made {
			found = append(found, at)
		}
		return nil
	})
	return found, errors.Join(failed, err)
}

// A Restored says what a restore brought.
type Restored struct {
	Sessions  int
	Messages  int
	Schema    int    // of the backup
	Forgotten int    // sessions of the backup that were left out, since they were forgotten
	Aside     string // where the archive is now that was there before; "" when it was empty
	Damaged   error  // why the archive that was there could not be read; what was forgotten in it is not known
}

// Restore puts the backup from into the place of the archive at path, after it
// was checked, and keeps what was there in the folder aside. What was forgotten
// since the backup was made is forgotten in it too, unless revive. Until it
// returns, and whenever it is stopped, the archive is the old one or the new one.
// From the copy to the end nobody else can open it: a write waits, or fails.
// Errors: ErrInUse, ErrForeign, ErrDamaged and ErrNewer of the backup.
func Restore(ctx context.Context, path, from, aside string, revive bool) (Restored, error) {
	r := restore{path: path, from: from, aside: aside, revive: revive,
		stage: filepath.Join(filepath.Dir(path), stagePrefix+strconv.Itoa(os.Getpid())+stageSuffix)}
	if err := r.run(ctx); err != nil {
		return r.done, fmt.Errorf("restore: %w", err)
	}
	return r.done, nil
}

type restore struct {
	path, from, aside, stage string
	revive                   bool
	forgotten                []grave
	exports                  []string
	receipts                 []Receipt
	done                     Restored
}

func (r *restore) run(ctx context.Context) error {
	schema, err := archiveSchema()
	if err != nil {
		return err
	}
	if here, err := os.Stat(r.path); err == nil {
		if that, err := os.Stat(r.from); err == nil && os.SameFile(here, that) {
			return errors.New("the backup is the archive itself")
		}
	}
	if r.done.Schema, err = schema.Inspect(ctx, r.from); err != nil {
		return err
	}
	if _, err := os.Stat(r.path); errors.Is(err, fs.ErrNotExist) {
		db, err := Open(ctx, r.path)
		if err != nil {
			return err
		}
		if err := db.Close(); err != nil {
			return err
		}
	}
	// From here on nobody else is let in, so that nothing is archived, or
	// forgotten, between the copy of what is there and its end.
	sole, err := engine.Seize(ctx, r.path)
	if errors.Is(err, ErrDamaged) {
		r.done.Damaged = err
		return r.takeDamaged(ctx)
	}
	if err != nil {
		return err
	}
	if err := r.replace(ctx, sole); err != nil || r.done.Damaged == nil {
		return errors.Join(err, sweep(filepath.Dir(r.path)), sole.Close())
	}
	if err := sole.Close(); err != nil {
		return err
	}
	return r.takeDamaged(ctx)
}

// replace does all of it while the archive is held, unless it is damaged.
func (r *restore) replace(ctx context.Context, sole *engine.Sole) error {
	if err := sweep(filepath.Dir(r.path)); err != nil {
		return err
	}
	err := sole.Check(ctx)
	if err == nil {
		err = r.keepPresent(ctx, sole)
	}
	if errors.Is(err, ErrDamaged) {
		r.done.Damaged = err
		return nil
	}
	if err != nil {
		return fmt.Errorf("keep the present archive: %w", err)
	}
	if err := r.prepare(ctx); err != nil {
		return err
	}
	return sole.Replace(ctx, r.stage)
}

// takeDamaged moves an archive that cannot be read aside.
func (r *restore) takeDamaged(ctx context.Context) (err error) {
	if err := r.prepare(ctx); err != nil {
		return errors.Join(err, sweep(filepath.Dir(r.path)))
	}
	if r.done.Aside, err = engine.Aside(r.path, r.aside); err != nil {
		return errors.Join(err, sweep(filepath.Dir(r.path)))
	}
	return os.Rename(r.stage, r.path)
}

// keepPresent copies the archive that is held, and notes what must outlive it.
func (r *restore) keepPresent(ctx context.Context, sole *engine.Sole) (err error) {
	if err := os.MkdirAll(r.aside, 0o700); err != nil {
		return err
	}
	to := filepath.Join(r.aside, "before-restore-"+time.Now().Format("20060102-150405.000")+".db")
	if err := sole.Copy(ctx, to, PartSuffix); err != nil {
		return err
	}
	db, err := Open(ctx, to)
	if err != nil {
		return err
	}
	sessions, err := r.note(ctx, db)
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	if err := engine.Seal(ctx, to); err != nil {
		return err
	}
	r.done.Aside = to
	// An older one was brought up to date to be read, and copied for that.
	old, err := filepath.Glob(to + ".schema-*")
	if sessions == 0 {
		r.done.Aside = ""
		old = append(old, to)
	}
	for _, path := range old {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// note returns how many sessions there are.
func (r *restore) note(ctx context.Context, db *DB) (sessions int, err error) {
	if r.forgotten, err = graves(ctx, db); err != nil {
		return 0, err
	}
	if r.exports, err = db.Exports(ctx); err != nil {
		return 0, err
	}
	if r.receipts, err = db.Receipts(ctx); err != nil {
		return 0, err
	}
	return sessions, db.read.QueryRowContext(ctx, "SELECT count(*) FROM session").Scan(&sessions)
}

// A grave is a session that was forgotten, and how its messages are known again
// under another name.
type grave struct {
	name string
	keys []int64
}

func graves(ctx context.Context, db *DB) ([]grave, error) {
	names, err := db.Forgotten(ctx)
	all := make([]grave, len(names))
	for i, name := range names {
		all[i].name = name
		if err == nil {
			all[i].keys, err = engine.Column[int64](db.read.QueryContext(ctx, "SELECT key FROM tombstone_message WHERE tombstone = (SELECT id FROM tombstone WHERE name = ?)", name))
		}
	}
	return all, db.explain(err)
}

// prepare makes of the backup what will be the archive, beside it.
func (r *restore) prepare(ctx context.Context) (err error) {
	if err := engine.CopyFile(ctx, r.from, r.stage); err != nil {
		return err
	}
	db, err := Open(ctx, r.stage) // brings it up to date
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var again []grave
	for _, g := range r.forgotten {
		var there bool
		if err := db.read.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM session WHERE name = ?)", g.name).Scan(&there); err != nil {
			return err
		}
		if there && r.revive {
			continue
		}
		if there {
			r.done.Forgotten++
		}
		again = append(again, g)
	}
	if err := r.carry(ctx, db, again); err != nil {
		return err
	}
	if len(again) > 0 {
		if err := db.Scrub(ctx); err != nil {
			return err
		}
	}
	if err := db.read.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(messages), 0) FROM session").Scan(&r.done.Sessions, &r.done.Messages); err != nil {
		return err
	}
	return db.Check(ctx)
}

// carry takes over what the present archive must not lose: what was forgotten,
// and the record of it. A process that knew the old archive sees that it is
// another one.
func (r *restore) carry(ctx context.Context, db *DB, again []grave) error {
	var names []string
	for _, g := range again {
		names = append(names, g.name)
	}
	return db.update(ctx, true, func(t *engine.Tx) error {
		if _, err := removal.Remove(t, names, true, db.now()); err != nil {
			return err
		}
		for _, g := range again {
			for _, key := range g.keys {
				if err := t.Exec("INSERT OR IGNORE INTO tombstone_message (key, tombstone) SELECT ?, id FROM tombstone WHERE name = ?", key, g.name); err != nil {
					return err
				}
			}
		}
		for _, path := range r.exports {
			if err := t.Exec("INSERT INTO export (path, at) VALUES (?, ?) ON CONFLICT DO NOTHING", path, record.Millis(db.now())); err != nil {
				return err
			}
		}
		for _, one := range r.receipts {
			var there bool
			if err := t.Row("SELECT EXISTS (SELECT 1 FROM receipt WHERE at = ?)", []any{record.Millis(one.At)}, &there); err != nil {
				return err
			}
			if there {
				continue
			}
			if err := one.insert(t); err != nil {
				return err
			}
		}
		return t.Exec("UPDATE counter SET value = max(value + 1, ?) WHERE name = 'forgotten'", record.Millis(time.Now()))
	})
}

// sweep removes the stages in folder. It must not be called while the restore
// that made one may live: a restore holds its archive, so whoever has that open,
// or holds it, may.
func sweep(folder string) error {
	files, err := os.ReadDir(folder)
	for _, f := range files {
		if stage, bad := filepath.Match(Stages, f.Name()); !stage {
			err = errors.Join(err, bad)
			continue
		}
		if e := os.Remove(filepath.Join(folder, f.Name())); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// bodies reads every message and returns what is wrong with the first that
// cannot be read.
func bodies(ctx context.Context, db *sql.DB) (err error) {
	rows, err := db.QueryContext(ctx, "SELECT id, body FROM message")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var id int64
		var packed []byte
		if err := rows.Scan(&id, &packed); err != nil {
			return err
		}
		if err := record.DecodeBody(packed, new(record.Message)); err != nil {
			return fmt.Errorf("message %d cannot be read: %w", id, err)
		}
	}
	return rows.Err()
}
