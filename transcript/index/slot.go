package index

import (
	"encoding/binary"
	"time"
)

// Message ids are handed out to sessions in blocks of BlockSlots; slot 0 of a
// session's first block stands for the session itself.
const (
	BlockSlots = 64
	SlotSize   = 8
)

// A Slot is what search must know of one message. Encoded, it takes SlotSize
// bytes: who spoke and the state it is in, a byte unused, the number of terms
// in two bytes, the time in four.
type Slot struct {
	Role      string // "" for a role that is not searched
	Header    bool   // the session itself
	Indexed   bool
	Compacted bool // left the live context
	OffPath   bool // on an abandoned branch
	Tokens    int
	At        int64 // Unix seconds, 0 when unknown
}

// The bits of a slot's first byte.
const (
	roleMask     = 0x0f
	headerCode   = 15
	bitIndexed   = 1 << 4
	BitCompacted = 1 << 5
	BitOffPath   = 1 << 6
)

// roles gives each role its code, the index. Codes are never reused.
var roles = []string{"", "user", "assistant", "tool", "system", "summary"}

// Encode packs s. More terms than fit are taken as the most that do.
func (s Slot) Encode() (b [SlotSize]byte) {
	for i, r := range roles {
		if r == s.Role {
			b[0] = byte(i)
		}
	}
	if s.Header {
		b[0] = headerCode
	}
	for _, f := range []struct {
		set bool
		bit byte
	}{{s.Indexed, bitIndexed}, {s.Compacted, BitCompacted}, {s.OffPath, BitOffPath}} {
		if f.set {
			b[0] |= f.bit
		}
	}
	binary.LittleEndian.PutUint16(b[2:], uint16(min(s.Tokens, 1<<16-1)))
	binary.LittleEndian.PutUint32(b[4:], uint32(min(max(0, s.At), 1<<32-1)))
	return b
}

// decodeSlot is the inverse of Encode; b holds at least SlotSize bytes.
func decodeSlot(b []byte) Slot {
	s := Slot{
		Indexed: b[0]&bitIndexed != 0, Compacted: b[0]&BitCompacted != 0, OffPath: b[0]&BitOffPath != 0,
		Tokens: int(binary.LittleEndian.Uint16(b[2:])), At: int64(binary.LittleEndian.Uint32(b[4:])),
	}
	switch code := int(b[0] & roleMask); {
	case code == headerCode:
		s.Header = true
	case code < len(roles):
		s.Role = roles[code]
	}
	return s
}

// seconds turns a number of the directory into a time.
func seconds(s int64) time.Time {
	if s == 0 {
		return time.Time{}
	}
	return time.Unix(s, 0).UTC()
}
