package reading

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hermes-mcp/hermes-mcp/scanner/property"
)

// disguise returns the reading of v that undoes what a person reads past and a
// rule does not: lookalike letters, digits for letters, words spelled out or
// run together. raw is the text that v was made from. glued lists where the
// words have no boundaries. ok is false when nothing differs.
func disguise(v View, raw string) (out View, glued [][2]int, ok bool) {
	d := disguiser{v: v, raw: raw, foreign: isForeign(v.Text), leet: isLeet(v.Text)}
	d.b.out = make([]byte, 0, len(v.Text))
	d.b.offs = make([]int32, 0, len(v.Text)+1)
	for i := 0; i < len(v.Text); {
		if end := d.spelled(i); end > i {
			i = end
			continue
		}
		end := i
		if strings.IndexByte("([{<\"'*_", v.Text[i]) >= 0 {
			d.copy(i, v.Text[i:i+1])
			i++
			continue
		}
		for end < len(v.Text) && v.Text[end] > ' ' {
			end++
		}
		if end > i {
			d.chunk(i, end)
		}
		if end < len(v.Text) {
			d.put(end, v.Text[end:end+1])
			end++
		}
		i = end
	}
	if string(d.b.out) == v.Text && d.glued == nil {
		return View{}, nil, false
	}
	return d.b.view(v.Raw(len(v.Text))), d.glued, true
}

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

// isLeet tells whether digits and signs stand among letters in a third of the
// words. A
// number in such a text is a word too.
func isLeet(text string) bool {
	words, mixed := 0, 0
	for word := range strings.FieldsSeq(text) {
		words++
		if i := strings.IndexAny(word, "013457@$"); i >= 0 && strings.ContainsAny(word, "abcdefghijklmnopqrstuvwxyz") {
			mixed++
		}
	}
	return mixed >= 3 && mixed*3 >= words
}

type disguiser struct {
	v       View
	raw     string
	foreign bool // the text is written in another alphabet
	leet    bool // the text writes digits for letters more often than once or twice
	b       builder
	numbers int // up to here no word is spelled out, only numbers
	glued   [][2]int
}

// put appends s, which byte i of the view stands for.
func (d *disguiser) put(i int, s string) {
	start := len(d.b.out)
	d.b.out = append(d.b.out, s...)
	d.b.mark(start, d.v.Raw(i))
}

// A letter stands alone, between at and end.
type letter struct{ at, end int }

// spelled reads a word that is written letter by letter, as in "i g n o r e"
// or "i.g.n.o.r.e", and returns where it ends, or i if there is none. A gap
// unlike most parts two words; without any, they have no boundaries.
func (d *disguiser) spelled(i int) int {
	const few, many = 4, 9
	if i < d.numbers || i > 0 && isWordAt(d.v.Text, i-1) {
		return i
	}
	letters, end := lonelyLetters(d.v.Text, i)
	if len(letters) < few {
		d.numbers = end
		return i
	}
	gap := d.usualGap(letters)
	start, parted := len(d.b.out), false
	for k, l := range letters {
		if k > 0 && d.v.Text[letters[k-1].end:l.at] != gap {
			parted = true
			d.put(letters[k-1].end, narrow(d.v.Text[letters[k-1].end:l.at], gap))
		}
		d.chunk(l.at, l.end)
	}
	if !parted && len(letters) >= many {
		d.glued = append(d.glued, [2]int{start, len(d.b.out)})
	}
	return letters[len(letters)-1].end
}

// narrow writes the wide gap between two spelled words as it would stand
// between two plain ones: its punctuation on the side that it is nearer to.
func narrow(gap, usual string) string {
	if strings.TrimSpace(usual) != "" {
		gap = strings.ReplaceAll(gap, usual, "")
	}
	core := strings.TrimSpace(gap)
	lead := strings.Index(gap, core)
	trail := len(gap) - lead - len(core)
	core = strings.ReplaceAll(core, " ", "")
	switch {
	case gap == "" || lead < trail:
		return core + " "
	case lead > trail:
		return " " + core
	}
	return core
}

// lonelyLetters returns the letters from i on that have none beside them, or
// nil when most are digits, and the end of the last.
func lonelyLetters(text string, i int) (letters []letter, end int) {
	const widest = 12 // bytes between two of them
	letterly := 0
	end = i
	for j := i; j < len(text); {
		r, n := utf8.DecodeRuneInString(text[j:])
		_, leet := leetOf(r)
		if !unicode.IsLetter(r) && !leet || property.Unspaced(r) || j+n < len(text) && isWordAt(text, j+n) {
			break
		}
		if unicode.IsLetter(r) {
			letterly++
		}
		letters = append(letters, letter{j, j + n})
		j += n
		end = j
		for k := 0; k < widest && j < len(text) && !isWordAt(text, j); k++ {
			if _, leet := leetOf(rune(text[j])); leet {
				break
			}
			j++
		}
	}
	if letterly*2 < len(letters) {
		return nil, end
	}
	return letters, end
}

// usualGap returns what stands most often between two of the letters, judged by
// the first of them.
func (d *disguiser) usualGap(letters []letter) string {
	const enough = 64
	counts := map[string]int{}
	best := ""
	for k := range letters[1:min(len(letters), enough)] {
		gap := d.v.Text[letters[k].end:letters[k+1].at]
		if counts[gap]++; counts[gap] > counts[best] {
			best = gap
		}
	}
	return best
}

// isWordAt tells whether byte i of text belongs to a word.
func isWordAt(text string, i int) bool {
	c := text[i]
	return c >= utf8.RuneSelf || 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == Either
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// leetOf returns the letter that r is written for.
func leetOf(r rune) (letter byte, ok bool) {
	switch r {
	case '0':
		return 'o', true
	case '1', '!':
		return Either, true
	case '2':
		return 'z', true
	case '3', '€':
		return 'e', true
	case '4', '@':
		return 'a', true
	case '5', '$':
		return 's', true
	case '7', '+':
		return 't', true
	case '8':
		return 'b', true
	case '9':
		return 'g', true
	}
	return 0, false
}

// chunk reads the bytes from i to end, which hold no space.
func (d *disguiser) chunk(i, end int) {
	text := d.v.Text[i:end]
	leet := d.leet || strings.ContainsAny(text, "abcdefghijklmnopqrstuvwxyz") && strings.ContainsAny(text, "0123456789@$!+") ||
		!isASCII(text) && strings.ContainsAny(text, "0134578@$")
	split := strings.Count(text, "-")+strings.Count(text, ".")+strings.Count(text, "*")+strings.Count(text, "~") >= 2
	start := len(d.b.out)
	for j := i; j < end; {
		run := d.letters(j, end)
		if run > j {
			d.alphabet(j, run)
			j = run
			continue
		}
		r, n := utf8.DecodeRuneInString(d.v.Text[j:end])
		if l, ok := leetOf(r); ok && leet && (j > i || j+n < end || d.leet) && (r != '!' || j+n < end) {
			d.put(j, string(rune(l)))
		} else if !split || j == i || j+n == end || strings.IndexByte("-.*~", byte(r)) < 0 {
			d.put(j, d.v.Text[j:j+n])
		}
		j += n
	}
	const long, longest = 18, 120
	if n := len(d.b.out) - start; n >= long && n <= longest && isLowerOnly(d.b.out[start:]) {
		d.glued = append(d.glued, [2]int{start, len(d.b.out)})
	}
}

func isLowerOnly(b []byte) bool {
	for _, c := range b {
		if (c < 'a' || c > 'z') && c != Either {
			return false
		}
	}
	return true
}

// letters returns the end of the letters from j on. A capital after a small
// letter ends them, so that camelCase falls apart into its words.
func (d *disguiser) letters(j, end int) int {
	for start := j; j < end; {
		r, n := utf8.DecodeRuneInString(d.v.Text[j:end])
		if !unicode.IsLetter(r) && d.look(r, j) == "" || j > start && d.humps(j) {
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
			d.copy(i, text)
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

// copy appends text of the view as it is.
func (d *disguiser) copy(i int, text string) {
	for j := range len(text) {
		d.put(i+j, text[j:j+1])
	}
}
