package static

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
)

const (
	maxHeader = 16 << 20
	// maxSmall bounds the tensors that are read whole.
	maxSmall = 64 << 20
	// maxColumns and maxRows bound the table.
	maxColumns, maxRows = 8192, 1 << 26
)

// widths are the kinds of numbers that are understood, with their bytes.
var widths = map[string]int{"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I8": 1, "I64": 8, "I32": 4, "U32": 4, "I16": 2, "U16": 2}

// A tensor is where numbers lie in a file.
type tensor struct {
	kind  string
	shape []int64
	at    int64 // in the file
	size  int64
}

// readSafetensors reads the head of a file of size bytes: the length of a JSON
// object in eight bytes, the object, and then the numbers.
func readSafetensors(file io.ReaderAt, size int64) (map[string]tensor, error) {
	var length [8]byte
	if _, err := file.ReadAt(length[:], 0); err != nil {
		return nil, fmt.Errorf("no safetensors file: %w", err)
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > maxHeader || int64(n) > size-8 {
		return nil, fmt.Errorf("no safetensors file: a header of %d bytes in a file of %d", n, size)
	}
	raw := make([]byte, n)
	if _, err := file.ReadAt(raw, 8); err != nil {
		return nil, fmt.Errorf("no safetensors file: %w", err)
	}
	var head map[string]json.RawMessage
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, fmt.Errorf("no safetensors file: %w", err)
	}
	all := map[string]tensor{}
	for name, text := range head {
		if name == "__metadata__" {
			continue
		}
		var h struct {
			Kind    string   `json:"dtype"`
			Shape   []int64  `json:"shape"`
			Offsets [2]int64 `json:"data_offsets"`
		}
		if err := json.Unmarshal(text, &h); err != nil {
			return nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		base := 8 + int64(n)
		if h.Offsets[0] < 0 || h.Offsets[1] < h.Offsets[0] || h.Offsets[1] > size-base {
			return nil, fmt.Errorf("tensor %q lies at %d to %d of %d bytes", name, h.Offsets[0], h.Offsets[1], size-base)
		}
		all[name] = tensor{h.Kind, h.Shape, base + h.Offsets[0], h.Offsets[1] - h.Offsets[0]}
	}
	return all, nil
}

// check returns the bytes of a number, after making sure that there are as many
// as the shape says.
func (t tensor) check() (width int, count int64, err error) {
	width, ok := widths[t.kind]
	if !ok {
		return 0, 0, fmt.Errorf("numbers of kind %q are not understood", t.kind)
	}
	count = 1
	for _, n := range t.shape {
		if n < 0 || n > maxRows || count > math.MaxInt32*int64(maxColumns) {
			return 0, 0, fmt.Errorf("shape %v", t.shape)
		}
		count *= n
	}
	if count*int64(width) != t.size {
		return 0, 0, fmt.Errorf("%d bytes for a shape of %v", t.size, t.shape)
	}
	return width, count, nil
}

// A table is a tensor of rows that are read one at a time.
type table struct {
	tensor
	file          io.ReaderAt
	rows, columns int
	width         int
}

func (t tensor) table(file io.ReaderAt) (table, error) {
	width, _, err := t.check()
	switch {
	case err != nil:
		return table{}, fmt.Errorf("embeddings: %w", err)
	case len(t.shape) != 2 || t.shape[0] < 1 || t.shape[1] < 1 || t.shape[1] > maxColumns:
		return table{}, fmt.Errorf("embeddings: shape %v is no table", t.shape)
	}
	return table{t, file, int(t.shape[0]), int(t.shape[1]), width}, nil
}

// row reads row i into dst.
func (t table) row(i int64, dst []float32) error {
	if i < 0 || i >= int64(t.rows) {
		return fmt.Errorf("row %d of %d", i, t.rows)
	}
	raw := make([]byte, t.columns*t.width)
	if _, err := t.file.ReadAt(raw, t.at+i*int64(len(raw))); err != nil {
		return err
	}
	for j := range dst {
		dst[j] = float32(number(t.kind, raw[j*t.width:]))
	}
	return nil
}

// whole reads a small tensor.
func (t tensor) whole(file io.ReaderAt) (raw []byte, width int, err error) {
	width, _, err = t.check()
	if err != nil {
		return nil, 0, err
	}
	if len(t.shape) != 1 || t.size > maxSmall {
		return nil, 0, errors.New("it is no list")
	}
	raw = make([]byte, t.size)
	if _, err := file.ReadAt(raw, t.at); err != nil && t.size > 0 {
		return nil, 0, err
	}
	return raw, width, nil
}

func (t tensor) floats(file io.ReaderAt) ([]float32, error) {
	raw, width, err := t.whole(file)
	if err != nil {
		return nil, err
	}
	out := make([]float32, len(raw)/width)
	for i := range out {
		out[i] = float32(number(t.kind, raw[i*width:]))
	}
	return out, nil
}

func (t tensor) integers(file io.ReaderAt) ([]int64, error) {
	raw, width, err := t.whole(file)
	if err != nil {
		return nil, err
	}
	out := make([]int64, len(raw)/width)
	for i := range out {
		out[i] = int64(number(t.kind, raw[i*width:]))
	}
	return out, nil
}

// number reads one number of a kind from the beginning of raw.
func number(kind string, raw []byte) float64 {
	le := binary.LittleEndian
	switch kind {
	case "F64":
		return math.Float64frombits(le.Uint64(raw))
	case "F32":
		return float64(math.Float32frombits(le.Uint32(raw)))
	case "BF16":
		return float64(math.Float32frombits(uint32(le.Uint16(raw)) << 16))
	case "F16":
		return half(le.Uint16(raw))
	case "I64":
		return float64(int64(le.Uint64(raw)))
	case "I32":
		return float64(int32(le.Uint32(raw)))
	case "U32":
		return float64(le.Uint32(raw))
	case "I16":
		return float64(int16(le.Uint16(raw)))
	case "U16":
		return float64(le.Uint16(raw))
	}
	return float64(int8(raw[0]))
}

// half reads a number of sixteen bits: sign, five of exponent, ten of fraction.
func half(b uint16) float64 {
	sign, exp, frac := 1.0, int(b>>10&31), float64(b&1023)
	if b>>15 == 1 {
		sign = -1
	}
	switch exp {
	case 0:
		return sign * math.Ldexp(frac, -24)
	case 31:
		if frac != 0 {
			return math.NaN()
		}
		return sign * math.Inf(1)
	}
	return sign * math.Ldexp(1024+frac, exp-25)
}
