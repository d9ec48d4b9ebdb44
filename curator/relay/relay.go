// Package relay tells the one external memory what happened in the sessions of
// an agent: a turn ended, a session ended or goes on as another, context is
// about to be lost, a subagent has finished.
//
// An agent's hook has no time and an agent's transcript lags behind it, so the
// hook only puts an [Event] on disk ([Relay.Put]). Whoever comes next works the
// events off, in the order they came ([Relay.Work]): it brings what is new of
// the session into the archive, takes the turns out of there, and hands them to
// the guard, whose queue does the rest.
//
// # Promises
//
// A turn that is in the archive reaches the guard although the hook that told
// of it was killed: the next event of its session takes along all turns since
// the last one told. It reaches the guard once, since its id is that of the
// prompt. What was recalled is no part of a turn.
//
// # What is never done
//
// Turns from before the provider was first named are not told (but for those of
// the last minutes), subagents' and rewound ones neither.
package relay

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hermes-mcp/hermes-mcp/memstore/durable"
	"github.com/hermes-mcp/hermes-mcp/provider"
	"github.com/hermes-mcp/hermes-mcp/provider/outbox"
	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// A Kind is what happened.
type Kind string

const (
	Turn       Kind = "turn"       // an answer is complete
	End        Kind = "end"        // the session is over
	Switch     Kind = "switch"     // another session goes on in its place
	Compress   Kind = "compress"   // its context is about to be shortened
	Delegation Kind = "delegation" // a subagent has finished
)

// An Event is what a hook tells.
type Event struct {
	ID      string    `json:"id"`
	Kind    Kind      `json:"kind"`
	Session string    `json:"session"`          // "<source>:<id>"; of a subagent's end, the parent's
	Path    string    `json:"path,omitempty"`   // its transcript, as the agent names it
	Dir     string    `json:"dir,omitempty"`    // its folder
	Said    string    `json:"said,omitempty"`   // what the agent said last, for the transcript lags
	Child   string    `json:"child,omitempty"`  // the agent's id of a subagent
	Aside   string    `json:"aside,omitempty"`  // the subagent's transcript
	From    string    `json:"from,omitempty"`   // the session before, of a switch
	Reason  string    `json:"reason,omitempty"` // of a switch: resume, clear
	At      time.Time `json:"at"`               // when it happened
}

// A Relay works the events of one home off. Set the fields before first use;
// safe for concurrent use by goroutines and processes.
type Relay struct {
	Guard   *provider.Guard
	Profile string           // of the home, for the provider
	Lag     time.Duration    // how long an agent takes to write down what it tells of; Work waits for that
	Now     func() time.Time // time.Now when nil

	dir string
	box *outbox.Box
}

// An Archive is where the turns are taken from.
type Archive interface {
	// Bring archives what is new of a session, from the transcripts that its
	// agent named; "" is none.
	Bring(ctx context.Context, session string, paths ...string) error
	// Open opens the archive, which is not closed here.
	Open(ctx context.Context) (*transcript.DB, error)
}

// Open returns the relay to g, with what waits in dir, beside what waits in g.
// Nothing is written. A nil g drops every event.
func Open(g *provider.Guard, dir string) (*Relay, error) {
	r := &Relay{Guard: g, dir: filepath.Join(dir, g.Name())}
	var err error
	if r.box, err = outbox.Open(filepath.Join(r.dir, "events")); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *Relay) now() time.Time {
	if r.Now != nil {
		return r.Now()
	}
	return time.Now()
}

// Put takes events; they are on disk when it returns.
func (r *Relay) Put(ctx context.Context, events ...Event) error {
	if r.Guard == nil || len(events) == 0 {
		return nil
	}
	var items []outbox.Item
	for _, e := range events {
		if e.ID == "" {
			e.ID = rand.Text()
		}
		if e.At.IsZero() {
			e.At = r.now()
		}
		e.Said = cut(e.Said, outbox.MaxItem/8)
		raw, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("tell the provider of a %s: %w", e.Kind, err)
		}
		items = append(items, outbox.Item{ID: e.ID, Kind: string(e.Kind), At: e.At, Body: raw})
	}
	if _, err := r.box.Put(ctx, items...); err != nil {
		return fmt.Errorf("tell the provider: %w", err)
	}
	return nil
}

// cut is at most n bytes of text, whole characters.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "")
}

// Begin notes when the provider was first named. Turns from before stay untold.
func (r *Relay) Begin() error {
	if r.Guard == nil {
		return nil
	}
	if _, err := r.since(); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err := durable.MakeFolder(r.dir, true)
	if err == nil {
		err = durable.WriteFile(r.sinceFile(), []byte(r.now().UTC().Format(time.RFC3339Nano)+"\n"))
	}
	if err != nil {
		return fmt.Errorf("note since when the provider is named: %w", err)
	}
	return nil
}

func (r *Relay) sinceFile() string { return filepath.Join(r.dir, "since") }

func (r *Relay) since() (time.Time, error) {
	raw, err := os.ReadFile(r.sinceFile())
	if err != nil {
		return time.Time{}, err
	}
	at, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(string(raw)))
	if err != nil {
		return at, fmt.Errorf("%s holds no time: %w", r.sinceFile(), err)
	}
	return at, nil
}

// Status is what waits here, before it is the guard's.
func (r *Relay) Status(ctx context.Context) (outbox.Status, error) {
	if r.Guard == nil {
		return outbox.Status{}, nil
	}
	return r.box.Status(ctx)
}

// mostTries bounds how often an event is tried that cannot be worked off: the
// ones behind it wait.
const mostTries = 5

// Work works off what waits, until nothing does or ctx is done. While another
// process does, it returns at once. An event that fails stays first, for the
// next Work; after several it is set aside, which Status shows.
func (r *Relay) Work(ctx context.Context, archive Archive) error {
	if r.Guard == nil {
		return nil
	}
	_, err := r.box.Deliver(ctx, outbox.Courier{
		Ready:      func(context.Context, outbox.Item) error { return nil },
		Repeatable: func(outbox.Item) bool { return true }, // a turn that is told twice is taken once
		Send: func(ctx context.Context, it outbox.Item) (outbox.Outcome, error) {
			var e Event
			if err := json.Unmarshal(it.Body, &e); err != nil {
				return outbox.Refused, fmt.Errorf("event %s: %w", it.ID, err)
			}
			err := r.tell(ctx, archive, e)
			switch {
			case err == nil:
				return outbox.Delivered, nil
			case ctx.Err() == nil && it.Tries+1 >= mostTries && !errors.Is(err, outbox.ErrFull):
				return outbox.Refused, err
			}
			return outbox.Later, err
		},
	})
	if errors.Is(err, outbox.ErrElsewhere) {
		return nil
	}
	return err
}

// Settle drops an event that is set aside, or has it tried again. Errors:
// outbox.ErrNotFound.
func (r *Relay) Settle(ctx context.Context, id string, again bool) error {
	return r.box.Settle(ctx, id, again)
}
