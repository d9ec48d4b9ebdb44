package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gofrs/flock"
)

// An Outcome is what became of sending an item.
type Outcome int

const (
	Delivered Outcome = iota
	Later             // it did not arrive; it stays first
	Refused           // it did not arrive and never will
	Unclear           // it may have arrived
)

// A Courier sends items.
type Courier struct {
	// Ready makes sure that items can be sent at all, before anything else is
	// asked. It is given the first item. An error of it ends the delivery.
	Ready func(ctx context.Context, first Item) error
	// Send sends one. The error is kept with the item.
	Send func(ctx context.Context, it Item) (Outcome, error)
	// Repeatable tells whether an item may be sent twice without harm.
	Repeatable func(it Item) bool
}

// Deliver sends what waits, in order, until nothing does, ctx is done, or an
// item stays: then it returns that item's error. It returns how many were
// delivered. The outcome of an item that was sent is noted even when ctx is
// done. Errors: ErrElsewhere.
func (b *Box) Deliver(ctx context.Context, c Courier) (delivered int, err error) {
	if !exists(b.path("log.jsonl")) {
		return 0, nil
	}
	if !b.sending.TryLock() {
		return 0, ErrElsewhere
	}
	defer b.sending.Unlock()
	lock := flock.New(b.path("deliver.lock"))
	ok, err := lock.TryLock()
	if err != nil {
		return 0, fmt.Errorf("outbox: %w", err)
	}
	if !ok {
		return 0, ErrElsewhere
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	first, err := b.first(ctx)
	if err != nil || first == nil {
		return 0, err
	}
	if err := c.Ready(ctx, *first); err != nil {
		return 0, err
	}
	if err := b.recover(ctx, c); err != nil {
		return 0, err
	}
	for ctx.Err() == nil {
		it, err := b.take(ctx)
		if err != nil || it == nil {
			return delivered, err
		}
		outcome, sent := c.Send(ctx, *it)
		if err := b.note(context.WithoutCancel(ctx), c, *it, outcome, sent); err != nil {
			return delivered, err
		}
		switch {
		case outcome == Delivered:
			delivered++
		case outcome == Later, outcome == Unclear && c.Repeatable(*it):
			return delivered, sent
		}
	}
	return delivered, ctx.Err()
}

// recover decides what to do with an item that was under way when its process
// ended; the lock says that it did.
func (b *Box) recover(ctx context.Context, c Courier) error {
	return b.change(ctx, func(l *log) error {
		for _, e := range slices.Clone(l.view.live) {
			if e.state != Sending {
				continue
			}
			r := record{Op: opUnknown, ID: e.id, Error: "the program ended while this was being delivered"}
			if c.Repeatable(e.item()) {
				r.Op = opBack
			}
			if err := l.append(true, r); err != nil {
				return err
			}
		}
		return nil
	})
}

// first returns the first item that is to be sent or was under way, or nil.
func (b *Box) first(ctx context.Context) (it *Item, err error) {
	err = b.change(ctx, func(l *log) (err error) {
		it, err = l.next(Waiting, Sending)
		return err
	})
	return it, err
}

// take marks the first waiting item as under way and returns it, or nil.
func (b *Box) take(ctx context.Context) (it *Item, err error) {
	err = b.change(ctx, func(l *log) (err error) {
		if it, err = l.next(Waiting); err != nil || it == nil {
			return err
		}
		return l.append(true, record{Op: opBegin, ID: it.ID})
	})
	return it, err
}

// note records what became of an item that was sent. That it is done need not
// survive a power cut: the note that it was under way does.
func (b *Box) note(ctx context.Context, c Courier, it Item, o Outcome, sent error) error {
	r := record{ID: it.ID}
	if sent != nil {
		r.Error = sent.Error()
	}
	switch {
	case o == Delivered:
		r.Op = opDone
	case o == Later, o == Unclear && c.Repeatable(it):
		r.Op = opBack
	case o == Refused:
		r.Op = opReject
	default:
		r.Op = opUnknown
	}
	return b.change(ctx, func(l *log) error { return l.append(r.Op != opDone, r) })
}
