package holographic

import (
	"strings"
	"unicode"
)

// stopWords say nothing about what a question is about.
var stopWords = func() map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(`a an the this that these those some any each every all both no not nor
		i me my mine we us our ours you your yours he him his she her hers it its they them their theirs
		am is are was were be been being do does did doing done have has had having
		will would shall should can could may might must
		about above after against along among around as at before behind below beside between by down
		during for from in into near of off on onto out over per since than through to toward towards
		under until up upon via with within without
		and but or so if then else because while when where which who whom whose what why how
		there here just also very too only such own same other again please tell know`) {
		set[w] = true
	}
	return set
}()

// punctuation is what stands around a word and does not belong to it.
const punctuation = `.,;:!?"'()[]{}#@<>`

// words splits text at blanks, in lower case, without what stands around each
// word.
func words(text string) []string {
	var out []string
	for _, w := range strings.Fields(strings.ToLower(text)) {
		if w = strings.Trim(w, punctuation); w != "" {
			out = append(out, w)
		}
	}
	return out
}

// unspaced tells the letters of scripts that have no blanks between words, or
// glue endings to them: what is found there is found by parts of a run.
func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

func hasUnspaced(s string) bool { return strings.ContainsFunc(s, unspaced) }

// pairs are the pairs of neighbouring letters in the unspaced runs of text; a
// run of one letter gives that letter.
func pairs(text string) []string {
	var out []string
	for _, run := range strings.FieldsFunc(text, func(r rune) bool { return !unspaced(r) }) {
		letters := []rune(run)
		if len(letters) == 1 {
			out = append(out, run)
		}
		for i := range len(letters) - 1 {
			out = append(out, string(letters[i:i+2]))
		}
	}
	return out
}

// bag is the set of what text says: its words, and the pairs of those that
// have no blanks.
func bag(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range words(text) {
		if !hasUnspaced(w) {
			set[w] = true
			continue
		}
		for _, p := range pairs(w) {
			set[p] = true
		}
		for _, rest := range strings.FieldsFunc(w, unspaced) {
			if rest = strings.Trim(rest, punctuation); rest != "" {
				set[rest] = true
			}
		}
	}
	return set
}

// jaccard is the share of what two sets have in common.
func jaccard(a, b map[string]bool) float64 {
	common := 0
	for w := range a {
		if b[w] {
			common++
		}
	}
	if all := len(a) + len(b) - common; all > 0 {
		return float64(common) / float64(all)
	}
	return 0
}

// saying is the bag of a fact, its tags included, except the mark of an entry.
func saying(f fact) map[string]bool {
	set := bag(f.Content)
	for w := range bag(f.Tags) {
		if !strings.HasPrefix(w, mark) {
			set[w] = true
		}
	}
	return set
}

// terms are the words of a question to look for, each once, at most 24.
func terms(query string) []string {
	var out []string
	seen := map[string]bool{}
	for _, w := range words(query) {
		w = strings.Trim(w, `"()*^:-+`)
		if len([]rune(w)) < 2 || stopWords[w] || seen[w] || len(out) == 24 {
			continue
		}
		seen[w] = true
		out = append(out, w)
	}
	return out
}

// quote makes an FTS5 string of s: its words in a row.
func quote(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
