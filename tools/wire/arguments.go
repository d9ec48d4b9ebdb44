package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/hermes-mcp/hermes-mcp/transcript/plain"
)

// Arguments are those of one call, taken as meant. Not safe for concurrent use.
type Arguments struct {
	Raw      map[string]json.RawMessage // by name
	Adjusted []string                   // what was changed, in words
	Wrong    string                     // what cannot be taken, in words; "" when all can

	known map[string]bool // the names that were asked for
}

// Parse reads an object, or the text of one.
func Parse(req mcp.CallToolRequest) *Arguments {
	raw := bytes.TrimSpace(req.Params.RawArguments)
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = []byte(text)
	}
	return object(raw)
}

func object(raw []byte) *Arguments {
	a := &Arguments{}
	if len(bytes.TrimSpace(raw)) == 0 || string(raw) == "null" {
		return a
	}
	if err := json.Unmarshal(raw, &a.Raw); err != nil {
		a.Refuse("the arguments must be a JSON object")
	}
	return a
}

// Refuse notes what is wrong, of several the first.
func (a *Arguments) Refuse(format string, args ...any) {
	if a.Wrong == "" {
		a.Wrong = fmt.Sprintf(format, args...)
	}
}

// Get returns the first of names that is given and not null.
func (a *Arguments) Get(names ...string) (name string, raw json.RawMessage) {
	if a.known == nil {
		a.known = map[string]bool{}
	}
	for _, n := range names {
		a.known[n] = true
	}
	for _, n := range names {
		if r := a.Raw[n]; len(r) > 0 && string(r) != "null" {
			return n, r
		}
	}
	return names[0], nil
}

// Strange says, in a sentence, which arguments were given and not asked for: a
// name that is misspelt must not look as if it had been understood. "" when
// there are none.
func (a *Arguments) Strange() string {
	const most = 3
	var names []string
	for name := range a.Raw {
		if !a.known[name] {
			names = append(names, strconv.Quote(plain.Clip(name, 40)))
		}
	}
	slices.Sort(names)
	switch n := len(names); {
	case n == 0:
		return ""
	case n == 1:
		return "There is no argument " + names[0] + ": it was not used."
	case n > most:
		names = append(names[:most], "others")
	}
	return "There are no arguments " + strings.Join(names, ", ") + ": they were not used."
}

// Text returns the first of names as text; a number or a flag is its own text.
func (a *Arguments) Text(names ...string) string {
	name, raw := a.Get(names...)
	if raw == nil {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	if raw[0] == '{' || raw[0] == '[' {
		a.Refuse("%s must be text", name)
		return ""
	}
	return string(raw)
}

// Word returns a text that is one of some words: trimmed, in lower case.
func (a *Arguments) Word(names ...string) string {
	return strings.ToLower(strings.TrimSpace(a.Text(names...)))
}

// Number returns a whole number between least and most, def when not given.
func (a *Arguments) Number(name string, def, least, most int) int {
	s := strings.TrimSpace(a.Text(name))
	if s == "" {
		return def
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(f, 0) || math.IsNaN(f) {
		a.Refuse("%s must be a number, not %q", name, plain.Clip(s, 40))
		return def
	}
	n := int(max(float64(least), min(float64(most), math.Trunc(f))))
	if f < float64(least) || f > float64(most) {
		a.Adjusted = append(a.Adjusted, fmt.Sprintf("%s %s is out of %d to %d: %d was used", name, plain.Clip(s, 20), least, most, n))
	}
	return n
}

// Flag returns a yes or no, false when not given.
func (a *Arguments) Flag(name string) bool {
	switch s := a.Word(name); s {
	case "", "false", "no", "0", "off":
		return false
	case "true", "yes", "1", "on":
		return true
	default:
		a.Refuse("%s must be true or false, not %q", name, plain.Clip(s, 40))
		return false
	}
}

// List returns the words of a comma-separated text, or of a JSON array.
func (a *Arguments) List(name string) []string {
	_, raw := a.Get(name)
	var items []string
	if json.Unmarshal(raw, &items) != nil {
		items = strings.Split(a.Text(name), ",")
	}
	var words []string
	for _, w := range items {
		if w = strings.TrimSpace(w); w != "" {
			words = append(words, w)
		}
	}
	return words
}

// Objects returns the objects of a JSON array, of the text of one, or a lone
// object.
func (a *Arguments) Objects(name string) []*Arguments {
	_, raw := a.Get(name)
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = []byte(text)
	}
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return nil
	}
	if raw[0] == '{' {
		raw = fmt.Appendf(nil, "[%s]", raw)
	}
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		a.Refuse("%s must be a list of objects", name)
	}
	var all []*Arguments
	for _, item := range items {
		o := object(item)
		if o.Raw == nil {
			a.Refuse("%s must be a list of objects", name)
		}
		all = append(all, o)
	}
	return all
}
