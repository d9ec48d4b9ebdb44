package index

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"sync"

	"github.com/hermes-mcp/hermes-mcp/transcript/rank"
)

// A directory is what is held in memory of the archive.
type directory struct {
	mu       sync.RWMutex
	rev      int64
	forgot   int64      // how often something had been forgotten
	blocks   []dirBlock // by block id
	sessions map[int64]*dirSession
	words    map[string]string // each source, project and user once
	corpus   rank.Corpus
}

type dirBlock struct {
	session *dirSession
	slots   []byte
}

type dirSession struct {
	id, root        int64
	name            string
	source, project string
	user, chat      string
	started, active int64   // Unix seconds
	factor          float64 // how much it counts: less when nobody sat in front of it
	opening         uint64  // how it began, see Session
	left            bool    // its content is no longer in the context of what followed
	blocks          []int64
	tokens          int
}

// refresh reads what changed since the last time.
func (x *Index) refresh(ctx context.Context) error {
	var rev, forgot int64
	if err := x.read.Row(ctx, "SELECT r.value, f.value FROM counter r, counter f WHERE r.name = 'rev' AND f.name = 'forgotten'", nil, &rev, &forgot); err != nil {
		return err
	}
	d := &x.dir
	d.mu.RLock()
	current := d.sessions != nil && d.rev == rev && d.forgot == forgot
	d.mu.RUnlock()
	if current {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sessions == nil || d.forgot != forgot { // rows that went leave no trace to go by
		d.sessions, d.words = make(map[int64]*dirSession), make(map[string]string)
		d.blocks, d.corpus, d.rev, d.forgot = nil, rank.Corpus{}, 0, forgot
	}
	// Rows of transactions after rev may be seen too; they are read again the
	// next time, which changes nothing.
	if err := errors.Join(x.readSessions(ctx), x.readBlocks(ctx)); err != nil {
		return err
	}
	d.rev = max(d.rev, rev)
	return nil
}

func (x *Index) readSessions(ctx context.Context) (err error) {
	d := &x.dir
	rows, err := x.read.Query(ctx, `SELECT id, root, name, source, CASE project WHEN '' THEN dir ELSE project END,
			started / 1000, active / 1000, surface, end_reason, user, chat, preview,
			EXISTS (SELECT 1 FROM session c WHERE c.parent = s.name AND c.parent <> '' AND c.relation IN ('compaction', 'reset'))
		FROM session s WHERE rev > ?`, d.rev)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var s dirSession
		var surface, reason, preview string
		var continued bool
		if err := rows.Scan(&s.id, &s.root, &s.name, &s.source, &s.project, &s.started, &s.active, &surface, &reason, &s.user, &s.chat, &preview, &continued); err != nil {
			return err
		}
		s.source, s.project, s.user, s.chat = d.word(s.source), d.word(s.project), d.word(s.user), d.word(s.chat)
		s.factor, s.opening = attention(surface), openingOf(s.project, preview)
		s.left = continued || leftContext(reason)
		if old := d.sessions[s.id]; old != nil { // blocks point to it
			s.blocks, s.tokens = old.blocks, old.tokens
			*old = s
			continue
		}
		d.corpus.Sessions++
		d.sessions[s.id] = &s
	}
	return rows.Err()
}

// attention tells how much the sessions of a surface count beside one that a
// person sat in front of.
func attention(surface string) float64 {
	switch surface {
	case "cron", "scheduled", "heartbeat", "webhook":
		return scheduledFactor
	case "sdk", "bg", "exec", "batch", "ci":
		return unseenFactor
	}
	return 1
}

// leastOpening is how long a first prompt must be, in bytes, for two that are
// the same to be the same task: "go on" is not.
const leastOpening = 24

func openingOf(project, preview string) uint64 {
	if len(preview) < leastOpening {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(project + "\x00" + preview)) // never fails
	return h.Sum64()
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

func (x *Index) readBlocks(ctx context.Context) (err error) {
	d := &x.dir
	rows, err := x.read.Query(ctx, "SELECT id, session, slots FROM block INDEXED BY block_rev WHERE rev > ? ORDER BY id", d.rev)
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
		d.blocks[id] = dirBlock{s, slots}
	}
	return rows.Err()
}

// count adds the messages of a block to the sums, or takes them away.
func (d *directory) count(s *dirSession, slots []byte, sign int) {
	for ; len(slots) >= SlotSize; slots = slots[SlotSize:] {
		if slots[0]&bitIndexed == 0 {
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
func (d *directory) at(id int64) (Slot, *dirSession) {
	b, i := id/BlockSlots, int(id%BlockSlots)*SlotSize
	if id < 0 || b >= int64(len(d.blocks)) || i+SlotSize > len(d.blocks[b].slots) {
		return Slot{}, nil
	}
	return decodeSlot(d.blocks[b].slots[i:]), d.blocks[b].session
}

// newer orders by time and then by id, newest first.
func newer(activeA, idA, activeB, idB int64) int {
	return cmp.Or(cmp.Compare(activeB, activeA), cmp.Compare(idB, idA))
}
