// Package ledger edits text files so that no text is ever lost: each edit is
// journaled, and replaces the file whole. What is to be forgotten goes from both
// ([Ledger.Forget]).
//
// # Locks
//
// In this order: a turn among the goroutines of this process, <dir>/memory.lock
// among the processes of one home, and <file>.lock, which Hermes Agent takes
// too. Readers take none.
//
// # An edit
//
// The file is read again under the locks, and what happened to it since the
// journal's last line is found out and journaled: an edit of ours that a kill
// stopped, or a change that somebody else made. Then the new content is planned,
// staged beside the file, journaled, both are synced, and the file is replaced.
// If somebody without a lock wrote in between, theirs is journaled and the edit
// is planned again on top of it. Once begun, an edit does not depend on its
// caller's context.
//
// What takes the disk long and nobody needs to wait for is done while it is busy
// with a sync or after the acknowledgement: a replaced file is freed by a later
// edit or Close, and the file that the next edit will fill is made ahead, without
// a name, where the system has such files.
//
// # Power cuts
//
// An edit is acknowledged with two files durable, the journal with the whole
// new text and the new content, and with the new content renamed over the old.
// What a power cut may still take back is that rename, since the folder is
// synced after the acknowledgement ([Ledger.Settle]). The file is then the old
// whole one, never a torn one, and the next look at it, in another boot, puts
// the journal's text in force again. Where boots cannot be told apart the
// folder is synced before the acknowledgement.
package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hermes-mcp/hermes-mcp/memstore/document"
	"github.com/hermes-mcp/hermes-mcp/memstore/durable"
	"github.com/hermes-mcp/hermes-mcp/memstore/journal"
)

// Patience is how long an edit waits for other writers.
const Patience = 10 * time.Second

// A Ledger edits the files of one home. Safe for concurrent use. Close it when
// it has edited.
type Ledger struct {
	Dir  string           // of the journal and the home's lock
	Now  func() time.Time // must be set
	Boot string           // names the machine's present start; "" syncs folders at once

	turn  chan struct{}   // the mutex: one slot, so that waiting for it can end
	made  map[string]bool // folders that are there
	swept map[string]bool // files whose leftovers have been looked for
	held  []durable.File  // replaced by the last edit, to be freed when somebody has time
	known journal.Index

	spares    shelf
	beside    sync.WaitGroup    // what goes on after an edit
	unsettled map[string]string // targets whose folder has yet to be synced → the folder
	timer     *time.Timer       // settles when no edit has come for a while
}

// New returns the ledger in dir, which the first edit makes.
func New(dir string) *Ledger {
	return &Ledger{
		Dir: dir, Now: time.Now, Boot: durable.Boot(),
		turn: make(chan struct{}, 1), made: make(map[string]bool), swept: make(map[string]bool), unsettled: make(map[string]string),
		spares: newShelf(),
	}
}

// A File is what is edited.
type File struct {
	Target string // its name in the journal
	Path   string // may be a symbolic link
}

// A View is a file as it is now, and what is known of it.
type View struct {
	Real    string // the path as resolved, also with an error
	Info    fs.FileInfo
	Doc     document.Doc
	Facts   []journal.Fact // of the entries, in order
	Journal error          // why the journal could not be read; the rest is good

	reached bool // the journal's last edit has reached the disk
}

// Log is the journal.
func (l *Ledger) Log() journal.Log {
	return journal.Log{Path: filepath.Join(l.Dir, "memory-journal.jsonl")}
}

// lockPath is the home's lock.
func (l *Ledger) lockPath() string { return filepath.Join(l.Dir, "memory.lock") }

// cachePath is where what is derived from the journal is cached.
func (l *Ledger) cachePath() string { return filepath.Join(l.Dir, "memory-meta.json") }

// Look reads f, without a lock unless a power cut has taken an edit back.
// Errors: durable.ErrRefused, document.ErrNotText.
func (l *Ledger) Look(ctx context.Context, f File) (v View, err error) {
	if v.Real, err = durable.Resolve(f.Path); err != nil {
		return v, err
	}
	// The journal before the file: what it tells of is then to be found there.
	if err := l.known.Refresh(l.Log(), l.cachePath()); err != nil {
		v.Journal = fmt.Errorf("read the journal: %w", err)
	}
	if states, boot := l.known.Unsettled(f.Target); states > 0 && boot != l.Boot && l.Boot != "" {
		if err := l.mend(ctx, f); err != nil {
			v.Journal = errors.Join(v.Journal, fmt.Errorf("put in force again what a power cut may have taken back: %w", err))
		}
	}
	_, pending, _ := l.known.Before(f.Target)
	v.reached = pending == nil || !durable.Staged(v.Real, pending.ID)
	file, err := durable.Read(v.Real)
	if err != nil {
		return v, err
	}
	v.Info = file.Info
	if v.Doc, err = parse(v.Real, file.Bytes); err != nil {
		return v, err
	}
	v.Facts = l.known.Facts(f.Target, v.Doc, v.reached)
	return v, nil
}

// noteAfter is how long ago a file must have been written before it is taken for
// saved whole.
const noteAfter = time.Second

// Note journals what somebody else has made of f, without waiting for anybody:
// what is being edited or was written just now is left for the next time. Where
// Dir is not there yet nothing is noted.
func (l *Ledger) Note(ctx context.Context, f File) error {
	if _, err := os.Stat(l.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	real, err := durable.Resolve(f.Path)
	if err != nil {
		return err
	}
	file, err := durable.Read(real)
	if err != nil || file.Info == nil || time.Since(file.Info.ModTime()) < noteAfter {
		return err
	}
	if err := l.known.Refresh(l.Log(), l.cachePath()); err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	if l.known.Knows(f.Target, file.Bytes) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, noteTime)
	defer cancel()
	if err := l.mend(ctx, f); !errors.Is(err, durable.ErrBusy) {
		return err
	}
	return nil
}

// noteTime is how long a note waits for others.
const noteTime = 50 * time.Millisecond

// Facts returns what is known of doc's entries, for a plan.
func (l *Ledger) Facts(f File, doc document.Doc) []journal.Fact {
	return l.known.Facts(f.Target, doc, false)
}

// Lost returns entries that left f without an op, newest first.
func (l *Ledger) Lost(ctx context.Context, f File) ([]journal.Loss, error) {
	v, err := l.Look(ctx, f)
	if err = errors.Join(err, v.Journal); err != nil {
		return nil, err
	}
	return l.known.Lost(f.Target, v.Doc, v.reached), nil
}

func parse(path string, raw []byte) (document.Doc, error) {
	doc, err := document.Parse(raw)
	if err != nil {
		return doc, fmt.Errorf("%s is %w: save it as UTF-8", path, err)
	}
	return doc, nil
}

// lock makes the folders and takes all locks, always in the same order.
func (l *Ledger) lock(ctx context.Context, f File) (unlock func() error, err error) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	if err := l.takeTurn(ctx); err != nil {
		return nil, err
	}
	held := []func() error{func() error { <-l.turn; return nil }}
	unlock = func() error {
		var err error
		for i := len(held) - 1; i >= 0; i-- {
			if e := held[i](); e != nil {
				err = errors.Join(err, e)
			}
		}
		return err
	}
	fail := func(err error) (func() error, error) { return nil, errors.Join(err, unlock()) }
	if err := l.folders(f); err != nil {
		return fail(err)
	}
	for _, path := range []string{l.lockPath(), f.Path + ".lock"} {
		free, err := durable.Lock(ctx, path)
		if errors.Is(err, fs.ErrNotExist) { // somebody has removed the folder
			clear(l.made)
			if err = l.folders(f); err == nil {
				free, err = durable.Lock(ctx, path)
			}
		}
		if err != nil {
			return fail(err)
		}
		held = append(held, free)
	}
	return unlock, nil
}

// takeTurn waits until no other goroutine is at it. Who has it receives from
// turn in the end.
func (l *Ledger) takeTurn(ctx context.Context) error {
	select {
	case l.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return fmt.Errorf("%w: this program is busy with other edits", durable.ErrBusy)
}

// folders makes what f needs, once. Those in Dir are for the user alone.
func (l *Ledger) folders(f File) error {
	for _, dir := range []string{l.Dir, filepath.Dir(f.Path)} {
		if l.made[dir] {
			continue
		}
		if err := durable.MakeFolder(dir, strings.HasPrefix(dir, l.Dir)); err != nil {
			return fmt.Errorf("make %s: %w", dir, err)
		}
		l.made[dir] = true
	}
	return nil
}
