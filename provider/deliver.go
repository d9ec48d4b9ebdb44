package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hermes-mcp/hermes-mcp/provider/outbox"
)

const (
	// poll is how often Run looks for what other processes put.
	poll = 5 * time.Second
	// maxWait is the longest that Run waits between tries.
	maxWait = time.Minute
	// grace is how long a delivery that is under way may go on when its caller
	// must end: cut off, nobody would know whether it arrived.
	grace = 5 * time.Second
)

// Run delivers what waits, and what comes, until ctx is done. It is the one
// ordered worker: of several processes one delivers at a time. Failures are in
// Health.
func (g *Guard) Run(ctx context.Context) {
	if g == nil {
		return
	}
	wait := time.Second
	for ctx.Err() == nil {
		_, err := g.Drain(ctx)
		next, wake := poll, g.wake
		switch {
		case err == nil || errors.Is(err, outbox.ErrElsewhere):
			wait = time.Second
		default:
			next, wake = wait, nil // what comes has to wait as well
			wait = min(2*wait, maxWait)
		}
		timer := time.NewTimer(next)
		select {
		case <-ctx.Done():
		case <-wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// Drain delivers what waits until nothing does, the provider fails or ctx is
// done; what is under way then has a few more seconds. It returns how many
// were delivered. What is left stays. Errors: outbox.ErrElsewhere, ErrPaused,
// ErrNotTaken, and others that leave the outcome open.
func (g *Guard) Drain(ctx context.Context) (delivered int, err error) {
	if g == nil {
		return 0, nil
	}
	if err := g.paused(); err != nil {
		return 0, err
	}
	return g.box.Deliver(ctx, outbox.Courier{
		Ready: func(ctx context.Context, first outbox.Item) error {
			_, s, _ := g.call(first) // an item that cannot be read is told when it is sent
			if err := g.start(ctx, s); err != nil {
				return g.outcome(ctx, err)
			}
			return nil
		},
		Send: g.send,
		Repeatable: func(it outbox.Item) bool {
			r, ok := g.p.(Repeater)
			return ok && r.Repeatable(Kind(it.Kind))
		},
	})
}

// Settle ends an item that is set aside as unknown or rejected: it is sent
// again, or dropped. Errors: outbox.ErrNotFound.
func (g *Guard) Settle(ctx context.Context, id string, again bool) error {
	return g.box.Settle(ctx, id, again)
}

// send delivers one item. It is not cut off when ctx is done, only soon after.
func (g *Guard) send(ctx context.Context, it outbox.Item) (outbox.Outcome, error) {
	if err := g.paused(); err != nil {
		return outbox.Later, err
	}
	limit := g.deliverTime()
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	defer stop()
	call, s, err := g.call(it)
	if err != nil {
		return outbox.Refused, g.failed(err)
	}
	if err := g.start(within, s); err != nil {
		return outbox.Later, g.outcome(ctx, err)
	}
	err = call(within)
	if err != nil {
		err = fmt.Errorf("%s, %s: %w", g.p.Name(), it.Kind, plainly(err, limit))
	}
	return fate(err), g.outcome(within, err)
}

// fate is what an error says about a delivery.
func fate(err error) outbox.Outcome {
	switch {
	case err == nil:
		return outbox.Delivered
	case errors.Is(err, ErrRejected):
		return outbox.Refused
	case errors.Is(err, ErrNotTaken):
		return outbox.Later
	default:
		return outbox.Unclear
	}
}

// call is the call that delivers it, and the session it belongs to. What the
// provider takes no interest in is delivered by doing nothing.
func (g *Guard) call(it outbox.Item) (func(context.Context) error, Session, error) {
	nothing := func(context.Context) error { return nil }
	switch Kind(it.Kind) {
	case KindTurn:
		t, err := decode[Turn](it)
		return func(ctx context.Context) error { return g.sync(ctx, t) }, t.Session, err
	case KindWrite:
		w, err := decode[Write](it)
		if m, ok := g.p.(Mirror); ok {
			return func(ctx context.Context) error { return m.MirrorWrite(ctx, w) }, w.Session, err
		}
		return nothing, w.Session, err
	case KindEnd:
		s, err := decode[Session](it)
		if e, ok := g.p.(SessionEnder); ok {
			return func(ctx context.Context) error { return e.EndSession(ctx, s) }, s, err
		}
		return nothing, s, err
	case KindSwitch:
		s, err := decode[Switch](it)
		if w, ok := g.p.(SessionSwitcher); ok {
			return func(ctx context.Context) error { return w.SwitchSession(ctx, s) }, s.To, err
		}
		return nothing, s.To, err
	case KindDelegation:
		d, err := decode[Delegation](it)
		if w, ok := g.p.(Delegator); ok {
			return func(ctx context.Context) error { return w.Delegated(ctx, d) }, d.Session, err
		}
		return nothing, d.Session, err
	case KindCompress:
		c, err := decode[Compression](it)
		if w, ok := g.p.(PreCompressor); ok {
			return func(ctx context.Context) error { return w.PreCompress(ctx, c) }, c.Session, err
		}
		return nothing, c.Session, err
	default:
		return nil, Session{}, fmt.Errorf("%s: %q is nothing that this version can deliver", it.ID, it.Kind)
	}
}

func decode[T any](it outbox.Item) (body T, err error) {
	if err = json.Unmarshal(it.Body, &body); err != nil {
		err = fmt.Errorf("%s cannot be read: %w", it.ID, err)
	}
	return body, err
}

// sync delivers a turn and, since the next prompt will likely be about the
// same, gives the hint for the next recall. The turn has arrived whatever
// becomes of the hint.
func (g *Guard) sync(ctx context.Context, t Turn) error {
	if err := g.p.SyncTurn(ctx, t); err != nil {
		return err
	}
	p, ok := g.p.(Prefetcher)
	if !ok || trivial(t.User) {
		return nil
	}
	limit := g.recallTime()
	hint, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := p.Prefetch(hint, t.Session, head(t.User, maxQuery)); err != nil {
		g.record.hint(g.now(), fmt.Errorf("%s, hint for the next recall: %w", g.p.Name(), plainly(err, limit)))
	}
	return nil
}
