package document

import (
	"bytes"
	"slices"
	"strings"
)

// Append returns d with one more entry at its end. The bytes of d are a prefix
// of the result's. text must be [Clean], not empty, and must not [Splits].
func (d Doc) Append(text string) Doc {
	eol := d.eol()
	var b strings.Builder
	if rest := bytes.TrimPrefix(d.raw, []byte(bom)); len(rest) > 0 && !endsLine(rest) {
		b.WriteString(eol)
	}
	last := d.blocks[len(d.blocks)-1]
	if last.textB > last.textA {
		b.WriteString(mark + eol)
	}
	b.WriteString(d.native(text))
	return d.splice(len(d.raw), len(d.raw), b.String())
}

// Replace returns d with entry i exchanged for text, which must be as for
// Append.
func (d Doc) Replace(i int, text string) Doc {
	b := d.blocks[d.index[i]]
	return d.splice(b.textA, b.textB, d.native(text))
}

// Remove returns d without entry i and without one delimiter beside it.
func (d Doc) Remove(i int) Doc {
	n := d.index[i]
	b := d.blocks[n]
	switch {
	case n < len(d.blocks)-1:
		return d.splice(b.start, b.next, "")
	case n > 0: // the last one: its delimiter stands before it
		return d.splice(d.blocks[n-1].end, b.textB, "")
	default:
		return d.splice(b.textA, b.textB, "")
	}
}

func (d Doc) splice(from, to int, text string) Doc {
	raw := slices.Concat(d.raw[:from], []byte(text), d.raw[to:])
	next, err := Parse(raw)
	if err != nil {
		panic("document: a splice of UTF-8 into UTF-8 is UTF-8") // text is checked by the caller
	}
	return next
}

func (d Doc) eol() string {
	if d.crlf {
		return "\r\n"
	}
	return "\n"
}

func (d Doc) native(text string) string {
	if d.crlf {
		return strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

func endsLine(raw []byte) bool {
	return len(raw) > 0 && (raw[len(raw)-1] == '\n' || raw[len(raw)-1] == '\r')
}
