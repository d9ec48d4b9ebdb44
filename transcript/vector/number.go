package vector

import (
	"math"
	"math/bits"
)

// A vector is kept as one signed byte a number, the largest of them 127: of unit
// vectors only the direction counts, so the scale need not be kept.
func pack(v []float32) []byte {
	var top float64
	for _, x := range v {
		top = max(top, math.Abs(float64(x)))
	}
	out := make([]byte, len(v))
	if top == 0 {
		return out
	}
	for i, x := range v {
		out[i] = byte(int8(math.Round(float64(x) / top * 127)))
	}
	return out
}

// cosine compares a unit vector with a packed one.
func cosine(q []float32, packed []byte) float64 {
	if len(q) != len(packed) {
		return 0
	}
	var dot float32
	var norm int32
	for i, b := range packed {
		x := int32(int8(b))
		dot += q[i] * float32(x)
		norm += x * x
	}
	if norm == 0 {
		return 0
	}
	return float64(dot) / math.Sqrt(float64(norm))
}

// maxWords bounds the sketch of a vector: 1,024 bits say enough of any.
const maxWords = 16

// words is how many words the sketch of so many dimensions takes.
func words(dimensions int) int { return min(maxWords, (dimensions+63)/64) }

// sketch appends to dst the sign of each number, seen from mean.
func sketch(dst []uint64, v, mean []float32) []uint64 {
	for w := range words(len(v)) {
		var bit uint64
		for i := w * 64; i < min(len(v), w*64+64); i++ {
			if v[i] > mean[i] {
				bit |= 1 << (i % 64)
			}
		}
		dst = append(dst, bit)
	}
	return dst
}

// apart counts the bits in which two sketches differ.
func apart(a, b []uint64) int {
	n := 0
	for i, w := range a {
		n += bits.OnesCount64(w ^ b[i])
	}
	return n
}

// unpack makes a unit vector of a packed one, in dst.
func unpack(dst []float32, packed []byte) {
	var norm float64
	for i, b := range packed {
		dst[i] = float32(int8(b))
		norm += float64(dst[i]) * float64(dst[i])
	}
	if norm == 0 {
		return
	}
	scale := float32(1 / math.Sqrt(norm))
	for i := range dst[:len(packed)] {
		dst[i] *= scale
	}
}
