package record

import (
	"context"
	"encoding/json"
	"time"
)

// Places says where on this machine agents keep their files. cmd fills it from
// the environment; sources read nothing else.
type Places struct {
	Home       string            // the user's home folder
	HermesHome string            // $HERMES_HOME as resolved
	GOOS       string            // runtime.GOOS
	Env        map[string]string // the variables that sources name, where set (CLAUDE_CONFIG_DIR, CODEX_HOME, ...)
}

// A File is one file or database that a source can read.
type File struct {
	Source   string // name of the source
	Path     string // absolute
	Size     int64  // with the -wal file's for a database
	Modified time.Time
}

// A Cursor says how far a file was read. Offset counts bytes of whole lines
// (or rows of a database, as the source sees fit); State is the source's own.
type Cursor struct {
	Offset int64
	State  json.RawMessage
}

// A Tally counts what a reader met in one file, from its beginning.
type Tally struct {
	Lines   int            `json:"lines"`
	Objects int            `json:"objects"` // JSON values decoded
	Bad     int            `json:"bad"`     // lines of which something could not be decoded
	Glued   int            `json:"glued"`   // lines that held more than one value
	Types   map[string]int `json:"types,omitempty"`
	// Sessions are the agent's session ids that the file names, sorted, at
	// most 256 of them.
	Sessions []string `json:"session_ids,omitempty"`
}

// A Source knows where one agent keeps its sessions and turns one file into
// sessions and messages. Implementations are values without state, safe for
// concurrent use.
type Source interface {
	// Name is the word before the colon in session ids: "claude-code".
	Name() string
	// Find lists the files under the default places. A missing folder is no error.
	Find(ctx context.Context, p Places) ([]File, error)
	// FindIn lists the files of this source's format at or below path, which
	// a person named; they are recognised by content.
	FindIn(ctx context.Context, path string) ([]File, error)
	// Read reads f from cursor and delivers what it finds to sink, in file
	// order, memory bounded whatever the size of f. It stops at the first
	// error of sink. A torn last line is left for the next time unless final.
	Read(ctx context.Context, f File, from Cursor, final bool, sink Sink) error
}

// A Sink takes what a source reads. The archive's writer implements it.
// Methods are called from one goroutine.
type Sink interface {
	// Session announces a session, or adds to what is known: zero fields
	// change nothing.
	Session(s Session) error
	// Message delivers a message, or a further piece of one: with a UID
	// already known in the session, the union is kept (content and reasoning
	// appended after a blank line unless held already, tool calls by id, flags
	// or-ed), never less than before.
	Message(m Message) error
	// Problem reports something that could not be read: line from 1, or 0.
	Problem(line int, reason string)
	// Mark says that everything up to c has been delivered. The archive may
	// commit here, c with it. tally counts from the beginning of the file.
	Mark(c Cursor, tally Tally) error
}

// A Reviser is a Sink that takes second thoughts about messages delivered
// earlier, in this read or in one before. Sources use it where the sink has it.
type Reviser interface {
	// Compact says that every message of the session delivered up to now has
	// left the live context (Compacted).
	Compact(sessionID string) error
	// Rewind says that the message with uid and all of its session delivered
	// after it, up to now, stand on an abandoned branch (OffPath). An unknown
	// uid changes nothing.
	Rewind(sessionID, uid string) error
}

// A Problem is something that could not be read.
type Problem struct {
	Source, Path string
	Line         int
	Reason       string
}

// Progress is told to the caller while an ingest runs.
type Progress struct {
	Files, FilesDone int
	Bytes, BytesDone int64
	Messages         int // new ones
	Path             string
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
