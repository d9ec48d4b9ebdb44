package secret

import (
	"slices"
	"strings"
)

// Values that are secret because of what stands beside them: a name, a
// header, the user of a connection string.

// secretNames are the words that make the end of a name secret, compared in
// lower case without "_", "-" and ".".
var secretNames = []string{
	"password", "passwd", "passwort", "passphrase", "pwd", "secret", "token", "apikey", "secretkey", "privatekey",
	"accesskey", "accesskeyid", "secretaccesskey", "signingkey", "encryptionkey", "masterkey", "authkey", "accountkey", "credential",
	"credentials", "sharedaccesskey", "xamzsignature", "xgoogsignature", "apppassword", "senha", "parola", "wachtwoord",
}

// passwordNames are those of them that mean a password, beside "pass...".
var passwordNames = []string{"pwd", "senha", "parola", "wachtwoord"}

// secretName tells whether a value beside s is secret, and under which rule.
func secretName(s string) (rule string, ok bool) {
	const longest = 64
	if len(s) < 3 || s == "PWD" || s == "OLDPWD" { // the shell's folders
		return "", false
	}
	s = s[max(0, len(s)-longest):]
	switch s[len(s)-1] | 0x20 {
	case 'a', 'd', 't', 'e', 'n', 'y', 'l', 's':
	default:
		return "", false
	}
	var buf [longest]byte
	b := buf[:0]
	for i := range len(s) {
		if c := s[i]; c != '_' && c != '-' && c != '.' {
			if 'A' <= c && c <= 'Z' {
				c |= 0x20
			}
			b = append(b, c)
		}
	}
	for _, name := range secretNames {
		if len(b) >= len(name) && string(b[len(b)-len(name):]) == name {
			if strings.HasPrefix(name, "pass") || slices.Contains(passwordNames, name) {
				return "password", true
			}
			return "secret", true
		}
	}
	return "", false
}

// beside finds the secret after a ":" or "=" at i that follows name.
func beside(text string, name run, i int) (Secret, bool) {
	if text[i] == ':' && strings.HasPrefix(text[i:], "://") {
		return userinfo(text, i+len("://"))
	}
	if foreign(text[:i]) {
		return named(text, i+1)
	}
	if name.end == 0 || i-name.end > 3 || strings.Trim(text[name.end:i], "\"' \\") != "" {
		return Secret{}, false
	}
	if rule := telegram(text, name, i); rule != "" {
		r := readRun(text, i+1)
		return Secret{rule, name.start, r.end}, name.start < r.end
	}
	if s, ok := bySyntax(text, name, i); ok {
		return s, true
	}
	rule, ok := secretName(text[name.start:name.end])
	if !ok && name.start > 0 && strings.IndexByte("?&", text[name.start-1]) >= 0 && text[name.start:name.end] == "sig" {
		rule, ok = "secret", true // of a link that is its own key
	}
	if !ok {
		return Secret{}, false
	}
	if i+1 < len(text) && name.start > 0 && text[i+1] == '"' && text[name.start-1] == '"' && name.end == i {
		return Secret{}, false // "NAME=" + value
	}
	strict := text[i] == '=' && name.end == i && isConstant(text[name.start:name.end])
	return value(text, i+1, rule, strict)
}

// telegram names the rule for a bot token: a number, ":", 35 characters.
func telegram(text string, name run, i int) string {
	if n := name.end - name.start; n < 8 || n > 10 || i != name.end || strings.Trim(text[name.start:name.end], "0123456789") != "" {
		return ""
	}
	if r := (run{i + 1, i + 1}); i+36 <= len(text) && strings.HasPrefix(text[i+1:], "AA") {
		if r = readRun(text, i+1); r.end-r.start == 35 {
			return "telegram"
		}
	}
	return ""
}

// isConstant tells whether s is written as environment variables are.
func isConstant(s string) bool { return strings.ToUpper(s) == s }

// flagged finds the secret after a command line flag.
func flagged(text string, name run, i int) (Secret, bool) {
	rule, ok := secretName(text[name.start:name.end])
	if !ok {
		return Secret{}, false
	}
	return value(text, i, rule, false)
}

// value judges the value at i. A quoted value ends at its quote, another at
// the first space, comma or closing bracket. assigned says that the name is an
// environment variable's, whose values are not code.
func value(text string, i int, rule string, assigned bool) (Secret, bool) {
	const judged = 256 // bytes; a longer value is judged by its beginning
	for i < len(text) && (text[i] == ' ' || text[i] == '=' || text[i] == '\\' && i+1 < len(text) && text[i+1] == '"') {
		i++
	}
	for _, scheme := range []string{"Bearer ", "bearer ", "Basic ", "basic "} {
		if strings.HasPrefix(text[i:], scheme) {
			i += len(scheme)
		}
	}
	if i == len(text) {
		return Secret{}, false
	}
	stops, quoted := " \t\r\n,;)]}\"'`<>|&\\", false
	if q := text[i]; q == '"' || q == '\'' || q == '`' {
		stops, quoted = string(q)+"\n\\", true
		i++
	}
	end := strings.IndexAny(text[i:min(len(text), i+judged)], stops)
	long := end < 0 && len(text)-i > judged
	if end < 0 {
		end = min(len(text)-i, judged)
	}
	v := text[i : i+end]
	if !quoted {
		v = strings.TrimRight(v, ".:")
	}
	if !secretValue(v, rule, quoted, assigned) || isPlaceholder(v) {
		return Secret{}, false
	}
	if known := keyFormat(v); known != "" {
		rule = known
	}
	if end = i + len(v); long {
		if more := strings.IndexAny(text[end:], stops); more >= 0 {
			end += more
		} else {
			end = len(text)
		}
	}
	return Secret{rule, i, end}, true
}

// isPlaceholder tells whether v says that a secret belongs there, or where it
// is kept, instead of being one.
func isPlaceholder(v string) bool {
	if len(v) < 6 || strings.HasPrefix(v, "[REDACTED") || distinct(v) < 4 {
		return true
	}
	switch v[0] {
	case '$', '<', '{', '%', '*', '(', '[', '/', '~', '@', '#':
		return true
	}
	low := strings.ToLower(v)
	for _, word := range []string{"your", "example", "changeme", "change-me", "placeholder", "redacted", "process.env", "getenv", "os.environ", "xxxx", "dummy", "todo", "..."} {
		if strings.Contains(low, word) {
			return true
		}
	}
	return strings.HasPrefix(low, "http://") || strings.HasPrefix(low, "https://")
}

// secretValue tells a secret from code, prose and settings.
func secretValue(v, rule string, quoted, assigned bool) bool {
	var digits, lower, upper, other, spaces int
	for i := range len(v) {
		switch c := v[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'z':
			lower++
		case c >= 'A' && c <= 'Z':
			upper++
		case c == ' ':
			spaces++
		default:
			other++
		}
	}
	letters := lower + upper
	switch {
	case spaces > 0, digits == len(v):
		return false
	case assigned:
		return letters > 0 && !isPath(v)
	case !quoted && strings.ContainsAny(v, "("), isPath(v):
		return false
	case rule == "password":
		return digits > 0 && letters > 0 || quoted && other > 0 && letters > 0 && !strings.ContainsAny(v, ".:_-")
	}
	return digits > 0 && letters > 0 && len(v) >= 12 && distinct(v) >= 8 && random(v) || quoted && jumbled(v)
}

// jumbled tells whether letters change their case as no words do. A key without
// a digit is rare, and long.
func jumbled(v string) bool {
	const long = 24
	changes := 0
	for i := 1; i < len(v); i++ {
		if v[i]|0x20 < 'a' || v[i]|0x20 > 'z' {
			return false
		}
		if v[i]&0x20 != v[i-1]&0x20 {
			changes++
		}
	}
	return len(v) >= long && changes*5 >= len(v)*2
}

func isPath(v string) bool {
	return strings.HasPrefix(v, "./") || strings.HasPrefix(v, "../") || strings.HasPrefix(v, "file:") || strings.HasPrefix(v, "vault:")
}

// userinfo finds the password of a connection string whose host part is at i.
func userinfo(text string, i int) (Secret, bool) {
	const longest = 300
	rest := text[i:min(len(text), i+longest)]
	if j := strings.IndexAny(rest, " \t\r\n\"'`<>/?#"); j >= 0 {
		// A password may hold "/" only when it is escaped.
		rest = rest[:j]
	}
	at := strings.LastIndexByte(rest, '@')
	if at < 0 {
		return Secret{}, false
	}
	colon := strings.IndexByte(rest[:at], ':')
	if colon < 0 {
		return Secret{}, false
	}
	pass := rest[colon+1 : at]
	switch {
	case pass == "", strings.HasPrefix(pass, "[REDACTED"), strings.ContainsAny(pass[:1], "$<{%*["):
		return Secret{}, false
	case distinct(pass) < 3, strings.EqualFold(pass, "password"), strings.EqualFold(pass, "pass"):
		return Secret{}, false
	}
	return Secret{"connection_string", i + colon + 1, i + at}, true
}

// authorized finds the token after "Bearer" or "Basic" at r.
func authorized(text string, r run) (Secret, bool) {
	switch text[r.start:r.end] {
	case "Bearer", "bearer", "Basic":
	default:
		return Secret{}, false
	}
	i := r.end
	if i >= len(text) || text[i] != ' ' {
		return Secret{}, false
	}
	i++
	end := i
	for end < len(text) && (base64Byte[text[end]] || runByte[text[end]] || text[end] == '~') {
		end++
	}
	v := strings.TrimRight(text[i:end], ".")
	if len(v) < 16 || isPlaceholder(v) || !random(v) {
		return Secret{}, false
	}
	if rule := keyFormat(v); rule != "" {
		return Secret{rule, i, i + len(v)}, true
	}
	return Secret{"authorization", i, i + len(v)}, true
}
