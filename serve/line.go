package serve

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// maxLine is the longest line that is served, in bytes without its end.
const maxLine = 8 << 20

// A line is one line of input, or why there is none.
type line struct {
	text    []byte
	tooLong bool
	id      json.RawMessage // of a line too long, where it could be found
	err     error           // io.EOF or what the reader said; text is empty
}

// A lineReader reads lines without ever holding more than maxLine of one.
type lineReader struct{ r *bufio.Reader }

func newLineReader(r io.Reader) lineReader { return lineReader{bufio.NewReaderSize(r, 64<<10)} }

// next returns the next line that is not blank. A last line without an end is
// a line.
func (lr lineReader) next() line {
	for {
		l := lr.one()
		l.text = bytes.TrimSpace(l.text)
		if l.tooLong || l.err != nil || len(l.text) > 0 {
			return l
		}
	}
}

func (lr lineReader) one() line {
	var l line
	var find idFinder
	for {
		part, err := lr.r.ReadSlice('\n')
		switch {
		case l.tooLong:
			find.write(part)
		case len(l.text)+len(part) > maxLine+1:
			l.tooLong = true
			find.write(l.text)
			find.write(part)
			l.text = nil
		default:
			l.text = append(l.text, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && len(l.text) == 0 && !l.tooLong {
			l.err = err
		}
		l.id = find.id()
		return l // a read error after some bytes comes back at the next call
	}
}

// An idFinder looks for the id of a request in a text that is too long to be
// kept: clients put it before the parameters or after them. It accepts any
// bytes and finds nothing in what is not a JSON object.
type idFinder struct {
	depth   int
	inText  bool
	escaped bool
	isKey   bool   // the string being read, or just read, is a key of the outer object
	word    []byte // the last string at depth 1 or the value of id, while short
	value   bool   // the value of id is being read
	found   []byte
	done    bool
}

// maxID is the longest id that is looked for.
const maxID = 512

func (f *idFinder) write(p []byte) {
	for _, c := range p {
		if f.done {
			return
		}
		f.step(c)
	}
}

func (f *idFinder) step(c byte) {
	if f.inText {
		f.keep(c)
		switch {
		case f.escaped:
			f.escaped = false
		case c == '\\':
			f.escaped = true
		case c == '"':
			f.inText = false
			if f.value && f.depth == 1 {
				f.end()
			}
		}
		return
	}
	switch c {
	case ' ', '\t', '\r', '\n':
	case '"':
		f.inText = true
		f.word = f.word[:0]
		f.keep(c)
	case '{', '[':
		f.depth++
		f.value = false
		f.isKey = f.depth == 1 && c == '{'
	case '}', ']':
		if f.value && f.depth == 1 {
			f.end()
			return
		}
		f.depth--
	case ':':
		f.value = f.depth == 1 && f.isKey && string(f.word) == `"id"`
		f.isKey = false
		f.word = f.word[:0]
	case ',':
		if f.value && f.depth == 1 {
			f.end()
			return
		}
		f.isKey = f.depth == 1
	default:
		if f.value {
			f.keep(c)
		}
	}
}

func (f *idFinder) keep(c byte) {
	if f.depth == 1 && len(f.word) <= maxID {
		f.word = append(f.word, c)
	}
}

func (f *idFinder) end() { f.found, f.done = f.word, true }

// id returns the id, or nil when none was found that an answer could carry.
func (f *idFinder) id() json.RawMessage {
	if len(f.found) > maxID || !json.Valid(f.found) {
		return nil
	}
	return usableID(f.found)
}
