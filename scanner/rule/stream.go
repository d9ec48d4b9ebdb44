package rule

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hermes-mcp/hermes-mcp/scanner/property"
	"github.com/hermes-mcp/hermes-mcp/scanner/reading"
)

// A token is a word, or one character of a script written without spaces.
type token struct {
	start, end int32 // in stream.text
	off        int32 // in the view
	pos        int32 // place counted in half words; characters count half
	begin      int32 // pos of the first token of the clause
	sentence   int32
	single     bool // one character of a script without spaces
}

// A stream is a view cut into tokens. Its text holds the words with one space
// between them, nothing between single characters, and a newline where a
// sentence ends, so that no punctuation comes between the words of a phrase.
type stream struct {
	text []byte
	toks []token
}

// gap marks what stands between two tokens.
type gap uint8

const (
	none gap = iota
	space
	clause
	stop
)

// tokenize fills s with the tokens of v. glued lists ranges of the view whose
// letters are to be read without word boundaries, in order.
func (s *stream) tokenize(v reading.View, glued [][2]int) {
	if s.text == nil {
		s.text = make([]byte, 0, len(v.Text)+len(v.Text)/8)
		s.toks = make([]token, 0, len(v.Text)/4+8)
	}
	s.text, s.toks = s.text[:0], s.toks[:0]
	var pos, begin, sentence int32
	between := none
	for i := 0; i < len(v.Text); {
		for len(glued) > 0 && glued[0][1] <= i {
			glued = glued[1:]
		}
		free := len(glued) > 0 && glued[0][0] <= i
		end, single := word(v.Text, i, free)
		if end == i {
			end += sign(v.Text, i)
		}
		if end == i {
			n, g := punctuation(v.Text, i)
			between = max(between, g)
			i += n
			continue
		}
		joined := single && len(s.toks) > 0 && s.toks[len(s.toks)-1].single
		switch {
		case len(s.toks) == 0:
		case between == stop:
			s.text = append(s.text, '\n')
			sentence++
			pos += 40 // out of every rule's reach
			begin = pos
		case between == clause:
			begin = pos
			if !joined {
				s.text = append(s.text, ' ')
			}
		case !joined:
			s.text = append(s.text, ' ')
		}
		start := len(s.text)
		s.text = append(s.text, v.Text[i:end]...)
		s.toks = append(s.toks, token{int32(start), int32(len(s.text)), int32(i), pos, begin, sentence, single})
		pos += 2
		if single {
			pos--
		}
		between, i = none, end
	}
}

// word returns the end of the token at i, or i if none starts there.
func word(text string, i int, free bool) (end int, single bool) {
	for j := i; j < len(text); {
		c := text[j]
		if c < utf8.RuneSelf {
			if !isWordByte(c) {
				return j, false
			}
			j++
			if free {
				return j, true
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(text[j:])
		switch {
		case property.Unspaced(r):
			if j > i {
				return j, false
			}
			return j + n, true
		case !property.LetterOrMark(r) && !unicode.IsDigit(r):
			return j, false
		}
		j += n
	}
	return len(text), false
}

func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == reading.Either
}

// sign returns how long the sign at i is that counts as a word: the @ of an
// address, which is a place to send things to, and the beginning of a comment,
// which is a place to hide them.
func sign(text string, i int) int {
	const comment = "<!--"
	switch {
	case text[i] == '@' && isInner(text, i):
		return 1
	case strings.HasPrefix(text[i:], comment):
		return len(comment)
	}
	return 0
}

// isInner tells whether byte i stands between two bytes of words.
func isInner(text string, i int) bool {
	return i > 0 && i+1 < len(text) &&
		(isWordByte(text[i-1]) || text[i-1] >= utf8.RuneSelf) && (isWordByte(text[i+1]) || text[i+1] >= utf8.RuneSelf)
}

// punctuation measures what stands at i and how far it parts words.
func punctuation(text string, i int) (n int, g gap) {
	switch c := text[i]; c {
	case '.', '!', '?':
		if i+1 == len(text) || text[i+1] <= ' ' || text[i+1] == '"' || text[i+1] >= utf8.RuneSelf {
			return 1, stop
		}
		return 1, space
	case '\n':
		n = 1
		for i+n < len(text) && (text[i+n] == ' ' || text[i+n] == '\t' || text[i+n] == '\r') {
			n++
		}
		if i+n < len(text) && (text[i+n] == '\n' || text[i+n] == '-' || text[i+n] == '*' || text[i+n] == '#') {
			return n, stop // a blank line or a list item; a lone break is a wrapped line
		}
		return n, clause
	case ',', ':', ';', '"', '(', '>', '=':
		return 1, clause
	default:
		if c < utf8.RuneSelf {
			return 1, space
		}
	}
	r, n := utf8.DecodeRuneInString(text[i:])
	switch r {
	case '。', '！', '？', '؟', '।':
		return n, stop
	case '，', '、', '：', '；', '「', '“':
		return n, clause
	}
	return n, space
}
