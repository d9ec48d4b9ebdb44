// Package secret finds keys, tokens and passwords in text: by the published form
// of a provider's keys, or by the name, header or connection string beside them.
package secret

import "strings"

// A Secret is the place of one secret in a text.
type Secret struct {
	Rule       string
	Start, End int // bytes
}

// Find finds every secret in one pass, in order, none overlapping. Names
// and keys are runs of letters, digits and "_-."; most runs are ordinary words
// and are left after a look at their length.
func Find(text string) []Secret {
	var out []Secret
	take := func(s Secret, ok bool) int {
		if ok {
			out = append(out, s)
		}
		return s.End
	}
	name := run{} // the last run before i
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case runByte[c]:
			r := readRun(text, i)
			for r.end == r.start+1 && text[r.start] == '.' && r.end < len(text) && text[r.end] == '.' {
				r = run{r.end, r.end + 1} // else a row of dots is read again from each of them
			}
			i, name = r.end, r
			if r.end-r.start >= 10 {
				if s, ok := keyed(text, r); ok {
					i = take(s, true)
				}
			} else if strings.HasPrefix(text[r.start:r.end], "-p") {
				if s, ok := joined(text, r); ok {
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
		case c == ' ' && i+1 < len(text) && (links[text[i+1]] != nil || i-name.start == len("password")), c >= firstLink:
			if s, ok := told(text, name, i); ok {
				i = take(s, true)
				break
			}
			i++
		case c == '~' && name.end == i:
			if s, ok := azure(text, name, i); ok {
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

// told finds a password that is told in words, the next of which is at i.
func told(text string, name run, i int) (Secret, bool) {
	if text[i] == ' ' && name.end == i {
		if s, ok := netrc(text, name, i); ok {
			return s, true
		}
	}
	return spoken(text, name, i)
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
func keyed(text string, r run) (Secret, bool) {
	s := text[r.start:r.end]
	switch s[0] {
	case '-':
		if strings.HasPrefix(s, "-----BEGIN") {
			return pem(text, r.start)
		}
		if strings.HasPrefix(s, "-p") {
			return joined(text, r)
		}
	case 'h', 'd':
		if found, ok := webhook(text, r); ok {
			return found, true
		}
	}
	if rule := keyFormat(s); rule != "" {
		for rule == "fly" && r.end < len(text) && base64Byte[text[r.end]] {
			r.end++
		}
		return Secret{rule, r.start, r.end}, true
	}
	return Secret{}, false
}

// pem finds a private key from its first line to its last, or, when the last
// is missing, to the end of what can be a key.
func pem(text string, start int) (Secret, bool) {
	const line, reach = 80, 12 << 10 // the longest key in use is 6.5 KB
	head := strings.Index(text[start:min(len(text), start+line)], "PRIVATE KEY")
	if head < 0 {
		return Secret{}, false
	}
	end := start + head + len("PRIVATE KEY")
	if i := strings.Index(text[end:min(len(text), end+reach)], "-----END"); i >= 0 {
		end += i + len("-----END")
		if i = strings.Index(text[end:min(len(text), end+line)], "-----"); i >= 0 {
			end += i + len("-----")
		}
		return Secret{"private_key", start, end}, true
	}
	for end < len(text) && (text[end] == '\n' || text[end] == '\r' || text[end] == '\\' || base64Byte[text[end]] || text[end] == '-') {
		end++
	}
	return Secret{"private_key", start, end}, true
}

var base64Byte = byteSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")
