package transcript

import (
	"context"
	"encoding/binary"
	"errors"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/hermes-mcp/hermes-mcp/transcript/rank"
)

// A directory holds in memory what search must know of every message and every
// session: who spoke, how long, when, in which session, and where that belongs.
// About ten bytes a message. It is filled at the first search and brought up to
// date at each by what has a newer rev.
type directory struct {
	mu       sync.RWMutex
	rev      int64
	blocks   []dirBlock // by block id
	sessions map[int64]*dirSession
	words    map[string]string // each source and project once
	corpus   rank.Corpus
}

type dirBlock struct {
	session int64
	slots   []byte
}

type dirSession struct {
	root            int64
	source, project string
	started, active int64 // Unix seconds
	automatic       bool  // nobody sat in front of it
	left            bool  // its content is no longer in the context of what followed
	blocks          []int64
	tokens          int
}

// A slot is what the directory knows of one message.
type slot struct {
	role   Role
	header bool
	state  byte
	tokens int
	at     int64 // Unix seconds, 0 when unknown
}

func readSlot(b []byte) slot {
	s := slot{state: b[0], tokens: int(binary.LittleEndian.Uint16(b[2:])), at: int64(binary.LittleEndian.Uint32(b[4:]))}
	switch code := int(b[0] & roleMask); {
	case code == roleHeader:
		s.header = true
	case code < len(roles):
		s.role = roles[code]
	}
	return s
}

// refresh reads what changed since the last time.
func (d *directory) refresh(ctx context.Context, db *DB) error {
	var rev int64
	if err := db.read.QueryRowContext(ctx, "SELECT value FROM counter WHERE name = 'rev'").Scan(&rev); err != nil {
		return db.explain(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sessions == nil {
		d.sessions, d.words = make(map[int64]*dirSession), make(map[string]string)
	}
	if rev == d.rev {
		return nil
	}
	// Rows of transactions after rev may be seen too; they are read again the
	// next time, which changes nothing.
	if err := errors.Join(d.readSessions(ctx, db), d.readBlocks(ctx, db)); err != nil {
		return db.explain(err)
	}
	d.rev = rev
	return nil
}

func (d *directory) readSessions(ctx context.Context, db *DB) (err error) {
	rows, err := db.read.QueryContext(ctx, `SELECT id, root, source, CASE project WHEN '' THEN dir ELSE project END, started, active, surface, relation, end_reason,
		EXISTS (SELECT 1 FROM session c WHERE c.parent = s.name AND c.parent <> '' AND c.relation IN ('compaction', 'reset'))
		FROM session s WHERE rev > ?`, d.rev)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var id int64
		var s dirSession
		var surface, relation, reason string
		var continued bool
		if err := rows.Scan(&id, &s.root, &s.source, &s.project, &s.started, &s.active, &surface, &relation, &reason, &continued); err != nil {
			return err
		}
		s.started, s.active = s.started/1000, s.active/1000
		s.source, s.project = d.word(s.source), d.word(s.project)
		s.automatic = surface == "cron" || surface == "scheduled"
		s.left = continued || leftContext(reason)
		if old := d.sessions[id]; old != nil {
			s.blocks, s.tokens = old.blocks, old.tokens
		} else {
			d.corpus.Sessions++
		}
		d.sessions[id] = &s
	}
	return rows.Err()
}

// leftContext tells whether a session that ended so has left the context of the
// sessions that came after it in its lineage.
func leftContext(reason string) bool {
	switch reason {
	case "compression", "compaction", "compacted", "clear", "reset", "session_reset", "new_session",
		"idle", "daily", "suspended", "session_switch":
		return true
	}
	return false
}

func (d *directory) readBlocks(ctx context.Context, db *DB) (err error) {
	rows, err := db.read.QueryContext(ctx, "SELECT id, session, slots FROM block WHERE rev > ? ORDER BY id", d.rev)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var id, session int64
		var slots []byte
		if err := rows.Scan(&id, &session, &slots); err != nil {
			return err
		}
		s := d.sessions[session]
		if s == nil { // of a transaction after the sessions were read
			continue
		}
		for int64(len(d.blocks)) <= id {
			d.blocks = append(d.blocks, dirBlock{})
		}
		if d.blocks[id].slots == nil {
			s.blocks = append(s.blocks, id)
		}
		d.count(s, d.blocks[id].slots, -1)
		d.count(s, slots, 1)
		d.blocks[id] = dirBlock{session, slots}
	}
	return rows.Err()
}

func (d *directory) count(s *dirSession, slots []byte, sign int) {
	for ; len(slots) >= slotSize; slots = slots[slotSize:] {
		if slots[0]&slotIndexed == 0 {
			continue
		}
		n := int(binary.LittleEndian.Uint16(slots[2:]))
		s.tokens += sign * n
		d.corpus.Turns += sign
		d.corpus.Tokens += sign * n
		d.corpus.Passages += sign * rank.Passages(n)
	}
}

// word returns s from the set of words, so that each is held once.
func (d *directory) word(s string) string {
	if w, ok := d.words[s]; ok {
		return w
	}
	d.words[s] = s
	return s
}

// at returns what is known of message id and its session, nil when nothing.
func (d *directory) at(id int64) (slot, int64, *dirSession) {
	b := id / blockSlots
	if b < 0 || b >= int64(len(d.blocks)) {
		return slot{}, 0, nil
	}
	i := int(id%blockSlots) * slotSize
	if i+slotSize > len(d.blocks[b].slots) {
		return slot{}, 0, nil
	}
	session := d.blocks[b].session
	return readSlot(d.blocks[b].slots[i:]), session, d.sessions[session]
}

// A filter is what a query leaves out, in the directory's terms.
type filter struct {
	sources      map[string]bool // nil for all
	roles        map[Role]bool   // nil for all
	project      string
	since, until int64
	live         map[int64]bool // roots of lineages in the caller's context
}

func newFilter(q Query) filter {
	f := filter{project: q.Project}
	if len(q.Sources) > 0 {
		f.sources = make(map[string]bool)
		for _, s := range q.Sources {
			f.sources[s] = true
		}
	}
	if len(q.Roles) > 0 {
		f.roles = make(map[Role]bool)
		for _, r := range q.Roles {
			f.roles[r] = true
		}
	}
	if !q.Since.IsZero() {
		f.since = q.Since.Unix()
	}
	if !q.Until.IsZero() {
		f.until = q.Until.Unix()
	}
	return f
}

// session tells whether messages of s may be found at all.
func (f *filter) session(s *dirSession) bool {
	return (f.sources == nil || f.sources[s.source]) && inProject(s.project, f.project) &&
		(f.since == 0 || s.active == 0 || s.active >= f.since) && (f.until == 0 || s.started == 0 || s.started <= f.until)
}

// message tells whether a message of s may be found.
func (f *filter) message(s *dirSession, m slot) bool {
	if f.live[s.root] && !s.left && m.state&slotCompacted == 0 {
		return false
	}
	if m.header {
		return f.roles == nil
	}
	at := m.at
	if at == 0 {
		at = s.started
	}
	return (f.roles == nil || f.roles[m.role]) && (f.since == 0 || at == 0 || at >= f.since) && (f.until == 0 || at == 0 || at <= f.until)
}

// inProject tells whether a session's project is the one asked for: the same
// path, a folder in it, or the name of its last element.
func inProject(have, want string) bool {
	if want == "" {
		return true
	}
	have, want = strings.TrimRight(strings.ReplaceAll(have, `\`, "/"), "/"), strings.TrimRight(strings.ReplaceAll(want, `\`, "/"), "/")
	if have == want || strings.HasPrefix(have, want+"/") {
		return true
	}
	return !strings.Contains(want, "/") && strings.EqualFold(path.Base(have), want)
}

// seconds turns a number of the directory into a time.
func seconds(s int64) time.Time { return time.Unix(s, 0).UTC() }
