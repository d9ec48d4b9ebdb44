package reading

import (
	"bytes"
	"encoding/base64"
	"html"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// An encoded piece of text and what it says.
type decoded struct {
	text string
	at   int // where the piece begins
}

// decode undoes one level of base64, hexadecimal, URL, HTML and backslash
// encoding, wherever that gives text.
func decode(text string) []decoded {
	var out []decoded
	if plain, at := unescape(text); at >= 0 {
		out = append(out, decoded{plain, at})
	}
	for i := 0; i < len(text); {
		if !base64Char(text[i]) {
			i++
			continue
		}
		end := base64Run(text, i)
		out = appendBase64(out, text[i:end], i)
		i = end
	}
	return appendCodes(appendHex(out, text), text)
}

// composed joins the letters of Korean syllables that are written apart.
func composed(text string) []decoded {
	at := strings.IndexFunc(text, func(r rune) bool { return r >= 0x1100 && r <= 0x11ff })
	if at < 0 {
		return nil
	}
	return []decoded{{norm.NFC.String(text), at}}
}

func base64Char(c byte) bool {
	return 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '+' || c == '/' || c == '-' || c == '_'
}

// base64Run returns the end of the run at i. Long lines go on in the next.
func base64Run(text string, i int) int {
	const long = 40
	line := i
	for i < len(text) && (base64Char(text[i]) || text[i] == '\n' && i-line >= long && i+1 < len(text) && base64Char(text[i+1])) {
		if text[i] == '\n' {
			line = i + 1
		}
		i++
	}
	return i
}

func appendBase64(out []decoded, run string, at int) []decoded {
	const short = 16
	if len(run) < short {
		return out
	}
	run = strings.ReplaceAll(run, "\n", "")
	if len(run)%4 == 1 {
		run = run[:len(run)-1]
	}
	run = strings.NewReplacer("-", "+", "_", "/").Replace(run)
	b, err := base64.RawStdEncoding.DecodeString(run)
	if err == nil && len(b) > 1 && b[1] == 0 { // as PowerShell encodes its commands
		b = bytes.ReplaceAll(b, []byte{0}, nil)
	}
	if err == nil && isText(b) {
		out = append(out, decoded{string(b), at})
	}
	return out
}

// isText tells whether b is something to read.
func isText(b []byte) bool {
	if !utf8.Valid(b) {
		return false
	}
	n, odd, letters := 0, 0, 0
	for _, r := range string(b) {
		n++
		switch {
		case unicode.IsLetter(r):
			letters++
		case r != ' ' && !unicode.IsDigit(r):
			odd++
		}
	}
	return n >= 6 && odd*3 < n && letters*3 > n
}

// appendHex decodes runs of two hex digits, bare or each after \x, 0x, % or a
// space, comma or colon.
func appendHex(out []decoded, text string) []decoded {
	const few = 8
	for i := 0; i < len(text); {
		if hexValue(text[i]) < 0 || i > 0 && hexValue(text[i-1]) >= 0 {
			i++
			continue
		}
		var b []byte
		j := i
		for j+1 < len(text) && hexValue(text[j]) >= 0 && hexValue(text[j+1]) >= 0 {
			b = append(b, byte(hexValue(text[j])<<4|hexValue(text[j+1])))
			j += 2
			for k := 0; k < 4 && j < len(text) && strings.IndexByte(" ,:;-\\x0%{}u=", text[j]) >= 0; k++ {
				if text[j] == '0' && (j+1 >= len(text) || text[j+1] != 'x') {
					break
				}
				j++
			}
		}
		if len(b) >= few && isText(b) {
			out = append(out, decoded{string(b), i})
		}
		i = max(j, i+1)
	}
	return out
}

func hexValue(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// unescape undoes %41, &#65;, &amp;, \u0041, \u{41} and \x41 all over the text.
// at is where the first stands, or -1 when there are fewer than three.
func unescape(text string) (plain string, at int) {
	const few = 3
	if strings.Count(text, "%")+strings.Count(text, "&")+strings.Count(text, `\`) < few {
		return "", -1
	}
	b := make([]byte, 0, len(text))
	n := 0
	at = -1
	for i := 0; i < len(text); {
		r, size := escaped(text[i:])
		if size == 0 {
			b = append(b, text[i])
			i++
			continue
		}
		if at < 0 {
			at = i
		}
		n++
		b = append(b, r...)
		i += size
	}
	if n < few {
		return "", -1
	}
	return strings.ToValidUTF8(string(b), "\uFFFD"), at
}

// escaped reads one escape at the beginning of s.
func escaped(s string) (char string, size int) {
	switch {
	case len(s) > 2 && s[0] == '%' && hexValue(s[1]) >= 0 && hexValue(s[2]) >= 0:
		return string([]byte{byte(hexValue(s[1])<<4 | hexValue(s[2]))}), 3
	case len(s) > 3 && s[0] == '\\' && s[1] == 'x' && hexValue(s[2]) >= 0 && hexValue(s[3]) >= 0:
		return string([]byte{byte(hexValue(s[2])<<4 | hexValue(s[3]))}), 4
	case len(s) > 3 && s[0] == '\\' && (s[1] == 'u' || s[1] == 'U'):
		digits := strings.TrimPrefix(s[2:min(len(s), 12)], "{")
		n := 0
		for n < len(digits) && n < 6 && hexValue(digits[n]) >= 0 {
			n++
		}
		if s[2] != '{' {
			n = min(n, 4)
		}
		if v, err := strconv.ParseUint(digits[:n], 16, 32); err == nil {
			size = 2 + n
			if s[2] == '{' {
				size = min(len(s), size+2)
			}
			return string(rune(v)), size
		}
	case s[0] == '&':
		const longest = 12
		if end := strings.IndexByte(s[:min(len(s), longest)], ';'); end > 0 {
			if r := html.UnescapeString(s[:end+1]); r != s[:end+1] {
				return r, end + 1
			}
		}
	}
	return "", 0
}

// rotate returns the rot13 reading of v, which was made from raw. Letters that
// lost an accent were never rotated. ok is false when there are no others.
func rotate(v View, raw string) (rotated View, ok bool) {
	b := []byte(v.Text)
	for i, c := range b {
		if 'a' <= c && c <= 'z' && raw[v.Raw(i)] < utf8.RuneSelf {
			b[i] = 'a' + (c-'a'+13)%26
			ok = true
		}
	}
	return View{Text: string(b), offs: v.offs}, ok
}

// reverse returns the reading of v from its end; marks stay behind their
// letters.
func reverse(v View) View {
	out := builder{out: make([]byte, 0, len(v.Text)), offs: make([]int32, 0, len(v.Text)+1)}
	for end := len(v.Text); end > 0; {
		r, n := utf8.DecodeLastRuneInString(v.Text[:end])
		for r >= utf8.RuneSelf && unicode.IsMark(r) && n < end {
			var more int
			r, more = utf8.DecodeLastRuneInString(v.Text[:end-n])
			n += more
		}
		start := len(out.out)
		out.out = append(out.out, v.Text[end-n:end]...)
		out.mark(start, v.Raw(end-n))
		end -= n
	}
	return out.view(v.Raw(len(v.Text)))
}
