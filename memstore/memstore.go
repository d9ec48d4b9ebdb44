// Package memstore keeps a small, curated memory in two text files.
//
// MEMORY.md (facts of the work) and USER.md (who the user is) hold entries
// joined by a line with a single §. The format, the lock files and the limits
// are Hermes Agent's own, so that both programs may edit the same files at the
// same time, and people may edit them by hand. Beside them a project, a session
// and a named user may have a file of their own ([Scope], [Store.User]).
//
// # Promises
//
// An acknowledged edit survives a kill at any moment: a file is always the old
// or the new whole one, and the journal holds every text that left it, until
// [Store.ForgetSessions] takes out what was kept for a session alone. Bytes of
// entries that an op does not name never change. A file that cannot be
// understood is never written over. What left a file without an op, through an
// editor that saved a stale buffer for example, is noticed ([Store.Lost]) and
// can be put back ([Store.Restore]). What an editor wrote is noted when it is
// read ([Store.Note]), so that it can be put back once another editor replaces it.
//
// After a power cut the file may be the whole one from before the last edits:
// they are acknowledged when the journal's line and the new file are durable and
// the new file has the name, but the folder, which says who has the name, is
// synced within the second after. The first look at the file in the machine's
// next start puts it in force again from the journal (package ledger says how
// that is told from what a person put back). [Store.Close] leaves nothing open.
//
// # Reading files that people edit
//
// Any mix of line ends, a byte order mark, blank lines and blanks beside §,
// empty entries and duplicates are normal and stay as they are. A text without
// any § line is one entry. [State.Notes] says what was unusual. Only bytes that
// are not UTF-8, more than 1 MiB, and what is no regular file are refused.
//
// # Locking
//
// A turn in the process, then mcp/memory.lock, then the target's own upstream
// lock (MEMORY.md.lock beside the file), for at most 10 seconds. Readers take
// no lock.
//
// # Metadata
//
// Who said an entry, since when and on what evidence is derived from the
// journal and keyed by the entry's text, so the files stay plain and survive
// editing by hand; an entry the journal has not met is dated by its file. The
// journal is described in package journal; mcp/memory-meta.json only caches
// what is derived from it.
//
// # What is never done
//
// No entry is evicted to make room, and none is superseded because another
// contradicts it ([Conflicts] are told). What the scanner refuses is not shown
// to a model, however it came into the file, unless a person vouched for it
// ([Scanning], [Op]). Nothing is written by opening or reading, except the
// snapshot of a session, which is kept when first asked for, and what a power
// cut took back.
//
// The parts: document reads and splices a file's text, durable replaces files
// and holds locks, journal remembers, ledger makes edits of these three,
// conflict compares facts, pending keeps proposals; bridge carries memories to
// and from other programs.
package memstore

import (
	"errors"
	"time"

	"github.com/hermes-mcp/hermes-mcp/scanner"
)

// A Target names one of the curated files. See also SessionTarget.
type Target string

const (
	Memory Target = "memory" // MEMORY.md: environment, conventions, lessons
	User   Target = "user"   // USER.md: who the user is and what they prefer
	// Project is what holds only in Store.Project. Calls reach it by the scope
	// of their ops.
	Project Target = "project"
)

// An Action is what an Op does.
type Action string

const (
	Add     Action = "add"
	Replace Action = "replace" // the whole entry that OldText finds
	Remove  Action = "remove"
)

// An Op is one edit. Its JSON names are the tool's.
type Op struct {
	Action     Action     `json:"action"`
	Content    string     `json:"content,omitempty"`
	OldText    string     `json:"old_text,omitempty"`
	Source     Source     `json:"source,omitempty"`
	Confidence Confidence `json:"confidence,omitempty"`
	Scope      Scope      `json:"scope,omitempty"`
	Evidence   []string   `json:"evidence,omitempty"` // what it rests on: "<session id>/<message id>"

	// Unscanned says that a person has read the content and wants it in prompts
	// whatever the scanner says of it. The journal keeps that, and the entry is
	// never masked. Set it only on a person's word at a terminal, for it opens
	// every later prompt. A proposal does not carry it.
	Unscanned bool `json:"unscanned,omitempty"`

	// NotAfter, unless zero, refuses a replace or remove with ErrLaterEdit when
	// the entry it finds was written after: for one that looks back at an old
	// session and must not undo what is newer.
	NotAfter time.Time `json:"not_after,omitzero"`
}

// A Source says where a fact comes from.
type Source string

const (
	UserExplicit  Source = "user_explicit"  // the user said so
	AgentObserved Source = "agent_observed" // the agent has seen it
	Review        Source = "review"         // found when a session was looked at again
)

// A Confidence says how sure a fact is.
type Confidence string

const (
	Confirmed Confidence = "confirmed"
	Probable  Confidence = "probable"
	Uncertain Confidence = "uncertain"
)

// A Scope says where a fact holds.
type Scope string

const (
	Global      Scope = "global"
	ProjectOnly Scope = "project"
	SessionOnly Scope = "session"
)

// A Caller says who edits, for the journal. Zero fields mean unknown.
type Caller struct {
	Session string `json:"session,omitempty"` // "<source>:<agent's id>"
	Client  string `json:"client,omitempty"`  // the MCP client's name and version
	Origin  string `json:"origin,omitempty"`  // tool, cli, hand, review, flush, import
}

// An Entry is one remembered fact.
type Entry struct {
	Text      string
	Hash      string    // hex SHA-256 of Text, the key of its metadata
	UpdatedAt time.Time // from the journal; the file's time when the journal does not know it
	// From the journal; empty or zero when it does not know, as of what was
	// written by hand.
	CreatedAt   time.Time
	ConfirmedAt time.Time // last said again, or written
	Source      Source
	Confidence  Confidence
	Scope       Scope
	Evidence    []string
	Session     string // that wrote it
	Origin      string // of the caller that wrote it
	EditID      string // that brought it
	Unscanned   bool   // a person vouches for it
	Blocked     string // the scanner's rule when the entry must be masked in a prompt, else ""
	Shown       string // what a prompt may hold: Text, or its mask when it is blocked; valid as old_text
	LostBy      string // Lost only: the journal's id of the change that took it away; "" when no write has met it yet
}

// A State is what one target holds on disk now.
type State struct {
	Target  Target
	Path    string // the file as resolved, so that a wrong home is seen
	Entries []Entry
	Chars   int // code points of the joined entries, delimiters included
	Limit   int
	Notes   []string // what is unusual in the file and how it was read, in plain words
}

// A Change says what one op did.
type Change struct {
	Op        int    // index of the op
	Action    Action // as asked
	Old, New  string // the entry before and after; "" where there is none
	Duplicate bool   // the new text was there already: nothing was added
}

// A Result is the outcome of an Apply that succeeded.
type Result struct {
	State   State
	Changes []Change
	Cleaned []scanner.Finding // invisible characters that were taken out of contents
	// Conflicts are entries that contradict what was just written.
	Conflicts []Conflict
	EditID    string // the journal's id of the edit; "" when nothing was written
}

// Errors of Apply and Undo. Each comes wrapped in an *OpError that says more.
var (
	ErrInvalid    = errors.New("invalid")    // the op itself is wrong
	ErrNoMatch    = errors.New("no match")   // old_text is in no entry
	ErrAmbiguous  = errors.New("ambiguous")  // old_text is in several different entries
	ErrFull       = errors.New("full")       // the end state is over the limit and not smaller than before
	ErrBlocked    = errors.New("blocked")    // the scanner refused a content
	ErrReadOnly   = errors.New("read-only")  // the file's owner has taken the right to write it away
	ErrUnreadable = errors.New("unreadable") // the file is not UTF-8, too large, or not a regular file
	ErrBusy       = errors.New("busy")       // the lock was not had in 10 s
	ErrNotFound   = errors.New("not found")  // no such edit in the journal
	ErrLaterEdit  = errors.New("later edit") // undo would lose a later edit
)

// An OpError explains which op was refused and what to do about it.
type OpError struct {
	Err      error             // one of the sentinels
	Op       int               // index of the op, -1 when it is about the whole call
	Action   Action            // of that op
	Reason   string            // one sentence in plain words: what is wrong
	Missing  bool              // old_text was required and not given
	Matches  []string          // ErrAmbiguous: the entries that hold old_text
	Over     int               // ErrFull: how many characters to free
	Chars    int               // ErrFull: what the end state would have had
	Room     []Room            // ErrFull: entries that could make room, the most promising first
	Findings []scanner.Finding // ErrBlocked
	Edit     string            // ErrLaterEdit: the edit in the way, "" when it was made outside
}

// Error says which op failed and why.
func (e *OpError) Error() string { return e.Err.Error() + ": " + e.Reason }

// Unwrap returns the sentinel.
func (e *OpError) Unwrap() error { return e.Err }
