package provider

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/hermes-mcp/hermes-mcp/provider/outbox"
)

// Errors of a Guard.
var (
	// ErrPaused: the provider failed several times in a row and is left alone
	// for a while.
	ErrPaused = errors.New("paused after repeated failures")
	// ErrInvalid: the call itself is wrong.
	ErrInvalid = errors.New("invalid")
	// ErrUnsupported: the provider cannot do that.
	ErrUnsupported = errors.New("not supported by the provider")
)

// A Guard stands between this program and its one provider. Safe for
// concurrent use by goroutines; processes share the folder, so what one puts
// another delivers. Set the fields before first use.
//
// A nil Guard is no provider: events are dropped, there is nothing to recall.
type Guard struct {
	StartTimeout   time.Duration    // of Start; 15 s when 0
	RecallTimeout  time.Duration    // of a recall, a hint and a tool; 8 s when 0
	DeliverTimeout time.Duration    // of one delivery, and of a list; 60 s when 0
	PauseAfter     int              // failures in a row before a pause; 5 when 0
	Pause          time.Duration    // 2 minutes when 0
	MaxRecall      int              // characters of a recall; 6,000 when 0
	Now            func() time.Time // time.Now when nil

	p      Provider
	box    *outbox.Box
	record record
	wake   chan struct{}

	starting chan struct{} // one slot: held while Start runs
	mu       sync.Mutex
	started  bool
}

// Open returns the guard of p. What is on its way is kept in dir, in a folder
// by p's name, so that a change of provider delivers nothing to the wrong one.
// Nothing is written and p is not started yet. The caller runs Run or Drain,
// and then Close.
func Open(p Provider, dir string) (*Guard, error) {
	dir = filepath.Join(dir, p.Name())
	box, err := outbox.Open(dir)
	if err != nil {
		return nil, err
	}
	return &Guard{
		p: p, box: box, record: record{dir: dir},
		wake: make(chan struct{}, 1), starting: make(chan struct{}, 1),
	}, nil
}

// Name is the provider's, "" when there is none.
func (g *Guard) Name() string {
	if g == nil {
		return ""
	}
	return g.p.Name()
}

// Close ends the provider. What waits stays on disk. Run must have returned.
func (g *Guard) Close() error {
	if g == nil {
		return nil
	}
	if err := g.p.Close(); err != nil {
		return fmt.Errorf("close %s: %w", g.p.Name(), err)
	}
	return nil
}

func (g *Guard) now() time.Time {
	if g.Now != nil {
		return g.Now()
	}
	return time.Now()
}

func or[T int | time.Duration](set, otherwise T) T {
	if set > 0 {
		return set
	}
	return otherwise
}

func (g *Guard) recallTime() time.Duration  { return or(g.RecallTimeout, 8*time.Second) }
func (g *Guard) deliverTime() time.Duration { return or(g.DeliverTimeout, time.Minute) }

// start starts the provider for s if it is not running. Callers wait for one
// that is starting it already.
func (g *Guard) start(ctx context.Context, s Session) error {
	select {
	case g.starting <- struct{}{}:
	case <-ctx.Done():
		words := g.p.Name() + " is still starting"
		return &said{words, words, fmt.Errorf("%w: %w", ErrNotTaken, ctx.Err())}
	}
	defer func() { <-g.starting }()
	g.mu.Lock()
	done := g.started
	g.mu.Unlock()
	if done {
		return nil
	}
	limit := left(ctx, or(g.StartTimeout, 15*time.Second))
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := g.p.Start(ctx, s); err != nil {
		why, lead := plainly(err, limit), g.p.Name()+" did not start: "
		return &said{lead + why.words, lead + why.kind, ErrNotTaken}
	}
	g.mu.Lock()
	g.started = true
	g.mu.Unlock()
	return nil
}

// ask makes one call to the provider that delivers nothing: within limit, not
// while the provider is paused, and with its outcome on record.
func (g *Guard) ask(ctx context.Context, s Session, limit time.Duration, call func(ctx context.Context) error) error {
	if err := g.paused(); err != nil {
		return err
	}
	if err := g.start(ctx, s); err != nil {
		return g.outcome(ctx, err)
	}
	limit = left(ctx, limit)
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := call(within)
	if err != nil {
		err = fmt.Errorf("%s: %w", g.p.Name(), plainly(err, limit))
	}
	return g.outcome(ctx, err)
}

// left is limit, or what the caller's own deadline leaves of it, in seconds.
func left(ctx context.Context, limit time.Duration) time.Duration {
	if end, ok := ctx.Deadline(); ok {
		if rest := time.Until(end); rest < limit {
			return max(rest.Round(time.Second), time.Second)
		}
	}
	return limit
}

// SystemBlock is the provider's fixed text for the prompt, "" when it has none
// or the scanner refuses it.
func (g *Guard) SystemBlock(ctx context.Context, s Session) (text string, err error) {
	if g == nil {
		return "", nil
	}
	b, ok := g.p.(SystemBlocker)
	if !ok {
		return "", nil
	}
	err = g.ask(ctx, s, g.recallTime(), func(ctx context.Context) (err error) {
		text, err = b.SystemBlock(ctx)
		return err
	})
	if err != nil {
		return "", err
	}
	return lasting(text), nil
}

// List is all that the provider holds. Errors: ErrUnsupported.
func (g *Guard) List(ctx context.Context, s Session) (facts []Fact, err error) {
	l, ok := g.p.(Lister)
	if !ok {
		return nil, fmt.Errorf("list what %s holds: %w", g.p.Name(), ErrUnsupported)
	}
	err = g.ask(ctx, s, g.deliverTime(), func(ctx context.Context) (err error) {
		facts, err = l.List(ctx)
		return err
	})
	return facts, err
}
