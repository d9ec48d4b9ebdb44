// Package configfile changes single entries in the configuration files that
// people write: JSON with comments, TOML and YAML.
//
// A file is edited as text. Only the bytes of the entry change, so comments,
// unknown keys, order and indentation stay; what the edit gives is parsed and
// compared with what was meant before anything is written. The old bytes are
// kept beside the file. What was read is compared with what is there just
// before the new file takes its place, and read once more when it is not the
// same. A file that does not parse, holds another shape than expected, or was
// made read-only by its owner is refused and left alone.
package configfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// ErrShape is returned when a file holds something else where an object or a
// list must be, or holds the entry in a notation that is not edited.
var ErrShape = errors.New("unexpected shape")

// A Document is the text of a file in one format. It is not safe for
// concurrent use.
type Document interface {
	// Text is the whole text as edited so far.
	Text() []byte
	// Lookup returns the value at path, decoded as encoding/json would, and
	// nil where the path ends early. Errors: ErrShape.
	Lookup(path ...string) (any, error)
	// Set writes the fields of e at path. Where there is an entry already, its
	// other keys stay, and so do those that e sets only in a new one.
	// Errors: ErrShape.
	Set(e Entry, path ...string) error
	// Drop removes what is at path, and then what it leaves empty around it. It
	// tells whether there was anything. Errors: ErrShape.
	Drop(path ...string) (bool, error)
}

// A Format reads a Document; an empty text is an empty document.
type Format func(text []byte) (Document, error)

// The formats. Each one's error says where its parser gave up.
var (
	JSON Format = func(text []byte) (Document, error) { return document(ParseJSON(text)) }
	TOML Format = func(text []byte) (Document, error) { return document(parseTOML(text)) }
	YAML Format = func(text []byte) (Document, error) { return document(parseYAML(text)) }
)

// document keeps a nil pointer from becoming a Document.
func document[D Document](d D, err error) (Document, error) {
	if err != nil {
		return nil, err
	}
	return d, nil
}

// An Entry is an object whose keys are written in the order given.
type Entry []Field

// A Field of an Entry. Its value is a string, a bool, a []string or an Entry.
type Field struct {
	Key   string
	Value any
	Once  bool // written with a new entry only: afterwards it is the person's
}

// MarshalJSON keeps the order.
func (e Entry) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	for i, f := range e {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(encoded(f.Key) + ":" + encoded(f.Value))
	}
	return []byte("{" + b.String() + "}"), nil
}

// Snippet is e at path as the only content of a new file.
func Snippet(format Format, e Entry, path ...string) (string, error) {
	d, err := format(nil)
	if err != nil {
		return "", err
	}
	if err := d.Set(e, path...); err != nil {
		return "", err
	}
	return string(d.Text()), nil
}

// encoded is the JSON of a value that always has one, without HTML escapes. A
// string of it is a string of TOML and of YAML, too.
func encoded(v any) string { return indented(v, "", "") }

func indented(v any, prefix, indent string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if indent != "" {
		e.SetIndent(prefix, indent)
	}
	if err := e.Encode(v); err != nil {
		panic("configfile: " + err.Error()) // only plain values come here
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// flow is a value in one line, in a notation that TOML and YAML share.
func flow(v any) string {
	words, ok := v.([]string)
	if !ok {
		return encoded(v)
	}
	quoted := make([]string, 0, len(words))
	for _, w := range words {
		quoted = append(quoted, encoded(w))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// plain is v as a parser returns it.
func plain(v any) any {
	switch v := v.(type) {
	case Entry:
		m := map[string]any{}
		for _, f := range v {
			m[f.Key] = plain(f.Value)
		}
		return m
	case []string:
		list := make([]any, 0, len(v))
		for _, s := range v {
			list = append(list, s)
		}
		return list
	}
	return v
}

// lookup walks down the maps of a decoded file.
func lookup(root map[string]any, path []string) (any, error) {
	var at any = root
	for i, name := range path {
		m, ok := at.(map[string]any)
		if !ok {
			return nil, notObject(path[:i])
		}
		if at, ok = m[name]; !ok || at == nil {
			return nil, nil
		}
	}
	return at, nil
}

func notObject(path []string) error {
	return shape("%s is not an object", strings.Join(path, "."))
}

// missing are the fields of e that must be written where old is now.
func missing(e Entry, old map[string]any) Entry {
	return slices.DeleteFunc(slices.Clone(e), func(f Field) bool {
		now, there := old[f.Key]
		return there && (f.Once || reflect.DeepEqual(now, plain(f.Value)))
	})
}

// with is a decoded file as it must be after e was set; without, after the path
// was dropped. Neither changes root.
func with(root map[string]any, e Entry, path []string) map[string]any {
	root = maps.Clone(root)
	if root == nil {
		root = map[string]any{}
	}
	if len(path) == 0 {
		for _, f := range e {
			root[f.Key] = plain(f.Value)
		}
		return root
	}
	below, _ := root[path[0]].(map[string]any)
	root[path[0]] = with(below, e, path[1:])
	return root
}

func without(root map[string]any, path []string) map[string]any {
	root = maps.Clone(root)
	below, ok := root[path[0]].(map[string]any)
	if ok && len(path) > 1 {
		if below = without(below, path[1:]); len(below) > 0 {
			root[path[0]] = below
			return root
		}
	}
	delete(root, path[0])
	return root
}

// valueEnd returns where in a statement of the form KEY SEPARATOR VALUE the
// value ends: behind it there may be space and a comment. read decodes a
// statement and fails on half of one.
func valueEnd(statement string, read func(text string) (any, error)) (int, error) {
	want, err := read(statement)
	if err != nil {
		return 0, err
	}
	for end := range statement {
		if got, err := read(statement[:end]); err == nil && reflect.DeepEqual(got, want) {
			return end, nil
		}
	}
	return len(statement), nil
}

// lineEnds gives text the line ends of the file that it goes into.
func lineEnds(file []byte, text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if bytes.Contains(file, []byte("\r\n")) {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

func shape(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, ErrShape)...)
}
