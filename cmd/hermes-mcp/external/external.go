// Package external is the one external memory as the program has it: opened as
// it is configured, told what hooks see, and shown to a person by the commands
// below `provider`.
//
// Nothing here starts a provider that is not needed: opening reads no file and
// runs no program. Nothing here reads the environment.
package external

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/settings"
	"github.com/hermes-mcp/hermes-mcp/curator/relay"
	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/provider"
	"github.com/hermes-mcp/hermes-mcp/provider/outbox"
	"github.com/hermes-mcp/hermes-mcp/provider/roster"
)

// hookTime bounds what a hook waits for the provider, its start included.
const hookTime = 8 * time.Second

// blockTime bounds the wait for what the provider says of itself: a person waits
// for the session to start, and it says little.
const blockTime = 3 * time.Second

// lag is how long agents take to write down what their hook tells of.
const lag = time.Second

// A Memory is the one that is configured. The zero Memory is none: it is told
// nothing and knows nothing. Safe for concurrent use.
type Memory struct {
	Guard *provider.Guard // nil when there is none
	Relay *relay.Relay    // of what hooks see; never nil
	home  settings.Home
}

// Open opens what c names. Whatever the error, the Memory is usable, as none.
// stderr takes what a program of the provider writes there.
func Open(c settings.Provider, home settings.Home, stderr io.Writer) (Memory, error) {
	g, err := open(c, home, stderr)
	r, wrong := relay.Open(g, home.MCP("queue", "provider"))
	if wrong != nil {
		return Memory{Relay: &relay.Relay{}}, wrong
	}
	r.Profile, r.Lag = home.Profile, lag
	return Memory{Guard: g, Relay: r, home: home}, err
}

func open(c settings.Provider, home settings.Home, stderr io.Writer) (*provider.Guard, error) {
	dir := c.Exec.Dir
	if dir == "" {
		dir = home.Path
	}
	p, err := roster.Open(roster.Config{
		Name: c.Name, Home: home.Path,
		Exec:        roster.Exec{Command: c.Exec.Command, Dir: dir, Stderr: stderr},
		Holographic: roster.Holographic{Path: c.Holographic.Path, MinTrust: c.Holographic.MinTrust, DefaultTrust: c.Holographic.DefaultTrust, HalfLife: c.Holographic.HalfLife},
	})
	if p == nil || err != nil {
		return nil, err
	}
	g, err := provider.Open(p, home.MCP("queue", "provider"))
	if err != nil {
		return nil, err
	}
	g.StartTimeout, g.RecallTimeout, g.DeliverTimeout = c.StartTimeout, c.RecallTimeout, c.DeliverTimeout
	g.PauseAfter, g.Pause, g.MaxRecall = c.PauseAfter, c.Pause, c.MaxRecall
	return g, nil
}

// Session is a session as the provider knows it. A read-only caller's may read
// and not write.
func (m Memory) Session(id, dir, user string, readOnly bool) provider.Session {
	source, _, _ := strings.Cut(id, ":")
	s := provider.Session{ID: id, Source: source, Dir: dir, Profile: m.home.Profile, User: user}
	if readOnly {
		s.Context = "read-only"
	}
	return s
}

// Mirrored tells whether the provider is told edits of a target: those of the
// home. What is of one project, one session or one of several users stays here,
// since a provider could not tell them apart.
func Mirrored(t memstore.Target, user string) bool {
	return t == memstore.Memory || t == memstore.User && user == ""
}

// Mirror puts an edit that is on disk on its way to the provider, if that is to
// be told of it. Its error means that it is not; the edit stands.
func (m Memory) Mirror(ctx context.Context, user string, by memstore.Caller, t memstore.Target, r memstore.Result) (told bool, err error) {
	if m.Guard == nil || by.Origin == originPull || !Mirrored(t, user) {
		return false, nil
	}
	err = m.Guard.MemoryWritten(ctx, provider.Writes(m.Session(by.Session, "", user, false), t, r)...)
	return err == nil, err
}

// Recall is what the provider knows about a prompt, fenced, for a hook: within
// hookTime, and "" when there is nothing.
func (m Memory) Recall(ctx context.Context, s provider.Session, prompt string) (string, error) {
	if m.Guard == nil {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, hookTime)
	defer cancel()
	found, err := m.Guard.Recall(ctx, s, prompt)
	return found.Text, err
}

// SystemBlock is what the provider says of itself to a session that starts,
// within blockTime.
func (m Memory) SystemBlock(ctx context.Context, s provider.Session) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, blockTime)
	defer cancel()
	return m.Guard.SystemBlock(ctx, s)
}

// Deliver works off what hooks told and then what waits for the provider, as
// far as it goes now.
func (m Memory) Deliver(ctx context.Context, archive relay.Archive) error {
	if m.Guard == nil {
		return nil
	}
	if err := m.Relay.Work(ctx, archive); err != nil {
		return fmt.Errorf("what hooks told: %w", err)
	}
	if _, err := m.Guard.Drain(ctx); err != nil && !isElsewhere(err) {
		return fmt.Errorf("deliver to %s: %w", m.Guard.Name(), err)
	}
	return nil
}

// Due tells whether there is something that Deliver could do now.
func (m Memory) Due(ctx context.Context) bool {
	if m.Guard == nil {
		return false
	}
	if s, err := m.Relay.Status(ctx); err == nil && s.Waiting > 0 {
		return true
	}
	h := m.Guard.Health(ctx)
	return h.Waiting > 0 && h.State != provider.Paused
}

// Health is how the provider does, with what hooks told and nobody has worked
// off yet, nil when there is none.
func (m Memory) Health(ctx context.Context) *Health {
	if m.Guard == nil {
		return nil
	}
	h := Health{Health: m.Guard.Health(ctx)}
	s, err := m.Relay.Status(ctx)
	if err != nil {
		h.Problem = strings.TrimSpace(h.Problem + " " + err.Error())
	}
	h.Events, h.EventsBlocked, h.EventsSetAside = s.Waiting, s.Blocked, s.SetAside
	return &h
}

// A Health is what status says.
type Health struct {
	provider.Health
	Events         int           `json:"events,omitempty"` // that hooks told, before they are deliveries
	EventsBlocked  string        `json:"events_blocked,omitempty"`
	EventsSetAside []outbox.Item `json:"events_set_aside,omitempty"`
}

// Close ends the provider. What waits stays on disk.
func (m Memory) Close() error { return m.Guard.Close() }
