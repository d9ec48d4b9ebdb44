package provider

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

	"github.com/hermes-mcp/hermes-mcp/memstore/durable"
	"github.com/hermes-mcp/hermes-mcp/provider/outbox"
)

// The states of a provider.
const (
	Unused  = "unused"  // not asked yet
	Working = "working" // the last call succeeded
	Failing = "failing" // the last call failed
	Paused  = "paused"  // left alone for a while
)

// A Health is how a provider does, in all processes of this home together.
type Health struct {
	Name        string        `json:"name"`
	State       string        `json:"state"`
	LastOK      time.Time     `json:"last_ok,omitzero"` // to the minute while all is well
	LastError   string        `json:"last_error,omitempty"`
	LastErrorAt time.Time     `json:"last_error_at,omitzero"`
	Failures    int           `json:"failures"` // in a row
	PausedUntil time.Time     `json:"paused_until,omitzero"`
	Waiting     int           `json:"waiting"` // deliveries to come
	Oldest      time.Time     `json:"oldest_waiting,omitzero"`
	Blocked     string        `json:"blocked,omitempty"`   // why the first of them has not gone
	SetAside    []outbox.Item `json:"set_aside,omitempty"` // unknown or rejected, until settled
	Damaged     int           `json:"damaged,omitempty"`   // lines of the queue that cannot be read
	Problem     string        `json:"problem,omitempty"`   // why this is not the whole truth
}

// Health tells how the provider does, without calling it.
func (g *Guard) Health(ctx context.Context) Health {
	if g == nil {
		return Health{State: Unused}
	}
	now := g.now()
	r, problem := g.record.read()
	h := Health{
		Name: g.p.Name(), State: Working, LastOK: r.LastOK,
		LastError: r.LastError, LastErrorAt: r.LastErrorAt, Failures: r.Failures,
	}
	switch {
	case now.Before(r.PausedUntil):
		h.State, h.PausedUntil = Paused, r.PausedUntil
	case r.Failures > 0:
		h.State = Failing
	case r.LastOK.IsZero():
		h.State = Unused
	}
	s, err := g.box.Status(ctx)
	if problem = errors.Join(problem, err); problem != nil {
		h.Problem = problem.Error()
	}
	h.Waiting, h.Oldest, h.Blocked, h.SetAside, h.Damaged = s.Waiting, s.Oldest, s.Blocked, s.SetAside, s.Damaged
	if h.Waiting > 0 && h.Blocked == "" && h.Failures > 0 { // it never came to the first
		h.Blocked = h.LastError
	}
	return h
}

// Notice is what a user must be told now: the first failure of a row, once, in
// whatever process asks first. "" when there is nothing new.
func (g *Guard) Notice() string {
	if g == nil {
		return ""
	}
	if r, err := g.record.read(); err == nil && (r.Incident == "" || r.Told) {
		return ""
	}
	text := ""
	err := g.record.change(func(r *reports) bool {
		if r.Incident == "" || r.Told {
			return false
		}
		text, r.Told = r.Incident, true
		return true
	})
	if text == "" && err == nil {
		return ""
	}
	return fmt.Sprintf("The external memory %s failed: %s. The built-in memory is not affected, and what is not delivered is kept; see the provider's status.", g.p.Name(), text)
}

// paused is ErrPaused, with words, while the provider is left alone.
func (g *Guard) paused() error {
	r, _ := g.record.read() // what cannot be read pauses nothing; Health tells it
	if until := r.PausedUntil; g.now().Before(until) {
		last := &said{words: r.LastError, kind: "its last error stands in the status of the provider"}
		return fmt.Errorf("%s is %w, until %s: %w", g.p.Name(), ErrPaused, until.Format(time.TimeOnly), last)
	}
	return nil
}

// outcome puts the outcome of one call on record and returns err. A call that
// its own caller called off says nothing about the provider.
func (g *Guard) outcome(ctx context.Context, err error) error {
	switch {
	case err == nil:
		g.record.ok(g.now())
	case errors.Is(err, ErrUnsupported): // an answer like another
		g.record.ok(g.now())
	case errors.Is(err, ErrRejected):
		return g.failed(err)
	case errors.Is(ctx.Err(), context.Canceled):
	default:
		now := g.now()
		g.record.fail(now, err, or(g.PauseAfter, 5), or(g.Pause, 2*time.Minute))
	}
	return err
}

// failed puts on record what is no reason to pause the provider.
func (g *Guard) failed(err error) error {
	g.record.fail(g.now(), err, 0, 0)
	return err
}

// reports are what is known of a provider, on disk.
type reports struct {
	LastOK      time.Time `json:"last_ok,omitzero"`
	LastError   string    `json:"last_error,omitempty"`
	LastErrorAt time.Time `json:"last_error_at,omitzero"`
	Failures    int       `json:"failures,omitempty"`
	PausedUntil time.Time `json:"paused_until,omitzero"`
	Incident    string    `json:"incident,omitempty"` // the first failure of a row
	Told        bool      `json:"told,omitempty"`     // a user was told it
}

// A record keeps reports in a file, so that every process sees them. Where it
// cannot be written, it is kept for this process.
type record struct {
	dir string

	mu     sync.Mutex
	own    reports // when the file cannot be had
	broken error   // why not
}

func (r *record) path() string { return filepath.Join(r.dir, "health.json") }

// read returns the reports, and why they may not be all.
func (r *record) read() (reports, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken != nil {
		return r.own, r.broken
	}
	return r.load()
}

func (r *record) load() (reports, error) {
	var out reports
	raw, err := os.ReadFile(r.path())
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		return reports{}, fmt.Errorf("read the provider's health: %w", err)
	}
	return out, nil
}

// change lets fn change the reports; false means that nothing changed.
func (r *record) change(fn func(*reports) bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.write(fn)
	if r.broken = err; err != nil {
		fn(&r.own)
	}
	return err
}

func (r *record) write(fn func(*reports) bool) (err error) {
	if err := durable.MakeFolder(r.dir, true); err != nil {
		return fmt.Errorf("write the provider's health: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	unlock, err := durable.Lock(ctx, filepath.Join(r.dir, "health.lock"))
	if err != nil {
		return fmt.Errorf("write the provider's health: %w", err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	now, err := r.load()
	if err != nil {
		now = r.own // a damaged file is made anew
	}
	if !fn(&now) {
		return nil
	}
	r.own = now
	raw, err := json.Marshal(now)
	if err == nil {
		err = durable.WriteCache(r.path(), raw)
	}
	if err != nil {
		return fmt.Errorf("write the provider's health: %w", err)
	}
	return nil
}

// ok notes a success; not each one, while all is well.
func (r *record) ok(now time.Time) {
	if was, err := r.read(); err == nil && was.Failures == 0 && now.Sub(was.LastOK) < time.Minute {
		return
	}
	_ = r.change(func(h *reports) bool { // kept in r.broken, for Health
		h.LastOK, h.Failures, h.PausedUntil = now, 0, time.Time{}
		return true
	})
}

// fail notes a failure; after the limit-th in a row the provider is paused. A
// limit of 0 does not count it.
func (r *record) fail(now time.Time, err error, limit int, pause time.Duration) {
	_ = r.change(func(h *reports) bool { // kept in r.broken, for Health
		if h.Incident == "" || (h.Told && h.LastOK.After(h.LastErrorAt)) {
			h.Incident, h.Told = err.Error(), false
		}
		h.LastError, h.LastErrorAt = err.Error(), now
		if limit > 0 {
			if h.Failures++; h.Failures >= limit {
				h.PausedUntil = now.Add(pause)
			}
		}
		return true
	})
}

// hint notes that a hint failed: no call that anybody waits for.
func (r *record) hint(now time.Time, err error) { r.fail(now, err, 0, 0) }

// Resume ends a pause: the next call is made. A provider that fails at it is
// paused anew.
func (g *Guard) Resume() error {
	if r, err := g.record.read(); err == nil && r.PausedUntil.IsZero() {
		return nil
	}
	return g.record.change(func(h *reports) bool {
		h.PausedUntil = time.Time{}
		return true
	})
}

// Renew forgets how the provider did, for it is another one now under the same
// name. What waits for it stays.
func (g *Guard) Renew() error {
	if r, err := g.record.read(); err == nil && r == (reports{}) {
		return nil
	}
	return g.record.change(func(h *reports) bool {
		*h = reports{}
		return true
	})
}

// forgottenWords stand where the words of a provider were.
const forgottenWords = "its words went when a session was forgotten"

// ForgetWords takes the words of a provider's errors out of the folder that its
// guard keeps, for they may quote what it was told. That it failed stays known.
func ForgetWords(dir string) error {
	r := record{dir: dir}
	if was, err := r.load(); err == nil && was.LastError == "" && was.Incident == "" {
		return nil
	}
	return r.change(func(h *reports) bool {
		for _, words := range []*string{&h.LastError, &h.Incident} {
			if *words != "" {
				*words = forgottenWords
			}
		}
		return true
	})
}
