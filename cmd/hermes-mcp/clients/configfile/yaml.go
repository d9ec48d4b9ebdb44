package configfile

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// A yamlDocument is a YAML file with one mapping in it.
type yamlDocument struct {
	text  []byte
	value map[string]any
	root  *yaml.Node // nil when the file holds nothing
}

func parseYAML(text []byte) (*yamlDocument, error) {
	d := &yamlDocument{text: text, value: map[string]any{}}
	in := yaml.NewDecoder(bytes.NewReader(text))
	var whole yaml.Node
	switch err := in.Decode(&whole); {
	case errors.Is(err, io.EOF):
		return d, nil
	case err != nil:
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := in.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, shape("more than one document")
	}
	if whole.Content[0].Tag == "!!null" {
		return d, nil
	}
	if whole.Content[0].Kind != yaml.MappingNode {
		return nil, shape("the file is not one mapping")
	}
	d.root = whole.Content[0]
	if err := d.root.Decode(&d.value); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	return d, nil
}

// Text is the whole text as edited so far.
func (d *yamlDocument) Text() []byte { return d.text }

// Lookup returns the value at path.
func (d *yamlDocument) Lookup(path ...string) (any, error) { return lookup(d.value, path) }

// child returns key and value of name in a mapping, nil when it is not there.
func child(m *yaml.Node, name string) (key, value *yaml.Node) {
	if m == nil || m.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == name {
			return m.Content[i], m.Content[i+1]
		}
	}
	return nil, nil
}

// Set writes the fields of e into the mapping at path.
func (d *yamlDocument) Set(e Entry, path ...string) error {
	old, err := d.Lookup(path...)
	if err != nil {
		return err
	}
	now, there := old.(map[string]any)
	if open, above, ok := d.inline(path); ok && (old == nil || there) {
		fields := missing(e, now)
		text, ok := yamlFlow.set(d.text, open, fields, path[len(above):])
		if !ok {
			return shape("%s is written in a way that is not edited", strings.Join(path, "."))
		}
		return d.become(text, with(d.value, fields, path))
	}
	if old == nil {
		return d.insert(e, path)
	}
	if !there {
		return notObject(path)
	}
	for _, f := range missing(e, now) {
		if err := d.setField(f, path); err != nil {
			return err
		}
	}
	return nil
}

// inline finds the object that path leads to or into, where it is written
// between braces: the first of them, and the path to it.
func (d *yamlDocument) inline(path []string) (open int, above []string, ok bool) {
	at := d.root
	for depth := 0; at != nil && at.Kind == yaml.MappingNode; depth++ {
		if at.Style&yaml.FlowStyle != 0 {
			open = d.offset(at.Line)
			for range at.Column - 1 {
				_, size := utf8.DecodeRune(d.text[open:])
				open += size
			}
			return open, path[:depth], true
		}
		if depth == len(path) {
			break
		}
		_, at = child(at, path[depth])
	}
	return 0, nil, false
}

// insert writes a new entry directly below the key that it belongs to: there
// it can part nothing, whatever follows.
func (d *yamlDocument) insert(e Entry, path []string) error {
	at, margin, line := d.root, "", -1
	depth := 0
	for ; depth < len(path)-1; depth++ {
		key, value := child(at, path[depth])
		if key == nil {
			break
		}
		if value.Kind == yaml.AliasNode || value.Style&yaml.FlowStyle != 0 || value.Tag == "!!null" && value.Value != "" {
			return shape("%s is not written as a block", strings.Join(path[:depth+1], "."))
		}
		margin = strings.Repeat(" ", key.Column-1) + d.step()
		if value.Kind == yaml.MappingNode && len(value.Content) > 0 {
			margin = strings.Repeat(" ", value.Content[0].Column-1)
		}
		at, line = value, key.Line
	}
	text := ""
	for ; depth < len(path); depth++ {
		text += margin + path[depth] + ":\n"
		margin += d.step()
	}
	text += block(e, margin, d.step())
	offset := len(d.text)
	if line >= 0 {
		offset = d.offset(line + 1)
	}
	if offset > 0 && d.text[offset-1] != '\n' {
		text = "\n" + text
	}
	return d.splice(offset, offset, text, with(d.value, e, path))
}

// block renders e, each field on a line of its own.
func block(e Entry, margin, step string) string {
	var b strings.Builder
	for _, f := range e {
		if below, ok := f.Value.(Entry); ok {
			b.WriteString(margin + f.Key + ":\n" + block(below, margin+step, step))
			continue
		}
		b.WriteString(margin + f.Key + ": " + flow(f.Value) + "\n")
	}
	return b.String()
}

// setField writes one field into a mapping that is there.
func (d *yamlDocument) setField(f Field, path []string) error {
	key, at := d.find(path)
	if at == nil || at.Kind != yaml.MappingNode || at.Style&yaml.FlowStyle != 0 || len(at.Content) == 0 {
		return shape("%s is not written as a block", strings.Join(path, "."))
	}
	margin := strings.Repeat(" ", at.Content[0].Column-1)
	want := with(d.value, Entry{f}, path)
	field, _ := child(at, f.Key)
	if field == nil {
		offset := d.offset(key.Line + 1)
		return d.splice(offset, offset, block(Entry{f}, margin, d.step()), want)
	}
	from, to := d.offset(field.Line), d.blockEnd(field)
	whole := string(d.text[from:to])
	end, err := valueEnd(whole, func(text string) (any, error) {
		var read any
		err := yaml.Unmarshal([]byte(text), &read)
		return read, err
	})
	if err != nil {
		return err
	}
	text := strings.TrimSuffix(block(Entry{f}, margin, d.step()), "\n")
	return d.splice(from, from+end, text, want)
}

// find returns the key and the value at path.
func (d *yamlDocument) find(path []string) (key, value *yaml.Node) {
	value = d.root
	for _, name := range path {
		if key, value = child(value, name); key == nil {
			return nil, nil
		}
	}
	return key, value
}

// Drop removes the mapping at path, and then the mappings on the way that are
// left empty.
func (d *yamlDocument) Drop(path ...string) (bool, error) {
	if old, err := d.Lookup(path...); err != nil || old == nil {
		return false, err
	}
	want := without(d.value, path)
	if open, above, ok := d.inline(path); ok && len(above) < len(path) {
		text, left, ok := yamlFlow.drop(d.text, open, path[len(above):])
		if !ok {
			return false, shape("%s is written in a way that is not edited", strings.Join(path, "."))
		}
		if left || len(above) == 0 {
			return true, d.become(text, want)
		}
		path = above // nothing is left in it
	}
	for len(path) > 1 {
		if _, above := d.find(path[:len(path)-1]); len(above.Content) > 2 {
			break
		}
		path = path[:len(path)-1]
	}
	key, _ := d.find(path)
	from := d.offset(key.Line)
	if len(bytes.TrimSpace(d.text[from:from+key.Column-1])) > 0 {
		return false, shape("%s is not written as a block", strings.Join(path, "."))
	}
	return true, d.splice(from, d.blockEnd(key), "", want)
}

// offset is where a line begins, counted from 1.
func (d *yamlDocument) offset(line int) int {
	at := 0
	for n := 1; n < line; n++ {
		at = d.nextLine(at)
	}
	return at
}

// nextLine is where the line after that of at begins. YAML knows more ends of
// lines than most.
func (d *yamlDocument) nextLine(at int) int {
	n := bytes.IndexAny(d.text[at:], "\n\r\u0085\u2028\u2029")
	if n < 0 {
		return len(d.text)
	}
	at += n
	if bytes.HasPrefix(d.text[at:], []byte("\r\n")) {
		return at + 2
	}
	_, size := utf8.DecodeRune(d.text[at:])
	return at + size
}

// blockEnd is where the lines of key and its value end: before the first line
// that stands no deeper. A list may stand as deep as its key.
func (d *yamlDocument) blockEnd(key *yaml.Node) int {
	end := d.offset(key.Line + 1)
	for at := end; at < len(d.text); {
		next := d.nextLine(at)
		line := bytes.TrimRight(d.text[at:next], "\r\n")
		body := bytes.TrimLeft(line, " ")
		depth := len(line) - len(body)
		if len(body) > 0 && depth < key.Column && !(depth == key.Column-1 && bytes.HasPrefix(body, []byte("- "))) {
			break
		}
		if at = next; len(body) > 0 {
			end = next
		}
	}
	return end
}

// step is one step of the file's own indentation, two spaces when it has none.
func (d *yamlDocument) step() string {
	if d.root != nil {
		for i := 1; i < len(d.root.Content); i += 2 {
			v := d.root.Content[i]
			if v.Kind == yaml.MappingNode && v.Style&yaml.FlowStyle == 0 && len(v.Content) > 0 && v.Content[0].Column > 1 {
				return strings.Repeat(" ", v.Content[0].Column-1)
			}
		}
	}
	return "  "
}

// splice replaces text[from:to]; see become.
func (d *yamlDocument) splice(from, to int, text string, want map[string]any) error {
	return d.become(slices.Concat(d.text[:from], []byte(lineEnds(d.text, text)), d.text[to:]), want)
}

// become takes text for the new text when it says exactly what is wanted.
func (d *yamlDocument) become(text []byte, want map[string]any) error {
	next, err := parseYAML(text)
	if err != nil {
		return shape("an edit would break the file (%v)", err)
	}
	if !reflect.DeepEqual(next.value, want) {
		return shape("an edit would change more than its own entry")
	}
	*d = *next
	return nil
}
