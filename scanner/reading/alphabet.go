package reading

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hermes-mcp/hermes-mcp/scanner/property"
)

// isForeign tells whether text is written in another alphabet: a good share of
// its letters is like no Latin letter. Its words are then what they seem,
// however Latin they look.
func isForeign(text string) bool {
	others, unlike := 0, 0
	for _, r := range text {
		if r >= utf8.RuneSelf && isOtherAlphabet(r) {
			others++
			if property.Lookalike(r) == "" {
				unlike++
			}
		}
	}
	return unlike*6 > others
}

// letters returns the end of the letters from j on. A capital after a small
// letter ends them, so that camelCase falls apart into its words.
func (d *disguiser) letters(j, end int) int {
	for start := j; j < end; {
		r, n := utf8.DecodeRuneInString(d.v.Text[j:end])
		if !unicode.IsLetter(r) && d.look(r, j) == "" || j > start && r < 0x2c00 && d.humps(j) {
			break
		}
		j += n
	}
	return j
}

// humps tells whether byte i of the view stands for a capital that follows a
// small letter.
func (d *disguiser) humps(i int) bool {
	off := d.v.Raw(i)
	r, _ := utf8.DecodeRuneInString(d.raw[off:])
	before, _ := utf8.DecodeLastRuneInString(d.raw[:off])
	return unicode.IsUpper(r) && unicode.IsLower(before)
}

// look returns what r, at byte i of the view, can be taken for, or "". Capitals
// are like other letters than their small forms are, so the raw text decides.
func (d *disguiser) look(r rune, i int) string {
	if r < utf8.RuneSelf {
		return ""
	}
	like := property.Lookalike(r)
	if raw, _ := utf8.DecodeRuneInString(d.raw[d.v.Raw(i):]); raw != r && unicode.ToLower(raw) == r {
		if s := property.Lookalike(raw); s != "" {
			like = s
		}
	}
	if like == "l" { // a bar may be a capital I as well
		return string(rune(Either))
	}
	return like
}

// alphabet writes the letters from i to end in one alphabet: Latin when all
// foreign letters have Latin lookalikes or Latin has the most letters of its
// own, Cyrillic when it is Cyrillic that has.
func (d *disguiser) alphabet(i, end int) {
	if i > 0 && d.humps(i) {
		d.put(i, " ")
	}
	text := d.v.Text[i:end]
	if isASCII(text) {
		if word := unscramble(text); word != text {
			d.put(i, word)
		} else {
			d.copy(i, end)
		}
		return
	}
	latin, own, foreign := 0, 0, 0
	for j, r := range text {
		switch {
		case r < utf8.RuneSelf:
			latin++
		case d.look(r, i+j) != "":
			foreign++
		default:
			own++
		}
	}
	if latin == 0 && foreign == 0 {
		d.copy(i, end)
		return
	}
	toCyrillic := own > 0 && latin > 0
	for j, r := range text {
		s := d.look(r, i+j)
		if s != "" && s[0] < utf8.RuneSelf && (own > 0 && latin <= own || d.foreign && latin == 0 && isOtherAlphabet(r)) {
			s = ""
		}
		if toCyrillic && latin <= own+foreign && r < utf8.RuneSelf {
			if k := strings.IndexRune(cyrillicLike, r); k >= 0 {
				s = string([]rune(cyrillicOf)[k])
			}
		}
		if s == "" {
			s = string(r)
		}
		d.put(i+j, s)
	}
}

// isOtherAlphabet tells whether r is a letter of an alphabet other than Latin,
// and no mere shape of a Latin letter.
func isOtherAlphabet(r rune) bool {
	return unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) && !property.Unspaced(r)
}

const (
	cyrillicLike = "aceopxykmthbi"
	cyrillicOf   = "асеорхукмтнви"
)
