package analysis

import (
	"strings"
	"unicode/utf8"
)

const (
	markOpen, markClose = ">>>", "<<<"
	snippetBefore       = 80  // bytes before the best place
	snippetBytes        = 280 // of text, without the marks
)

// Snippet cuts the part of text where marked tokens stand closest, on rune
// boundaries, and marks them >>>like this<<<. marks holds positions of tokens,
// ascending.
func Snippet(text string, marks []int) string {
	var spans [][2]int // of bytes
	for i, t := range Tokens(text) {
		for len(marks) > 0 && marks[0] < i {
			marks = marks[1:]
		}
		if len(marks) == 0 || marks[0] != i {
			continue
		}
		if n := len(spans); n > 0 && t.Start <= spans[n-1][1] {
			spans[n-1][1] = max(spans[n-1][1], t.End)
			continue
		}
		spans = append(spans, [2]int{t.Start, t.End})
	}
	from, to := 0, len(text)
	if len(text) > snippetBytes {
		if len(spans) > 0 {
			from = spans[densest(spans)][0] - snippetBefore
		}
		from = max(0, min(from, len(text)-snippetBytes))
		to = from + snippetBytes
		from, to = wordStart(text, from), wordEnd(text, to)
	}
	var b strings.Builder
	if from > 0 {
		b.WriteString("…")
	}
	at := from
	for _, s := range spans {
		if s[0] < at || s[1] > to {
			continue
		}
		b.WriteString(text[at:s[0]])
		b.WriteString(markOpen + text[s[0]:s[1]] + markClose)
		at = s[1]
	}
	b.WriteString(text[at:to])
	if to < len(text) {
		b.WriteString("…")
	}
	return b.String()
}

// densest returns the span from which a snippet covers the most spans.
func densest(spans [][2]int) int {
	best, most := 0, 0
	for i := range spans {
		n := 0
		for n+i < len(spans) && spans[n+i][1] <= spans[i][0]+snippetBytes-snippetBefore {
			n++
		}
		if n > most {
			best, most = i, n
		}
	}
	return best
}

// wordStart moves i forward to a space if one is near, else to a rune's start.
func wordStart(text string, i int) int {
	if i == 0 {
		return 0
	}
	if n := strings.IndexAny(text[i:min(len(text), i+20)], " \n\t"); n >= 0 {
		return i + n + 1
	}
	for i < len(text) && !utf8.RuneStart(text[i]) {
		i++
	}
	return i
}

// wordEnd moves i back to a space if one is near, else to a rune's start.
func wordEnd(text string, i int) int {
	if i >= len(text) {
		return len(text)
	}
	if n := strings.LastIndexAny(text[max(0, i-20):i], " \n\t"); n >= 0 {
		return max(0, i-20) + n
	}
	for i > 0 && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}
