package document

import (
	"strings"
	"unicode"
)

// EntriesOf reads raw; bytes that are no text have no entries.
func EntriesOf(raw []byte) []string {
	doc, err := Parse(raw)
	if err != nil {
		return nil
	}
	return doc.Entries()
}

// Difference returns what is in after and not in before, and the reverse.
// Equal entries count as often as they occur.
func Difference(before, after []string) (added, removed []string) {
	n := make(map[string]int)
	for _, e := range before {
		n[e]++
	}
	for _, e := range after {
		if n[e] > 0 {
			n[e]--
		} else {
			added = append(added, e)
		}
	}
	for _, e := range before {
		if n[e] > 0 {
			n[e]--
			removed = append(removed, e)
		}
	}
	return added, removed
}

// words returns the words of text, lower-cased; every character of a script
// without spaces is one.
func words(text string) []string {
	var all []string
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			all = append(all, b.String())
			b.Reset()
		}
	}
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai):
			flush()
			all = append(all, string(r))
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			b.WriteRune(unicode.ToLower(r))
		default:
			flush()
		}
	}
	flush()
	return all
}

// Overlap returns the share of text's words that other has too, from 0 to 1.
func Overlap(text, other string) float64 {
	have := make(map[string]int)
	for _, w := range words(other) {
		have[w]++
	}
	all, kept := words(text), 0
	for _, w := range all {
		if have[w] > 0 {
			have[w]--
			kept++
		}
	}
	if len(all) == 0 {
		return 0
	}
	return float64(kept) / float64(len(all))
}

// LivesOn tells whether nearly all of an entry's words are in the others, so
// that it was reworded, merged or split rather than lost. Of a short entry that
// cannot be told.
func LivesOn(entry string, others []string) bool {
	return len(words(entry)) >= 4 && Overlap(entry, strings.Join(others, "\n")) >= 0.8
}
