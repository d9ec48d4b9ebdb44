package configfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// A JSONDocument is a JSON file with comments. hujson is used for what
// encoding/json cannot tell: where in the bytes each value stands.
type JSONDocument struct {
	text []byte
	root hujson.Value
}

// ParseJSON reads a document of JSON with comments and trailing commas.
func ParseJSON(text []byte) (*JSONDocument, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	root, err := hujson.Parse(text)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	if _, ok := root.Value.(*hujson.Object); !ok {
		return nil, shape("the file is not one JSON object")
	}
	return &JSONDocument{text: text, root: root}, nil
}

// member returns the place of name in o, or -1. Of duplicates the last counts,
// as in every JSON reader.
func member(o *hujson.Object, name string) int {
	for i := len(o.Members) - 1; i >= 0; i-- {
		if l, ok := o.Members[i].Name.Value.(hujson.Literal); ok && l.String() == name {
			return i
		}
	}
	return -1
}

// get walks down objects and returns nil where the path ends early.
func (d *JSONDocument) get(path ...string) (*hujson.Value, error) {
	at := &d.root
	for i, name := range path {
		o, ok := at.Value.(*hujson.Object)
		if !ok {
			return nil, notObject(path[:i])
		}
		j := member(o, name)
		if j < 0 {
			return nil, nil
		}
		at = &o.Members[j].Value
	}
	return at, nil
}

// Text is the whole text as edited so far.
func (d *JSONDocument) Text() []byte { return d.text }

// Lookup returns the value at path.
func (d *JSONDocument) Lookup(path ...string) (any, error) {
	at, err := d.get(path...)
	if err != nil || at == nil {
		return nil, err
	}
	v := at.Clone()
	v.Standardize()
	var out any
	if err := json.Unmarshal(v.Pack(), &out); err != nil {
		return nil, shape("%s: %v", strings.Join(path, "."), err)
	}
	return out, nil
}

// Set writes the fields of e at path.
func (d *JSONDocument) Set(e Entry, path ...string) error {
	old, err := d.Lookup(path...)
	if err != nil {
		return err
	}
	now, ok := old.(map[string]any)
	if !ok {
		return d.set(e, path...)
	}
	for _, f := range missing(e, now) {
		if err := d.set(f.Value, append(slices.Clone(path), f.Key)...); err != nil {
			return err
		}
	}
	return nil
}

// set puts value at path, making the objects on the way.
func (d *JSONDocument) set(value any, path ...string) error {
	for depth := range path {
		parent, err := d.get(path[:depth]...)
		if err != nil {
			return err
		}
		o, ok := parent.Value.(*hujson.Object)
		if !ok {
			return notObject(path[:depth])
		}
		i := member(o, path[depth])
		if i >= 0 && depth < len(path)-1 {
			continue
		}
		for k := len(path) - 1; k > depth; k-- {
			value = map[string]any{path[k]: value}
		}
		if i >= 0 {
			old := o.Members[i].Value
			return d.splice(old.StartOffset, old.EndOffset, d.render(value, d.margin(old.StartOffset)))
		}
		end := 0
		if n := len(o.Members); n > 0 {
			end = o.Members[n-1].Value.EndOffset
		}
		return d.insert(parent, end, indented(path[depth], "", "")+": ", value)
	}
	return nil
}

// Add appends value to the list at path, making it when it is not there.
func (d *JSONDocument) Add(value any, path ...string) error {
	at, err := d.get(path...)
	if err != nil {
		return err
	}
	if at == nil {
		return d.set([]any{value}, path...)
	}
	list, ok := at.Value.(*hujson.Array)
	if !ok {
		return shape("%s is not a list", strings.Join(path, "."))
	}
	end := 0
	if n := len(list.Elements); n > 0 {
		end = list.Elements[n-1].EndOffset
	}
	return d.insert(at, end, "", value)
}

// insert puts value behind the last item of the object or list at; that item's
// value ends at last, which is 0 when there is none. A comment behind the last
// item stays with it, and a comma behind it means that ours gets one too.
func (d *JSONDocument) insert(at *hujson.Value, last int, label string, value any) error {
	closing := at.EndOffset - 1
	trailing := last > 0 && commaIn(string(d.text[last:closing])) >= 0
	if last > 0 && !bytes.Contains(d.text[at.StartOffset:at.EndOffset], []byte("\n")) {
		if trailing {
			return d.splice(closing, closing, " "+label+indented(value, "", "")+",")
		}
		return d.splice(last, last, ", "+label+indented(value, "", ""))
	}
	margin := d.margin(at.StartOffset)
	inner := margin + d.indent()
	text := "\n" + inner + label + d.render(value, inner)
	if trailing {
		text += ","
	}
	// Behind the comments that follow the last item, before the space that
	// leads to the closing brace.
	end := closing
	for end > at.StartOffset+1 && isSpace(d.text[end-1]) {
		end--
	}
	if !bytes.Contains(d.text[end:closing], []byte("\n")) {
		text += "\n" + margin
	}
	if last == 0 || trailing {
		return d.splice(end, end, text)
	}
	return d.splice(last, end, ","+string(d.text[last:end])+text)
}

// remove takes the i-th item out of the object or list at: spans holds each
// item's first byte (of its name) and the end of its value.
func (d *JSONDocument) remove(at *hujson.Value, spans [][2]int, i int) error {
	start, end := spans[i][0], spans[i][1]
	for start > at.StartOffset+1 && isSpace(d.text[start-1]) {
		start--
	}
	rest := string(d.text[end:d.nextAfter(at, spans, i)])
	comma := commaIn(rest)
	switch {
	case comma >= 0:
		rest = rest[:comma] + rest[comma+1:]
	case i > 0: // the last item: the comma of the one before goes too
		from := spans[i-1][1]
		before := string(d.text[from:start])
		if comma = commaIn(before); comma >= 0 {
			rest, start = before[:comma]+before[comma+1:]+rest, from
		}
	}
	if len(spans) == 1 && strings.TrimSpace(rest) == "" && len(bytes.TrimSpace(d.text[at.StartOffset+1:start])) == 0 {
		return d.splice(at.StartOffset+1, at.EndOffset-1, "")
	}
	return d.splice(start, end+len(string(d.text[end:d.nextAfter(at, spans, i)])), rest)
}

// nextAfter is where the stretch behind item i ends: at the next item's own
// space, or at the closing brace.
func (d *JSONDocument) nextAfter(at *hujson.Value, spans [][2]int, i int) int {
	if i+1 == len(spans) {
		return at.EndOffset - 1
	}
	from := spans[i][1]
	return from + commaIn(string(d.text[from:spans[i+1][0]])) + 1
}

// commaIn returns the place of the first comma outside comments, or -1. The
// text between two values holds nothing but space, comments and one comma.
func commaIn(text string) int {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == ',':
			return i
		case strings.HasPrefix(text[i:], "//"):
			n := strings.IndexByte(text[i:], '\n')
			if n < 0 {
				return -1
			}
			i += n
		case strings.HasPrefix(text[i:], "/*"):
			n := strings.Index(text[i+2:], "*/")
			if n < 0 {
				return -1
			}
			i += n + 3
		}
	}
	return -1
}

// Drop removes the member at path, and then the objects on the way that are
// empty. It tells whether there was one.
func (d *JSONDocument) Drop(path ...string) (bool, error) {
	dropped := false
	for depth := len(path); depth > 0; depth-- {
		parent, err := d.get(path[:depth-1]...)
		if err != nil || parent == nil {
			return dropped, err
		}
		o, ok := parent.Value.(*hujson.Object)
		if !ok {
			return dropped, nil
		}
		i := member(o, path[depth-1])
		if i < 0 || (dropped && !isEmpty(o.Members[i].Value)) {
			return dropped, nil
		}
		spans := make([][2]int, 0, len(o.Members))
		for _, m := range o.Members {
			spans = append(spans, [2]int{m.Name.StartOffset, m.Value.EndOffset})
		}
		if err := d.remove(parent, spans, i); err != nil {
			return dropped, err
		}
		dropped = true
	}
	return dropped, nil
}

// Empty tells whether there is an object or list with nothing in it, not even a
// comment, at path.
func (d *JSONDocument) Empty(path ...string) bool {
	at, err := d.get(path...)
	return err == nil && at != nil && isEmpty(*at)
}

func isEmpty(v hujson.Value) bool {
	switch c := v.Value.(type) {
	case *hujson.Object:
		return len(c.Members) == 0 && len(bytes.TrimSpace(c.AfterExtra)) == 0
	case *hujson.Array:
		return len(c.Elements) == 0 && len(bytes.TrimSpace(c.AfterExtra)) == 0
	}
	return false
}

// DropElement removes the i-th element of the list at path. Errors: ErrShape.
func (d *JSONDocument) DropElement(i int, path ...string) error {
	at, err := d.get(path...)
	if err != nil {
		return err
	}
	return d.dropFrom(at, i, path)
}

// DropNested removes the i-th element of the list named list in the n-th
// element of the list at path. Errors: ErrShape.
func (d *JSONDocument) DropNested(n int, list string, i int, path ...string) error {
	at, err := d.get(path...)
	if err != nil {
		return err
	}
	outer, ok := at.Value.(*hujson.Array)
	if !ok || n >= len(outer.Elements) {
		return shape("%s is not a list of %d", strings.Join(path, "."), n+1)
	}
	o, ok := outer.Elements[n].Value.(*hujson.Object)
	if !ok || member(o, list) < 0 {
		return shape("%s has no list %s", strings.Join(path, "."), list)
	}
	return d.dropFrom(&o.Members[member(o, list)].Value, i, append(slices.Clone(path), list))
}

func (d *JSONDocument) dropFrom(at *hujson.Value, i int, path []string) error {
	list, ok := at.Value.(*hujson.Array)
	if !ok || i >= len(list.Elements) {
		return shape("%s is not a list of %d", strings.Join(path, "."), i+1)
	}
	return d.remove(at, elementSpans(list), i)
}

func elementSpans(list *hujson.Array) [][2]int {
	spans := make([][2]int, 0, len(list.Elements))
	for _, e := range list.Elements {
		spans = append(spans, [2]int{e.StartOffset, e.EndOffset})
	}
	return spans
}

// splice replaces text[from:to] and parses the result: an edit that would break
// the file is found here, not by the client.
func (d *JSONDocument) splice(from, to int, text string) error {
	next, err := ParseJSON(slices.Concat(d.text[:from], []byte(lineEnds(d.text, text)), d.text[to:]))
	if err != nil {
		return fmt.Errorf("edit gives no JSON: %w", err)
	}
	*d = *next
	return nil
}

// margin is the space at the beginning of the line that offset is on.
func (d *JSONDocument) margin(offset int) string {
	line := d.text[bytes.LastIndexByte(d.text[:offset], '\n')+1:]
	n := 0
	for n < len(line) && (line[n] == ' ' || line[n] == '\t') {
		n++
	}
	return string(line[:n])
}

// indent is one step of the file's own indentation, two spaces when it has none.
func (d *JSONDocument) indent() string {
	for line := range bytes.Lines(d.text) {
		trimmed := bytes.TrimLeft(line, " \t")
		if len(trimmed) < len(line) && len(trimmed) > 1 && trimmed[0] == '"' {
			return string(line[:len(line)-len(trimmed)])
		}
	}
	return "  "
}

func (d *JSONDocument) render(value any, margin string) string {
	return indented(value, margin, d.indent())
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
