package configfile

import (
	"bytes"
	"slices"
	"strings"
)

// A notation is how an object is written between braces: {a: 1} in YAML and
// { a = 1 } in TOML.
type notation struct {
	sep byte   // between key and value
	pad string // inside the braces
}

var (
	yamlFlow   = notation{':', ""}
	tomlInline = notation{'=', " "}
)

// A braced object, as it stands in a text.
type braced struct {
	open, close int // the braces
	items       []bracedItem
}

type bracedItem struct {
	key        string
	start      int // of the key
	value, end int // of the value
}

func (b braced) find(key string) int {
	return slices.IndexFunc(b.items, func(i bracedItem) bool { return i.key == key })
}

// object finds the parts of the object whose brace stands at open. It is
// enough of both languages to point at things; whoever edits by it compares
// what a real parser says of the result.
func (n notation) object(text []byte, open int) (braced, bool) {
	b := braced{open: open}
	if open >= len(text) || text[open] != '{' {
		return b, false
	}
	for at := open + 1; ; {
		at = skipSpace(text, at)
		switch {
		case at >= len(text):
			return b, false
		case text[at] == '}':
			b.close = at
			return b, true
		}
		colon := n.scan(text, at, string(n.sep))
		if colon >= len(text) || text[colon] != n.sep {
			return b, false
		}
		key := strings.TrimSpace(string(text[at:colon]))
		if len(key) > 1 && (key[0] == '"' || key[0] == '\'') && key[len(key)-1] == key[0] {
			key = key[1 : len(key)-1]
		}
		value := skipSpace(text, colon+1)
		stop := n.scan(text, value, ",")
		if stop >= len(text) {
			return b, false
		}
		end := value + len(bytes.TrimRight(text[value:max(value, stop)], " \t\r\n"))
		b.items = append(b.items, bracedItem{key, at, value, end})
		if at = stop; text[at] == ',' {
			at++
		}
	}
}

// scan is where the first of the stops, or the brace that ends the object,
// stands outside of quotes and inner brackets.
func (n notation) scan(text []byte, at int, stops string) int {
	depth := 0
	for ; at < len(text); at++ {
		switch c := text[at]; {
		case c == '"' || c == '\'':
			at = quoteEnd(text, at)
		case c == '#' && at > 0 && isSpace(text[at-1]):
			for at+1 < len(text) && text[at+1] != '\n' {
				at++
			}
		case c == '{' || c == '[':
			depth++
		case depth > 0 && (c == '}' || c == ']'):
			depth--
		case depth == 0 && (c == '}' || c == ']' || strings.IndexByte(stops, c) >= 0):
			return at
		}
	}
	return at
}

// quoteEnd is where the quote that begins at at ends.
func quoteEnd(text []byte, at int) int {
	quote := text[at]
	for at++; at < len(text) && text[at] != quote; at++ {
		if text[at] == '\\' && quote == '"' {
			at++
		}
	}
	return at
}

func skipSpace(text []byte, at int) int {
	for at < len(text) && (isSpace(text[at]) || text[at] == '#') {
		if text[at] == '#' {
			for at < len(text) && text[at] != '\n' {
				at++
			}
			continue
		}
		at++
	}
	return at
}

// render is a value in this notation.
func (n notation) render(v any) string {
	e, ok := v.(Entry)
	if !ok {
		return flow(v)
	}
	var parts []string
	for _, f := range e {
		parts = append(parts, n.member(f))
	}
	return "{" + n.pad + strings.Join(parts, ", ") + n.pad + "}"
}

func (n notation) member(f Field) string {
	if n.sep == '=' {
		return f.Key + " = " + n.render(f.Value)
	}
	return f.Key + ": " + n.render(f.Value)
}

// set writes the fields of e at path below the object at open, and false where
// something else stands on the way.
func (n notation) set(text []byte, open int, e Entry, path []string) ([]byte, bool) {
	if len(path) > 0 {
		b, ok := n.object(text, open)
		if !ok {
			return nil, false
		}
		if i := b.find(path[0]); i >= 0 {
			return n.set(text, b.items[i].value, e, path[1:])
		}
		for i := len(path) - 1; i > 0; i-- {
			e = Entry{{Key: path[i], Value: e}}
		}
		e = Entry{{Key: path[0], Value: e}}
	}
	for _, f := range e {
		b, ok := n.object(text, open)
		if !ok {
			return nil, false
		}
		switch i := b.find(f.Key); {
		case i >= 0:
			text = spliced(text, b.items[i].value, b.items[i].end, n.render(f.Value))
		case len(b.items) > 0:
			last := b.items[len(b.items)-1].end
			text = spliced(text, last, last, ", "+n.member(f))
		case bytes.IndexByte(text[b.open:b.close], '#') >= 0: // somebody's words
			text = spliced(text, b.close, b.close, n.member(f))
		default:
			text = spliced(text, b.open, b.close+1, "{"+n.pad+n.member(f)+n.pad+"}")
		}
	}
	return text, true
}

// drop removes what is at path below the object at open, and the objects that
// this leaves empty; left tells whether the object at open still holds
// something.
func (n notation) drop(text []byte, open int, path []string) (_ []byte, left, ok bool) {
	b, ok := n.object(text, open)
	i := b.find(path[0])
	if !ok || i < 0 {
		return nil, false, false
	}
	if len(path) > 1 {
		text, left, ok = n.drop(text, b.items[i].value, path[1:])
		if !ok || left {
			return text, left, ok
		}
		if b, ok = n.object(text, open); !ok {
			return nil, false, false
		}
	}
	from, to := b.open+1, b.close
	switch {
	case i > 0:
		from, to = b.items[i-1].end, b.items[i].end
	case len(b.items) > 1:
		from, to = b.items[0].start, b.items[1].start
	case bytes.IndexByte(text[from:to], '#') >= 0:
		return spliced(text, b.items[0].start, b.items[0].end, ""), true, true
	}
	if bytes.IndexByte(text[from:b.items[i].start], '#') >= 0 || bytes.IndexByte(text[b.items[i].end:max(to, b.items[i].end)], '#') >= 0 {
		return nil, false, false // somebody's words would go too
	}
	return spliced(text, from, to, ""), len(b.items) > 1, true
}

func spliced(text []byte, from, to int, with string) []byte {
	return slices.Concat(text[:from], []byte(with), text[to:])
}
