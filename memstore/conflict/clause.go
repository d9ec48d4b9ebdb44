package conflict

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

var tokenRule = regexp.MustCompile(`https?://\S+|[\w.+-]+@[\w-]+\.[\w.]+|(?:~|\.{1,2})?/[\w./-]+|\d{1,2}:\d\d|\d+(?:\.\d+)+|#\d+|\d+[\p{Latin}][\p{Latin}\d]*|\d+%?|[\p{Latin}_][\p{Latin}\d_'’+#.-]*(?:/[\p{Latin}_][\p{Latin}\d_.-]*)*|[\p{Han}]+|[=:：]`)

// clauses parts an entry at the signs that end a clause, which is any of
// [.;!?] before a blank or the end, any of [,。；！？，] and the end of a line,
// and a dash between blanks.
func clauses(entry string) []string {
	var all []string
	from := 0
	for at := 0; at < len(entry); {
		n := clauseEnd(entry[at:])
		if n == 0 {
			at++
			continue
		}
		all = append(all, entry[from:at])
		at += n
		from = at
	}
	return append(all, entry[from:])
}

// clauseEnd returns how many bytes at the beginning of s end a clause.
func clauseEnd(s string) int {
	switch s[0] {
	case '.', ';', '!', '?':
		switch {
		case len(s) == 1:
			return 1
		case blank(s[1]):
			return 2
		}
	case ',', '\n':
		return 1
	case ' ', '\t', '\r', '\f':
		dash, n := utf8.DecodeRuneInString(s[1:])
		if (dash == '-' || dash == '–' || dash == '—') && len(s) > 1+n && blank(s[1+n]) {
			return 2 + n
		}
	case 0xe3, 0xef: // how those of Chinese begin
		if sign, n := utf8.DecodeRuneInString(s); strings.ContainsRune("。；！？，", sign) {
			return n
		}
	}
	return 0
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }

// rawTokens are the matches of tokenRule. A plain word or number before a blank,
// which most are, is found without it, in a tenth of the time.
func rawTokens(clause string) []string {
	var all []string
	for at := 0; at < len(clause); {
		if blank(clause[at]) {
			at++
			continue
		}
		if n := plain(clause[at:]); n > 0 {
			all = append(all, clause[at:at+n])
			at += n
			continue
		}
		m := tokenRule.FindStringIndex(clause[at:])
		if m == nil {
			break
		}
		all = append(all, clause[at+m[0]:at+m[1]])
		at += m[1]
	}
	return all
}

// plain returns the length of an English word or a number with which s begins,
// 0 when that is followed by anything but a blank or the end.
func plain(s string) int {
	letters, digits := 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			letters++
		case c >= '0' && c <= '9':
			digits++
		case blank(c) && (letters == 0 || digits == 0):
			return i
		default:
			return 0
		}
	}
	if letters > 0 && digits > 0 {
		return 0
	}
	return len(s)
}
