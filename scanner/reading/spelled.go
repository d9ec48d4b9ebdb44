package reading

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hermes-mcp/hermes-mcp/scanner/property"
)

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
