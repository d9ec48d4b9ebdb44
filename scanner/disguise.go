package scanner

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// disguise returns the reading of v that undoes what a person reads past and a
// rule does not: lookalike letters, digits for letters, words spelled out or
// run together. raw is the text that v was made from. glued lists where the
// words have no boundaries. ok is false when nothing differs.
func disguise(v view, raw string) (out view, glued [][2]int, ok bool) {
	d := disguiser{v: v, raw: raw, foreign: isForeign(v.text), leet: isLeet(v.text)}
	d.b.out = make([]byte, 0, len(v.text))
	d.b.offs = make([]int32, 0, len(v.text)+1)
	for i := 0; i < len(v.text); {
		if end := d.spelled(i); end > i {
			i = end
			continue
		}
		end := i
		if strings.IndexByte("([{<\"'*_", v.text[i]) >= 0 {
			d.copy(i, v.text[i:i+1])
			i++
			continue
		}
		for end < len(v.text) && v.text[end] > ' ' {
			end++
		}
		if end > i {
			d.chunk(i, end)
		}
		if end < len(v.text) {
			d.put(end, v.text[end:end+1])
			end++
		}
		i = end
	}
	if string(d.b.out) == v.text && d.glued == nil {
		return view{}, nil, false
	}
	return d.b.view(v.raw(len(v.text))), d.glued, true
}

// isForeign tells whether text holds more letters that are like no Latin letter
// than Latin ones. Its words are then what they seem, however Latin they look.
func isForeign(text string) bool {
	n := 0
	for _, r := range text {
		switch {
		case r >= 'a' && r <= 'z':
			n--
		case r >= utf8.RuneSelf && unicode.IsLetter(r) && loadProperties().look[r] == "":
			n++
		}
	}
	return n > 0
}

// isLeet tells whether digits stand among letters in a third of the words. A
// number in such a text is a word too.
func isLeet(text string) bool {
	words, mixed := 0, 0
	for word := range strings.FieldsSeq(text) {
		words++
		if i := strings.IndexAny(word, "013457"); i >= 0 && strings.ContainsAny(word, "abcdefghijklmnopqrstuvwxyz") {
			mixed++
		}
	}
	return mixed >= 3 && mixed*3 >= words
}

type disguiser struct {
	v       view
	raw     string
	foreign bool // the text is not written in Latin letters
	leet    bool // the text writes digits for letters more often than once or twice
	b       builder
	glued   [][2]int
}

// put appends s, which byte i of the view stands for.
func (d *disguiser) put(i int, s string) {
	start := len(d.b.out)
	d.b.out = append(d.b.out, s...)
	d.b.mark(start, d.v.raw(i))
}

// spelled reads a word that is written letter by letter, as in "i g n o r e"
// or "i.g.n.o.r.e", and returns where it ends, or i if there is none. A wider
// gap than the first parts two words; without any, they have no boundaries.
func (d *disguiser) spelled(i int) int {
	const few, many = 4, 9
	text := d.v.text
	if i > 0 && isWordAt(text, i-1) {
		return i
	}
	type letter struct{ at, end int }
	var letters []letter
	letterly := 0
	for j := i; j < len(text); {
		r, n := utf8.DecodeRuneInString(text[j:])
		_, leet := leetOf(r)
		if !unicode.IsLetter(r) && !leet || isUnspaced(r) || j+n < len(text) && isWordAt(text, j+n) {
			break
		}
		if unicode.IsLetter(r) {
			letterly++
		}
		letters = append(letters, letter{j, j + n})
		j += n
		for k := 0; k < 4 && j < len(text) && !isWordAt(text, j); k++ {
			if _, leet := leetOf(rune(text[j])); leet && k > 0 {
				break
			}
			_, n := utf8.DecodeRuneInString(text[j:])
			j += n
		}
	}
	if len(letters) < few || letterly*2 < len(letters) {
		return i
	}
	gap := text[letters[0].end:letters[1].at]
	start, parted := len(d.b.out), false
	for k, l := range letters {
		if k > 0 && text[letters[k-1].end:l.at] != gap {
			parted = true
			d.put(letters[k-1].end, " ")
		}
		d.chunk(l.at, l.end)
	}
	if !parted && len(letters) >= many {
		d.glued = append(d.glued, [2]int{start, len(d.b.out)})
	}
	return letters[len(letters)-1].end
}

// isWordAt tells whether byte i of text belongs to a word.
func isWordAt(text string, i int) bool { return text[i] >= utf8.RuneSelf || isWordByte(text[i]) }

// leetOf returns the letter that r is written for.
func leetOf(r rune) (letter byte, ok bool) {
	switch r {
	case '0':
		return 'o', true
	case '1', '!':
		return either, true
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
	text := d.v.text[i:end]
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
		r, n := utf8.DecodeRuneInString(d.v.text[j:end])
		if l, ok := leetOf(r); ok && leet && (j > i || j+n < end) && (r != '!' || j+n < end) {
			d.put(j, string(rune(l)))
		} else if !split || j == i || j+n == end || strings.IndexByte("-.*~", byte(r)) < 0 {
			d.put(j, d.v.text[j:j+n])
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
		if (c < 'a' || c > 'z') && c != either {
			return false
		}
	}
	return true
}

// letters returns the end of the letters from j on. An inner capital of the
// raw text ends them, so that camelCase falls apart into its words.
func (d *disguiser) letters(j, end int) int {
	start, last := j, false
	for j < end {
		r, n := utf8.DecodeRuneInString(d.v.text[j:end])
		if !unicode.IsLetter(r) && d.look(r, j) == "" {
			break
		}
		if capital := d.isCapital(j); capital && j > start && !last {
			break
		} else {
			last = capital
		}
		j += n
	}
	return j
}

// isCapital tells whether byte i of the view stands for a capital letter.
func (d *disguiser) isCapital(i int) bool {
	r, _ := utf8.DecodeRuneInString(d.raw[d.v.raw(i):])
	return unicode.IsUpper(r)
}

// look returns what r, at byte i of the view, can be taken for, or "". Capitals
// are like other letters than their small forms are, so the raw text decides.
func (d *disguiser) look(r rune, i int) string {
	if r < utf8.RuneSelf {
		return ""
	}
	look := loadProperties().look
	if raw, _ := utf8.DecodeRuneInString(d.raw[d.v.raw(i):]); raw != r && unicode.ToLower(raw) == r && look[raw] != "" {
		return look[raw]
	}
	return look[r]
}

// alphabet writes the letters from i to end in one alphabet: Latin when all
// foreign letters have Latin lookalikes or Latin has the most letters of its
// own, Cyrillic when it is Cyrillic that has.
func (d *disguiser) alphabet(i, end int) {
	if i > 0 && end > i && len(d.b.out) > 0 && d.isCapital(i) && isWordByte(d.b.out[len(d.b.out)-1]) {
		d.put(i, " ")
	}
	text := d.v.text[i:end]
	if isASCII(text) {
		d.copy(i, text)
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
		if s != "" && s[0] < utf8.RuneSelf && (own > 0 && latin <= own || d.foreign && latin == 0) {
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
