package sessions

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hermes-mcp/hermes-mcp/tools/wire"
	"github.com/hermes-mcp/hermes-mcp/transcript"
	"github.com/hermes-mcp/hermes-mcp/transcript/plain"
)

// A view is one message as a model sees it.
type view struct {
	ID        string          `json:"id"`
	Role      transcript.Role `json:"role"`
	When      string          `json:"when,omitempty"`
	Match     bool            `json:"match,omitempty"` // the message that was asked for or found
	ToolName  string          `json:"tool_name,omitempty"`
	Exit      *int            `json:"exit,omitempty"`
	Failed    bool            `json:"failed,omitempty"`
	Content   string          `json:"content,omitempty"`
	ToolCalls []string        `json:"tool_calls,omitempty"`
	Flagged   string          `json:"flagged,omitempty"` // of what is shown that reads like an attack: why
	// Of a content that was cut: its whole length, and where the rest of it
	// begins (as offset, with around_message_id).
	Cut      bool `json:"content_truncated,omitempty"`
	Original int  `json:"original_content_chars,omitempty"`
	Rest     int  `json:"next_offset,omitempty"`
}

// maxCalls and callChars bound the tool calls shown with a message.
const (
	maxCalls  = 6
	callChars = 160
)

// A viewer turns what the archive holds into what a model sees.
type viewer struct{ plain.Filter }

// empty tells that a message has nothing to show: reasoning alone, or a line
// that the agent keeps for itself.
func empty(m transcript.Message) bool {
	return strings.TrimSpace(m.Content) == "" && len(m.ToolCalls) == 0
}

// content is what of m is shown as its content, whole.
func (v viewer) content(m transcript.Message) string { return v.Text(strings.TrimSpace(m.Content)) }

// message is m with at most room encoded characters of text, its content,
// beginning at the offset-th character.
func (v viewer) message(m transcript.Message, text string, offset, room int) view {
	out := v.unlabelled(m, text, offset, room)
	out.label()
	return out
}

// label says of what is shown that it reads like an attack.
func (v *view) label() { v.Flagged = plain.Flag(append(v.ToolCalls, v.Content)...) }

func (v viewer) unlabelled(m transcript.Message, text string, offset, room int) view {
	out := view{
		ID: messageID(m.ID), Role: m.Role, When: wire.Stamp(m.At),
		ToolName: v.Line(m.ToolName, 80), Exit: m.ExitCode, Failed: m.IsError,
	}
	for i, c := range m.ToolCalls {
		if i == maxCalls {
			out.ToolCalls = append(out.ToolCalls, fmt.Sprintf("and %d more", len(m.ToolCalls)-i))
			break
		}
		out.ToolCalls = append(out.ToolCalls, v.Call(c, callChars))
	}
	if m.Role == transcript.Tool && offset == 0 {
		out.Content, out.Rest = headAndTail(text, room)
	} else {
		out.Content, out.Rest = piece(text, offset, room)
	}
	if out.Rest > 0 || offset > 0 {
		out.Cut, out.Original = true, utf8.RuneCountInString(text)
	}
	return out
}

// messageID is how a message's id is written: as text, since clients round
// large numbers.
func messageID(id int64) string { return strconv.FormatInt(id, 10) }

// piece is the part of text from the offset-th character on that takes at most
// room characters of JSON. rest is where what is left begins, 0 when nothing is.
func piece(text string, offset, room int) (part string, rest int) {
	n, from := 0, -1
	for at, r := range text {
		if n == offset {
			from = at
		}
		if n >= offset {
			if room -= encodedLen(r); room < 0 {
				if from < 0 {
					from = at
				}
				return text[from:at], n
			}
		}
		n++
	}
	if from < 0 {
		return "", 0
	}
	return text[from:], 0
}

// headAndTail is text within room: of output that is too long, the beginning
// and the end, where the errors are.
func headAndTail(text string, room int) (part string, rest int) {
	if _, rest = piece(text, 0, room); rest == 0 {
		return text, 0
	}
	const gap = 50 // what the mark between them takes at most
	head, n := piece(text, 0, (room-gap)*3/5)
	if room <= 2*gap {
		return piece(text, 0, room)
	}
	left := (room - gap) * 2 / 5
	at := len(text)
	for at > len(head) {
		r, size := utf8.DecodeLastRuneInString(text[:at])
		if left -= encodedLen(r); left < 0 {
			break
		}
		at -= size
	}
	out := utf8.RuneCountInString(text[len(head):at])
	return fmt.Sprintf("%s\n[… %d characters …]\n%s", head, out, text[at:]), n
}

// encodedLen is how many characters r takes in a JSON string.
func encodedLen(r rune) int {
	switch {
	case r == '"', r == '\\', r == '\n', r == '\t', r == '\r', r == '\b', r == '\f':
		return 2
	case r < ' ', r == '\u2028', r == '\u2029', r == utf8.RuneError:
		return 6
	}
	return 1
}

// cost is how many characters v takes as JSON.
func cost(v any) int {
	text, err := wire.Encode(v)
	if err != nil {
		return 0 // the answer itself will report it
	}
	return utf8.RuneCount(text)
}

// snippetChars is how much of a snippet is shown.
const snippetChars = 240

// tailOf is the end of s: of a path that is the telling part.
func tailOf(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return "…" + string(r[len(r)-n+1:])
	}
	return s
}
