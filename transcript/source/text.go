package source

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/hermes-mcp/hermes-mcp/scanner"
	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// A word is a string that some versions of an agent write as a number.
type word string

// UnmarshalJSON takes strings and numbers; everything else is "".
func (w *word) UnmarshalJSON(b []byte) error {
	*w = ""
	switch {
	case len(b) == 0:
	case b[0] == '"':
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*w = word(s)
	case b[0] == '-' || b[0] >= '0' && b[0] <= '9':
		*w = word(b)
	}
	return nil
}

// str returns the string that raw holds, or "".
func str(raw json.RawMessage) string {
	s, _ := unquote(raw) // "" for what is none
	return s
}

// args returns tool arguments as the record model wants them: JSON as it is, a
// string that holds an object unwrapped, anything else as a JSON string.
func args(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if raw[0] != '"' {
		return raw
	}
	s := str(raw)
	if t := strings.TrimSpace(s); strings.HasPrefix(t, "{") && validJSON([]byte(t)) {
		return json.RawMessage(t)
	}
	return raw
}

// A moment is a time as agents write it: RFC 3339 with or without zone, or a
// number of seconds, milliseconds or microseconds since 1970, told apart by size.
type moment struct{ time.Time }

// UnmarshalJSON never fails: what is no time is the zero time.
func (m *moment) UnmarshalJSON(b []byte) error {
	if s := str(b); s != "" {
		m.Time = parseTime(s)
	} else if f, err := strconv.ParseFloat(string(b), 64); err == nil {
		m.Time = epoch(f)
	}
	return nil
}

var timeLayouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999"}

// parseTime returns the time that s names, zero when it names none. A time
// without zone is taken as UTC.
func parseTime(s string) time.Time {
	s = strings.TrimRight(s, "+- ") // a zone that was cut off
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		return epoch(f)
	}
	return time.Time{}
}

// epoch returns the time f units after 1970; the unit follows from the size.
func epoch(f float64) time.Time {
	switch {
	case !(f > 0) || f > 9e18:
		return time.Time{}
	case f < 1e11:
		return time.UnixMicro(int64(f * 1e6)).UTC()
	case f < 1e14:
		return time.UnixMicro(int64(f * 1e3)).UTC()
	case f < 1e17:
		return time.UnixMicro(int64(f)).UTC()
	}
	return time.Unix(0, int64(f)).UTC()
}

// placeholder stands for binary content: its kind, type, and size when known.
func placeholder(kind, media string, size int) string {
	s := "[" + kind
	if media != "" {
		s += " " + media
	}
	switch {
	case size >= 1<<20:
		s += fmt.Sprintf(" %.1f MB", float64(size)/(1<<20))
	case size >= 1<<10:
		s += fmt.Sprintf(" %d kB", size>>10)
	case size > 0:
		s += fmt.Sprintf(" %d bytes", size)
	}
	return s + "]"
}

// base64Size returns how many bytes n characters of base64 stand for.
func base64Size(n int) int { return n * 3 / 4 }

// dataURL matches an inline file in running text.
var dataURL = regexp.MustCompile(`data:([a-zA-Z0-9.+-]+/[a-zA-Z0-9.+-]+);base64,([A-Za-z0-9+/=]{256,})`)

// clean makes a text fit to be stored: valid UTF-8, without NUL bytes, inline
// files replaced by their placeholder.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "")
	}
	if strings.Contains(s, ";base64,") {
		s = dataURL.ReplaceAllStringFunc(s, func(m string) string {
			p := dataURL.FindStringSubmatch(m)
			return placeholder("file", p[1], base64Size(len(p[2])))
		})
	}
	return s
}

// join joins the parts that are not empty by a blank line.
func join(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if strings.TrimSpace(p) != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "\n\n")
}

// snapshotHeader is how the curated memory begins where it was put into a
// prompt, ours or upstream's.
var snapshotHeader = regexp.MustCompile(`(?:MEMORY \(your personal notes\)|USER PROFILE \(who the user is\)) \[\d+% — `)

// isOwnText tells whether a text that an agent's hooks put into the context
// came from us.
func isOwnText(s string) bool {
	return snapshotHeader.MatchString(s) || strings.Contains(s, "<memory-context")
}

// isOwnTool tells whether a tool's results come from this server's memory or
// archive, under whatever name a client mounts it.
func isOwnTool(name string) bool {
	n := strings.ToLower(name)
	for _, t := range []string{"memory", "session_search", "memory_recall"} {
		if n == t {
			return t != "memory"
		}
		if server, ok := strings.CutSuffix(n, t); ok && strings.Contains(server, "hermes") {
			return strings.HasSuffix(server, "_") || strings.HasSuffix(server, ".") || strings.HasSuffix(server, "/") || strings.HasSuffix(server, "-")
		}
	}
	return false
}

// ownCommand is a command line that prints what is in the memory or archive.
var ownCommand = regexp.MustCompile(`(?:^|[\s"'/;&|(\\])hermes-mcp(?:\.exe)?\s+(?:-\S+\s+)*(?:search|show|sessions|memory|call|archive|review)\b`)

// isOwnCall tells whether what a call gives back comes out of the memory or
// archive: a tool of ours, our resources, or our command line.
func isOwnCall(c transcript.ToolCall) bool {
	if isOwnTool(c.Name) {
		return true
	}
	if len(c.Args) > 1<<16 {
		return false
	}
	args := string(c.Args)
	return strings.Contains(args, "hermes-mcp") && ownCommand.MatchString(args) ||
		strings.Contains(args, "hermes://") && strings.Contains(strings.ToLower(c.Name), "resource")
}

// ownMark stands before the name of a call that is our own, where calls wait
// for their result.
const ownMark = "!"

// noteCall remembers a call until its result comes.
func noteCall(waiting map[string]string, c transcript.ToolCall) {
	if c.ID == "" {
		return
	}
	if len(waiting) > maxTools {
		clear(waiting)
	}
	waiting[c.ID] = c.Name
	if isOwnCall(c) {
		waiting[c.ID] = ownMark + c.Name
	}
}

// callOf returns the name of the call that a result answers, "" when it is not
// known, and whether it is our own.
func callOf(waiting map[string]string, id string) (name string, own bool) {
	name = waiting[id]
	if rest, ok := strings.CutPrefix(name, ownMark); ok {
		return rest, true
	}
	return name, false
}

// unfence takes recalled text out of a message, so that it never becomes
// history a second time; what was taken out is kept in Extra.
func unfence(m *transcript.Message) {
	if !strings.Contains(m.Content, "memory-context") {
		return
	}
	stripped := scanner.StripFences(m.Content)
	if stripped == m.Content {
		return
	}
	m.Extra = extra(m.Extra, "recalled", m.Content)
	m.Content = stripped
}

// extra adds a key to an Extra object.
func extra(have json.RawMessage, key string, value any) json.RawMessage {
	all := map[string]any{}
	if len(have) > 0 {
		if err := json.Unmarshal(have, &all); err != nil {
			return have
		}
	}
	all[key] = value
	raw, err := json.Marshal(all)
	if err != nil {
		return have
	}
	return raw
}

// exitForms are the ways in which shells of several agents tell the status.
var exitForms = regexp.MustCompile(`(?:^|\n)(?:Exit code:? |Process exited with code |exit status |Command failed with exit code )(-?\d{1,5})\b`)

// exitOf returns the exit status that stands at the head of a tool's output, nil when none does.
func exitOf(output string) *int {
	head := output
	if len(head) > 400 {
		head = head[:400]
	}
	m := exitForms.FindStringSubmatch(head)
	if m == nil {
		return nil
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return nil
	}
	return &n
}
