package provider

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/memstore/journal"
	"github.com/hermes-mcp/hermes-mcp/provider/outbox"
)

// TurnEnded puts a finished turn on its way. It returns when the turn is on
// disk. A turn of the same id is taken once, one of a session that may not
// write is dropped, as is one that holds nothing but what was recalled.
// Errors: ErrInvalid without an id, outbox.ErrFull.
func (g *Guard) TurnEnded(ctx context.Context, t Turn) error {
	if g == nil || !t.Session.Writes() {
		return nil
	}
	t.User, t.Assistant = outgoing(t.User, maxTurn), outgoing(t.Assistant, maxTurn)
	if t.User == "" && t.Assistant == "" {
		return nil
	}
	return g.put(ctx, event{KindTurn, t.ID, t})
}

// MemoryWritten puts edits of the built-in memory on their way: call it when
// they are on disk. See [Writes]. Errors as TurnEnded.
func (g *Guard) MemoryWritten(ctx context.Context, writes ...Write) error {
	if g == nil {
		return nil
	}
	if _, ok := g.p.(Mirror); !ok {
		return nil
	}
	var events []event
	for _, w := range writes {
		if w.Session.Writes() {
			w.Old, w.New = Outgoing(w.Old), Outgoing(w.New)
			if w.At.IsZero() {
				w.At = g.now()
			}
			events = append(events, event{KindWrite, w.ID, w})
		}
	}
	return g.put(ctx, events...)
}

// SessionEnded says that a conversation is over. It is delivered after the
// session's turns, once for an id: the same end may be told by several. An
// end without one is told each time.
func (g *Guard) SessionEnded(ctx context.Context, s Session, id string) error {
	if g == nil || !s.Writes() {
		return nil
	}
	return g.put(ctx, g.end(s, id)...)
}

// SessionSwitched says that a conversation goes on under another session. The
// old one is ended first, unless it is the same conversation that was
// compressed or taken back a step. end is the id of that end, as in
// SessionEnded.
func (g *Guard) SessionSwitched(ctx context.Context, s Switch, end string) error {
	if g == nil || !s.To.Writes() {
		return nil
	}
	var events []event
	if s.Reason != "compression" && s.Reason != "undo" {
		events = g.end(s.From, end)
	}
	if _, ok := g.p.(SessionSwitcher); ok {
		events = append(events, event{KindSwitch, cmp.Or(s.ID, rand.Text()), s})
	}
	return g.put(ctx, events...)
}

func (g *Guard) end(s Session, id string) []event {
	if _, ok := g.p.(SessionEnder); !ok {
		return nil
	}
	return []event{{KindEnd, cmp.Or(id, rand.Text()), s}}
}

// Compressing hands over what is about to leave a session's context. Errors
// as TurnEnded.
func (g *Guard) Compressing(ctx context.Context, c Compression) error {
	if g == nil || !c.Session.Writes() {
		return nil
	}
	if _, ok := g.p.(PreCompressor); !ok {
		return nil
	}
	c.Conversation = outgoing(c.Conversation, 4*maxTurn)
	return g.put(ctx, event{KindCompress, c.ID, c})
}

// Delegated tells the parent's session what a subagent did. Errors as
// TurnEnded.
func (g *Guard) Delegated(ctx context.Context, d Delegation) error {
	if g == nil || !d.Session.Writes() {
		return nil
	}
	if _, ok := g.p.(Delegator); !ok {
		return nil
	}
	d.Task, d.Result = outgoing(d.Task, maxTurn), outgoing(d.Result, maxTurn)
	return g.put(ctx, event{KindDelegation, d.ID, d})
}

// An event is what goes into the outbox.
type event struct {
	kind Kind
	id   string
	body any
}

// put takes all events or none.
func (g *Guard) put(ctx context.Context, events ...event) error {
	var items []outbox.Item
	for _, e := range events {
		if e.id == "" {
			return fmt.Errorf("%w: a %s without an id cannot be told from another", ErrInvalid, e.kind)
		}
		body, err := json.Marshal(e.body)
		if err != nil {
			return fmt.Errorf("put %s %s: %w", e.kind, e.id, err)
		}
		items = append(items, outbox.Item{ID: string(e.kind) + ":" + e.id, Kind: string(e.kind), At: g.now(), Body: body})
	}
	if len(items) == 0 {
		return nil
	}
	added, err := g.box.Put(ctx, items...)
	if err != nil {
		return g.failed(fmt.Errorf("keep what is for %s: %w", g.p.Name(), err))
	}
	if added > 0 {
		select {
		case g.wake <- struct{}{}:
		default:
		}
	}
	return nil
}

// Writes are the edits of one result of the memory, as a mirror takes them.
func Writes(s Session, t memstore.Target, r memstore.Result) []Write {
	var out []Write
	for i, c := range r.Changes {
		if c.Duplicate || r.EditID == "" {
			continue
		}
		w := Write{
			ID: r.EditID + "." + strconv.Itoa(i), Session: s,
			Target: t, Action: c.Action, Old: c.Old, New: c.New,
		}
		if c.Old != "" {
			w.OldHash = journal.Hash([]byte(c.Old))
		}
		if c.New != "" {
			w.NewHash = journal.Hash([]byte(c.New))
		}
		out = append(out, w)
	}
	return out
}
