// Package document reads a curated memory file as entries and edits it in
// place.
//
// Entries are joined by a line that holds only §. Files come from programs and
// from people, so reading is tolerant: a byte order mark, any kind of line
// end, blank lines and blanks around the delimiter, empty entries and a text
// without any delimiter (one entry) are all normal. A § inside a line is text.
//
// Every edit is a splice: one contiguous range of bytes is put in, taken out
// or exchanged. Bytes outside that range stay as they were, whatever they are.
package document

import (
	"bytes"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Delimiter stands between two entries in a file that a program wrote.
const Delimiter = "\n" + mark + "\n"

const (
	mark = "§"
	bom  = "\ufeff"
)

// ErrNotText is returned for bytes that are not UTF-8.
var ErrNotText = errors.New("not UTF-8")

// A Doc is a file as understood. It is a value: edits return a new one.
type Doc struct {
	raw    []byte
	blocks []block
	texts  []string // of the blocks that hold an entry, in order
	index  []int    // texts[i] is in blocks[index[i]]
	crlf   bool     // every line ends in CR LF, so ours do too
	marks  bool     // the file has at least one delimiter
}

// A block is what stands between two delimiters, and the delimiter after it.
// Offsets are into raw.
type block struct {
	start, end   int // the block, without its delimiter
	textA, textB int // the entry in it, trimmed; equal when there is none
	next         int // where the delimiter after it ends; end when there is none
}

// Parse reads raw. It keeps raw, which must not be changed afterwards. The
// only error is ErrNotText.
func Parse(raw []byte) (Doc, error) {
	if !utf8.Valid(raw) {
		return Doc{}, ErrNotText
	}
	marks := bytes.Count(raw, []byte(mark))
	d := Doc{raw: raw, blocks: make([]block, 0, marks+1), texts: make([]string, 0, marks+1), index: make([]int, 0, marks+1)}
	whole := string(raw)
	start := 0
	if bytes.HasPrefix(raw, []byte(bom)) {
		start = len(bom)
	}
	lf, crlf := 0, 0
	prevEnd := start // where the line before this one's text ends
	for pos := start; pos < len(raw); {
		end, next := line(raw, pos)
		if next-end == 2 {
			crlf++
		} else if next > end {
			lf++
		}
		if isMark(raw[pos:end]) {
			// The line end before the mark belongs to the delimiter, unless
			// the delimiter before this one has it already.
			d.close(whole, start, max(start, prevEnd), next)
			start, d.marks = next, true
		}
		prevEnd, pos = end, next
	}
	d.close(whole, start, len(raw), len(raw))
	d.crlf = crlf > 0 && lf == 0
	return d, nil
}

// line returns where the line at pos ends without and with its line end.
func line(raw []byte, pos int) (end, next int) {
	n := bytes.IndexAny(raw[pos:], "\r\n")
	if n < 0 {
		return len(raw), len(raw)
	}
	end = pos + n
	if raw[end] == '\r' && end+1 < len(raw) && raw[end+1] == '\n' {
		return end, end + 2
	}
	return end, end + 1
}

// close ends the block that begins at start. whole is raw.
func (d *Doc) close(whole string, start, end, next int) {
	b := block{start: start, end: end, next: next}
	left := bytes.TrimLeftFunc(d.raw[start:end], isSpace)
	b.textA = end - len(left)
	b.textB = b.textA + len(bytes.TrimRightFunc(left, isSpace))
	if b.textB > b.textA {
		d.texts = append(d.texts, lines(whole[b.textA:b.textB]))
		d.index = append(d.index, len(d.blocks))
	}
	d.blocks = append(d.blocks, b)
}

func isMark(line []byte) bool {
	return string(bytes.TrimFunc(line, isSpace)) == mark
}

// isSpace is what Python's strip takes off, and the byte order mark.
func isSpace(r rune) bool {
	return unicode.IsSpace(r) || r == '\ufeff' || r >= 0x1c && r <= 0x1f
}

var toLF = strings.NewReplacer("\r\n", "\n", "\r", "\n")

func lines(text string) string {
	if !strings.Contains(text, "\r") {
		return text
	}
	return toLF.Replace(text)
}

// Clean returns text as an entry holds it: without space at its ends and with
// plain line ends.
func Clean(text string) string { return strings.TrimFunc(lines(text), isSpace) }

// Splits tells whether text holds a delimiter line, so that it would become
// two entries.
func Splits(text string) bool {
	if !strings.Contains(text, mark) {
		return false
	}
	for l := range strings.SplitSeq(lines(text), "\n") {
		if isMark([]byte(l)) {
			return true
		}
	}
	return false
}

// Chars counts the code points of the joined entries.
func Chars(entries []string) int {
	n := 0
	for _, e := range entries {
		n += utf8.RuneCountInString(e)
	}
	return n + max(0, len(entries)-1)*utf8.RuneCountInString(Delimiter)
}

// Bytes returns the file. It must not be changed.
func (d Doc) Bytes() []byte { return d.raw }

// Entries returns the entries in order, trimmed and with plain line ends. It
// must not be changed. An entry may be a piece of the whole text: who keeps one
// for long clones it.
func (d Doc) Entries() []string { return d.texts }

// Chars counts the code points of the joined entries.
func (d Doc) Chars() int { return Chars(d.texts) }

// Notes says in plain words what is unusual in the file and how it was read.
func (d Doc) Notes() []string {
	var notes []string
	if bytes.HasPrefix(d.raw, []byte(bom)) {
		notes = append(notes, "starts with a byte order mark, which is kept and is no part of an entry")
	}
	if bytes.ContainsRune(d.raw, '\r') {
		notes = append(notes, "has Windows line ends, which are kept and are read as plain ones")
	}
	if !d.marks && strings.Contains(strings.Join(d.texts, ""), "\n") {
		notes = append(notes, "has no line with a single §, so the whole text is one entry")
	}
	seen := make(map[string]bool)
	for _, t := range d.texts {
		if seen[t] {
			notes = append(notes, "holds an entry twice: "+firstLine(t))
		}
		seen[t] = true
	}
	return notes
}

func firstLine(text string) string {
	l, _, cut := strings.Cut(text, "\n")
	if r := []rune(l); len(r) > 60 {
		l, cut = string(r[:60]), true
	}
	if cut {
		l += "…"
	}
	return l
}
