// Package outbox keeps what is on its way to a provider on disk, in the order
// it happened, until it is known what became of it.
//
// # Promises
//
// What Put has taken survives a kill at any moment and, once Put returned, a
// power cut. Items are delivered one at a time, first in first out, by one
// process of all that share the folder. An item's id is taken once: a second
// Put of it adds nothing, also after it was delivered (the last 5,000 ids are
// remembered).
//
// An item is noted as under way, durably, before it is sent. If the outcome is
// then not known, since the process was killed or the answer never came, the
// item is sent again only where that is harmless; else it is set aside as
// unknown and shown, and the next one goes on. An item that was refused for
// good is set aside as rejected. What is set aside stays until it is settled.
//
// # On disk
//
// log.jsonl, one JSON object a line, appended and never changed, and written
// anew without what is done when that is most of it. A line that cannot be
// read is kept and counted, and costs no other. lock is held for one change,
// deliver.lock while items are sent.
package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/hermes-mcp/hermes-mcp/memstore/durable"
)

// Limits of a box.
const (
	MaxItem  = 1 << 20  // bytes of one body
	MaxItems = 10_000   // items that wait or are set aside
	MaxBytes = 64 << 20 // bytes of their bodies together
)

// patience is how long a change waits for other processes.
const patience = 10 * time.Second

// Errors of this package.
var (
	// ErrFull: the box holds as much as it may; nothing of the Put was taken.
	ErrFull = errors.New("outbox is full")
	// ErrTooLarge: a body has more than MaxItem bytes.
	ErrTooLarge = errors.New("item is too large")
	// ErrNotFound: no item that is set aside has this id.
	ErrNotFound = errors.New("no such item")
	// ErrElsewhere: another process is delivering.
	ErrElsewhere = errors.New("another process is delivering")
)

// A State is how far an item is.
type State string

const (
	Waiting  State = "waiting"
	Sending  State = "sending"
	Unknown  State = "unknown"  // it may have arrived
	Rejected State = "rejected" // it did not arrive and never will
)

// An Item is one thing to be delivered.
type Item struct {
	ID    string          `json:"id"`
	Kind  string          `json:"kind"`
	At    time.Time       `json:"at"`             // when it was put; set by Put when zero
	Body  json.RawMessage `json:"body,omitempty"` // absent in a Status
	State State           `json:"state,omitempty"`
	Error string          `json:"error,omitempty"` // of the last try
	Tries int             `json:"tries,omitempty"`
}

// A Status is what a box holds.
type Status struct {
	Waiting  int       // items to be sent, the one under way included
	Oldest   time.Time // of them
	Blocked  string    // why the first of them has not gone, "" when it was not tried
	SetAside []Item    // unknown and rejected, oldest first
	Damaged  int       // lines of the log that cannot be read
}

// A Box is an outbox. Safe for concurrent use by goroutines and processes.
type Box struct {
	Now func() time.Time // time.Now when nil; set before first use

	dir     string
	mu      sync.Mutex
	view    view // of the log, as far as it was read
	sending sync.Mutex
}

// Open returns the box in dir. The folder is made, private, by the first Put.
func Open(dir string) (*Box, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open outbox: %w", err)
	}
	return &Box{dir: abs}, nil
}

func (b *Box) now() time.Time {
	if b.Now != nil {
		return b.Now()
	}
	return time.Now()
}

func (b *Box) path(name string) string { return filepath.Join(b.dir, name) }

// change runs fn with the log as it is now, under the lock.
func (b *Box) change(ctx context.Context, fn func(l *log) error) (err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := durable.MakeFolder(b.dir, true); err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	unlock, err := durable.Lock(ctx, b.path("lock"))
	if err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	l, err := openLog(b.path("log.jsonl"), &b.view)
	if err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	err = fn(l)
	if err == nil {
		err = l.tidy()
	}
	if err = errors.Join(err, l.close()); err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	return nil
}

// Put takes items, all or none, and returns how many of them are new. They are
// on disk when it returns. Errors: ErrFull, ErrTooLarge.
func (b *Box) Put(ctx context.Context, items ...Item) (added int, err error) {
	err = b.change(ctx, func(l *log) error {
		var lines []record
		held, size := l.view.held()
		seen := map[string]bool{}
		for _, it := range items {
			if len(it.Body) > MaxItem {
				return fmt.Errorf("%w: %s has %d bytes, at most %d go", ErrTooLarge, it.ID, len(it.Body), MaxItem)
			}
			if l.view.knows(it.ID) || seen[it.ID] {
				continue
			}
			seen[it.ID] = true
			if it.At.IsZero() {
				it.At = b.now()
			}
			held, size = held+1, size+len(it.Body)
			lines = append(lines, record{Op: opPut, ID: it.ID, Kind: it.Kind, At: it.At, Body: it.Body})
		}
		if len(lines) > 0 && (held > MaxItems || size > MaxBytes) {
			return fmt.Errorf("%w: %d items wait, at most %d of %d MB together do", ErrFull, held-len(lines), MaxItems, MaxBytes>>20)
		}
		added = len(lines)
		return l.append(true, lines...)
	})
	if err != nil {
		return 0, err
	}
	return added, nil
}

// Status tells what the box holds. It writes nothing where nothing was put.
func (b *Box) Status(ctx context.Context) (s Status, err error) {
	if !exists(b.path("log.jsonl")) {
		return s, nil
	}
	err = b.change(ctx, func(l *log) error {
		s.Damaged = len(l.view.damaged)
		for _, e := range l.view.live {
			switch e.state {
			case Waiting, Sending:
				if s.Waiting++; s.Waiting == 1 {
					s.Oldest, s.Blocked = e.at, e.err
				}
			case Unknown, Rejected:
				s.SetAside = append(s.SetAside, e.item())
			}
		}
		return nil
	})
	return s, err
}

// Settle ends an item that is set aside: it is sent again, after what waits,
// or dropped. Errors: ErrNotFound.
func (b *Box) Settle(ctx context.Context, id string, again bool) error {
	return b.change(ctx, func(l *log) error {
		e := l.view.find(id)
		if e == nil || (e.state != Unknown && e.state != Rejected) {
			return fmt.Errorf("%w: %s", ErrNotFound, id)
		}
		if again {
			return l.append(true, record{Op: opAgain, ID: id})
		}
		return l.append(true, record{Op: opDone, ID: id})
	})
}

// Forget takes out, for good, what gone names by its id or its body, whatever
// its state; a line that cannot be read has no id. Nothing of it is left on disk,
// nor of anything that was delivered. An item that is under way at that moment
// may still arrive.
func (b *Box) Forget(ctx context.Context, gone func(id string, body []byte) bool) error {
	if !exists(b.path("log.jsonl")) {
		return nil
	}
	return b.change(ctx, func(l *log) error {
		text, err := l.anew(gone)
		if err != nil {
			return err
		}
		return l.replace(text)
	})
}
