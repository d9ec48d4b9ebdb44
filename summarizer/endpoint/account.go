package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// An Account counts what was spent, stops when the day's budget is, and
// remembers which endpoints do not answer. Processes that share the file share
// all three. A nil Account counts nothing and knows no breaker. Set the fields
// before first use; safe for concurrent use.
type Account struct {
	Path        string  // the file; "" keeps everything in memory
	DailyTokens int64   // most tokens a day, in and out; 0 is no limit
	DailyCost   float64 // most dollars a day; 0 is no limit
	Now         func() time.Time

	mu  sync.Mutex
	own ledger // used when Path is ""
}

// A Spending is what one task used in a day.
type Spending struct {
	Calls        int     `json:"calls"`
	Failures     int     `json:"failures,omitempty"`
	InputTokens  int64   `json:"input_tokens"`
	OutputTokens int64   `json:"output_tokens"`
	Cost         float64 `json:"cost,omitempty"` // dollars, as far as prices are known
}

// A Health is what is known of one endpoint.
type Health struct {
	Failures  int       `json:"failures,omitempty"`  // in a row
	OpenUntil time.Time `json:"open_until,omitzero"` // not called before
	LastError string    `json:"last_error,omitempty"`
}

// A Statement is the account of the present day.
type Statement struct {
	Day       string              `json:"day"` // 2006-01-02, local
	Tasks     map[string]Spending `json:"tasks,omitempty"`
	Endpoints map[string]Health   `json:"endpoints,omitempty"`
}

// ledger is the file.
type ledger struct {
	Statement
	// Held is set aside for calls that run; a process that was killed leaves
	// its part until the next day, which errs on the side of stopping.
	HeldTokens int64   `json:"held_tokens,omitempty"`
	HeldCost   float64 `json:"held_cost,omitempty"`
}

func (a *Account) now() time.Time {
	if a.Now != nil {
		return a.Now()
	}
	return time.Now()
}

// Statement returns what was spent today.
func (a *Account) Statement() (Statement, error) {
	if a == nil {
		return Statement{}, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	l, err := a.load()
	return l.Statement, err
}

// load reads the ledger of today. One that is not there is empty, but not one
// that cannot be read or understood: that would spend a budget twice.
func (a *Account) load() (ledger, error) {
	l := a.own
	if a.Path != "" {
		l = ledger{}
		raw, err := os.ReadFile(a.Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return l, fmt.Errorf("account: %w", err)
		}
		if err == nil && json.Unmarshal(raw, &l) != nil {
			return l, fmt.Errorf("account: %s is not JSON; remove it and counting starts anew", a.Path)
		}
	}
	if day := a.now().Format(time.DateOnly); l.Day != day {
		l = ledger{Statement: Statement{Day: day, Endpoints: l.Endpoints}}
	}
	if l.Tasks == nil {
		l.Tasks = map[string]Spending{}
	}
	if l.Endpoints == nil {
		l.Endpoints = map[string]Health{}
	}
	return l, nil
}

// change edits the ledger while nobody else does.
func (a *Account) change(ctx context.Context, edit func(*ledger) error) (err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.Path != "" {
		if err := os.MkdirAll(filepath.Dir(a.Path), 0o700); err != nil {
			return fmt.Errorf("account: %w", err)
		}
		lock := flock.New(a.Path + ".lock")
		if _, err := lock.TryLockContext(ctx, 5*time.Millisecond); err != nil {
			return fmt.Errorf("account: lock: %w", err)
		}
		defer func() { err = errors.Join(err, lock.Unlock()) }()
	}
	l, err := a.load()
	if err != nil {
		return err
	}
	refused := edit(&l)
	return errors.Join(refused, a.save(l))
}

func (a *Account) save(l ledger) error {
	if a.Path == "" {
		a.own = l
		return nil
	}
	raw, err := json.Marshal(l)
	if err == nil {
		temp := a.Path + ".new" // one writer at a time: the lock is held
		if err = writeSynced(temp, append(raw, '\n')); err == nil {
			err = os.Rename(temp, a.Path)
		}
	}
	if err != nil {
		return fmt.Errorf("account: %w", err)
	}
	return nil
}

// writeSynced writes a file that is whole on the disk before it gets its name: a
// ledger that a power cut left empty would stop every call.
func writeSynced(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// A Cost is tokens and dollars of one call.
type Cost struct {
	In, Out int64
	Dollars float64
}

// A Call is one call of an endpoint, as the account sees it.
type Call struct {
	Task     string // under which it is counted
	Endpoint string // whose health it tells of, as Shown
	Most     Cost   // set aside while it runs
}

// How long an endpoint is left alone, by failures in a row.
const (
	breakAfter  = 3
	shortBreak  = time.Minute
	longestRest = 15 * time.Minute
	// longWait is from when on a wait that an endpoint asks for is kept by all
	// that call it, and not only by the call that was told.
	longWait = 10 * time.Second
	// settleTime is how long a call that is over waits for the account.
	settleTime = 2 * time.Second
)

// Admit sets c.Most aside, unless the endpoint is left alone or the budget does
// not cover it. What was admitted must be settled. Errors: ErrDown, ErrBudget.
func (a *Account) Admit(ctx context.Context, c Call) error {
	if a == nil {
		return nil
	}
	return a.change(ctx, func(l *ledger) error {
		h := l.Endpoints[c.Endpoint]
		now := a.now()
		if now.Before(h.OpenUntil) {
			return fmt.Errorf("%w until %s: %s", ErrDown, h.OpenUntil.Local().Format("15:04:05"), h.LastError)
		}
		tokens, dollars := l.HeldTokens+c.Most.In+c.Most.Out, l.HeldCost+c.Most.Dollars
		for _, s := range l.Tasks {
			tokens += s.InputTokens + s.OutputTokens
			dollars += s.Cost
		}
		if a.DailyTokens > 0 && tokens > a.DailyTokens {
			return fmt.Errorf("%w: %d tokens a day", ErrBudget, a.DailyTokens)
		}
		if a.DailyCost > 0 && dollars > a.DailyCost {
			return fmt.Errorf("%w: $%.2f a day", ErrBudget, a.DailyCost)
		}
		if h.Failures >= breakAfter {
			h.OpenUntil = now.Add(shortBreak) // this call is the trial; nobody else tries meanwhile
			l.Endpoints[c.Endpoint] = h
		}
		l.HeldTokens += c.Most.In + c.Most.Out
		l.HeldCost += c.Most.Dollars
		return nil
	})
}

// Settle replaces what was set aside by what was used. failed is nil for an
// endpoint that works, whatever it answered; neutral says that nothing was
// learnt about it. It does not end with ctx.
func (a *Account) Settle(ctx context.Context, c Call, used Cost, failed error, neutral bool) error {
	if a == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	return a.change(ctx, func(l *ledger) error {
		l.HeldTokens = max(0, l.HeldTokens-c.Most.In-c.Most.Out)
		l.HeldCost = max(0, l.HeldCost-c.Most.Dollars)
		s := l.Tasks[c.Task]
		s.Calls++
		s.InputTokens += used.In
		s.OutputTokens += used.Out
		s.Cost += used.Dollars
		if failed != nil {
			s.Failures++
		}
		l.Tasks[c.Task] = s
		if neutral {
			return nil
		}
		if failed == nil {
			delete(l.Endpoints, c.Endpoint)
			return nil
		}
		h := l.Endpoints[c.Endpoint]
		h.Failures++
		h.LastError = brief(failed.Error())
		var rest time.Duration
		if h.Failures >= breakAfter {
			rest = min(shortBreak<<min(h.Failures-breakAfter, 8), longestRest)
		}
		if s := (*StatusError)(nil); errors.As(failed, &s) && s.After >= longWait {
			rest = max(rest, min(s.After, longestRest))
		}
		if rest > 0 {
			h.OpenUntil = a.now().Add(rest)
		}
		l.Endpoints[c.Endpoint] = h
		return nil
	})
}
