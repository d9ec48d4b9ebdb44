package transcript

import (
	"context"
	"errors"
	"time"
)

var errStub = errors.New("not built yet")

// A DB is the archive of one home. Safe for concurrent use by goroutines and
// processes. Set the fields before first use.
type DB struct {
	Now func() time.Time // time.Now when nil
}

// Open opens or makes the archive at path, applying migrations. It waits for
// other processes that are opening it. Errors: ErrNewer.
func Open(ctx context.Context, path string) (*DB, error) { return nil, errStub }

// Close ends the archive's background work and closes it.
func (db *DB) Close() error { return nil }

// Progress is told to the caller while an ingest runs.
type Progress struct {
	Files, FilesDone int
	Bytes, BytesDone int64
	Messages         int // new ones
	Path             string
}

// A Problem is something that could not be read.
type Problem struct {
	Source, Path string
	Line         int
	Reason       string
}

// An IngestReport says what an ingest did.
type IngestReport struct {
	Files     int // looked at
	Unchanged int // of those, not read again
	Sessions  int // new
	Messages  int // new
	Bytes     int64
	Problems  []Problem
}

// Ingest reads files into the archive through their source, idempotently.
// One file's error is a Problem and does not stop the others; the error is
// the archive's own (disk full, closed, ctx). progress may be nil. final says that torn
// last lines are taken as they are (a one-time import, or a quiet file).
func (db *DB) Ingest(ctx context.Context, src Source, files []File, final bool, progress func(Progress)) (IngestReport, error) {
	return IngestReport{}, errStub
}

// Put stores one session with its messages as a source would deliver them.
func (db *DB) Put(ctx context.Context, s Session, msgs []Message) error { return errStub }

// Session returns the session with id: "<source>:<id>", a bare id, or a unique
// prefix of either. Errors: ErrNotFound, ErrAmbiguous.
func (db *DB) Session(ctx context.Context, id string) (Session, error) { return Session{}, errStub }

// A Window selects a piece of a session.
type Window struct {
	Around int64 // message id; 0 means from the start
	Before int   // how many before Around; with Around 0, unused
	After  int   // how many after Around, or from the start; 0 with Around 0 means all
}

// Messages returns a piece of a session in order, with how many messages stand
// before and after the piece. Errors: ErrNotFound when Around is not in it.
func (db *DB) Messages(ctx context.Context, sessionID string, w Window) (msgs []Message, before, after int, err error) {
	return nil, 0, 0, errStub
}

// Lineage returns the ids of all sessions related to the given ones: parents,
// children, and so on, the given ones included.
func (db *DB) Lineage(ctx context.Context, sessionIDs ...string) ([]string, error) {
	return nil, errStub
}

// A Sort orders hits.
type Sort string

const (
	ByRank   Sort = ""
	ByNewest Sort = "newest"
	ByOldest Sort = "oldest"
)

// A Query asks for sessions. Any Text is valid.
type Query struct {
	Text    string
	Roles   []Role   // all that are searched by default when empty
	Sources []string // all when empty
	Project string   // a path, or a name: the last element of the path
	Since   time.Time
	Until   time.Time
	Sort    Sort
	Limit   int // sessions; 5 when 0
	// Exclude holds session ids whose lineage is live in the caller's context:
	// left out, except what has left that context (compacted or reset).
	Exclude []string
}

// A Match is one message of a hit that bears on the query.
type Match struct {
	MessageID int64
	Role      Role
	Snippet   string // with the match marked >>>like this<<<
	Score     float64
}

// A Hit is one lineage, credited to the session that holds the best match.
type Hit struct {
	Session Session
	Score   float64
	Matches []Match // best first, at most 5; empty for a title match
}

// An Answer is what Search found.
type Answer struct {
	Hits []Hit
	More int    // further lineages that matched and were not returned
	Note string // what a reader must know, such as that recency was the ranking
}

// Search finds sessions. It never fails because of the query's text.
func (db *DB) Search(ctx context.Context, q Query) (Answer, error) { return Answer{}, errStub }

// Recent returns the sessions last active, newest first, filtered by q
// (Text unused), lineages folded, with Preview set.
func (db *DB) Recent(ctx context.Context, q Query) ([]Session, error) { return nil, errStub }

// A SourceCoverage says what the archive holds of one source.
type SourceCoverage struct {
	Source     string
	Files      int // known
	Gone       int // of those, not on disk any more: only here
	Sessions   int
	Messages   int
	Pending    int // files known to have bytes not yet read
	Unreadable []Problem
}

// Coverage says what is archived, pending and unreadable.
func (db *DB) Coverage(ctx context.Context) ([]SourceCoverage, error) { return nil, errStub }

// Sizes says what the archive weighs, in bytes.
type Sizes struct {
	Text  int64 // UTF-8 of content, reasoning, tool arguments and results
	DB    int64 // file and WAL
	Index int64 // of that, the full-text index
}

// Sizes measures the archive; it walks page lists, so it is for status and bench.
func (db *DB) Sizes(ctx context.Context) (Sizes, error) { return Sizes{}, errStub }
