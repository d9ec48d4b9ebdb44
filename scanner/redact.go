package scanner

import "strings"

// Redact masks secrets (provider keys, PEM blocks, tokens, connection strings,
// values beside secret-like names) as [REDACTED:rule] and leaves the rest of
// the text byte for byte. The name beside a secret stays, so that a reader
// still sees which key was meant. Masked text comes back as it is.
func Redact(text string) string {
	found := secrets(text)
	if len(found) == 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	end := 0
	for _, s := range found {
		b.WriteString(text[end:s.start])
		b.WriteString("[REDACTED:" + s.rule + "]")
		end = s.end
	}
	b.WriteString(text[end:])
	return b.String()
}

// A secret is the place of one secret in a text.
type secret struct {
	rule       string
	start, end int
}

// secrets finds every secret in one pass, in order, none overlapping. Names
// and keys are runs of letters, digits and "_-."; most runs are ordinary words
// and are left after a look at their length.
func secrets(text string) []secret {
	var out []secret
	take := func(s secret, ok bool) int {
		if ok {
			out = append(out, s)
		}
		return s.end
	}
	name := run{} // the last run before i
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case runByte[c]:
			r := readRun(text, i)
			i, name = r.end, r
			if r.end-r.start >= 10 {
				if s, ok := keyed(text, r); ok {
					i = take(s, true)
				}
			} else if s, ok := authorized(text, r); ok {
				i = take(s, true)
			}
		case c == ':' || c == '=':
			if s, ok := beside(text, name, i); ok {
				i = take(s, true)
				break
			}
			i++
		case c == ' ' && name.end == i && strings.HasPrefix(text[name.start:i], "--"):
			if s, ok := flagged(text, name, i); ok { // --token VALUE
				i = take(s, true)
				break
			}
			i++
		default:
			i++
		}
	}
	return out
}

// A run is a stretch of letters, digits, "_", "-" and ".".
type run struct{ start, end int }

var runByte = byteSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.")

func byteSet(chars string) (set [256]bool) {
	for i := range len(chars) {
		set[chars[i]] = true
	}
	return set
}

// readRun reads the run at i. In text that holds JSON, the n of an escaped
// line break is no part of it; nor is the full stop of a sentence.
func readRun(text string, i int) run {
	r := run{i, i}
	if i > 0 && text[i-1] == '\\' && strings.IndexByte("nrt", text[i]) >= 0 {
		r.start++
		r.end++
	}
	for r.end < len(text) && runByte[text[r.end]] {
		r.end++
	}
	for r.end > r.start+1 && text[r.end-1] == '.' {
		r.end--
	}
	return r
}

// keyed finds a secret that is known by its own form.
func keyed(text string, r run) (secret, bool) {
	s := text[r.start:r.end]
	if strings.HasPrefix(s, "-----BEGIN") {
		return pem(text, r.start)
	}
	if rule := keyFormat(s); rule != "" {
		return secret{rule, r.start, r.end}, true
	}
	return secret{}, false
}

// pem finds a private key from its first line to its last, or, when the last
// is missing, to the end of what can be a key.
func pem(text string, start int) (secret, bool) {
	const line, reach = 80, 12 << 10 // the longest key in use is 6.5 KB
	head := strings.Index(text[start:min(len(text), start+line)], "PRIVATE KEY")
	if head < 0 {
		return secret{}, false
	}
	end := start + head + len("PRIVATE KEY")
	if i := strings.Index(text[end:min(len(text), end+reach)], "-----END"); i >= 0 {
		end += i + len("-----END")
		if i = strings.Index(text[end:min(len(text), end+line)], "-----"); i >= 0 {
			end += i + len("-----")
		}
		return secret{"private_key", start, end}, true
	}
	for end < len(text) && (text[end] == '\n' || text[end] == '\r' || text[end] == '\\' || base64Byte[text[end]] || text[end] == '-') {
		end++
	}
	return secret{"private_key", start, end}, true
}

var base64Byte = byteSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")
