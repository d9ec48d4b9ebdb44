package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/hermes-mcp/hermes-mcp/transcript/plain"
)

// arguments are those of one call, taken as meant. The first one that cannot
// be taken is told by wrong; what was changed by adjusted.
type arguments struct {
	raw      map[string]json.RawMessage
	adjusted []string
	wrong    string
}

// parseArguments reads an object, or the text of one.
func parseArguments(req mcp.CallToolRequest) *arguments {
	raw := bytes.TrimSpace(req.Params.RawArguments)
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = []byte(text)
	}
	return objectArguments(raw)
}

func objectArguments(raw []byte) *arguments {
	a := &arguments{}
	if len(bytes.TrimSpace(raw)) == 0 || string(raw) == "null" {
		return a
	}
	if err := json.Unmarshal(raw, &a.raw); err != nil {
		a.refuse("the arguments must be a JSON object")
	}
	return a
}

func (a *arguments) refuse(format string, args ...any) {
	if a.wrong == "" {
		a.wrong = fmt.Sprintf(format, args...)
	}
}

// get returns the first of names that is given and not null.
func (a *arguments) get(names ...string) (name string, raw json.RawMessage) {
	for _, n := range names {
		if r := a.raw[n]; len(r) > 0 && string(r) != "null" {
			return n, r
		}
	}
	return names[0], nil
}

// text returns the first of names as text; a number or a flag is its own text.
func (a *arguments) text(names ...string) string {
	name, raw := a.get(names...)
	if raw == nil {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	if raw[0] == '{' || raw[0] == '[' {
		a.refuse("%s must be text", name)
		return ""
	}
	return string(raw)
}

// word returns a text that is one of some words: trimmed, in lower case.
func (a *arguments) word(names ...string) string {
	return strings.ToLower(strings.TrimSpace(a.text(names...)))
}

// number returns a whole number between least and most, def when not given.
func (a *arguments) number(name string, def, least, most int) int {
	s := strings.TrimSpace(a.text(name))
	if s == "" {
		return def
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(f, 0) || math.IsNaN(f) {
		a.refuse("%s must be a number, not %q", name, plain.Clip(s, 40))
		return def
	}
	n := int(max(float64(least), min(float64(most), math.Trunc(f))))
	if f < float64(least) || f > float64(most) {
		a.adjusted = append(a.adjusted, fmt.Sprintf("%s %s is out of %d to %d: %d was used", name, plain.Clip(s, 20), least, most, n))
	}
	return n
}

// flag returns a yes or no, false when not given.
func (a *arguments) flag(name string) bool {
	switch s := a.word(name); s {
	case "", "false", "no", "0", "off":
		return false
	case "true", "yes", "1", "on":
		return true
	default:
		a.refuse("%s must be true or false, not %q", name, plain.Clip(s, 40))
		return false
	}
}

// list returns the words of a comma-separated text, or of a JSON array.
func (a *arguments) list(name string) []string {
	_, raw := a.get(name)
	var items []string
	if json.Unmarshal(raw, &items) != nil {
		items = strings.Split(a.text(name), ",")
	}
	var words []string
	for _, w := range items {
		if w = strings.TrimSpace(w); w != "" {
			words = append(words, w)
		}
	}
	return words
}

// objects returns the objects of a JSON array, of the text of one, or a lone
// object.
func (a *arguments) objects(name string) []*arguments {
	_, raw := a.get(name)
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
		a.refuse("%s must be a list of objects", name)
	}
	var all []*arguments
	for _, item := range items {
		o := objectArguments(item)
		if o.raw == nil {
			a.refuse("%s must be a list of objects", name)
		}
		all = append(all, o)
	}
	return all
}
