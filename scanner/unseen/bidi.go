package unseen

import (
	"slices"

	"github.com/hermes-mcp/hermes-mcp/scanner/property"
)

// Direction controls. Marks and isolates belong in right-to-left text;
// overrides belong nowhere, because what is read is no longer what is stored.

const (
	alm = 0x61c
	lrm = 0x200e
	rlm = 0x200f
	lre = 0x202a
	rle = 0x202b
	pdf = 0x202c
	lro = 0x202d
	rlo = 0x202e
	lri = 0x2066
	rli = 0x2067
	fsi = 0x2068
	pdi = 0x2069
)

func isBidi(r rune) bool {
	return r == alm || r == lrm || r == rlm || r >= lre && r <= rlo || r >= lri && r <= pdi
}

// judgeBidi judges each paragraph alone, as the bidirectional algorithm does. A
// text with right-to-left letters anywhere may hold marks everywhere.
func judgeBidi(gs []glyph, fates []fate) {
	if !slices.ContainsFunc(gs, func(g glyph) bool { return g.invisible && isBidi(g.r) }) {
		return
	}
	rtl := slices.ContainsFunc(gs, func(g glyph) bool { return property.RightToLeft(g.r) })
	for i := 0; i < len(gs); {
		j := i
		for j < len(gs) && gs[j].r != '\n' && gs[j].r != 0x2029 {
			j++
		}
		judgeParagraph(gs[i:j], fates[i:j], rtl)
		i = j + 1
	}
}

// judgeParagraph matches each opener with its closer. rtl tells whether the
// text holds right-to-left letters.
func judgeParagraph(gs []glyph, fates []fate, rtl bool) {
	var open []int
	letters := make([]int, len(gs)+1) // right-to-left letters before i
	for i, g := range gs {
		letters[i+1] = letters[i]
		switch r := g.r; {
		case r == lrm || r == rlm || r == alm:
			if !rtl {
				fates[i] = strip
			}
		case r == lro || r == rlo:
			fates[i] = hide
			open = append(open, i)
		case r >= lre && r <= rle || r >= lri && r <= fsi:
			fates[i] = strip // until it is closed
			if (r == rle || r == rli) && !rtl {
				fates[i] = hide
			}
			open = append(open, i)
		case r == pdf || r == pdi:
			fates[i] = strip
			if n := len(open) - 1; n >= 0 && closes(gs[open[n]].r, r) {
				closeBidi(gs, fates, open[n], i, letters[i] > letters[open[n]], rtl)
				open = open[:n]
			}
		case property.RightToLeft(r):
			letters[i+1]++
		}
	}
}

func closes(opener, closer rune) bool { return (opener >= lri) == (closer == pdi) }

// closeBidi judges a closed span. inside tells whether it holds a
// right-to-left letter; without one, making it right-to-left moves the words
// and brackets of left-to-right text.
func closeBidi(gs []glyph, fates []fate, opener, closer int, inside, rtl bool) {
	switch r := gs[opener].r; {
	case r == lro || r == rlo:
		fates[closer] = hide
	case (r == rle || r == rli) && !inside:
		fates[opener], fates[closer] = hide, hide
	case rtl:
		fates[opener], fates[closer] = keep, keep
	}
}
