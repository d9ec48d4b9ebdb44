package record

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Bits of the column message.flags.
const (
	flagGlobal = 1 << iota
	flagError
	flagOwnTrace
	FlagOffPath
	flagRewound
	FlagCompacted
)

// FlagsOf packs the states of m.
func FlagsOf(m *Message) int64 {
	var f int64
	for _, b := range []struct {
		set bool
		bit int64
	}{{m.Global, flagGlobal}, {m.IsError, flagError}, {m.OwnTrace, flagOwnTrace},
		{m.OffPath, FlagOffPath}, {m.Rewound, flagRewound}, {m.Compacted, FlagCompacted}} {
		if b.set {
			f |= b.bit
		}
	}
	return f
}

// SetFlags is the inverse of FlagsOf.
func SetFlags(m *Message, f int64) {
	m.Global, m.IsError, m.OwnTrace = f&flagGlobal != 0, f&flagError != 0, f&flagOwnTrace != 0
	m.OffPath, m.Rewound, m.Compacted = f&FlagOffPath != 0, f&flagRewound != 0, f&FlagCompacted != 0
}

// Tags of the fields of a body. A body is one byte that says how the rest is
// packed, then fields, each a tag, a length and that many bytes; fields with
// unknown tags are skipped, empty ones left out. Numbers are never reused.
const (
	tagUID          = 1
	tagParentUID    = 2
	tagKind         = 3
	tagContent      = 4
	tagReasoning    = 5
	tagCallID       = 6 // of a tool call; begins a new one
	tagCallName     = 7
	tagCallArgs     = 8
	tagToolCallID   = 9
	tagToolName     = 10
	tagExitCode     = 11
	tagFinishReason = 12
	tagExtra        = 13
)

const (
	packedPlain = 0
	packedZstd  = 1
	// coders is how many bodies are packed or unpacked at once.
	coders = 4
	// worthPacking is below what zstd's own header costs.
	worthPacking = 96
)

// ErrBody is returned for a body that cannot be read.
var ErrBody = errors.New("message body is damaged")

// zstd coders are safe for concurrent use and costly to make.
var (
	packer = sync.OnceValues(func() (*zstd.Encoder, error) {
		return zstd.NewWriter(nil, zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true),
			zstd.WithEncoderConcurrency(coders), zstd.WithWindowSize(1<<20), zstd.WithEncoderLevel(zstd.SpeedFastest))
	})
	unpacker = sync.OnceValues(func() (*zstd.Decoder, error) {
		return zstd.NewReader(nil, zstd.WithDecoderConcurrency(coders), zstd.WithDecoderMaxMemory(1<<30))
	})
)

// EncodeBody packs what has no column of its own.
func EncodeBody(m *Message) ([]byte, error) {
	b := make([]byte, 1, 64+len(m.Content)+len(m.Reasoning)+len(m.Extra))
	field := func(tag byte, s string) {
		if s != "" {
			b = append(binary.AppendUvarint(append(b, tag), uint64(len(s))), s...)
		}
	}
	field(tagUID, m.UID)
	field(tagParentUID, m.ParentUID)
	field(tagKind, m.Kind)
	field(tagContent, m.Content)
	field(tagReasoning, m.Reasoning)
	for _, c := range m.ToolCalls {
		b = append(binary.AppendUvarint(append(b, tagCallID), uint64(len(c.ID))), c.ID...) // also when empty
		field(tagCallName, c.Name)
		field(tagCallArgs, string(c.Args))
	}
	field(tagToolCallID, m.ToolCallID)
	field(tagToolName, m.ToolName)
	if m.ExitCode != nil {
		field(tagExitCode, string(binary.AppendVarint(nil, int64(*m.ExitCode))))
	}
	field(tagFinishReason, m.FinishReason)
	field(tagExtra, string(m.Extra))
	return pack(b)
}

// Pack makes text short for a column.
func Pack(text []byte) ([]byte, error) { return pack(append([]byte{packedPlain}, text...)) }

// pack compresses what follows the first byte of b, when that is worth it.
func pack(b []byte) ([]byte, error) {
	if len(b) < worthPacking {
		return b, nil
	}
	z, err := packer()
	if err != nil {
		return nil, err
	}
	packed := z.EncodeAll(b[1:], append(make([]byte, 0, len(b)/2), packedZstd))
	if len(packed) < len(b) {
		return packed, nil
	}
	return b, nil
}

// Unpack is the inverse of Pack. Errors: ErrBody.
func Unpack(b []byte) ([]byte, error) {
	if len(b) == 0 {
		return nil, ErrBody
	}
	switch b[0] {
	case packedPlain:
		return b[1:], nil
	case packedZstd:
		z, err := unpacker()
		if err != nil {
			return nil, err
		}
		out, err := z.DecodeAll(b[1:], nil)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrBody, err)
		}
		return out, nil
	}
	return nil, fmt.Errorf("%w: unknown packing %d", ErrBody, b[0])
}

// DecodeBody is the inverse of EncodeBody. Errors: ErrBody.
func DecodeBody(packed []byte, m *Message) error {
	b, err := Unpack(packed)
	if err != nil {
		return err
	}
	for len(b) > 0 {
		tag := b[0]
		n, size := binary.Uvarint(b[1:])
		if size <= 0 || n > uint64(len(b)-1-size) {
			return ErrBody
		}
		value := b[1+size : 1+size+int(n)]
		b = b[1+size+int(n):]
		if err := setField(m, tag, value); err != nil {
			return err
		}
	}
	return nil
}

func setField(m *Message, tag byte, value []byte) error {
	call := func() *ToolCall {
		if len(m.ToolCalls) == 0 {
			m.ToolCalls = append(m.ToolCalls, ToolCall{})
		}
		return &m.ToolCalls[len(m.ToolCalls)-1]
	}
	switch tag {
	case tagUID:
		m.UID = string(value)
	case tagParentUID:
		m.ParentUID = string(value)
	case tagKind:
		m.Kind = string(value)
	case tagContent:
		m.Content = string(value)
	case tagReasoning:
		m.Reasoning = string(value)
	case tagCallID:
		m.ToolCalls = append(m.ToolCalls, ToolCall{ID: string(value)})
	case tagCallName:
		call().Name = string(value)
	case tagCallArgs:
		call().Args = json.RawMessage(append([]byte(nil), value...))
	case tagToolCallID:
		m.ToolCallID = string(value)
	case tagToolName:
		m.ToolName = string(value)
	case tagExitCode:
		n, size := binary.Varint(value)
		if size <= 0 {
			return ErrBody
		}
		code := int(n)
		m.ExitCode = &code
	case tagFinishReason:
		m.FinishReason = string(value)
	case tagExtra:
		m.Extra = json.RawMessage(append([]byte(nil), value...))
	}
	return nil
}

// TextSize counts what Sizes.Text counts.
func TextSize(m *Message) int64 {
	n := len(m.Content) + len(m.Reasoning)
	for _, c := range m.ToolCalls {
		n += len(c.Args)
	}
	return int64(n)
}
