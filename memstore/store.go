package memstore

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/hermes-mcp/hermes-mcp/memstore/conflict"
	"github.com/hermes-mcp/hermes-mcp/memstore/document"
	"github.com/hermes-mcp/hermes-mcp/memstore/durable"
	"github.com/hermes-mcp/hermes-mcp/memstore/journal"
	"github.com/hermes-mcp/hermes-mcp/memstore/ledger"
)

// A Store edits the curated memory of one home. Safe for concurrent use by
// goroutines and processes. Set the fields before first use.
type Store struct {
	MemoryLimit  int              // code points; 2200 when 0
	UserLimit    int              // code points; 1375 when 0
	ProjectLimit int              // code points; 1100 when 0
	Now          func() time.Time // time.Now when nil

	// How strictly what is written is scanned; "" is ScanStrict. Entries of scope
	// session go by MemoryScan.
	MemoryScan, UserScan, ProjectScan Scanning

	// Project is the key of the project whose memory the target Project is; ""
	// when there is none. User is who has a USER.md of their own; "" for the
	// home's. Edits, history and proposals of other projects and users are
	// invisible to this store.
	Project string
	User    string

	// Written is told of every edit once it is on disk, before the call returns.
	// May be nil.
	Written func(ctx context.Context, by Caller, t Target, r Result)

	home   string
	ledger *ledger.Ledger
	// What is found out once in the life of the process, since every edit asks.
	readings memo[conflict.Reading] // of entries
	rules    memo[string]           // of the scanner that entries break, or ""
}

// Open returns the store of home ($HERMES_HOME). It makes nothing: folders are
// made by the first write.
func Open(home string) (*Store, error) {
	abs, err := filepath.Abs(home)
	if err != nil {
		return nil, fmt.Errorf("open memory: %w", err)
	}
	s := &Store{home: abs}
	s.ledger = ledger.New(s.own())
	s.ledger.Now = s.now
	return s, nil
}

// Close does what edits leave for later, and waits for it. A store that has
// edited must be closed before its program ends; it can be used after it, and
// closed again. What has been acknowledged does not depend on it.
func (s *Store) Close(ctx context.Context) error {
	if err := s.ledger.Close(ctx); err != nil {
		return fmt.Errorf("close memory: %w", err)
	}
	return nil
}

func (s *Store) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

func (s *Store) own(name ...string) string {
	return filepath.Join(append([]string{s.home, "mcp"}, name...)...)
}

// hash is an entry's Hash.
func hash(entry string) string { return journal.Hash([]byte(entry)) }

// explain turns what went wrong with a file or a lock into what a caller shows.
func explain(err error) error {
	var op *OpError
	switch {
	case err == nil || errors.As(err, &op):
		return err
	case errors.Is(err, durable.ErrBusy):
		return &OpError{Err: ErrBusy, Op: -1, Reason: err.Error() + "; nothing was changed, try again"}
	case errors.Is(err, durable.ErrReadOnly):
		return &OpError{Err: ErrReadOnly, Op: -1, Reason: err.Error()}
	case errors.Is(err, durable.ErrRefused), errors.Is(err, document.ErrNotText):
		return &OpError{Err: ErrUnreadable, Op: -1, Reason: err.Error()}
	}
	return fmt.Errorf("memory: %w", err)
}

// State reads target without a lock. A missing file is an empty state.
// Errors: ErrUnreadable; State.Path and State.Limit are set even then.
func (s *Store) State(ctx context.Context, t Target) (State, error) {
	p, err := s.place(t)
	if err != nil {
		return State{Target: t}, err
	}
	if err := ctx.Err(); err != nil {
		return State{Target: t, Limit: p.limit}, err
	}
	v, err := s.ledger.Look(ctx, p.file)
	if err != nil {
		return State{Target: t, Path: v.Real, Limit: p.limit}, explain(err)
	}
	return s.state(p, v), nil
}

// Note journals what somebody else has made of target since the last edit or
// note, so that it can be restored when it is gone again. What was written in the
// last second may be half saved and waits for the next time, as does a file that
// is being edited. Nothing is made by it where there is no journal's folder yet.
func (s *Store) Note(ctx context.Context, t Target) error {
	p, err := s.place(t)
	if err != nil {
		return err
	}
	return explain(s.ledger.Note(ctx, p.file))
}

// state describes what was found at p.
func (s *Store) state(p place, v ledger.View) State {
	st := State{Target: p.target, Path: v.Real, Chars: v.Doc.Chars(), Limit: p.limit, Notes: v.Doc.Notes()}
	if v.Journal != nil {
		st.Notes = append(st.Notes, v.Journal.Error())
	}
	written := time.Time{}
	if v.Info != nil {
		written = v.Info.ModTime()
	}
	st.Entries = make([]Entry, 0, len(v.Facts))
	for i, text := range v.Doc.Entries() {
		e := entry(text, v.Facts[i])
		if e.UpdatedAt.IsZero() {
			e.UpdatedAt = written
		}
		s.judge(p.name, &e)
		st.Entries = append(st.Entries, e)
	}
	return st
}

func entry(text string, f journal.Fact) Entry {
	return Entry{
		Text: text, Hash: f.Hash, UpdatedAt: f.Updated, CreatedAt: f.Created, ConfirmedAt: f.Confirmed,
		Source: Source(f.Source), Confidence: Confidence(f.Confidence), Scope: Scope(f.Scope),
		Evidence: f.Evidence, Unscanned: f.Unscanned, Session: f.Session, Origin: f.Origin, EditID: f.Edit,
	}
}
