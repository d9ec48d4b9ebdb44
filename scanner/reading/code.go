package reading

import "strings"

// Codes that a model reads without being asked, and that no honest note is
// written in: binary, Morse, Braille.

const (
	fewLetters = 8 // shorter pieces say nothing
	braille    = "⠁⠃⠉⠙⠑⠋⠛⠓⠊⠚⠅⠇⠍⠝⠕⠏⠟⠗⠎⠞⠥⠧⠺⠭⠽⠵"
)

var morse = strings.Fields(".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --..")

// appendCodes decodes what is written in one of the codes, if anything is.
func appendCodes(out []decoded, text string) []decoded {
	if strings.Contains(text, "01") {
		out = appendWords(out, text, binaryLetter)
	}
	if strings.Contains(text, "..") {
		out = appendWords(out, text, morseLetter)
	}
	if at := strings.Index(text, braille[:2]); at >= 0 {
		plain := strings.Map(func(r rune) rune {
			if i := strings.IndexRune(braille, r); i >= 0 {
				return rune('a' + i/len("⠁"))
			}
			if r == '⠀' {
				return ' '
			}
			return r
		}, text)
		out = append(out, decoded{plain, at})
	}
	return out
}

// appendWords decodes runs of words that each stand for a letter.
func appendWords(out []decoded, text string, letter func(string) byte) []decoded {
	var b []byte
	start := 0
	flush := func() {
		if len(b) >= fewLetters {
			out = append(out, decoded{string(b), start})
		}
		b = b[:0]
	}
	for i := 0; i < len(text); {
		if text[i] <= ' ' {
			i++
			continue
		}
		end := i
		for end < len(text) && text[end] > ' ' {
			end++
		}
		if c := letter(text[i:end]); c != 0 {
			if len(b) == 0 {
				start = i
			}
			b = append(b, c)
		} else {
			flush()
		}
		i = end
	}
	flush()
	return out
}

func binaryLetter(word string) (c byte) {
	if len(word) != 8 || strings.Trim(word, "01") != "" {
		return 0
	}
	for i := range len(word) {
		c = c<<1 | word[i]&1
	}
	return c
}

func morseLetter(word string) byte {
	if word == "/" || word == "|" {
		return ' '
	}
	if len(word) > 4 || strings.Trim(word, ".-") != "" {
		return 0
	}
	for i, code := range morse {
		if word == code {
			return byte('a' + i)
		}
	}
	return 0
}

// Letters that are written upside down, and what they stand for.
const (
	turned  = "ɐɔǝɟƃɥᴉɾʞɯɹʇʌʍʎ"
	flipped = turned + "unpdbq"
	upright = "acefghijkmrtvwy" + "nudpqb"
)

// turn returns the letters of text upright, to be read from its end, and where
// the first turned one stands, or -1.
func turn(text string) (plain string, at int) {
	at = strings.IndexFunc(text, func(r rune) bool {
		return r >= 0x180 && r <= 0x1dff && strings.ContainsRune(turned, r)
	})
	if at < 0 {
		return "", at
	}
	letters := []rune(flipped)
	plain = strings.Map(func(r rune) rune {
		for i, f := range letters {
			if r == f {
				return rune(upright[i])
			}
		}
		return r
	}, text)
	return plain, at
}
