package transcript

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
	"github.com/hermes-mcp/hermes-mcp/transcript/index"
	"github.com/hermes-mcp/hermes-mcp/transcript/vector"
	"github.com/hermes-mcp/hermes-mcp/transcript/writer"
)

//go:embed migration/*.sql
var migrations embed.FS

// applicationID stands in the file's header, so that a stranger's database is
// not taken for an archive.
const applicationID = 0x686d6370 // "hmcp"

var (
	// ErrNewer is returned by Open when a newer hermes-mcp made the archive.
	ErrNewer = engine.ErrNewer
	// ErrDamaged is returned when the archive's file is not a sound database.
	// The error's text says what to do; nothing is written to such a file.
	ErrDamaged = engine.ErrDamaged
	// ErrReadOnly is returned by what writes to an archive that OpenReadOnly opened.
	ErrReadOnly = engine.ErrReadOnly
)

// A DB is the archive of one home. Safe for concurrent use by goroutines and
// processes. Set the fields before first use.
type DB struct {
	Now func() time.Time // time.Now when nil
	// Mask is applied to every text before it is stored, for secrets that must
	// not reach the disk; nil stores what was said and run as it is. It changes
	// nothing that is archived already.
	Mask func(string) string
	// Embedder lets Search find what was said by its meaning too, as far as Embed
	// has come; nil goes by words alone. MeaningWeight is what meaning counts for
	// beside words; DefaultMeaningWeight when 0, and words count for nothing when it
	// is infinite.
	Embedder      Embedder
	MeaningWeight float64

	reader  Reader
	sqlite  *engine.DB
	read    *sql.DB          // of sqlite
	often   *engine.Prepared // what every search and page asks of read
	index   *index.Index
	vectors *vector.Store
	writer  *writer.Writer
}

// Open opens or makes the archive at path, its folder too, applying
// migrations. It waits for other processes that are opening it. Errors:
// ErrNewer, ErrDamaged.
func Open(ctx context.Context, path string) (*DB, error) {
	schema, err := archiveSchema()
	if err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	sqlite, err := engine.Open(ctx, path, schema)
	if err != nil {
		return nil, fmt.Errorf("open archive %s: %w", path, err)
	}
	// As it is open, it is held by no restore, so every stage is one that was stopped.
	if stage, _ := filepath.Match(Stages, filepath.Base(path)); !stage {
		if err := sweep(filepath.Dir(path)); err != nil {
			return nil, errors.Join(fmt.Errorf("remove what a stopped restore left: %w", err), sqlite.Close())
		}
	}
	return around(sqlite), nil
}

// OpenReadOnly opens the archive at path, which is there, where this process may
// write neither it nor its folder: everything is found, and what writes returns
// ErrReadOnly. Errors: ErrNewer, ErrDamaged, and ErrReadOnly for an archive that
// has to be written before it can be read.
func OpenReadOnly(ctx context.Context, path string) (*DB, error) {
	schema, err := archiveSchema()
	if err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	sqlite, err := engine.OpenReadOnly(ctx, path, schema)
	if err != nil {
		return nil, fmt.Errorf("open archive %s: %w", path, err)
	}
	return around(sqlite), nil
}

// around is the archive in an open database.
func around(sqlite *engine.DB) *DB {
	db := &DB{sqlite: sqlite, read: sqlite.Read}
	db.writer = writer.New(db.sqlite)
	db.often = engine.Prepare(db.read)
	db.index = index.New(db.often, db.indexTexts)
	db.vectors = &vector.Store{SQLite: db.sqlite, Messages: db.own}
	return db
}

// Stale tells whether an archive that OpenReadOnly opened has been written by
// somebody who may: it is to be opened again.
func (db *DB) Stale() bool { return db.sqlite.Stale() }

// archiveSchema says what an archive is.
func archiveSchema() (engine.Schema, error) {
	steps, err := fs.Sub(migrations, "migration")
	return engine.Schema{Steps: steps, ApplicationID: applicationID, Sound: bodies}, err
}

// Close closes the archive.
func (db *DB) Close() error { return errors.Join(db.often.Close(), db.sqlite.Close()) }

// Check reads the whole archive and returns ErrDamaged when something is wrong
// with it. It takes seconds a gigabyte.
func (db *DB) Check(ctx context.Context) error { return db.sqlite.Check(ctx) }

func (db *DB) now() time.Time {
	if db.Now != nil {
		return db.Now()
	}
	return time.Now()
}

func (db *DB) update(ctx context.Context, durable bool, fn func(*engine.Tx) error) error {
	return db.sqlite.Update(ctx, durable, fn)
}

func (db *DB) explain(err error) error { return db.sqlite.Explain(err) }

// Ingest reads files into the archive through their source, idempotently.
// One file's error is a Problem and does not stop the others; the error is
// the archive's own (disk full, closed, ctx). progress may be nil. final says that torn
// last lines are taken as they are (a one-time import, or a quiet file).
//
// Files of the source that are known, not among files, and not on disk any
// more are marked as gone; what was read from them stays.
func (db *DB) Ingest(ctx context.Context, src Source, files []File, final bool, progress func(Progress)) (IngestReport, error) {
	return db.writer.Masking(db.Mask).Ingest(ctx, src, files, final, progress)
}

// Refresh is Ingest for files that are known to have changed: nothing is looked
// at and nothing said of the source's other files, so that it costs the same
// however many there are. A torn last line waits.
func (db *DB) Refresh(ctx context.Context, src Source, files []File, progress func(Progress)) (IngestReport, error) {
	return db.writer.Masking(db.Mask).Refresh(ctx, src, files, progress)
}

// Put stores one session with its messages as a source would deliver them:
// again and again without doubling. Messages without a UID are told apart by
// what they say and how often, counted within msgs, so a session that grows by
// further Puts needs UIDs. It is durable when it returns. Errors: ErrForgotten.
func (db *DB) Put(ctx context.Context, s Session, msgs []Message) error {
	return db.writer.Masking(db.Mask).Put(ctx, s, msgs)
}

// Tend does the upkeep that no write does on the way: it merges pieces of the
// index and copies the write-ahead log back, in small steps under the writer's
// lock. thorough goes on until little is left to do. Ingest does it at its end;
// a process that only calls Put should call it when it is idle.
func (db *DB) Tend(ctx context.Context, thorough bool) error { return db.writer.Tend(ctx, thorough) }

// noRows tells whether err only says that a query found nothing.
func noRows(err error) bool { return errors.Is(err, sql.ErrNoRows) }
