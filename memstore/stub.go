package memstore

import (
	"context"
	"errors"
	"time"
)

var errStub = errors.New("not built yet")

// A Store edits the curated memory of one home. Safe for concurrent use by
// goroutines and processes. Set the fields before first use.
type Store struct {
	MemoryLimit int              // code points; 2200 when 0
	UserLimit   int              // code points; 1375 when 0
	Now         func() time.Time // time.Now when nil
	home        string
}

// Open returns the store of home ($HERMES_HOME). It makes nothing: folders are
// made by the first write.
func Open(home string) (*Store, error) { return &Store{home: home}, nil }

// State reads target without a lock. A missing file is an empty state.
// Errors: ErrUnreadable; State.Path and State.Limit are set even then.
func (s *Store) State(ctx context.Context, t Target) (State, error) { return State{}, errStub }

// Apply applies all ops or none, durably, before it returns. The Result's
// State is what is on disk, also with an error, so that the caller can show
// it. Once the write has begun it does not depend on ctx. Errors: *OpError.
func (s *Store) Apply(ctx context.Context, by Caller, t Target, ops ...Op) (Result, error) {
	return Result{}, errStub
}

// An Edit is one journal line.
type Edit struct {
	ID      string
	At      time.Time
	Target  Target
	Kind    string // edit, undo, restore, foreign (found on disk, made by somebody else)
	Caller  Caller
	Ops     []Op
	Added   []string // entries that are there after and were not before
	Removed []string // entries that were there before and are not after
	Aborted bool     // never reached the disk
}

// History returns the newest edits first, at most limit (all when 0), of one
// target or of both when t is "".
func (s *Store) History(ctx context.Context, t Target, limit int) ([]Edit, error) {
	return nil, errStub
}

// Undo takes back the edit id, or the last one of any target when id is "".
// Of the last edit it restores the bytes before it; of an older one it applies
// the inverse to the present file, or returns ErrLaterEdit naming the edit in
// the way.
func (s *Store) Undo(ctx context.Context, by Caller, id string) (Result, error) {
	return Result{}, errStub
}

// Lost returns entries that the journal put into t and that left the file
// without an op, for example through an editor that saved a stale buffer.
func (s *Store) Lost(ctx context.Context, t Target) ([]Entry, error) { return nil, errStub }

// Restore puts a lost or removed text back: id is an edit whose Removed
// entries return (as adds, under the same budget).
func (s *Store) Restore(ctx context.Context, by Caller, id string) (Result, error) {
	return Result{}, errStub
}

// A Snapshot is the curated memory as one session was told it. It is a value:
// taken once, it cannot change.
type Snapshot struct {
	Session  string    `json:"session,omitempty"`
	FrozenAt time.Time `json:"frozen_at"`
	Memory   string    `json:"memory"` // the rendered block with upstream's header lines; "" when empty
	User     string    `json:"user"`
	// The entries as they were, unmasked, for the overlay; never shown.
	MemoryEntries []string `json:"memory_entries"`
	UserEntries   []string `json:"user_entries"`
	// How full the files were.
	MemoryChars int `json:"memory_chars"`
	UserChars   int `json:"user_chars"`
}

// String is the prompt block: MEMORY, then USER PROFILE; a plain sentence
// when both are empty. Always the same bytes for the same Snapshot.
func (s Snapshot) String() string { return s.Memory + s.User }

// Hash is a short hex digest of String.
func (s Snapshot) Hash() string { return "" }

// Snapshot takes a snapshot of now, tied to no session.
func (s *Store) Snapshot(ctx context.Context) (Snapshot, error) { return Snapshot{}, errStub }

// SessionSnapshot returns the snapshot of session ("<source>:<id>"): the one
// kept under mcp/sessions when there is one, else a new one, kept before it is
// returned. Two processes that ask at once get the same bytes. Session files
// not used for 90 days are removed.
func (s *Store) SessionSnapshot(ctx context.Context, session string) (Snapshot, error) {
	return Snapshot{}, errStub
}

// RenewSnapshot replaces the kept snapshot of session by one of now
// (compaction, clear).
func (s *Store) RenewSnapshot(ctx context.Context, session string) (Snapshot, error) {
	return Snapshot{}, errStub
}

// An Overlay is what changed since a snapshot.
type Overlay struct {
	Target  Target
	Added   []string
	Removed []string
}

// Overlay compares the files with snap. Entries that the scanner blocks are
// masked as in a snapshot. Targets without a difference are left out.
func (s *Store) Overlay(ctx context.Context, snap Snapshot) ([]Overlay, error) { return nil, errStub }
