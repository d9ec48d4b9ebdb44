// Package wording compares texts by what they say: words, pairs of letters
// where a script has no blanks between words, and claims that deny each other.
// All functions are pure and safe for concurrent use.
package wording

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
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

// Words splits text at blanks, in lower case, without what stands around each
// word.
func Words(text string) []string {
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
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

func hasUnspaced(s string) bool { return strings.ContainsFunc(s, unspaced) }

// Pairs are the pairs of neighbouring letters in the unspaced runs of text; a
// run of one letter gives that letter.
func Pairs(text string) []string {
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

// Bag is the set of what text says: its words, and the pairs of those that
// have no blanks.
func Bag(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range Words(text) {
		if !hasUnspaced(w) {
			set[w] = true
			continue
		}
		for _, p := range Pairs(w) {
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

// Jaccard is the share of what two sets have in common.
func Jaccard(a, b map[string]bool) float64 {
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

// Terms are the words of a question to look for, each once, at most 24.
func Terms(query string) []string {
	var out []string
	seen := map[string]bool{}
	for _, w := range Words(query) {
		w = strings.Trim(w, `"()*^:-+`)
		if len([]rune(w)) < 2 || stopWords[w] || seen[w] || len(out) == 24 {
			continue
		}
		seen[w] = true
		out = append(out, w)
	}
	return out
}

// Parts are the tokens that FTS5's unicode61 makes of a word, near enough to
// ask how frequent they are: Latin letters lose their accents.
func Parts(w string) []string {
	var b strings.Builder
	for _, r := range w {
		if r > unicode.MaxASCII && unicode.Is(unicode.Latin, r) {
			r, _ = utf8.DecodeRuneInString(norm.NFD.String(string(r)))
		}
		b.WriteRune(r)
	}
	return strings.FieldsFunc(b.String(), func(r rune) bool { return !letter(r) })
}

func letter(r rune) bool {
	return unicode.In(r, unicode.L, unicode.N, unicode.Co) || (unicode.Is(unicode.M, r) && !unspaced(r))
}

// Says tells whether content holds the name as whole words; a name in a script
// without blanks, anywhere.
func Says(content, name string) bool {
	if hasUnspaced(name) {
		return strings.Contains(strings.ToLower(content), strings.ToLower(name))
	}
	have, want := " "+strings.Join(Parts(strings.ToLower(content)), " ")+" ", strings.Join(Parts(strings.ToLower(name)), " ")
	return want != "" && strings.Contains(have, " "+want+" ")
}
