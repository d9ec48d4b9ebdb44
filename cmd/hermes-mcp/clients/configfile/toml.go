package configfile

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// A tomlDocument is a TOML file. The parser is used to verify; it does not say
// where things stand, so statements are told apart by giving it more and more
// lines until they parse.
type tomlDocument struct {
	text  []byte
	value map[string]any
}

func parseTOML(text []byte) (*tomlDocument, error) {
	d := &tomlDocument{text: text, value: map[string]any{}}
	if err := toml.Unmarshal(text, &d.value); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "toml: "))
	}
	return d, nil
}

// Text is the whole text as edited so far.
func (d *tomlDocument) Text() []byte { return d.text }

// Lookup returns the value at path.
func (d *tomlDocument) Lookup(path ...string) (any, error) { return lookup(d.value, path) }

// A statement of a TOML file: a header, a key with its value, or a line of
// space or comment.
type statement struct {
	start, end int      // in bytes, line end included
	header     []string // of a table or of a list of tables
	key        string   // of a value, "" when it is dotted
	value      any
}

func (d *tomlDocument) statements() ([]statement, error) {
	var out []statement
	lines := slices.Collect(bytes.Lines(d.text))
	for i, start := 0, 0; i < len(lines); {
		s, n := statement{start: start}, 1
		text := string(lines[i])
		read := map[string]any{}
		for err := toml.Unmarshal([]byte(text), &read); err != nil; err = toml.Unmarshal([]byte(text), &read) {
			if i+n == len(lines) {
				return nil, shape("the statement %.40q", text)
			}
			text += string(lines[i+n])
			n++
			read = map[string]any{}
		}
		s.end = start + len(text)
		switch first := strings.TrimSpace(text); {
		case first == "" || first[0] == '#':
		case first[0] == '[':
			s.header = headerOf(read)
		default:
			for key, value := range read {
				if _, dotted := value.(map[string]any); !dotted || strings.Contains(text, "{") {
					s.key, s.value = key, value
				}
			}
		}
		out = append(out, s)
		i, start = i+n, s.end
	}
	return out, nil
}

// headerOf walks down what a header alone decodes to.
func headerOf(read map[string]any) []string {
	var path []string
	for len(read) == 1 {
		for key, below := range read {
			path = append(path, key)
			read, _ = below.(map[string]any)
		}
	}
	return path
}

// Set writes the fields of e into the table named path.
func (d *tomlDocument) Set(e Entry, path ...string) error {
	old, err := d.Lookup(path...)
	if err != nil {
		return err
	}
	now, there := old.(map[string]any)
	if in, ok := d.inline(path); ok && (old == nil || there) {
		return d.setInline(in, missing(e, now), path)
	}
	if old == nil {
		return d.become(slices.Concat(d.text, []byte(lineEnds(d.text, d.table(e, path)))), with(d.value, e, path))
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

// An inlined object is the value of one statement.
type inlined struct {
	statement
	open int      // its brace
	rest []string // of the path, below it
}

// inline finds the object that path leads to or into, where it is written as
// the value of one statement.
func (d *tomlDocument) inline(path []string) (inlined, bool) {
	if d.value[path[0]] == nil || bytes.IndexByte(d.text, '{') < 0 {
		return inlined{}, false
	}
	all, err := d.statements()
	if err != nil {
		return inlined{}, false // what is edited otherwise is verified, too
	}
	var above []string
	for _, s := range all {
		if s.header != nil {
			above = s.header
		}
		full := append(slices.Clone(above), s.key)
		if _, object := s.value.(map[string]any); !object || len(full) > len(path) || !slices.Equal(full, path[:len(full)]) {
			continue
		}
		open := s.start + bytes.IndexByte(d.text[s.start:s.end], '=') + 1
		for open < s.end && isSpace(d.text[open]) {
			open++
		}
		return inlined{s, open, path[len(full):]}, open < s.end && d.text[open] == '{'
	}
	return inlined{}, false
}

func (d *tomlDocument) setInline(in inlined, e Entry, path []string) error {
	if len(e) == 0 {
		return nil
	}
	text, ok := tomlInline.set(d.text, in.open, e, in.rest)
	if !ok {
		return shape("%s is written in a way that is not edited", strings.Join(path, "."))
	}
	return d.become(text, with(d.value, e, path))
}

// table is a new table for the end of the file.
func (d *tomlDocument) table(e Entry, path []string) string {
	var b strings.Builder
	if len(d.text) > 0 {
		if !bytes.HasSuffix(d.text, []byte("\n")) {
			b.WriteByte('\n')
		}
		b.WriteByte('\n')
	}
	b.WriteString("[" + strings.Join(path, ".") + "]\n")
	for _, f := range e {
		b.WriteString(f.Key + " = " + flow(f.Value) + "\n")
	}
	return b.String()
}

// setField writes one field into a table that is there.
func (d *tomlDocument) setField(f Field, path []string) error {
	all, err := d.statements()
	if err != nil {
		return err
	}
	head := slices.IndexFunc(all, func(s statement) bool { return slices.Equal(s.header, path) })
	if head < 0 {
		return shape("%s is not written as a table [%s]", strings.Join(path, "."), strings.Join(path, "."))
	}
	from, to, text := all[head].end, all[head].end, f.Key+" = "+flow(f.Value)+"\n"
	if from == len(d.text) && !bytes.HasSuffix(d.text, []byte("\n")) {
		text = "\n" + text
	}
	for _, s := range all[head+1:] {
		if s.header != nil {
			break
		}
		if s.key != f.Key {
			continue
		}
		whole := string(d.text[s.start:s.end])
		end, err := valueEnd(whole, func(text string) (any, error) {
			read := map[string]any{}
			err := toml.Unmarshal([]byte(text), &read)
			return read, err
		})
		if err != nil {
			return err
		}
		from, to = s.start+strings.IndexByte(whole, '=')+1, s.start+end
		text = " " + flow(f.Value)
		break
	}
	return d.become(slices.Concat(d.text[:from], []byte(lineEnds(d.text, text)), d.text[to:]), with(d.value, Entry{f}, path))
}

// Drop removes the table at path and those below it.
func (d *tomlDocument) Drop(path ...string) (bool, error) {
	if old, err := d.Lookup(path...); err != nil || old == nil {
		return false, err
	}
	all, err := d.statements()
	if err != nil {
		return false, err
	}
	want := without(d.value, path)
	if above := path[:len(path)-1]; slices.ContainsFunc(all, func(s statement) bool { return len(above) > 0 && slices.Equal(s.header, above) }) {
		want = with(want, nil, above) // a header of its own stays
	}
	if in, ok := d.inline(path); ok {
		return true, d.dropInline(in, want, path)
	}
	text := d.text
	for i := len(all) - 1; i >= 0; i-- {
		if len(all[i].header) < len(path) || !slices.Equal(all[i].header[:len(path)], path) {
			continue
		}
		// What stands behind the last value belongs to what follows.
		last := i
		for j := i + 1; j < len(all) && all[j].header == nil; j++ {
			if trimmed := bytes.TrimSpace(d.text[all[j].start:all[j].end]); len(trimmed) > 0 && trimmed[0] != '#' {
				last = j
			}
		}
		start, end := all[i].start, all[last].end
		blank := func(j int) bool {
			return j >= 0 && j < len(all) && len(bytes.TrimSpace(d.text[all[j].start:all[j].end])) == 0
		}
		if blank(i-1) && (last+1 == len(all) || blank(last+1)) {
			start = all[i-1].start
		}
		text = slices.Concat(text[:start], text[end:])
	}
	return true, d.become(text, want)
}

// dropInline removes the entry from its statement, and that when it is empty.
func (d *tomlDocument) dropInline(in inlined, want map[string]any, path []string) error {
	left := false
	text := d.text
	if len(in.rest) > 0 {
		var ok bool
		if text, left, ok = tomlInline.drop(text, in.open, in.rest); !ok {
			return shape("%s is written in a way that is not edited", strings.Join(path, "."))
		}
	}
	if !left {
		text = spliced(d.text, in.start, in.end, "")
	}
	return d.become(text, want)
}

// become takes text for the new text when it says exactly what is wanted.
func (d *tomlDocument) become(text []byte, want map[string]any) error {
	next, err := parseTOML(text)
	if err != nil {
		return shape("an edit would break the file (%v)", err)
	}
	if !reflect.DeepEqual(next.value, want) {
		return shape("an edit would change more than its own entry")
	}
	*d = *next
	return nil
}
