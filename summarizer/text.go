package summarizer

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hermes-mcp/hermes-mcp/scanner"
	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// How much of a session is sent, in characters.
const (
	focusChars   = 24_000 // of one session, for a summary
	matchedChars = 6_000  // of a message that matched
	saidChars    = 2_000  // of another that somebody said
	resultChars  = 600    // of a tool's result

	proposeChars = 60_000 // of a conversation, for a proposal
	recentTurns  = 24     // the last messages, sent nearly whole
	recentChars  = 4_000
	olderUser    = 300 // of a prompt before those
	olderOther   = 200
)

// clip shortens s to about n characters, the middle taken out.
func clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	tail := n / 4
	return string(r[:n-tail]) + " […] " + string(r[len(r)-tail:])
}

// clean is what of a text may be sent: no memory that was recalled into it, no
// secret, and nothing that looks like our own marks, by which a text could
// speak in another message's name. It comes before any cut, since half a secret
// is not recognised.
func clean(text string) string {
	return strings.TrimSpace(marks.Replace(scanner.Redact(scanner.StripFences(text))))
}

var marks = strings.NewReplacer("[m:", "[m.", "<conversation>", "<.conversation>", "</conversation>", "</.conversation>", "<session>", "<.session>", "</session>", "</.session>")

// told tells whether m is part of what happened, for a model to read.
func told(m transcript.Message) bool {
	return !m.OwnTrace && !m.Rewound && !m.OffPath && m.Kind == "" &&
		(m.Role == transcript.UserRole || m.Role == transcript.Assistant || m.Role == transcript.Tool)
}

// spoken tells whether m is a text by the user or the assistant, which is all
// that a flush or a review looks at.
func spoken(m transcript.Message) bool {
	return told(m) && m.Role != transcript.Tool && strings.TrimSpace(m.Content) != ""
}

// line is m as it is sent, text cut already. The mark is what a model cites.
func line(m transcript.Message, text string) string {
	who := string(m.Role)
	if m.Role == transcript.Tool && m.ToolName != "" {
		who = "output of " + clip(m.ToolName, 60)
	}
	return fmt.Sprintf("[m:%d] %s: %s\n", m.ID, who, text)
}

// words is the cleaned text of m with the calls that it makes.
func words(m transcript.Message) string {
	text := clean(m.Content)
	for _, c := range m.ToolCalls {
		text += "\n(calls " + c.Name + " " + clip(clean(string(c.Args)), 300) + ")"
	}
	return strings.TrimSpace(text)
}

// A piece is one message as it is sent.
type piece struct {
	id   int64
	text string
}

// around cuts a session to the messages nearest the matches, in order. Without
// a match it is the beginning.
func around(msgs []transcript.Message, matches []int64) []piece {
	var at []int
	for i, m := range msgs {
		if slices.Contains(matches, m.ID) {
			at = append(at, i)
		}
	}
	order := make([]int, len(msgs))
	distance := make([]int, len(msgs))
	for i := range msgs {
		order[i], distance[i] = i, i
		for n, j := range at {
			if d := max(i-j, j-i); n == 0 || d < distance[i] {
				distance[i] = d
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return distance[a] - distance[b] })
	left := focusChars
	taken := map[int]piece{}
	for _, i := range order {
		m := msgs[i]
		if !told(m) {
			continue
		}
		limit := saidChars
		switch {
		case distance[i] == 0 && len(at) > 0:
			limit = matchedChars
		case m.Role == transcript.Tool:
			limit = resultChars
		}
		text := clip(words(m), limit)
		if text == "" {
			continue
		}
		if left -= utf8.RuneCountInString(text) + 20; left < 0 {
			break
		}
		taken[i] = piece{m.ID, line(m, text)}
	}
	var out []piece
	for i := range msgs {
		if p, ok := taken[i]; ok {
			out = append(out, p)
		}
	}
	return out
}

// conversation is what was said, the newest nearly whole and what came before
// it in short, within proposeChars.
func conversation(msgs []transcript.Message) []piece {
	msgs = slices.DeleteFunc(slices.Clone(msgs), func(m transcript.Message) bool { return !spoken(m) })
	left := proposeChars
	var out []piece
	for i, m := range slices.Backward(msgs) {
		limit := recentChars
		if len(msgs)-i > recentTurns {
			if limit = olderOther; m.Role == transcript.UserRole {
				limit = olderUser
			}
		}
		text := clip(clean(m.Content), limit)
		if text == "" {
			continue // it held recalled memory only
		}
		if left -= utf8.RuneCountInString(text) + 20; left < 0 {
			break
		}
		out = append(out, piece{m.ID, line(m, text)})
	}
	slices.Reverse(out)
	return out
}

// join is the pieces as one text, and their ids.
func join(pieces []piece) (text string, ids map[int64]bool) {
	var b strings.Builder
	ids = make(map[int64]bool, len(pieces))
	for _, p := range pieces {
		b.WriteString(p.text)
		ids[p.id] = true
	}
	return b.String(), ids
}
