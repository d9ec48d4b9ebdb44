package provider

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hermes-mcp/hermes-mcp/scanner"
)

// Characters that leave at most.
const (
	maxQuery = 2_000
	maxTurn  = 50_000 // of either side
	maxWords = 2_000  // of a system block
	maxError = 500    // of an error's own words
)

// outgoing is text as it may leave: without what was recalled, without
// secrets, and cut to limit characters, visibly.
func outgoing(text string, limit int) string {
	text = strings.TrimSpace(scanner.Redact(scanner.StripFences(text)))
	n := utf8.RuneCountInString(text)
	if n <= limit {
		return text
	}
	return fmt.Sprintf("%s\n[cut: %d more characters]", head(text, limit), n-limit)
}

// Outgoing is an entry of the built-in memory as a provider is told it: secrets
// masked, so that a comparison knows it again.
func Outgoing(entry string) string { return outgoing(entry, maxTurn) }

// head is the first n characters of s.
func head(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// lasting is text from a provider that stays in a prompt: "" when the scanner
// refuses it.
func lasting(text string) string {
	r := scanner.Inspect(scanner.StripFences(text), scanner.Strict)
	if r.Refused() {
		return ""
	}
	return strings.TrimSpace(head(scanner.Redact(r.Text), maxWords))
}

// Recalled is what a recall brings to a prompt.
type Recalled struct {
	Provider string
	Text     string   // dated, labelled and fenced; "" when there is nothing
	Count    int      // memories in Text
	Withheld []string // the scanner's rules that kept others out
	LeftOut  int      // memories that did not fit
	Skipped  string   // why the provider was not asked, "" when it was
}

// incoming makes a recall of memories: each is scanned on its own, and once
// more all together, since an order may be spread over several.
func incoming(name string, memories []Memory, limit int) Recalled {
	out := Recalled{Provider: name}
	seen := map[string]bool{}
	var b strings.Builder
	var together []string
	room := limit
	for _, m := range memories {
		line, rule := bullet(m)
		switch {
		case rule != "":
			out.Withheld = append(out.Withheld, rule)
		case line == "" || seen[line]:
		case utf8.RuneCountInString(line) > room && out.Count > 0:
			out.LeftOut++
		default:
			seen[line] = true
			together = append(together, m.Text)
			out.Count++
			if n := utf8.RuneCountInString(line); n > room {
				line = head(line, room) + fmt.Sprintf(" [cut: %d more characters]\n", n-room)
			}
			room -= utf8.RuneCountInString(line)
			b.WriteString(line)
		}
	}
	if found := scanner.Scan(strings.Join(together, " "), scanner.Context); len(found) > 0 {
		out.Withheld = append(out.Withheld, found[0].Rule)
		out.Count = 0
		return out
	}
	if out.Count > 0 {
		out.Text = scanner.Fence("Recalled by " + name + ":\n" + b.String())
	}
	return out
}

// bullet is one memory as a list item, or the rule that forbids it.
func bullet(m Memory) (line, rule string) {
	r := scanner.Inspect(scanner.StripFences(m.Text), scanner.Context)
	if r.Refused() {
		return "", r.Findings[0].Rule
	}
	label := scanner.Inspect(head(strings.Join(strings.Fields(scanner.StripFences(m.Label)), " "), 60), scanner.Context)
	if label.Refused() {
		return "", label.Findings[0].Rule
	}
	text := strings.TrimSpace(scanner.Redact(r.Text))
	if text == "" {
		return "", ""
	}
	var about []string
	if !m.At.IsZero() {
		about = append(about, m.At.UTC().Format("2006-01-02"))
	}
	if label.Text != "" {
		about = append(about, label.Text)
	}
	line = "- "
	if len(about) > 0 {
		line += "[" + strings.Join(about, ", ") + "] "
	}
	return line + strings.ReplaceAll(text, "\n", "\n  ") + "\n", ""
}
