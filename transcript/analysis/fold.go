package analysis

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

type runeClass uint8

const (
	otherRune runeClass = iota
	wordRune            // letters and digits of scripts that put spaces between words
	pairRune            // letters of scripts that don't
)

// classify says how a rune takes part in terms.
func classify(r rune) runeClass {
	if r < utf8.RuneSelf {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
			return wordRune
		}
		return otherRune
	}
	switch {
	case r >= 0x0E00 && r < 0x0F00, // Thai, Lao
		r >= 0x1000 && r < 0x10A0,                // Myanmar
		r >= 0x1780 && r < 0x1800,                // Khmer
		r >= 0x1100 && r < 0x1200,                // Hangul letters
		r >= 0x3041 && r < 0x3100 && r != 0x30FB, // kana, without the middle dot
		r >= 0x3100 && r < 0x3130,                // bopomofo
		r >= 0x3130 && r < 0x3190,
		r >= 0x31F0 && r < 0x3200,
		r >= 0x3400 && r < 0xA000, // ideographs
		r >= 0xAC00 && r < 0xD7B0, // Hangul
		r >= 0xF900 && r < 0xFB00, // compatibility ideographs
		r >= 0xFF66 && r < 0xFFDD, // half width
		r >= 0x20000 && r < 0x32000,
		r == 0x3005:
		if unicode.IsDigit(r) || unicode.IsLetter(r) || r == 0x30FC {
			return pairRune
		}
		if unicode.Is(unicode.M, r) { // a mark without its letter
			return pairRune
		}
		return otherRune
	}
	if unicode.IsLetter(r) || unicode.IsDigit(r) {
		return wordRune
	}
	return otherRune
}

// fold appends r in the form in which it is compared: lower case, compatible
// width, Latin letters without diacritics.
func (a *analyzer) fold(dst []byte, r rune) []byte {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return append(dst, byte(r))
	}
	s, ok := a.folds[r]
	if !ok {
		s = foldRune(r)
		if len(a.folds) > 1<<14 {
			clear(a.folds)
		}
		a.folds[r] = s
	}
	return append(dst, s...)
}

func foldRune(r rune) string {
	if r == utf8.RuneError {
		return ""
	}
	if r >= 0x300 && r < 0x370 { // diacritics standing alone
		return ""
	}
	form := norm.NFKC
	if unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic) && r != 'й' && r != 'Й' {
		form = norm.NFKD
	}
	var out []rune
	for _, d := range form.String(string(unicode.ToLower(r))) {
		if d >= 0x300 && d < 0x370 {
			continue
		}
		if d = unicode.ToLower(d); classify(d) != otherRune || unicode.Is(unicode.M, d) {
			out = append(out, d)
		}
	}
	return string(out)
}
