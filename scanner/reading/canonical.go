// Package reading reads a text in every way in which a person or a model might,
// for rules to be tried on: as it stands, with disguises undone, decoded,
// rotated, reversed. Readings are for matching and never shown; each knows
// which bytes of the text it comes from.
package reading

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/hermes-mcp/hermes-mcp/scanner/property"
)

// Either stands in a view for a character that may be an i or an l.
const Either = 1

// A View is a text made ready for matching: each
// character is decomposed for compatibility (as in NFKC, but not composed again),
// folded in case, and bare of accents; invisible characters are gone. Every
// character maps by itself, so the view of a view is the view, and every byte
// knows where it comes from.
type View struct {
	Text string
	offs []int32 // raw offset of each byte and of the end; nil when they are equal
}

// Raw returns the offset in the text as given of byte i of the view.
func (v View) Raw(i int) int {
	if v.offs == nil {
		return i
	}
	return int(v.offs[i])
}

// Canonical returns the view of text as it stands.
func Canonical(text string) View {
	i := 0
	for i < len(text) && isPlain(text[i]) {
		i++
	}
	if i == len(text) {
		return View{Text: text}
	}
	b := builder{out: make([]byte, 0, len(text)+16), offs: make([]int32, 0, len(text)+17)}
	for i := 0; i < len(text); {
		start := len(b.out)
		n := 1
		if c := text[i]; c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			if c >= ' ' && c != 0x7f || c == '\n' || c == '\t' || c == '\r' {
				b.out = append(b.out, c)
			}
		} else {
			var r rune
			r, n = utf8.DecodeRuneInString(text[i:])
			b.out = appendFolded(b.out, r)
		}
		b.mark(start, i)
		i += n
	}
	return b.view(len(text))
}

func isPlain(c byte) bool {
	return c >= ' ' && c < 0x7f && (c < 'A' || c > 'Z') || c == '\n' || c == '\t' || c == '\r'
}

// A builder makes a view byte by byte.
type builder struct {
	out  []byte
	offs []int32
}

// mark says that the bytes from start on come from raw offset off.
func (b *builder) mark(start, off int) {
	for range len(b.out) - start {
		b.offs = append(b.offs, int32(off))
	}
}

func (b *builder) view(end int) View {
	return View{Text: string(b.out), offs: append(b.offs, int32(end))}
}

// appendFolded appends what r is matched as.
func appendFolded(dst []byte, r rune) []byte {
	if r == utf8.RuneError {
		return append(dst, "\uFFFD"...)
	}
	switch {
	case r >= 0x3400 && r <= 0x9fff: // ideographs decompose to nothing else
		return appendUnfolded(dst, r)
	case r >= 0xac00 && r <= 0xd7a3: // a Korean syllable stays one
		return utf8.AppendRune(dst, r)
	}
	switch { // "(a)" is one letter here, not a word in brackets
	case r >= '⒜' && r <= '⒵':
		return append(dst, byte('a'+r-'⒜'))
	case r >= '🄐' && r <= '🄩':
		return append(dst, byte('a'+r-'🄐'))
	}
	var buf [utf8.UTFMax]byte
	n := utf8.EncodeRune(buf[:], r)
	const phrase = 10 // bytes: what decomposes to as many is a phrase in one character
	if d := norm.NFKD.Properties(buf[:n]).Decomposition(); d != nil && len(d) < phrase {
		for len(d) > 0 {
			dr, n := utf8.DecodeRune(d)
			dst = appendCased(dst, dr)
			d = d[n:]
		}
		return dst
	}
	return appendCased(dst, r)
}

// appendCased folds a character that no longer decomposes.
func appendCased(dst []byte, r rune) []byte {
	if isAccent(r) || property.Invisible(r) {
		return dst
	}
	switch r = unicode.ToLower(r); r {
	case 'ß':
		return append(dst, "ss"...)
	case 'ς':
		r = 'σ'
	case '’', '‘', 'ʼ', '`':
		r = '\''
	case '“', '”', '„', '«', '»':
		r = '"'
	case '–', '—', '‐', '−':
		r = '-'
	}
	return appendUnfolded(dst, r)
}

func appendUnfolded(dst []byte, r rune) []byte {
	if r >= 0x4e00 && r <= 0x9fff {
		if s, ok := simplified()[r]; ok {
			r = s
		}
	}
	return utf8.AppendRune(dst, r)
}

// isAccent tells whether r is a mark that does not change which word is meant:
// accents, and the vowel points of Hebrew and Arabic. The vowel signs of the
// Indic scripts and the voicing marks of Japanese are letters in all but name.
func isAccent(r rune) bool {
	if r < 0x300 {
		return false
	}
	return unicode.Is(accents, r)
}

var accents = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x0300, Hi: 0x036f, Stride: 1},
	{Lo: 0x0483, Hi: 0x0489, Stride: 1},
	{Lo: 0x0591, Hi: 0x05bd, Stride: 1},
	{Lo: 0x05bf, Hi: 0x05bf, Stride: 1},
	{Lo: 0x05c1, Hi: 0x05c2, Stride: 1},
	{Lo: 0x05c4, Hi: 0x05c5, Stride: 1},
	{Lo: 0x0610, Hi: 0x061a, Stride: 1},
	{Lo: 0x0640, Hi: 0x0640, Stride: 1},
	{Lo: 0x064b, Hi: 0x065f, Stride: 1},
	{Lo: 0x0670, Hi: 0x0670, Stride: 1},
	{Lo: 0x06d6, Hi: 0x06dc, Stride: 1},
	{Lo: 0x06df, Hi: 0x06e8, Stride: 1},
	{Lo: 0x06ea, Hi: 0x06ed, Stride: 1},
	{Lo: 0x1ab0, Hi: 0x1aff, Stride: 1},
	{Lo: 0x1dc0, Hi: 0x1dff, Stride: 1},
	{Lo: 0x20d0, Hi: 0x20ff, Stride: 1},
	{Lo: 0xfe20, Hi: 0xfe2f, Stride: 1},
}}
