package reading

import (
	"strings"
	"unicode/utf8"
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
			d.copy(i, i+1)
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
			d.copy(end, end+1)
			end++
		}
		i = end
	}
	if string(d.b.out) == v.Text && d.glued == nil {
		return View{}, nil, false
	}
	return d.b.view(v.Raw(len(v.Text))), d.glued, true
}

// isLeet tells whether digits and signs stand among letters in a third of the
// words. A number in such a text is a word too.
func isLeet(text string) bool {
	words, mixed := 0, 0
	for word := range strings.FieldsSeq(text) {
		words++
		if f := featuresOf(word); f.letters && f.leet {
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

// copy appends the bytes of the view from i to end as they are.
func (d *disguiser) copy(i, end int) {
	d.b.out = append(d.b.out, d.v.Text[i:end]...)
	if d.v.offs != nil {
		d.b.offs = append(d.b.offs, d.v.offs[i:end]...)
		return
	}
	for j := i; j < end; j++ {
		d.b.offs = append(d.b.offs, int32(j))
	}
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

func isLowerOnly(b []byte) bool {
	for _, c := range b {
		if (c < 'a' || c > 'z') && c != Either {
			return false
		}
	}
	return true
}

// features are what one look at a chunk tells.
type features struct {
	letters bool // of ASCII
	foreign bool // bytes beyond ASCII
	leet    bool // digits and signs that stand for letters
	cuts    int  // signs that cut a word
}

func featuresOf(chunk string) (f features) {
	for i := range len(chunk) {
		switch c := chunk[i]; {
		case 'a' <= c && c <= 'z':
			f.letters = true
		case c >= utf8.RuneSelf:
			f.foreign = true
		case c == '-' || c == '.' || c == '*' || c == '~':
			f.cuts++
		case '0' <= c && c <= '9' || c == '@' || c == '$' || c == '!' || c == '+':
			f.leet = true
		}
	}
	return f
}

// chunk reads the bytes from i to end, which hold no space.
func (d *disguiser) chunk(i, end int) {
	f := featuresOf(d.v.Text[i:end])
	leet := d.leet || f.leet && (f.letters || f.foreign)
	split := f.cuts >= 2
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
			d.copy(j, j+n)
		}
		j += n
	}
	const long, longest = 18, 120
	if n := len(d.b.out) - start; n >= long && n <= longest && isLowerOnly(d.b.out[start:]) {
		d.glued = append(d.glued, [2]int{start, len(d.b.out)})
	}
}
