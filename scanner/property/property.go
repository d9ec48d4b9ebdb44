// Package property knows the character properties that the standard library
// does not hold: which characters leave no mark on the page, which may stand in
// an emoji sequence, which scripts join their letters or write no spaces, and
// which character can be taken for which. The tables are read on first use.
package property

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/unicode/rangetable"
)

//go:embed property.txt
var data string

// tables are what property.txt holds; see gen.go.
type tables struct {
	pict     *unicode.RangeTable
	vary     *unicode.RangeTable
	joining  *unicode.RangeTable
	unspaced *unicode.RangeTable
	// whether a character from southFirst on is a letter or mark of unspaced,
	// since each is asked for several times
	south [southLast - southFirst]bool
	look  map[rune]string
	pages [0x320]bool // by r >> 8: whether look holds any of the 256
}

// The scripts without spaces, ideographs and kana aside, stand here.
const southFirst, southLast = 0xe00, 0x1a00

var load = sync.OnceValue(func() *tables {
	t := &tables{look: make(map[rune]string, 3000)}
	var joining []string
	for line := range strings.Lines(data) {
		key, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "pict":
			t.pict = ranges(rest)
		case "vary":
			t.vary = ranges(rest)
		case "join", "virama":
			joining = append(joining, strings.Fields(rest)...)
		case "unspaced":
			t.unspaced = scripts(strings.Fields(rest))
		case "look":
			target, sources, _ := strings.Cut(rest, " ")
			for _, r := range sources {
				t.look[r] = target
				t.pages[r>>8] = true
			}
		}
	}
	t.joining = scripts(joining)
	for i := range t.south {
		r := rune(southFirst + i)
		t.south[i] = unicode.Is(t.unspaced, r) && LetterOrMark(r)
	}
	return t
})

// ranges reads pairs of characters, the first and the last of each range.
func ranges(s string) *unicode.RangeTable {
	t := &unicode.RangeTable{}
	pairs := []rune(s)
	for i := 0; i+1 < len(pairs); i += 2 {
		lo, hi := pairs[i], pairs[i+1]
		if hi <= 0xffff {
			t.R16 = append(t.R16, unicode.Range16{Lo: uint16(lo), Hi: uint16(hi), Stride: 1})
		} else {
			t.R32 = append(t.R32, unicode.Range32{Lo: uint32(lo), Hi: uint32(hi), Stride: 1})
		}
	}
	return t
}

func scripts(names []string) *unicode.RangeTable {
	var all []*unicode.RangeTable
	for _, name := range names {
		all = append(all, unicode.Scripts[name])
	}
	return rangetable.Merge(all...)
}

// invisible is computed from the standard tables. Prepended marks and the
// controls of hieroglyphs are format characters that do show.
var invisible = sync.OnceValue(func() *unicode.RangeTable {
	all := rangetable.Merge(unicode.Cf, unicode.Cc, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
	var hidden []rune
	rangetable.Visit(all, func(r rune) {
		visible := unicode.Is(unicode.Prepended_Concatenation_Mark, r) || r >= 0x13430 && r <= 0x1345f
		if !visible && r != '\t' && r != '\n' && r != '\r' {
			hidden = append(hidden, r)
		}
	})
	return rangetable.New(hidden...)
})

// Invisible tells whether r leaves no mark on the page: a default ignorable
// code point, a control other than tab and line break, a format character.
func Invisible(r rune) bool {
	switch {
	case r < 0x7f:
		return r < ' ' && r != '\t' && r != '\n' && r != '\r'
	case r >= 0x3165 && r < 0xfe00: // CJK and Hangul, the bulk of what comes here
		return false
	}
	return unicode.Is(invisible(), r)
}

// Pictograph tells whether r may stand in an emoji sequence: pictographs, skin
// tones, the letters of flags. Characters reserved for emoji to come count.
func Pictograph(r rune) bool {
	return r >= 0x80 && unicode.Is(load().pict, r) || SkinTone(r) || r >= 0x1f1e6 && r <= 0x1f1ff
}

// SkinTone tells whether r changes the skin tone of the emoji before it.
func SkinTone(r rune) bool { return r >= 0x1f3fb && r <= 0x1f3ff }

// Varies tells whether a standardized variation selector may follow r.
func Varies(r rune) bool { return unicode.Is(load().vary, r) }

// Joins tells whether r belongs to a script in which a joiner, or its absence,
// changes the shape of a word.
func Joins(r rune) bool { return unicode.Is(load().joining, r) }

// MarksWords tells whether r belongs to a script that is written without spaces
// and may mark the ends of words with zero-width ones.
func MarksWords(r rune) bool { return unicode.Is(load().unspaced, r) }

// Unspaced tells whether r is a letter of a script without spaces between
// words: ideographs and kana, and those of which MarksWords speaks.
func Unspaced(r rune) bool {
	switch {
	case r < southFirst:
		return false
	case r < southLast:
		return load().south[r-southFirst]
	case r >= 0x3040 && r <= 0x30ff, r >= 0x3400 && r <= 0x9fff, r >= 0x20000 && r <= 0x3ffff:
		return true
	}
	return r == 0x3005 || r == 0x3007
}

// LetterOrMark tells whether r is a letter or belongs to one.
func LetterOrMark(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) }

// Lookalike returns the lower case ASCII text or the ideograph that r can be
// taken for, or "". Capitals have entries of their own.
func Lookalike(r rune) string {
	if r < utf8.RuneSelf {
		return ""
	}
	t := load()
	if r>>8 >= rune(len(t.pages)) || !t.pages[r>>8] {
		return ""
	}
	return t.look[r]
}

// RightToLeft tells whether r is written from right to left.
func RightToLeft(r rune) bool {
	switch {
	case r < 0x590:
		return false
	case r == 0x60c: // the comma of Arabic has no direction, but it has a script
		return true
	}
	p, _ := bidi.LookupRune(r)
	return p.Class() == bidi.R || p.Class() == bidi.AL
}
