package hrr

import (
	"encoding/binary"
	"math"
)

const magic = "HRR1"

// Encode is the vector as later versions of Hermes write it: a mark and
// float32 phases, little-endian.
func Encode(v Vector) []byte {
	out := make([]byte, len(magic), len(magic)+4*len(v))
	copy(out, magic)
	for _, phase := range v {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(phase)))
	}
	return out
}

// EncodeRaw is the vector as the versions of July 2026 and before read and
// write it: float64 phases, little-endian.
func EncodeRaw(v Vector) []byte {
	out := make([]byte, 0, 8*len(v))
	for _, phase := range v {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(phase))
	}
	return out
}

// Decode reads a vector of dim phases in either form. ok is false for anything
// else, another dimension or a phase that is no number included: such a fact
// has no vector, and is still found by its words.
func Decode(blob []byte, dim int) (v Vector, ok bool) {
	switch {
	case dim <= 0:
		return nil, false
	case len(blob) == 8*dim:
		v = make(Vector, dim)
		for i := range v {
			v[i] = math.Float64frombits(binary.LittleEndian.Uint64(blob[8*i:]))
		}
	case len(blob) == len(magic)+4*dim && string(blob[:len(magic)]) == magic:
		blob = blob[len(magic):]
		v = make(Vector, dim)
		for i := range v {
			v[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(blob[4*i:])))
		}
	default:
		return nil, false
	}
	for _, phase := range v {
		if math.IsNaN(phase) || math.IsInf(phase, 0) {
			return nil, false
		}
	}
	return v, true
}
