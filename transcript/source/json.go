package source

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"unicode/utf8"
)

// maxNesting is how deep values may be nested, as encoding/json has it.
const maxNesting = 10_000

// validJSON tells what json.Valid tells, several times as fast: every byte of
// every agent's files goes through here.
func validJSON(b []byte) bool {
	var nesting []byte // '{' or '[', the innermost last
	i, ok := 0, false
value:
	if i = skipSpace(b, i); i >= len(b) {
		return false
	}
	switch c := b[i]; {
	case c == '{' || c == '[':
		if nesting = append(nesting, c); len(nesting) > maxNesting {
			return false
		}
		if i = skipSpace(b, i+1); i < len(b) && b[i] == c+2 { // its end: '}' is '{'+2, as ']' is '['+2
			goto closed
		}
		if c == '{' {
			goto key
		}
		goto value
	case c == '"':
		i, ok = skipString(b, i)
	case c == '-' || c >= '0' && c <= '9':
		i, ok = skipNumber(b, i)
	default:
		i, ok = skipWord(b, i)
	}
	if !ok {
		return false
	}
after:
	i = skipSpace(b, i)
	if len(nesting) == 0 {
		return i == len(b)
	}
	if i >= len(b) {
		return false
	}
	switch open := nesting[len(nesting)-1]; {
	case b[i] == open+2:
		goto closed
	case b[i] != ',':
		return false
	case open == '[':
		i++
		goto value
	}
	i++
key:
	if i = skipSpace(b, i); i >= len(b) || b[i] != '"' {
		return false
	}
	if i, ok = skipString(b, i); !ok {
		return false
	}
	if i = skipSpace(b, i); i >= len(b) || b[i] != ':' {
		return false
	}
	i++
	goto value
closed:
	nesting = nesting[:len(nesting)-1]
	i++
	goto after
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// skipPlain returns where the first byte from i on stands that means something
// in a string: a quote, a backslash, or a control character, which may not be
// there. It looks at eight bytes at once.
func skipPlain(b []byte, i int) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		quote, slash := w^(ones*'"'), w^(ones*'\\')
		// A byte's top bit is set where it was 0, or below ' '. What a borrow sets
		// beside stands above one that is rightly set.
		if found := ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*' ')&^w) & tops; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= ' ' {
		i++
	}
	return i
}

// skipString returns where the string that begins at i ends.
func skipString(b []byte, i int) (int, bool) {
	for i = skipPlain(b, i+1); i < len(b); i = skipPlain(b, i+1) {
		switch c := b[i]; {
		case c == '"':
			return i + 1, true
		case c < ' ':
			return i, false
		case c == '\\':
			i++
			switch {
			case i >= len(b):
				return i, false
			case b[i] == 'u':
				if i+4 >= len(b) || !isHex(b[i+1:i+5]) {
					return i, false
				}
				i += 4
			case unescaped[b[i]] == 0:
				return i, false
			}
		}
	}
	return i, false
}

// skipNumber returns where the number that begins at i ends.
func skipNumber(b []byte, i int) (int, bool) {
	if b[i] == '-' {
		i++
	}
	from := i
	if i = skipDigits(b, i); i == from || b[from] == '0' && i > from+1 {
		return i, false
	}
	if i < len(b) && b[i] == '.' {
		from = i + 1
		if i = skipDigits(b, from); i == from {
			return i, false
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		from = i
		if i = skipDigits(b, from); i == from {
			return i, false
		}
	}
	return i, true
}

func skipDigits(b []byte, i int) int {
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	return i
}

func skipWord(b []byte, i int) (int, bool) {
	for _, word := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(b[i:], []byte(word)) {
			return i + len(word), true
		}
	}
	return i, false
}

// unquote returns the text of a JSON string, and false for what is none. It
// gives what encoding/json gives.
func unquote(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return "", false
	}
	if s, ok := simple(raw[1 : len(raw)-1]); ok {
		return s, true
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// simple decodes a string that has no escapes but the short ones, and no bytes
// that have to be mended.
func simple(body []byte) (string, bool) {
	if !utf8.Valid(body) {
		return "", false
	}
	var out []byte
	done := 0
	for i := skipPlain(body, 0); i < len(body); i = skipPlain(body, done) {
		if body[i] != '\\' || i+1 >= len(body) {
			return "", false
		}
		to := unescaped[body[i+1]]
		if to == 0 {
			return "", false
		}
		if out == nil {
			out = make([]byte, 0, len(body))
		}
		out = append(append(out, body[done:i]...), to)
		done = i + 2
	}
	if out == nil {
		return string(body), true
	}
	return string(append(out, body[done:]...)), true
}

// unescaped says what stands for a letter after a backslash.
var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}
