// Package analysis turns text into the terms that are indexed and searched.
//
// Text and query go through the same steps, so that what was written one way is
// found when asked another way: width, case and diacritics are folded; a run of
// letters and digits is a word; English words are reduced to their stem;
// identifiers are split (camelCase, snake_case, kebab-case) and also kept whole
// without their joints; scripts that are written without spaces become
// overlapping pairs of characters, with the last character of a run alone.
//
//	parseConfigFile    → pars config file parseconfigfil
//	修改youer服务端     → 修改 改 youer 服务 务端 端
//	gateway/run.py     → gatewai run py
//
// All functions are pure and safe for concurrent use.
package analysis

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

const (
	maxToken = 64 // bytes of one token; the rest of a longer run is dropped
	maxWhole = 48 // bytes of a whole identifier
	maxParts = 6  // parts of a whole identifier
)

// A Kind says how a token came to be.
type Kind uint8

const (
	Word   Kind = iota // a run of letters and digits, or a part of an identifier
	Whole              // an identifier without its joints; follows its parts
	Pair               // two neighbouring characters of a script without spaces
	Single             // the last or only character of such a run
)

// A Token is one term of a text.
type Token struct {
	Text       string // as indexed
	Start, End int    // the bytes of the text that it stands for
	Kind       Kind
}

// Tokens returns the terms of text in order. Their index in the result is
// their position for phrases.
func Tokens(text string) []Token { return AppendTokens(nil, text) }

// AppendTokens appends the terms of text to dst.
func AppendTokens(dst []Token, text string) []Token {
	a := analyzers.Get().(*analyzer)
	defer analyzers.Put(a)
	a.text, a.dst = text, dst
	a.run()
	dst = a.dst
	a.text, a.dst = "", nil
	return dst
}

var analyzers = sync.Pool{New: func() any {
	return &analyzer{folds: make(map[rune]string)}
}}

// An analyzer is the state of one pass over one text, and a cache that outlives it.
type analyzer struct {
	text  string
	dst   []Token
	buf   []byte // the folded word in the making
	whole []byte // the folded identifier in the making
	folds map[rune]string
}

func (a *analyzer) run() {
	for i := 0; i < len(a.text); {
		r, size := a.rune(i)
		switch classify(r) {
		case wordRune:
			i = a.identifier(i)
		case pairRune:
			i = a.pairs(i)
		default:
			i += size
		}
	}
}

func (a *analyzer) rune(i int) (rune, int) {
	if c := a.text[i]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	return utf8.DecodeRuneInString(a.text[i:])
}

// identifier reads words joined by case changes, '_' or '-' from i, and returns
// where they end.
func (a *analyzer) identifier(i int) int {
	start, parts, named := i, 0, true
	a.whole = a.whole[:0]
	for {
		first, _ := a.rune(i)
		named = named && !unicode.IsDigit(first)
		wordStart := i
		i = a.word(i)
		if !(parts == 0 && a.clitic(wordStart, i)) {
			a.emit(wordStart, i)
		}
		parts++
		if len(a.whole) <= maxWhole {
			a.whole = append(a.whole, a.buf...)
		}
		next := i
		if next < len(a.text) && (a.text[next] == '_' || a.text[next] == '-') {
			next++
		}
		if next >= len(a.text) {
			break
		}
		if r, _ := a.rune(next); classify(r) != wordRune {
			break
		}
		i = next
	}
	if parts > 1 && parts <= maxParts && named && len(a.whole) <= maxWhole {
		a.dst = append(a.dst, Token{Text: a.stem(a.whole), Start: start, End: i, Kind: Whole})
	}
	return i
}

// word folds one word from i into buf and returns where it ends: at the end of
// the run of letters and digits, or where the case says that a new word begins.
func (a *analyzer) word(i int) int {
	a.buf = a.buf[:0]
	var prev rune
	for i < len(a.text) {
		if c := a.text[i]; c < utf8.RuneSelf { // as below, for most of what is written
			if classify(rune(c)) != wordRune {
				break
			}
			if 'A' <= c && c <= 'Z' {
				if prev != 0 && camelBoundary(prev, rune(c), a.text[i+1:]) {
					break
				}
				c += 'a' - 'A'
			}
			if len(a.buf) < maxToken {
				a.buf = append(a.buf, c)
			}
			prev = rune(a.text[i])
			i++
			continue
		}
		r, size := a.rune(i)
		if classify(r) != wordRune && !(unicode.Is(unicode.M, r) && prev != 0) {
			break
		}
		if prev != 0 && camelBoundary(prev, r, a.text[i+size:]) {
			break
		}
		if len(a.buf) < maxToken {
			a.buf = a.fold(a.buf, r)
		}
		prev = r
		i += size
	}
	return i
}

// camelBoundary tells whether a new word begins at r: fooBar, or HTTPServer
// before the S.
func camelBoundary(prev, r rune, rest string) bool {
	if !unicode.IsUpper(r) {
		return false
	}
	if unicode.IsLower(prev) || unicode.IsDigit(prev) {
		next, _ := utf8.DecodeRuneInString(rest)
		return unicode.IsLower(prev) || unicode.IsLower(next)
	}
	next, _ := utf8.DecodeRuneInString(rest)
	return unicode.IsUpper(prev) && unicode.IsLower(next)
}

// clitic tells whether the word at start is what English leaves after an
// apostrophe: it's, don't, we'll.
func (a *analyzer) clitic(start, end int) bool {
	if end-start > 2 || start == 0 {
		return false
	}
	before, size := utf8.DecodeLastRuneInString(a.text[:start])
	if before != '\'' && before != '’' || start == size {
		return false
	}
	if r, _ := utf8.DecodeLastRuneInString(a.text[:start-size]); !unicode.IsLetter(r) {
		return false
	}
	switch string(a.buf) {
	case "s", "t", "d", "m", "ll", "re", "ve":
		return true
	}
	return false
}

func (a *analyzer) emit(start, end int) {
	if len(a.buf) > 0 {
		a.dst = append(a.dst, Token{Text: a.stem(a.buf), Start: start, End: end})
	}
}

// pairs reads a run of a script without spaces from i and returns where it ends.
func (a *analyzer) pairs(i int) int {
	var prevStart, prevLen int // of the character before, its fold in buf
	a.buf = a.buf[:0]
	for i < len(a.text) {
		start := i
		r, size := a.rune(i)
		if classify(r) != pairRune {
			break
		}
		from := len(a.buf)
		a.buf = a.fold(a.buf, r)
		i += size
		for i < len(a.text) { // marks belong to their letter
			m, msize := a.rune(i)
			if !unicode.Is(unicode.M, m) {
				break
			}
			a.buf = a.fold(a.buf, m)
			i += msize
		}
		if prevLen > 0 {
			a.dst = append(a.dst, Token{Text: string(a.buf), Start: prevStart, End: i, Kind: Pair})
			a.buf = append(a.buf[:0], a.buf[from:]...)
		}
		prevStart, prevLen = start, len(a.buf)
	}
	if prevLen > 0 {
		a.dst = append(a.dst, Token{Text: string(a.buf), Start: prevStart, End: i, Kind: Single})
	}
	return i
}

// Join writes tokens as the text that is handed to FTS5: its ascii tokeniser
// splits at the spaces and changes nothing else.
func Join(dst []byte, tokens []Token) []byte {
	for i, t := range tokens {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = append(dst, t.Text...)
	}
	return dst
}

// Plain tells whether term is made of ASCII letters only: a word that spelling
// can be compared with.
func Plain(term string) bool {
	for i := range len(term) {
		if term[i] < 'a' || term[i] > 'z' {
			return false
		}
	}
	return term != ""
}
