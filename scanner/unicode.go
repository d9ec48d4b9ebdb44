package scanner

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/unicode/rangetable"
)

//go:generate go run gen.go /usr/share/unicode

//go:embed unicode.txt
var unicodeData string

// properties are what the standard tables do not hold; see gen.go.
type properties struct {
	pict     *unicode.RangeTable // may stand in an emoji sequence
	vary     *unicode.RangeTable // takes a standardized variation selector
	joining  *unicode.RangeTable // scripts in which a joiner changes the shape of a word
	unspaced *unicode.RangeTable // scripts that mark word ends with zero-width spaces
	look     map[rune]string     // character → the ASCII text or ideograph it looks like
}

var loadProperties = sync.OnceValue(func() *properties {
	p := &properties{look: make(map[rune]string, 3000)}
	for line := range strings.Lines(unicodeData) {
		key, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "pict":
			p.pict = parseRanges(rest)
		case "vary":
			p.vary = parseRanges(rest)
		case "join", "virama":
			p.joining = withScripts(p.joining, rest)
		case "unspaced":
			p.unspaced = withScripts(p.unspaced, rest)
		case "look":
			target, sources, _ := strings.Cut(rest, " ")
			if target == "l" { // in the data, a bar stands for a capital I as well
				target = string(rune(either))
			}
			for _, r := range sources {
				p.look[r] = target
			}
		}
	}
	return p
})

// ignorable holds every character that leaves no mark on the page: default
// ignorable code points, controls, and the format characters of annotations.
// Prepended marks and hieroglyph controls are format characters that do show.
var ignorable = sync.OnceValue(func() *unicode.RangeTable {
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

func isIgnorable(r rune) bool {
	if r >= 0x3165 && r < 0xfe00 { // CJK and Hangul, the bulk of what comes here
		return false
	}
	return unicode.Is(ignorable(), r)
}

func parseRanges(s string) *unicode.RangeTable {
	t := &unicode.RangeTable{}
	for _, f := range strings.Fields(s) {
		lo, hi, _ := strings.Cut(f, "-")
		l, _ := strconv.ParseUint(lo, 16, 32) // generated, so always a number
		h, _ := strconv.ParseUint(hi, 16, 32)
		if h <= 0xffff {
			t.R16 = append(t.R16, unicode.Range16{Lo: uint16(l), Hi: uint16(h), Stride: 1})
		} else {
			t.R32 = append(t.R32, unicode.Range32{Lo: uint32(l), Hi: uint32(h), Stride: 1})
		}
	}
	return t
}

func withScripts(t *unicode.RangeTable, names string) *unicode.RangeTable {
	tables := make([]*unicode.RangeTable, 0, 50)
	if t != nil {
		tables = append(tables, t)
	}
	for _, name := range strings.Fields(names) {
		tables = append(tables, unicode.Scripts[name])
	}
	return rangetable.Merge(tables...)
}

func isRightToLeft(r rune) bool {
	if r < 0x590 {
		return false
	}
	if r == 0x60c { // the comma of Arabic has no direction, but it has a script
		return true
	}
	p, _ := bidi.LookupRune(r)
	return p.Class() == bidi.R || p.Class() == bidi.AL
}
