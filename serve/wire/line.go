package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// MaxLine is the longest line that is served, in bytes without its end.
const MaxLine = 8 << 20

// A Line is one line of input, or why there is none.
type Line struct {
	Text    []byte
	TooLong bool
	ID      json.RawMessage // of a line too long, where it could be found
	Err     error           // io.EOF or what the reader said; Text is empty
}

// A Reader reads lines without ever holding more than MaxLine of one.
type Reader struct{ r *bufio.Reader }

// NewReader returns a Reader of r.
func NewReader(r io.Reader) Reader { return Reader{bufio.NewReaderSize(r, 64<<10)} }

// Next returns the next line that is not blank. A last line without an end is
// a line.
func (lr Reader) Next() Line {
	for {
		l := lr.one()
		l.Text = bytes.TrimSpace(l.Text)
		if l.TooLong || l.Err != nil || len(l.Text) > 0 {
			return l
		}
	}
}

func (lr Reader) one() Line {
	var l Line
	var find idFinder
	for {
		part, err := lr.r.ReadSlice('\n')
		switch {
		case l.TooLong:
			find.write(part)
		case len(l.Text)+len(part) > MaxLine+1:
			l.TooLong = true
			find.write(l.Text)
			find.write(part)
			l.Text = nil
		default:
			l.Text = append(l.Text, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && len(l.Text) == 0 && !l.TooLong {
			l.Err = err
		}
		l.ID = find.id()
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
