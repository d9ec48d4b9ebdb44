package unseen

import (
	"unicode"

	"github.com/hermes-mcp/hermes-mcp/scanner/property"
)

const (
	zwsp = 0x200b
	zwnj = 0x200c
	zwj  = 0x200d
)

// joins tells whether the invisible character at i does its ordinary work
// there: holding an emoji together, shaping a word, marking where a line may
// break in a script without spaces.
func joins(gs []glyph, i int) bool {
	before, after := at(gs, i-1), at(gs, i+1)
	switch r := gs[i].r; {
	case r == zwj && joinsEmoji(gs, i):
		return true
	case r == zwj || r == zwnj:
		j := i - 2
		if isJoiner(before) && before != r { // Telugu writes both
			before = at(gs, j)
			j--
		}
		for ; isVowelPoint(before); j-- {
			before = at(gs, j)
		}
		return shapes(r, before, after)
	case r == zwsp:
		const slips = 3 // typed twice is still a line break
		for j := i - 2; before == zwsp && j >= i-slips; j-- {
			before = at(gs, j)
		}
		for j := i + 2; after == zwsp && j <= i+slips; j++ {
			after = at(gs, j)
		}
		return property.MarksWords(before) || property.MarksWords(after)
	case r == 0x34f: // orders marks
		return unicode.IsMark(before) && unicode.IsMark(after)
	case r == 0x115f || r == 0x1160: // stand for a missing letter of a Korean syllable
		return isJamo(before) || isJamo(after)
	case r == 0x180e: // before the last vowel of a Mongolian word
		return unicode.Is(unicode.Mongolian, before) && unicode.Is(unicode.Mongolian, after)
	case r >= 0x1bca0 && r <= 0x1bca3:
		return unicode.Is(unicode.Duployan, before) || unicode.Is(unicode.Duployan, after)
	case r >= 0x1d173 && r <= 0x1d17a: // beams and slurs
		return isMusical(before) || isMusical(after)
	}
	return false
}

func isJoiner(r rune) bool { return r == zwj || r == zwnj }

func isJamo(r rune) bool { return r >= 0x1100 && r <= 0x11ff && r != 0x115f && r != 0x1160 }

func isMusical(r rune) bool { return r >= 0x1d100 && r <= 0x1d1ff && !property.Invisible(r) }

// joinsEmoji follows the grammar of UTS #51: pictograph, its selector or skin
// tone, joiner, pictograph. The grammar rather than the list of this year's
// emoji, so that next year's are not refused.
func joinsEmoji(gs []glyph, i int) bool {
	if !property.Pictograph(at(gs, i+1)) {
		return false
	}
	j := i - 1
	if r := at(gs, j); r == 0xfe0f || r == 0xfe0e {
		j--
	}
	if property.SkinTone(at(gs, j)) && property.Pictograph(at(gs, j-1)) {
		j--
	}
	return property.Pictograph(at(gs, j))
}

// shapes follows UAX #31: a joiner stands between letters of scripts that join,
// or shows the joined form of a lone letter.
func shapes(r, before, after rune) bool {
	left := property.Joins(before) && property.LetterOrMark(before)
	right := property.Joins(after) && property.LetterOrMark(after)
	if left && right {
		return true
	}
	if left {
		return after != r
	}
	return right && r == zwj && !isJoiner(before)
}

// isVowelPoint tells whether r is a mark that scripts share, as the vowel signs
// of Arabic are; the letter before it says which script this is.
func isVowelPoint(r rune) bool {
	return unicode.Is(unicode.Mn, r) && unicode.Is(unicode.Inherited, r) && !property.Invisible(r)
}
