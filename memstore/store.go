package memstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/hermes-mcp/hermes-mcp/memstore/document"
	"github.com/hermes-mcp/hermes-mcp/memstore/durable"
	"github.com/hermes-mcp/hermes-mcp/memstore/journal"
	"github.com/hermes-mcp/hermes-mcp/scanner"
)

// lockPatience is how long an edit waits for other writers before ErrBusy.
const lockPatience = 10 * time.Second

// A Store edits the curated memory of one home. Safe for concurrent use by
// goroutines and processes. Set the fields before first use.
type Store struct {
	MemoryLimit int              // code points; 2200 when 0
	UserLimit   int              // code points; 1375 when 0
	Now         func() time.Time // time.Now when nil

	home  string
	turn  chan struct{}   // the mutex: one slot, so that waiting for it can end
	made  map[string]bool // folders that are there
	swept map[string]bool // files whose leftovers have been looked for
	held  []durable.File  // replaced by the last edit, to be freed during the next
	known journal.Index
	// What is found out once in the life of the process, since every edit asks.
	readings sync.Map // an entry → its conflict.Reading
	rules    sync.Map // an entry → the scanner's rule or ""
}

// Open returns the store of home ($HERMES_HOME). It makes nothing: folders are
// made by the first write.
func Open(home string) (*Store, error) {
	abs, err := filepath.Abs(home)
	if err != nil {
		return nil, fmt.Errorf("open memory: %w", err)
	}
	return &Store{home: abs, turn: make(chan struct{}, 1), made: make(map[string]bool), swept: make(map[string]bool)}, nil
}

func (s *Store) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

// A place is where a target lives.
type place struct {
	target Target
	name   string // of the file, for messages
	path   string // as named; may be a symbolic link
	limit  int
}

func (s *Store) place(t Target) (place, error) {
	limit := func(set, otherwise int) int {
		if set > 0 {
			return set
		}
		return otherwise
	}
	p := place{target: t}
	switch t {
	case Memory:
		p.name, p.limit = "MEMORY.md", limit(s.MemoryLimit, 2200)
	case User:
		p.name, p.limit = "USER.md", limit(s.UserLimit, 1375)
	default:
		return p, &OpError{Err: ErrInvalid, Op: -1, Reason: fmt.Sprintf("target %q is neither %q nor %q", t, Memory, User)}
	}
	p.path = filepath.Join(s.home, "memories", p.name)
	return p, nil
}

func (s *Store) own(name ...string) string {
	return filepath.Join(append([]string{s.home, "mcp"}, name...)...)
}

func (s *Store) log() journal.Log { return journal.Log{Path: s.own("memory-journal.jsonl")} }

// refresh takes in what is new in the journal.
func (s *Store) refresh() error {
	if err := s.known.Refresh(s.log(), s.cachePath()); err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	return nil
}

// cachePath is where what is derived from the journal is cached.
func (s *Store) cachePath() string { return s.own("memory-meta.json") }

// hash is an entry's Hash.
func hash(entry string) string { return journal.Hash([]byte(entry)) }

// lock makes the folders and takes all locks of p, always in the same order.
func (s *Store) lock(ctx context.Context, p place) (unlock func() error, err error) {
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, busy(ctx.Err())
	}
	held := []func() error{func() error { <-s.turn; return nil }}
	unlock = func() error {
		var err error
		for i := len(held) - 1; i >= 0; i-- {
			err = errors.Join(err, held[i]())
		}
		return err
	}
	fail := func(err error) (func() error, error) { return nil, errors.Join(err, unlock()) }
	if err := s.folders(p); err != nil {
		return fail(err)
	}
	for _, path := range []string{s.own("memory.lock"), p.path + ".lock"} {
		free, err := durable.Lock(ctx, path)
		if errors.Is(err, fs.ErrNotExist) { // somebody has removed the folder
			clear(s.made)
			if err = s.folders(p); err == nil {
				free, err = durable.Lock(ctx, path)
			}
		}
		if err != nil {
			return fail(busy(err))
		}
		held = append(held, free)
	}
	return unlock, nil
}

// folders makes what p needs, once.
func (s *Store) folders(p place) error {
	for _, dir := range []string{s.own(), filepath.Dir(p.path)} {
		if s.made[dir] {
			continue
		}
		if err := durable.MakeFolder(dir, dir == s.own()); err != nil {
			return fmt.Errorf("make %s: %w", dir, err)
		}
		s.made[dir] = true
	}
	return nil
}

func busy(err error) error {
	if errors.Is(err, durable.ErrBusy) || errors.Is(err, context.DeadlineExceeded) {
		return &OpError{Err: ErrBusy, Op: -1, Reason: fmt.Sprintf("another program has been editing the memory for %s; nothing was changed, try again", lockPatience)}
	}
	return fmt.Errorf("lock the memory: %w", err)
}

func parse(path string, raw []byte) (document.Doc, error) {
	doc, err := document.Parse(raw)
	if err != nil {
		return doc, unreadable(fmt.Errorf("%s is %w: save it as UTF-8", path, err))
	}
	return doc, nil
}

func unreadable(err error) error {
	return &OpError{Err: ErrUnreadable, Op: -1, Reason: err.Error()}
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
	l, err := s.look(p)
	if err != nil {
		return State{Target: t, Path: l.real, Limit: p.limit}, err
	}
	st := s.state(p, l.real, l.info, l.doc, l.reached)
	if l.journal != nil {
		st.Notes = append(st.Notes, "the journal cannot be read, so dates are the file's: "+l.journal.Error())
	}
	return st, nil
}

// A look is what a reader, who takes no lock, finds.
type look struct {
	real    string
	info    fs.FileInfo
	doc     document.Doc
	reached bool  // the journal's last edit has reached the disk
	journal error // why the journal could not be read
}

// look reads the journal before the file: what it finds as done in the journal
// is then to be found in the file.
func (s *Store) look(p place) (l look, err error) {
	if l.real, err = durable.Resolve(p.path); err != nil {
		return l, unreadable(err)
	}
	l.journal = s.refresh()
	_, pending, _ := s.known.Before(string(p.target))
	l.reached = pending == nil || !durable.Staged(l.real, pending.ID)
	f, err := durable.Read(l.real)
	if err != nil {
		return l, unreadable(err)
	}
	l.info = f.Info
	l.doc, err = parse(l.real, f.Bytes)
	return l, err
}

// state describes doc as the content of p.
func (s *Store) state(p place, real string, info fs.FileInfo, doc document.Doc, reached bool) State {
	st := State{Target: p.target, Path: real, Chars: doc.Chars(), Limit: p.limit, Notes: doc.Notes()}
	written := time.Time{}
	if info != nil {
		written = info.ModTime()
	}
	st.Entries = make([]Entry, 0, len(doc.Entries()))
	facts := s.known.Facts(string(p.target), doc, reached)
	for i, text := range doc.Entries() {
		e := entry(text, facts[i])
		if e.UpdatedAt.IsZero() {
			e.UpdatedAt = written
		}
		e.Blocked, e.Shown = s.verdict(p.name, text)
		st.Entries = append(st.Entries, e)
	}
	return st
}

func entry(text string, f journal.Fact) Entry {
	return Entry{
		Text: text, Hash: f.Hash, UpdatedAt: f.Updated, CreatedAt: f.Created, ConfirmedAt: f.Confirmed,
		Source: Source(f.Source), Confidence: Confidence(f.Confidence), Scope: Scope(f.Scope),
		Evidence: f.Evidence, Session: f.Session, Origin: f.Origin, EditID: f.Edit,
	}
}

// verdict is what the scanner says of an entry that is about to enter a
// prompt: the rule it broke, and the text that may be shown.
func (s *Store) verdict(name, text string) (rule, shown string) {
	v, ok := s.rules.Load(text)
	if !ok {
		rule := ""
		if found := scanner.Scan(text, scanner.Strict); len(found) > 0 {
			rule = found[0].Rule
		}
		v, _ = s.rules.LoadOrStore(text, rule)
	}
	if rule, _ = v.(string); rule == "" {
		return "", text
	}
	return rule, fmt.Sprintf("[BLOCKED: %s entry %s contained threat pattern(s): %s. It is kept from prompts; this line as old_text removes it.]", name, hash(text)[:8], rule)
}
