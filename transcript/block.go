package transcript

import "encoding/binary"

const (
	blockSlots = 64
	slotSize   = 8
)

// The first byte of a slot: who spoke, and what state the message is in.
const (
	roleMask   = 0x0f
	roleHeader = 15 // the session itself

	slotIndexed   = 1 << 4
	slotCompacted = 1 << 5
	slotOffPath   = 1 << 6
)

// roles gives each role its code, the index.
var roles = []Role{"", UserRole, Assistant, Tool, System, Summary}

func roleCode(r Role) byte {
	for i, known := range roles {
		if r == known {
			return byte(i)
		}
	}
	return 0
}

// takeID gives the next id of sess to a message described by slot.
func (s *store) takeID(sess *sessionRow, slot [slotSize]byte) (int64, error) {
	b, err := s.block(sess)
	if err != nil {
		return 0, err
	}
	if len(b.slots) == blockSlots*slotSize {
		if err := s.writeBlock(b); err != nil {
			return 0, err
		}
		if b, err = s.newBlock(sess.id); err != nil {
			return 0, err
		}
	}
	id := b.id*blockSlots + int64(len(b.slots)/slotSize)
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
	err := s.row("SELECT id, slots FROM block WHERE session = ? ORDER BY id DESC LIMIT 1", []any{sess.id}, &b.id, &b.slots)
	if noRows(err) {
		if b, err = s.newBlock(sess.id); err == nil {
			b.slots = append(b.slots, make([]byte, slotSize)...)
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
		if err := s.row("SELECT coalesce(max(id), 0) FROM block", nil, &s.lastID); err != nil {
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
		return s.exec("INSERT INTO block (id, session, rev, slots) VALUES (?, ?, ?, ?)", b.id, b.session, s.rev, b.slots)
	}
	return s.exec("UPDATE block SET slots = ?, rev = ? WHERE id = ?", b.slots, s.rev, b.id)
}

// setSlot replaces the slot of a message that is there.
func (s *store) setSlot(session, id int64, slot [slotSize]byte) error {
	at := int(id%blockSlots) * slotSize
	if b, ok := s.blocks[session]; ok && b.id == id/blockSlots {
		copy(b.slots[at:], slot[:])
		return nil
	}
	b := &block{id: id / blockSlots, session: session}
	if err := s.row("SELECT slots FROM block WHERE id = ?", []any{b.id}, &b.slots); err != nil {
		return err
	}
	copy(b.slots[at:], slot[:])
	return s.writeBlock(b)
}

// slotOf describes a message in 8 bytes for the directory: role and state,
// number of terms, time.
func slotOf(m *Message, size int) (b [slotSize]byte) {
	b[0] = roleCode(m.Role)
	if size > 0 {
		b[0] |= slotIndexed
	}
	if m.Compacted {
		b[0] |= slotCompacted
	}
	if m.OffPath {
		b[0] |= slotOffPath
	}
	binary.LittleEndian.PutUint16(b[2:], uint16(min(size, 1<<16-1)))
	if !m.At.IsZero() {
		binary.LittleEndian.PutUint32(b[4:], uint32(max(0, m.At.Unix())))
	}
	return b
}
