// Package vector finds what was said in an archive by what it means, beside the
// words.
//
// It needs an [Embedder], which the user has to name; without one nothing here
// runs and nothing is stored. [Store.Fill] cuts what people and agents said into
// chunks and keeps a vector of each; [Store.Near] finds the chunks nearest to a
// question; [Fuse] merges what was found by words and by meaning.
//
// # What is embedded
//
// What users and agents said on the main path, secrets masked; no tool output,
// nothing that was recalled into a session. Of a session at most MaxChunks
// chunks of about ChunkRunes characters, each known by its first message.
//
// # How it is stored
//
// In the archive's tables embedding, embedded and chunk: a vector is a signed
// byte a dimension. A session that is forgotten takes its chunks with it. All
// vectors of a session are written in one transaction together with how far the
// session was read, so a fill that is killed goes on where it was. Vectors of
// another model are kept until those of the present one are complete, for the
// case that it is named again; a question is not compared with them, since only
// the model itself could make its vector.
//
// # How near is found
//
// One bit a number (its sign, seen from the mean) is held in memory; the
// candidates that agree in most bits are read and compared in full. For 100,000
// chunks of 256 numbers that takes 3.2 MB and about a millisecond before the
// reading. The vec0 tables of sqlite-vec, which the SQLite library brings along,
// take 12 ms for the same bits and 40 ms for bytes, add 280 kB to the program
// and know nothing of who may see which session.
package vector

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
	"github.com/hermes-mcp/hermes-mcp/transcript/record"
)

// An Embedder makes vectors of texts. All are finite and of length one. It is
// safe for concurrent use, bounds its own time, and starts no goroutine that
// outlives a call.
type Embedder interface {
	// Name says which vectors can be compared: a change of it, or of how many
	// numbers a vector has, makes all others old.
	Name() string
	// Query returns the vector of a question, soon or not at all.
	Query(ctx context.Context, text string) ([]float32, error)
	// Documents returns the vectors of texts, in order; nil for one that has none.
	Documents(ctx context.Context, texts []string) ([][]float32, error)
}

// ErrNone is returned by Query of an Embedder for a text that says nothing to it,
// such as one of unknown words.
var ErrNone = errors.New("nothing in this text has a vector")

const (
	// ChunkRunes is about how many characters a chunk has.
	ChunkRunes = 400
	// MaxChunks is how many chunks a session has at most.
	MaxChunks = 256
	// maxDimensions bounds a vector.
	maxDimensions = 8192
)

// A Store keeps and searches the vectors of one archive. Set the fields before
// first use; safe for concurrent use.
type Store struct {
	SQLite *engine.DB
	// Messages reads a session's own messages by the row of the session, in
	// order. A session that is not there has none.
	Messages func(ctx context.Context, session int64) ([]record.Message, error)

	mu    sync.RWMutex
	dir   directory
	reach reach
}

// A Coverage says how far an embedder has come with an archive.
type Coverage struct {
	Sessions int // that hold messages
	Embedded int // of these, with vectors, if perhaps not of the newest messages
	Pending  int // not embedded, or changed since
	Chunks   int
	Old      int // chunks of other models, kept until this one has caught up
}

// Coverage tells how far e has come. It counts, and takes some milliseconds.
func (s *Store) Coverage(ctx context.Context, e Embedder) (Coverage, error) {
	var c Coverage
	id, _, err := s.newest(ctx, e)
	if err != nil {
		return c, err
	}
	err = errors.Join(
		s.SQLite.Read.QueryRowContext(ctx, `SELECT count(*), count(e.rev), count(*) - count(CASE WHEN e.rev >= s.rev THEN 1 END)
			FROM session s LEFT JOIN embedded e ON e.session = s.id AND e.embedding = ? WHERE s.messages > 0`, id).
			Scan(&c.Sessions, &c.Embedded, &c.Pending),
		s.SQLite.Read.QueryRowContext(ctx, "SELECT count(CASE WHEN embedding = ?1 THEN 1 END), count(CASE WHEN embedding <> ?1 THEN 1 END) FROM chunk", id).
			Scan(&c.Chunks, &c.Old),
	)
	return c, err
}

// reachFor is how long Reach goes by what it counted.
const reachFor = 5 * time.Second

// Reach tells of how many sessions e has vectors, of how many. It is cheap
// enough for every search: it may be some seconds old.
func (s *Store) Reach(ctx context.Context, e Embedder) (embedded, sessions int, err error) {
	s.mu.RLock()
	r := s.reach
	s.mu.RUnlock()
	if r.name == nameOf(e) && time.Since(r.at) < reachFor {
		return r.embedded, r.sessions, nil
	}
	id, _, err := s.newest(ctx, e)
	if err != nil {
		return 0, 0, err
	}
	r = reach{name: nameOf(e), at: time.Now()}
	if err := s.SQLite.Read.QueryRowContext(ctx, "SELECT (SELECT count(*) FROM session WHERE messages > 0), (SELECT count(*) FROM embedded WHERE embedding = ?)", id).
		Scan(&r.sessions, &r.embedded); err != nil {
		return 0, 0, err
	}
	s.mu.Lock()
	s.reach = r
	s.mu.Unlock()
	return r.embedded, r.sessions, nil
}

// A reach is what Reach counted.
type reach struct {
	name               string
	at                 time.Time
	embedded, sessions int
}

// Partial tells whether a search by meaning misses more than a few sessions.
func Partial(embedded, sessions int) bool { return (sessions-embedded)*100 > sessions }

// newest returns the row and the dimensions of the vectors that e made last, 0
// when it made none.
func (s *Store) newest(ctx context.Context, e Embedder) (id int64, dimensions int, err error) {
	err = s.SQLite.Read.QueryRowContext(ctx, "SELECT id, dimensions FROM embedding WHERE name = ? ORDER BY id DESC LIMIT 1", nameOf(e)).Scan(&id, &dimensions)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return id, dimensions, err
}

// chunking is part of a name, since vectors of texts that are cut in another way
// belong to another set.
const chunking = "1;"

func nameOf(e Embedder) string { return chunking + e.Name() }
