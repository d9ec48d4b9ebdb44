// Package unseen judges invisible characters by what they do where they stand.
//
// Joiners inside emoji and words, marks in right-to-left text, selectors that
// have something to select and line breaks of scripts without spaces stay. The
// rest is harmless and taken out, or it hides text or changes the order of what
// is read.
package unseen

import (
	"unicode"
	"unicode/utf8"

	"github.com/hermes-mcp/hermes-mcp/scanner/property"
)

// A Mark is an invisible character that had no business in a text.
type Mark struct {
	Name   string // bidi_control, control_character, soft_hyphen, invisible_character, or invisible_unicode for hidden text
	Rune   rune   // all letters of a hidden text count as one
	Count  int
	Offset int // byte offset of the first
}

// A fate is what becomes of one invisible character.
type fate uint8

const (
	keep  fate = iota // legitimate where it stands
	strip             // harmless, but it has no business in stored text
	hide              // it hides something or reorders what is read
)

// A glyph is one character of the text with its place in it.
type glyph struct {
	r         rune
	off, size int
	invisible bool
}

// Clean takes out the invisible characters that do no work where they stand.
// removed are the harmless ones, hiding those that hide or reorder something.
// The text that is kept comes back unchanged when it is cleaned again. Where
// something is removed from text that is not UTF-8, U+FFFD takes the place of
// what is broken.
func Clean(text string) (kept string, removed, hiding []Mark) {
	if !hasInvisible(text) {
		return text, nil, nil
	}
	// Taking one out can leave another without the neighbour it leaned on.
	// Each round removes something, and four rounds end every text that is
	// not made for the purpose; the rest of such a text is stripped bare.
	var notes tally
	kept = text
	offs := identity(len(text))
	for round := range 4 {
		gs := glyphs(kept)
		fates := judge(gs)
		if round == 3 {
			for i := range gs {
				if gs[i].invisible && fates[i] == keep {
					fates[i] = strip
				}
			}
		}
		next := make([]byte, 0, len(kept))
		nextOffs := make([]int, 0, len(kept)+1)
		taken := false
		for i, g := range gs {
			switch {
			case fates[i] != keep:
				taken = true
				notes.add(g.r, offs[g.off], fates[i])
			case g.r == utf8.RuneError && g.size == 1:
				next = append(next, string(utf8.RuneError)...) // or it might join what follows
				nextOffs = append(nextOffs, offs[g.off], offs[g.off], offs[g.off])
			default:
				next = append(next, kept[g.off:g.off+g.size]...)
				nextOffs = append(nextOffs, offs[g.off:g.off+g.size]...)
			}
		}
		if !taken {
			break
		}
		kept, offs = string(next), append(nextOffs, len(text))
	}
	return kept, notes.marks(strip), notes.marks(hide)
}

func identity(n int) []int {
	offs := make([]int, n+1)
	for i := range offs {
		offs[i] = i
	}
	return offs
}

func hasInvisible(text string) bool {
	for _, r := range text {
		if property.Invisible(r) {
			return true
		}
	}
	return false
}

func glyphs(text string) []glyph {
	gs := make([]glyph, 0, len(text))
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		gs = append(gs, glyph{r, i, n, property.Invisible(r)})
		i += n
	}
	return gs
}

// judge decides the fate of every glyph.
func judge(gs []glyph) []fate {
	fates := make([]fate, len(gs))
	judgeBidi(gs, fates)
	for i := 0; i < len(gs); i++ {
		if !gs[i].invisible || isBidi(gs[i].r) {
			continue
		}
		switch r := gs[i].r; {
		case isTag(r):
			i = judgeTags(gs, fates, i)
		case unicode.Is(unicode.Variation_Selector, r):
			i = judgeVariations(gs, fates, i)
		default:
			fates[i] = strip
			if joins(gs, i) {
				fates[i] = keep
			}
		}
	}
	judgeRuns(gs, fates)
	return fates
}

// judgeRuns refuses long runs of invisible characters: nobody types eight,
// and eight are enough to carry a letter.
func judgeRuns(gs []glyph, fates []fate) {
	const long = 8
	for i := 0; i < len(gs); i++ {
		j := i
		for j < len(gs) && fates[j] != keep && !unicode.Is(unicode.Cc, gs[j].r) {
			j++
		}
		if j-i >= long {
			for k := i; k < j; k++ {
				fates[k] = hide
			}
		}
		i = max(i, j)
	}
}

// at returns the character at i, or 0 outside the text.
func at(gs []glyph, i int) rune {
	if i < 0 || i >= len(gs) {
		return 0
	}
	return gs[i].r
}

func isTag(r rune) bool { return r >= 0xe0000 && r <= 0xe007f }

// judgeTags allows the three flags that are spelled with tag characters and
// returns the index of the last glyph judged.
func judgeTags(gs []glyph, fates []fate, i int) int {
	var spelled []byte
	j := i
	for ; j < len(gs) && isTag(gs[j].r); j++ {
		if c := byte(gs[j].r & 0x7f); c >= ' ' && c < 0x7f {
			spelled = append(spelled, c)
		}
	}
	f := strip
	if len(spelled) > 0 {
		f = hide
	}
	switch string(spelled) {
	case "gbeng", "gbsct", "gbwls":
		if at(gs, i-1) == 0x1f3f4 && gs[j-1].r == 0xe007f && j-i == 6 {
			f = keep
		}
	}
	for k := i; k < j; k++ {
		fates[k] = f
	}
	return j - 1
}

// judgeVariations allows one selector after a character that takes it. More,
// or the supplementary ones where no ideograph stands, spell bytes.
func judgeVariations(gs []glyph, fates []fate, i int) int {
	j := i
	for j < len(gs) && gs[j].invisible && unicode.Is(unicode.Variation_Selector, gs[j].r) {
		j++
	}
	start := i
	if takesVariation(at(gs, i-1), gs[i].r) {
		start++
	}
	f := strip
	if j-i > 2 || start < j && gs[start].r >= 0xe0100 {
		f = hide
	}
	for k := start; k < j; k++ {
		fates[k] = f
	}
	return j - 1
}

func takesVariation(base, selector rune) bool {
	switch {
	case selector >= 0xe0100:
		return unicode.Is(unicode.Ideographic, base)
	case selector == 0xfe0e || selector == 0xfe0f:
		return property.Pictograph(base) || isKeycap(base)
	}
	return property.Varies(base) || unicode.Is(unicode.Ideographic, base) ||
		unicode.Is(unicode.Mongolian, base)
}

func isKeycap(r rune) bool { return r >= '0' && r <= '9' || r == '#' || r == '*' }

// tally counts what was removed by character, so that a hostile text cannot
// make the report longer than itself.
type tally struct {
	order []seen
	index map[seenKey]int
}

type seenKey struct {
	r rune
	f fate
}

type seen struct {
	seenKey
	off, n int
}

func (t *tally) add(r rune, off int, f fate) {
	if isTag(r) || r >= 0xe0100 {
		r &^= 0xff // one line for all letters of a hidden text
	}
	key := seenKey{r, f}
	if i, ok := t.index[key]; ok {
		t.order[i].n++
		return
	}
	if t.index == nil {
		t.index = map[seenKey]int{}
	}
	t.index[key] = len(t.order)
	t.order = append(t.order, seen{key, off, 1})
}

func (t *tally) marks(f fate) []Mark {
	var out []Mark
	for _, s := range t.order {
		if s.f == f {
			out = append(out, Mark{Name: name(s.r, f), Rune: s.r, Count: s.n, Offset: s.off})
		}
	}
	return out
}

// name gives everything that is hidden one id, which upstream has too, and
// directions their own.
func name(r rune, f fate) string {
	switch {
	case isBidi(r):
		return "bidi_control"
	case f == hide:
		return "invisible_unicode"
	case unicode.Is(unicode.Cc, r):
		return "control_character"
	case r == 0xad:
		return "soft_hyphen"
	}
	return "invisible_character"
}
