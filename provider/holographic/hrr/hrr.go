// Package hrr encodes facts as holographic reduced representations: vectors of
// phases that can be bound to each other, laid over each other, and compared.
//
// The encoding is, number by number, that of Hermes Agent's holographic
// memory, so that stores written by either program can be read by the other:
// a word is a vector that follows from SHA-256 of the word, a text is the
// bundle of its words, and a fact is the bundle of its text, bound to one role,
// and of its entities, bound to another.
//
// What is bound into a bundle is found again by comparing the bundle with the
// bound key: the similarity is about 1/√n for each of n parts, and 0 ± 0.02
// for whatever is not a part. Unbinding a key gives back nothing of the other
// parts, since the parts lie over each other and are not bound together.
//
// All functions are pure and safe for concurrent use.
package hrr

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"unicode"
)

const turn = 2 * math.Pi

// A Vector holds phases in [0, 2π).
type Vector []float64

// A Space makes vectors of one dimension.
type Space struct {
	dim             int
	content, entity Vector // the roles
}

// NewSpace returns the space of vectors with dim phases.
func NewSpace(dim int) *Space {
	s := &Space{dim: dim}
	s.content, s.entity = s.Atom("__hrr_role_content__"), s.Atom("__hrr_role_entity__")
	return s
}

// Dim is the number of phases of a vector.
func (s *Space) Dim() int { return s.dim }

// Atom is the vector of one word, taken as it is.
func (s *Space) Atom(word string) Vector {
	v := make(Vector, 0, s.dim)
	seed := append([]byte(word), ':')
	for block := 0; len(v) < s.dim; block++ {
		sum := sha256.Sum256(strconv.AppendInt(seed[:len(word)+1], int64(block), 10))
		for i := 0; i < len(sum) && len(v) < s.dim; i += 2 {
			v = append(v, float64(binary.LittleEndian.Uint16(sum[i:]))*(turn/65536))
		}
	}
	return v
}

// Text is the bundle of the words of text.
func (s *Space) Text(text string) Vector {
	words := Words(text)
	if len(words) == 0 {
		return s.Atom("__hrr_empty__")
	}
	atoms := make([]Vector, len(words))
	for i, w := range words {
		atoms[i] = s.Atom(w)
	}
	return Bundle(atoms...)
}

// Content is Text bound to the role that a fact's own text has: the key to
// compare a question with facts.
func (s *Space) Content(text string) Vector { return Bind(s.Text(text), s.content) }

// Word is one word as part of a fact's text: the key of facts that say it.
func (s *Space) Word(word string) Vector {
	return Bind(s.Atom(strings.ToLower(word)), s.content)
}

// Entity is the key of facts that are linked to the entity.
func (s *Space) Entity(name string) Vector {
	return Bind(s.Atom(strings.ToLower(name)), s.entity)
}

// Fact is the vector of a fact with this text, linked to these entities.
func (s *Space) Fact(text string, entities []string) Vector {
	parts := []Vector{s.Content(text)}
	for _, e := range entities {
		parts = append(parts, s.Entity(e))
	}
	return Bundle(parts...)
}

// Words splits text as the encoding does: lower case, at white space, without
// the punctuation around each word.
func Words(text string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text), blank) {
		if w = strings.Trim(w, `.,!?;:"'()[]{}`); w != "" {
			out = append(out, w)
		}
	}
	return out
}

// blank is Python's white space, which has four separators more than Go's.
func blank(r rune) bool { return unicode.IsSpace(r) || (r >= 0x1c && r <= 0x1f) }

// Bind joins a and b, of one dimension, to a vector that is like neither.
func Bind(a, b Vector) Vector {
	v := make(Vector, len(a))
	for i := range v {
		v[i] = wrap(a[i] + b[i])
	}
	return v
}

// Bundle lays vectors of one dimension over each other; the result is like
// each of them.
func Bundle(vectors ...Vector) Vector {
	v := make(Vector, len(vectors[0]))
	for i := range v {
		var re, im float64
		for _, part := range vectors {
			sin, cos := math.Sincos(part[i])
			re, im = re+cos, im+sin
		}
		v[i] = wrap(math.Atan2(im, re))
	}
	return v
}

// Similarity is 1 for equal vectors and about 0 for unrelated ones. Vectors of
// different or no dimension have none: 0.
func Similarity(a, b Vector) float64 {
	if len(a) != len(b) || len(a) == 0 {
		return 0
	}
	sum := 0.0
	for i := range a {
		sum += math.Cos(a[i] - b[i])
	}
	return sum / float64(len(a))
}

func wrap(phase float64) float64 {
	if phase = math.Mod(phase, turn); phase < 0 {
		phase += turn
	}
	return phase
}
