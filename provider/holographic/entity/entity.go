// Package entity finds what a fact is about: names in quotes, names that are
// said to be one, and runs of capitalised words, as Hermes Agent finds them, so
// that facts of both link to the same entities. Beyond that it knows the quotes
// of Chinese and Japanese.
//
// A single capitalised word is no entity: too many only begin a sentence.
package entity

import (
	"cmp"
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A candidate is a name where it stands.
type candidate struct {
	start, end int
	kind       kind
	name       string
}

type kind int

const (
	quoted kind = iota
	alias
	capitalised
)

const (
	titleWord = `[A-Z](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?`
	title     = titleWord + `(?:\s+(?:(?:van|von|de|del|der|da|di|la|le)\s+)?` + titleWord + `){0,5}`
	bare      = `[a-z][a-z0-9_.-]+[a-z0-9_]`
)

var (
	aka  = regexp.MustCompile(`(` + title + `|` + bare + `)\s+(?i:aka|also\s+known\s+as)\s+(` + title + `|` + bare + `)`)
	runs = regexp.MustCompile(`\b[A-Z][a-z]+(?:\s+[A-Z][a-z]+)+\b`)
)

// Extract returns the entities of text in the order in which they are named,
// each once.
func Extract(text string) []string {
	all := quotes(text)
	inQuote := func(at int) bool {
		return slices.ContainsFunc(all, func(c candidate) bool { return c.kind == quoted && c.start <= at && at < c.end })
	}
	for _, m := range aka.FindAllStringSubmatchIndex(text, -1) {
		all = append(all, candidate{m[2], m[3], alias, text[m[2]:m[3]]}, candidate{m[4], m[5], alias, text[m[4]:m[5]]})
	}
	for _, m := range runs.FindAllStringIndex(text, -1) {
		name := text[m[0]:m[1]]
		if !inQuote(m[0]) && !(beginsSentence(text[:m[0]]) && heading(name)) {
			all = append(all, candidate{m[0], m[1], capitalised, name})
		}
	}
	sort.SliceStable(all, func(i, j int) bool {
		a, b := all[i], all[j]
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.kind, b.kind)) < 0
	})
	var names []string
	seen := map[string]bool{}
	for _, c := range all {
		if name := clean(c.name); name != "" && !seen[Key(name)] {
			seen[Key(name)] = true
			names = append(names, name)
		}
	}
	return names
}

// Key is the same for spellings of one name: case, "-", "_" and blanks do not
// matter.
func Key(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return r == '-' || r == '_' || unicode.IsSpace(r)
	}), " ")
}

// closing is the other half of a quotation mark.
var closing = map[rune]rune{
	'"': '"', '\'': '\'', '“': '”', '‘': '’', '「': '」', '『': '』', '《': '》',
}

// quotes finds what stands in quotes on one line. Plain quotes have no letter
// outside, so that an apostrophe is none.
func quotes(text string) []candidate {
	var out []candidate
	for i := 0; i < len(text); {
		open, size := utf8.DecodeRuneInString(text[i:])
		begin := i + size
		close, ok := closing[open]
		i = begin
		if !ok || (open == close && wordBefore(text[:begin-size])) {
			continue
		}
		n := strings.IndexAny(text[begin:], string(close)+"\r\n")
		if n <= 0 || !strings.HasPrefix(text[begin+n:], string(close)) {
			continue
		}
		end := begin + n + utf8.RuneLen(close)
		if open == close && wordAfter(text[end:]) {
			continue
		}
		out = append(out, candidate{begin, begin + n, quoted, text[begin : begin+n]})
		i = end
	}
	return out
}

func word(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func wordBefore(s string) bool {
	r, size := utf8.DecodeLastRuneInString(s)
	return size > 0 && word(r)
}

func wordAfter(s string) bool {
	r, size := utf8.DecodeRuneInString(s)
	return size > 0 && word(r)
}

func beginsSentence(before string) bool {
	trimmed := strings.TrimRightFunc(before, unicode.IsSpace)
	return trimmed == "" || strings.ContainsAny(trimmed[len(trimmed)-1:], ".!?") || strings.Contains(before[len(trimmed):], "\n")
}

var generic = func() map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(`active assistant concept configuration confirmed current decision default
		detail details existing fact general important information mapping memory new note previous project
		recent session setting status summary system task user workflow`) {
		set[w] = true
	}
	return set
}()

// heading tells the words of a heading from a name.
func heading(name string) bool {
	words := strings.Fields(strings.ToLower(name))
	if words[0] == "no" || words[0] == "not" {
		return true
	}
	return !slices.ContainsFunc(words, func(w string) bool { return !generic[w] })
}

// clean is the name as it is kept, "" when it is none.
func clean(name string) string {
	name = strings.Trim(strings.Join(strings.Fields(norm.NFKC.String(name)), " "), " ,;:!?()[]{}")
	for _, s := range []string{"'s", "’s", "'S", "’S"} {
		if cut, ok := strings.CutSuffix(name, s); ok {
			name = strings.TrimSpace(cut)
			break
		}
	}
	if utf8.RuneCountInString(name) > 80 || len(strings.Fields(name)) > 8 {
		return ""
	}
	letters, last := 0, rune(0)
	for _, r := range name {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			letters, last = letters+1, r
		}
	}
	if letters == 0 || (letters == 1 && last < utf8.RuneSelf && (last < 'A' || last > 'Z')) {
		return ""
	}
	return name
}
