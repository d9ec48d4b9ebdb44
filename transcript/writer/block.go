package writer

import (
	"github.com/hermes-mcp/hermes-mcp/transcript/index"
	"github.com/hermes-mcp/hermes-mcp/transcript/record"
)

// A block is the piece of the id space that a session is filling.
type block struct {
	id, session int64
	slots       []byte
	fresh       bool // not in the table yet
}

// takeID gives the next id of sess to a message described by slot.
func (s *store) takeID(sess *sessionRow, slot [index.SlotSize]byte) (int64, error) {
	b, err := s.block(sess)
	if err != nil {
		return 0, err
	}
	if len(b.slots) == index.BlockSlots*index.SlotSize {
		if err := s.writeBlock(b); err != nil {
			return 0, err
		}
		if b, err = s.newBlock(sess.id); err != nil {
			return 0, err
		}
	}
	id := b.id*index.BlockSlots + int64(len(b.slots)/index.SlotSize)
	b.slots = append(b.slots, slot[:]...)
	return id, nil
}

// block returns the block that sess is filling. Slot 0 of the first is the
// session's own.
func (s *store) block(sess *sessionRow) (*block, error) {
	if b, ok := s.blocks[sess.id]; ok {
		return b, nil
	}
	b := &block{session: sess.id}
	err := s.Row("SELECT id, slots FROM block WHERE session = ? ORDER BY id DESC LIMIT 1", []any{sess.id}, &b.id, &b.slots)
	if noRows(err) {
		if b, err = s.newBlock(sess.id); err == nil {
			b.slots = append(b.slots, make([]byte, index.SlotSize)...)
		}
	}
	if err != nil {
		return nil, err
	}
	s.blocks[sess.id] = b
	return b, nil
}

func (s *store) newBlock(session int64) (*block, error) {
	if s.lastID == 0 {
		if err := s.Row("SELECT max(value, (SELECT coalesce(max(id), 0) FROM block)) FROM counter WHERE name = 'block'", nil, &s.lastID); err != nil {
			return nil, err
		}
	}
	s.lastID++
	b := &block{id: s.lastID, session: session, fresh: true}
	s.blocks[session] = b
	return b, nil
}

func (s *store) writeBlock(b *block) error {
	if b.fresh {
		b.fresh = false
		return s.Exec("INSERT INTO block (id, session, rev, slots) VALUES (?, ?, ?, ?)", b.id, b.session, s.rev, b.slots)
	}
	return s.Exec("UPDATE block SET slots = ?, rev = ? WHERE id = ?", b.slots, s.rev, b.id)
}

// setSlot replaces the slot of a message that is there.
func (s *store) setSlot(session, id int64, slot [index.SlotSize]byte) error {
	at := int(id%index.BlockSlots) * index.SlotSize
	if b, ok := s.blocks[session]; ok && b.id == id/index.BlockSlots {
		copy(b.slots[at:], slot[:])
		return nil
	}
	b := &block{id: id / index.BlockSlots, session: session}
	if err := s.Row("SELECT slots FROM block WHERE id = ?", []any{b.id}, &b.slots); err != nil {
		return err
	}
	copy(b.slots[at:], slot[:])
	return s.writeBlock(b)
}

// slotOf describes a message with so many terms for the index's directory.
func slotOf(m *record.Message, size int) [index.SlotSize]byte {
	s := index.Slot{Role: string(m.Role), Indexed: size > 0, Compacted: m.Compacted, OffPath: m.OffPath, Tokens: size}
	if !m.At.IsZero() {
		s.At = m.At.Unix()
	}
	return s.Encode()
}
