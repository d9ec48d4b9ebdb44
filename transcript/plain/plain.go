// Package plain makes archived text fit to leave the archive.
//
// What agents ran is kept byte for byte, with terminal codes, control
// characters and secrets in it. Whatever shows it (a tool, a resource, a
// command) passes it through a [Filter] first, whole and before it is cut: a
// secret that was cut in two is not recognised any more.
package plain

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/hermes-mcp/hermes-mcp/scanner"
	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// A Filter is a value, safe for concurrent use. The zero value masks nothing.
type Filter struct {
	Redact bool // mask secrets
}

// escapes are the sequences that terminals take for colour and movement.
var escapes = regexp.MustCompile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[@-Z\\\\^_])|\u009b[0-?]*[ -/]*[@-~]")

// Text is s without terminal codes and without control characters other than
// line ends and tabs, secrets masked.
func (f Filter) Text(s string) string {
	if strings.Contains(s, "\x1b") || strings.Contains(s, "\u009b") {
		s = escapes.ReplaceAllString(s, "")
	}
	s = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, s)
	if f.Redact {
		s = scanner.Redact(s)
	}
	return s
}

// Line is Text as one line of at most n characters.
func (f Filter) Line(s string, n int) string {
	return Clip(strings.Join(strings.Fields(f.Text(s)), " "), n)
}

// Holds tells whether s holds a secret that Text would mask.
func (f Filter) Holds(s string) bool { return f.Text(s) != Filter{}.Text(s) }

// The marks around what matched in a snippet.
const markOpen, markClose = ">>>", "<<<"

// Snippet is a search's marked snippet as one line of at most n characters. A
// secret that the marks or the ends of the snippet cut in two is not
// recognised in it, so whole is the message that it stands in ("" when not
// known): where that holds a secret, its masked beginning is shown instead.
func (f Filter) Snippet(s, whole string, n int) string {
	unmarked := unmark.Replace(s)
	switch {
	case f.Holds(whole):
		return f.Line(whole, n)
	case f.Holds(unmarked):
		return f.Line(unmarked, n)
	}
	return Filter{}.Line(s, n)
}

// telling are the arguments that say what a call is about, the best first.
var telling = []string{"command", "cmd", "pattern", "query", "file_path", "path", "url", "prompt", "description"}

// Call is a tool call in one line of at most n characters: its name, and what
// it is about.
func (f Filter) Call(c transcript.ToolCall, n int) string {
	var args map[string]any
	if json.Unmarshal(c.Args, &args) == nil {
		for _, k := range telling {
			if s, ok := args[k].(string); ok && s != "" {
				return f.Line(c.Name+": "+s, n)
			}
		}
	}
	return f.Line(c.Name+" "+string(c.Args), n)
}

// Clip shortens s to at most n characters, the last of them an ellipsis.
func Clip(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	if n <= 0 {
		return ""
	}
	return string([]rune(s)[:n-1]) + "…"
}
