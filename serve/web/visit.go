package web

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/hermes-mcp/hermes-mcp/serve"
)

// Session names the session of the client that ctx belongs to, for what is
// kept for one session, such as the snapshot: over HTTP the client's session
// as "http:<id>"; for a client of the protocol without sessions one that lasts
// until 30 minutes (HTTP.Idle) of silence or 12 hours, by token and client. ""
// over stdio, where the process is the session.
func Session(ctx context.Context) string {
	v, ok := ctx.Value(visitKey{}).(visit)
	if !ok {
		return ""
	}
	if s := server.ClientSessionFromContext(ctx); s != nil && s.SessionID() != "" {
		return "http:" + s.SessionID()
	}
	name, _ := serve.ClientName(ctx)
	return "http:" + v.doors.sessions.guest(v.grant.Name, name, time.Now())
}

// A visit says through which door a request came.
type visit struct {
	doors *doors
	grant *grant
}

type visitKey struct{}

func (d *doors) enter(ctx context.Context, g *grant) context.Context {
	return context.WithValue(ctx, visitKey{}, visit{d, g})
}

// Session ids are "hm-<random>-<mac>". The mac is made with the grant's token,
// so an id that was never issued is recognised without a table, one of another
// grant is worth nothing, and a restarted server knows its own.
const idPrefix = "hm-"

var idText = base32.StdEncoding.WithPadding(base32.NoPadding)

func (g *grant) newID() string {
	random := rand.Text()
	return idPrefix + random + "-" + g.mac(random)
}

func (g *grant) mac(random string) string {
	return idText.EncodeToString(digest("session", g.Token+"\x00"+random)[:10])
}

// issued tells whether id is one that this grant's clients were given.
func (g *grant) issued(id string) bool {
	rest, ok := strings.CutPrefix(id, idPrefix)
	random, mac, two := strings.Cut(rest, "-")
	return ok && two && hmac.Equal([]byte(mac), []byte(g.mac(random)))
}

// sessions are those that have state, and those that were ended.
type sessions struct {
	idle time.Duration
	most int

	mu     sync.Mutex
	all    map[string]*seen
	guests map[string]*guest
	ended  *ended
}

// seen is one session with state in the engine.
type seen struct {
	grant *grant
	last  time.Time
	open  int // requests and streams under way
}

// A guest is a client of the protocol without sessions.
type guest struct{ since, last time.Time }

func newSessions(idle time.Duration, most int, past *ended) *sessions {
	return &sessions{idle: idle, most: most, all: map[string]*seen{}, guests: map[string]*guest{}, ended: past}
}

// use notes that a request of session id runs until the returned function is
// called.
func (s *sessions) use(id string, g *grant) func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.all[id]
	if one == nil {
		one = &seen{grant: g}
		s.all[id] = one
	}
	one.open++
	one.last = time.Now()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		one.open--
		one.last = time.Now()
	}
}

func (s *sessions) hasEnded(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended.has(id)
}

// end remembers that the client ended a session.
func (s *sessions) end(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, id)
	return s.ended.add(id)
}

// stale takes out the sessions that have been silent too long, and the longest
// silent ones while there are too many.
func (s *sessions) stale(now time.Time) map[string]*grant {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]*grant{}
	var quiet []string
	for id, one := range s.all {
		switch {
		case one.open > 0:
		case now.Sub(one.last) >= s.idle:
			out[id] = one.grant
		default:
			quiet = append(quiet, id)
		}
	}
	if over := len(s.all) - len(out) - s.most; over > 0 {
		slices.SortFunc(quiet, func(a, b string) int { return s.all[a].last.Compare(s.all[b].last) })
		for _, id := range quiet[:min(over, len(quiet))] {
			out[id] = s.all[id].grant
		}
	}
	for id := range out {
		delete(s.all, id)
	}
	for key, g := range s.guests {
		if now.Sub(g.last) >= s.idle {
			delete(s.guests, key)
		}
	}
	return out
}

func (s *sessions) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.all)
}

// guest names the session that a client without sessions is in.
func (s *sessions) guest(grant, client string, now time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := grant + "\x00" + client
	g := s.guests[key]
	if g == nil || now.Sub(g.last) >= s.idle || now.Sub(g.since) >= statelessLife {
		if len(s.guests) >= s.most {
			oldest := slices.MinFunc(slices.Collect(maps.Keys(s.guests)), func(a, b string) int { return s.guests[a].last.Compare(s.guests[b].last) })
			delete(s.guests, oldest)
		}
		g = &guest{since: now}
		s.guests[key] = g
	}
	g.last = now
	return "guest-" + idText.EncodeToString(digest("guest", key)[:10]) + "-" + g.since.UTC().Format("20060102T150405.000000")
}

// sweep drops what is stale until ctx is done.
func (d *doors) sweep(ctx context.Context) {
	tick := time.NewTicker(max(d.sessions.idle/4, time.Second))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			d.drop(d.sessions.stale(time.Now()))
		}
	}
}

// evict makes room when there are too many sessions.
func (d *doors) evict() {
	if d.sessions.count() > d.sessions.most {
		d.drop(d.sessions.stale(time.Now()))
	}
}

// drop has the engine forget the state of sessions; their ids stay good. Its
// only way to forget one is to be asked by a client, so we ask: the resolver
// sees that nobody came through a door.
func (d *doors) drop(stale map[string]*grant) {
	for id, g := range stale {
		r := &http.Request{Method: http.MethodDelete, Header: http.Header{}}
		r.Header.Set(server.HeaderKeySessionID, id)
		g.mcp.ServeHTTP(&nobody{}, r)
	}
}

// nobody takes an answer that nobody waits for.
type nobody struct{ header http.Header }

func (n *nobody) Header() http.Header {
	if n.header == nil {
		n.header = http.Header{}
	}
	return n.header
}
func (*nobody) Write(p []byte) (int, error) { return len(p), nil }
func (*nobody) WriteHeader(int)             {}

// A resolver gives the engine ids that are the grant's own.
type resolver struct {
	doors *doors
	grant *grant
}

// ResolveSessionIdManager tells a client's request from our own, which has no
// grant in it.
func (v resolver) ResolveSessionIdManager(r *http.Request) server.SessionIdManager {
	return ids{v.doors, v.grant, r != nil && grantOf(r.Context()) != nil}
}

// ids are the session ids of one grant.
type ids struct {
	doors  *doors
	grant  *grant
	client bool // it is a client that asks
}

var errNotIssued = errors.New("no such session")

func (i ids) Generate() string {
	id := i.grant.newID()
	i.doors.sessions.use(id, i.grant)()
	return id
}

func (i ids) Validate(id string) (bool, error) {
	if !i.grant.issued(id) {
		return false, errNotIssued
	}
	return i.doors.sessions.hasEnded(id), nil
}

func (i ids) Terminate(id string) (bool, error) {
	if !i.client {
		return false, nil
	}
	if !i.grant.issued(id) {
		return false, errNotIssued
	}
	return false, i.doors.sessions.end(id)
}
