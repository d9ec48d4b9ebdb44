package scanner

import (
	"encoding/base64"
	"encoding/hex"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// disguises are ways to write a text so that a person, or a model, still reads
// it. Those that do not apply to a script leave it as it is.
var disguises = map[string]func(string) string{
	"capitals":          strings.ToUpper,
	"title case":        title,
	"zero width spaces": func(s string) string { return interleave(s, "\u200b") },
	"word joiners":      func(s string) string { return interleave(s, "\u2060") },
	"non-joiners":       func(s string) string { return interleave(s, "\u200c") },
	"soft hyphens":      func(s string) string { return interleave(s, "\u00ad") },
	"grapheme joiners":  func(s string) string { return interleave(s, "\u034f") },
	"invisible times":   func(s string) string { return interleave(s, "\u2062") },
	"selectors":         func(s string) string { return interleave(s, "\ufe00") },
	"Hangul fillers":    func(s string) string { return interleave(s, "\u3164") },
	"accents":           func(s string) string { return interleaveLetters(s, "\u0301") },
	"strokes":           func(s string) string { return interleaveLetters(s, "\u0335\u0338") },
	"enclosing circles": func(s string) string { return interleaveLetters(s, "\u20dd") },
	"full width":        func(s string) string { return shift(s, '!', '~', '！') },
	"bold":              func(s string) string { return shift(shift(s, 'a', 'z', '𝐚'), 'A', 'Z', '𝐀') },
	"monospace":         func(s string) string { return shift(shift(s, 'a', 'z', '𝚊'), 'A', 'Z', '𝙰') },
	"fraktur":           func(s string) string { return shift(shift(s, 'a', 'z', '𝖆'), 'A', 'Z', '𝕬') },
	"circled":           func(s string) string { return shift(shift(s, 'a', 'z', 'ⓐ'), 'A', 'Z', 'Ⓐ') },
	"squared":           func(s string) string { return shift(strings.ToUpper(s), 'A', 'Z', '🅰') },
	"parenthesized":     func(s string) string { return shift(strings.ToLower(s), 'a', 'z', '⒜') },
	"regional":          func(s string) string { return shift(strings.ToUpper(s), 'A', 'Z', '🇦') },
	"Cyrillic": func(s string) string {
		return translate(s, "aceopxyijsABCEHIKMOPTX", "асеорхуіјѕАВСЕНІКМОРТХ")
	},
	"Greek": func(s string) string {
		return translate(s, "aoviuptknABEHIKMNOPTXYZ", "αονιυρτκηΑΒΕΗΙΚΜΝΟΡΤΧΥΖ")
	},
	"small capitals": func(s string) string {
		return translate(strings.ToLower(s), "abcdefghijklmnoprtuvwyz", "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀᴛᴜᴠᴡʏᴢ")
	},
	"Cherokee": func(s string) string {
		return translate(strings.ToUpper(s), "ABCDEGHJKLMPRSTVWZ", "ᎪᏴᏟᎠᎬᏀᎻᎫᏦᏞᎷᏢᏒᏚᎢᏙᎳᏃ")
	},
	"leet":               func(s string) string { return translate(s, "aeiostAEIOST", "431057431057") },
	"leet with symbols":  func(s string) string { return translate(s, "asiASI", "@$!@$!") },
	"base64":             func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"wrapped base64":     func(s string) string { return wrap(base64.StdEncoding.EncodeToString([]byte(s)), 76) },
	"hexadecimal":        func(s string) string { return hex.EncodeToString([]byte(s)) },
	"escaped":            func(s string) string { return escapeBytes(s, `\x`) },
	"URL encoded":        func(s string) string { return escapeBytes(s, "%") },
	"HTML encoded":       htmlEncode,
	"rot13":              rot13,
	"reversed":           reversed,
	"overridden":         func(s string) string { return "\u202e" + reversed(s) + "\u202c" },
	"tags":               func(s string) string { return "note " + shift(s, ' ', '~', 0xe0020) },
	"bytes in selectors": func(s string) string { return "note 😀" + selectorBytes(s) },
	"bits":               zeroWidthBits,
	"spaced out":         func(s string) string { return spread(s, " ", "   ") },
	"dotted":             func(s string) string { return spread(s, ".", " ") },
	"hyphenated":         func(s string) string { return spread(s, "-", "  ") },
	"snake case":         func(s string) string { return strings.ReplaceAll(s, " ", "_") },
	"no-break spaces":    func(s string) string { return strings.ReplaceAll(s, " ", "\u00a0") },
	"em spaces":          func(s string) string { return strings.ReplaceAll(s, " ", "\u2003") },
	"wrapped lines":      func(s string) string { return strings.ReplaceAll(s, " ", "\n") },
	"emphasis":           func(s string) string { return "**" + strings.ReplaceAll(s, " ", "** **") + "**" },
}

func TestDisguisesAreRefusedAtTheRateOfThePlainText(t *testing.T) {
	var plain []string
	for _, s := range readSamples(t, filepath.Join("testdata", "own_attack.jsonl")) {
		if len(Scan(s.Text, Strict)) > 0 {
			plain = append(plain, s.Text)
		}
	}
	for name, write := range disguises {
		t.Run(name, func(t *testing.T) {
			missed := 0
			for _, s := range plain {
				if disguised := write(s); len(Scan(disguised, Strict)) == 0 {
					missed++
					if missed <= 3 {
						t.Logf("passed: %q", disguised)
					}
				}
			}
			const allowed = 4 // percent
			t.Logf("%d of %d missed", missed, len(plain))
			if missed*100 > allowed*len(plain) {
				t.Errorf("%d of %d disguised texts pass", missed, len(plain))
			}
		})
	}
}

func interleave(s, sep string) string { return strings.Join(strings.Split(s, ""), sep) }

func interleaveLetters(s, mark string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(r)
		if r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			b.WriteString(mark)
		}
	}
	return b.String()
}

func shift(s string, lo, hi, to rune) string {
	return strings.Map(func(r rune) rune {
		if r >= lo && r <= hi {
			return to + r - lo
		}
		return r
	}, s)
}

func translate(s, from, to string) string {
	pairs := []rune(to)
	return strings.Map(func(r rune) rune {
		if i := strings.IndexRune(from, r); i >= 0 {
			return pairs[i]
		}
		return r
	}, s)
}

func title(s string) string {
	words := strings.Fields(s)
	for i, w := range words {
		r, n := utf8.DecodeRuneInString(w)
		words[i] = strings.ToUpper(string(r)) + w[n:]
	}
	return strings.Join(words, " ")
}

func wrap(s string, n int) string {
	var b strings.Builder
	for len(s) > n {
		b.WriteString(s[:n] + "\n")
		s = s[n:]
	}
	return b.String() + s
}

func escapeBytes(s, prefix string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteString(prefix + hex.EncodeToString([]byte{s[i]}))
	}
	return b.String()
}

func htmlEncode(s string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteString("&#" + itoa(int(r)) + ";")
	}
	return b.String()
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

func rot13(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return 'a' + (r-'a'+13)%26
		case r >= 'A' && r <= 'Z':
			return 'A' + (r-'A'+13)%26
		}
		return r
	}, s)
}

func reversed(s string) string {
	rs := []rune(s)
	for i, j := 0, len(rs)-1; i < j; i, j = i+1, j-1 {
		rs[i], rs[j] = rs[j], rs[i]
	}
	return string(rs)
}

func selectorBytes(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if s[i] < 16 {
			b.WriteRune(0xfe00 + rune(s[i]))
		} else {
			b.WriteRune(0xe0100 + rune(s[i]) - 16)
		}
	}
	return b.String()
}

func zeroWidthBits(s string) string {
	var b strings.Builder
	b.WriteString("note")
	for i := range len(s) {
		for bit := range 8 {
			b.WriteString([]string{"\u200b", "\u200c"}[s[i]>>(7-bit)&1])
		}
	}
	return b.String()
}

func spread(s, sep, gap string) string {
	words := strings.Fields(s)
	for i, w := range words {
		words[i] = strings.Join(strings.Split(w, ""), sep)
	}
	return strings.Join(words, gap)
}
