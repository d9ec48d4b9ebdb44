package secret

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"
)

// Passwords that people tell each other: in other languages, in a sentence, or
// in the notation of a program that wants them.

// foreignNames are words for a password that are no run of name characters.
var foreignNames = []string{
	"contraseña", "contrasenya", "mot de passe", "пароль", "密码", "密碼", "口令", "パスワード", "비밀번호", "hasło", "şifre", "mật khẩu", "كلمة المرور", "رمز عبور", "पासवर्ड",
}

// links are the words that stand between a password's name and a password, by
// their first byte, or the first after a space.
var links = [256][]string{
	'i': {" is ", " ist "}, 'w': {" was "}, 'l': {" lautet "}, 'e': {" es ", " est "},
	0xc3: {" é ", " è "}, 0xd1: {" это "}, 0xe2: {" — "},
	0xe3: {"は"}, 0xe4: {"为"}, 0xe6: {"是"}, 0xe7: {"為"}, 0xef: {"："},
}

// firstLink is the least first byte of a link that begins with no space.
const firstLink = 0xe3

// spoken finds the password after a link at i: "the password is X", "密码：X". name
// is the last run before i.
func spoken(text string, name run, i int) (Secret, bool) {
	first := i
	if text[i] == ' ' && i+1 < len(text) {
		first++
	}
	for _, link := range links[text[first]] {
		if !strings.HasPrefix(text[i:], link) {
			continue
		}
		rule := ""
		if name.end == i {
			rule, _ = secretName(text[name.start:i])
		}
		if rule != "password" && !foreign(text[:i]) {
			return Secret{}, false
		}
		s, ok := named(text, i+len(link))
		if !ok || strings.ContainsAny(text[s.Start:s.End], "-./:") || isMethod(text[s.Start:s.End]) {
			return Secret{}, false
		}
		return s, true
	}
	return Secret{}, false
}

// named finds a password at i of a text in any language. What is not ASCII is no
// part of it: in many scripts no space ends a word.
func named(text string, i int) (Secret, bool) {
	const longest = 128
	end := i
	for end < len(text) && end-i < longest && text[end] < utf8.RuneSelf {
		end++
	}
	return value(text[:end], i, "password", false)
}

// isMethod tells whether v is how a password is kept, which is not the password.
func isMethod(v string) bool {
	v = strings.ToLower(v)
	return slices.ContainsFunc([]string{"argon", "base64", "bcrypt", "md5", "pbkdf", "scrypt", "sha", "utf"}, func(m string) bool { return strings.HasPrefix(v, m) })
}

// foreign tells whether text ends with a word for a password in another
// language, and whatever quotes and spaces stand behind it.
func foreign(text string) bool {
	const longest = 48 // bytes of a name and what stands behind it
	end := text[max(0, len(text)-longest):]
	for len(end) > 0 && strings.IndexByte(" \"'`*", end[len(end)-1]) >= 0 {
		end = end[:len(end)-1]
	}
	if len(end) < 4 { // the shortest is longer
		return false
	}
	if last := end[len(end)-1] | 0x20; last < utf8.RuneSelf && last != 'e' && last != 'a' || last == 'e' && end[len(end)-2]|0x20 != 's' {
		return false // few words do not end here
	}
	end = strings.ToLower(end)
	return slices.ContainsFunc(foreignNames, func(name string) bool { return strings.HasSuffix(end, name) })
}

// lineBefore is what stands before i in its line, or the end of that.
func lineBefore(text string, i int) string {
	const longest = 200
	before := text[max(0, i-longest):i]
	return before[strings.LastIndexByte(before, '\n')+1:]
}

// netrc finds the password after "machine HOST login NAME password ".
func netrc(text string, name run, i int) (Secret, bool) {
	if text[name.start:name.end] != "password" {
		return Secret{}, false
	}
	words := strings.Fields(lineBefore(text, name.start))
	n := len(words)
	if n < 3 || words[n-2] != "login" || words[n-3] != "default" && (n < 4 || words[n-4] != "machine") {
		return Secret{}, false
	}
	return value(text, i, "password", false)
}

// joined finds the password of "mysql -pPASSWORD".
func joined(text string, r run) (Secret, bool) {
	v := text[r.start+len("-p") : r.end]
	line := lineBefore(text, r.start)
	if !strings.Contains(line, "mysql") && !strings.Contains(line, "mariadb") && !strings.Contains(line, "sshpass") ||
		!secretValue(v, "password", false, false) || isPlaceholder(v) {
		return Secret{}, false
	}
	return Secret{"password", r.start + len("-p"), r.end}, true
}

// bySyntax finds the secret after a ":" or "=" at i in a notation of its own, which
// name, the run before, gives away.
func bySyntax(text string, name run, i int) (Secret, bool) {
	switch n := text[name.start:name.end]; {
	case strings.EqualFold(n, "cookie"), strings.EqualFold(n, "set-cookie"):
		return cookies(text, name, i)
	case n == "auth", n == "_auth":
		return encoded(text, i)
	case text[i] == ':' && name.start > 0 && text[name.start-1] == ' ':
		return login(text, name, i)
	}
	return Secret{}, false
}

// login finds the password of "curl -u NAME:PASSWORD", whose colon is at i.
func login(text string, name run, i int) (Secret, bool) {
	if before := text[:name.start]; name.end != i || !strings.HasSuffix(before, "-u ") && !strings.HasSuffix(before, "--user ") || !strings.Contains(lineBefore(text, name.start), "curl") {
		return Secret{}, false
	}
	return value(text, i+1, "password", false)
}

// encoded finds the password of a docker login: "auth": "BASE64 OF NAME:PASSWORD".
func encoded(text string, i int) (Secret, bool) {
	for i++; i < len(text) && strings.IndexByte(" \"'\\", text[i]) >= 0; {
		i++
	}
	const longest = 1024
	end := i
	for end < len(text) && end-i < longest && base64Byte[text[end]] {
		end++
	}
	plain, err := base64.StdEncoding.DecodeString(text[i:end])
	user, pass, two := strings.Cut(string(plain), ":")
	if err != nil || !two || user == "" || len(pass) < 3 || strings.ContainsFunc(string(plain), func(r rune) bool { return r < ' ' || r == utf8.RuneError }) {
		return Secret{}, false
	}
	return Secret{"password", i, end}, true
}

// cookies finds what a cookie header holds, if a value of it looks like the key
// to a session. The colon is at i.
func cookies(text string, name run, i int) (Secret, bool) {
	const longest = 4 << 10
	if name.end != i {
		return Secret{}, false
	}
	for i++; i < len(text) && text[i] == ' '; {
		i++
	}
	held := text[i:min(len(text), i+longest)]
	if end := strings.IndexAny(held, "\r\n\"'\\`"); end >= 0 {
		held = held[:end]
	}
	held = strings.TrimRight(held, " ")
	for pair := range strings.SplitSeq(held, ";") {
		if _, v, ok := strings.Cut(pair, "="); ok && len(v) >= 16 && random(v) && !isPlaceholder(v) {
			return Secret{"cookie", i, i + len(held)}, true
		}
	}
	return Secret{}, false
}

// webhook finds the part of an address that lets anybody post.
func webhook(text string, host run) (Secret, bool) {
	path := ""
	switch text[host.start:host.end] {
	case "hooks.slack.com":
		path = "/services/"
	case "discord.com", "discordapp.com":
		path = "/api/webhooks/"
	}
	if path == "" || !strings.HasPrefix(text[host.end:], path) {
		return Secret{}, false
	}
	start := host.end + len(path)
	end := start
	for end < len(text) && (runByte[text[end]] || text[end] == '/') {
		end++
	}
	for end > start && text[end-1] == '.' {
		end--
	}
	if v := text[start:end]; len(v) < 30 || !random(v) {
		return Secret{}, false
	}
	return Secret{"webhook", start, end}, true
}
