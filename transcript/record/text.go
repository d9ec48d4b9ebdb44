package record

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/hermes-mcp/hermes-mcp/scanner"
)

// What of a message is indexed. The rest is kept and can be read, not found.
const (
	maxSaid       = 256 << 10 // bytes of what people and agents say, head and tail
	maxResultHead = 3 << 10   // bytes of a tool's result
	maxResultTail = 1 << 10
	maxGist       = 1200 // bytes of one tool call's arguments
	maxGistValue  = 320  // bytes of one value among them
)

// indexed tells whether search may find m. What memory recalled, what the user
// took back, and what the client said to itself is never found.
func indexed(m *Message) bool {
	if m.OwnTrace || m.Rewound || m.Kind != "" && m.Role != Summary && m.Role != System {
		return false
	}
	switch m.Role {
	case UserRole, Assistant, Tool, Summary:
		return true
	case System:
		return notice(m)
	}
	return false
}

// maxNotice is how long a failure is that a client tells, in bytes; what is
// longer are instructions to the model.
const maxNotice = 1000

// failures are the words by which a notice of the client tells a failure.
var failures = regexp.MustCompile(`(?i)\b(fail(ed|ure|s)?|errors?|denied|refused|overloaded|time(d )?out|rate limit|quota|unauthorized|exceeded|unavailable|crashed)\b`)

// notice tells whether a system message tells the user of a failure, which is
// looked for later. Instructions are never found.
func notice(m *Message) bool {
	return len(m.Content) <= maxNotice && (m.IsError || failures.MatchString(m.Content))
}

// IndexText returns the text of m that is analysed, for the index and again
// for snippets: it depends on m alone, so positions agree.
func IndexText(m *Message) string {
	if !indexed(m) {
		return ""
	}
	said := scanner.StripFences(m.Content)
	if m.Role == Tool {
		return headTail(said, maxResultHead, maxResultTail)
	}
	said = headTail(said, maxSaid-maxResultHead, maxResultHead)
	if len(m.ToolCalls) == 0 {
		return said
	}
	var b strings.Builder
	b.WriteString(said)
	for _, c := range m.ToolCalls {
		if ownTool(c.Name) {
			continue
		}
		b.WriteByte('\n')
		b.WriteString(c.Name)
		gist(&b, c.Args)
	}
	return b.String()
}

// Said returns what a person or an agent says in m, without what search may not
// find; "" for every other message, and for one on an abandoned branch.
func Said(m *Message) string {
	if m.OffPath || m.Role != UserRole && m.Role != Assistant || !indexed(m) {
		return ""
	}
	return scanner.StripFences(m.Content)
}

// ownTool tells whether a call asks this memory: its arguments repeat a query
// and would be found by it again.
func ownTool(name string) bool {
	return strings.HasSuffix(name, "session_search") || strings.HasSuffix(name, "memory_recall")
}

// gist writes the strings among a tool call's arguments, each shortened: paths
// and commands whole, files' contents only their beginning.
func gist(b *strings.Builder, args json.RawMessage) {
	left := maxGist
	dec := json.NewDecoder(strings.NewReader(string(args)))
	var nesting []byte // '{' before a key, ':' before its value, '[' in a list
	for left > 0 {
		tok, err := dec.Token()
		if err != nil {
			return
		}
		top := len(nesting) - 1
		switch v := tok.(type) {
		case json.Delim:
			switch v {
			case '{', '[':
				if top >= 0 && nesting[top] == ':' {
					nesting[top] = '{'
				}
				nesting = append(nesting, byte(v))
			default:
				nesting = nesting[:top]
			}
			continue
		case string:
			if top >= 0 && nesting[top] == '{' {
				nesting[top] = ':'
				continue
			}
			v = headTail(v, min(left, maxGistValue), 0)
			left -= len(v)
			b.WriteByte(' ')
			b.WriteString(v)
		}
		if top >= 0 && nesting[top] == ':' {
			nesting[top] = '{'
		}
	}
}

// headTail shortens s to its first head and last tail bytes, on rune
// boundaries, when it is longer than both.
func headTail(s string, head, tail int) string {
	if len(s) <= head+tail {
		return s
	}
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	from := len(s) - tail
	for from < len(s) && !utf8.RuneStart(s[from]) {
		from++
	}
	if tail == 0 {
		return s[:head]
	}
	return s[:head] + "\n…\n" + s[from:]
}

// PreviewOf shortens a prompt to one line of about a hundred characters.
func PreviewOf(m *Message) string {
	if m.Role != UserRole || !indexed(m) {
		return ""
	}
	text := headTail(scanner.StripFences(m.Content), 2000, 0)
	const limit = 120
	var b strings.Builder
	n := 0
	for _, w := range strings.Fields(text) {
		if n > 0 {
			b.WriteByte(' ')
			n++
		}
		for _, r := range w {
			if n >= limit {
				b.WriteString("…")
				return b.String()
			}
			b.WriteRune(r)
			n++
		}
	}
	return b.String()
}
