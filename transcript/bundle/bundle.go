// Package bundle is the form in which sessions leave one archive and enter
// another: JSON, one object a line.
//
// The first line says what the file is; then comes each session, followed by
// its messages in order. A message that several sessions hold stands under each
// of them, with the same key. Nothing that was said or run is left out, and the text
// of a tool call's arguments is kept to the byte, as a string. How far agents' files
// were read, and sessions flushed or reviewed, is not in it.
//
//	{"type":"archive","format":1,"at":"2026-11-30T16:00:00Z","redacted":true}
//	{"type":"session","id":"codex:1","parent":"codex:0","relation":"fork",…}
//	{"type":"message","session":"codex:1","key":"4f…","role":"user",…}
package bundle

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/hermes-mcp/hermes-mcp/transcript/record"
)

// Format is the newest form that is known.
const Format = 1

// MaxLine is how long a line may be, in bytes.
const MaxLine = 256 << 20

// ErrFormat is returned by Next for a file that is no bundle, or one of a newer
// form.
var ErrFormat = errors.New("not an export that this version can read")

// A Head is the first line.
type Head struct {
	Format   int       `json:"format"`
	At       time.Time `json:"at"`
	Redacted bool      `json:"redacted"` // secrets were masked on the way out
}

// An Item is one line: exactly one of its pointers is set.
type Item struct {
	Line    int
	Session *record.Session
	Message *record.Message
}

// A Problem is a line that could not be read, which costs no other line.
type Problem struct {
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

// A Writer writes a bundle. Not safe for concurrent use.
type Writer struct{ e *json.Encoder }

// NewWriter begins a bundle.
func NewWriter(w io.Writer, h Head) (*Writer, error) {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	h.Format = Format
	return &Writer{e}, e.Encode(struct {
		Type string `json:"type"`
		Head
	}{"archive", h})
}

// Session writes a session. Its messages follow.
func (w *Writer) Session(s *record.Session) error { return w.e.Encode(newSession(s)) }

// Message writes a message of the session of that id, whoever owns it.
func (w *Writer) Message(session string, m *record.Message) error {
	return w.e.Encode(newMessage(session, m))
}

// A Reader reads a bundle. Not safe for concurrent use.
type Reader struct {
	Head     Head
	Problems []Problem // of the lines so far; at most mostProblems of them
	Bad      int       // how many lines could not be read

	r    *bufio.Reader
	line int
}

const mostProblems = 100

// NewReader reads the first line. Errors: ErrFormat.
func NewReader(from io.Reader) (*Reader, error) {
	r := &Reader{r: bufio.NewReaderSize(from, 1<<20)}
	raw, err := r.next()
	if err != nil && err != io.EOF {
		return nil, err
	}
	var head struct {
		Type string `json:"type"`
		Head
	}
	if json.Unmarshal(raw, &head) != nil || head.Type != "archive" {
		return nil, fmt.Errorf("%w: its first line does not say so", ErrFormat)
	}
	if head.Format > Format || head.Format < 1 {
		return nil, fmt.Errorf("%w: it is of form %d, this version knows %d; update hermes-mcp", ErrFormat, head.Format, Format)
	}
	r.Head = head.Head
	return r, nil
}

// Next returns the next line that can be read, and io.EOF at the end. What
// cannot be read becomes a Problem.
func (r *Reader) Next() (Item, error) {
	for {
		raw, err := r.next()
		if err != nil {
			return Item{}, err
		}
		if len(bytes.TrimSpace(raw)) == 0 {
			continue
		}
		item, err := parse(raw)
		if err == nil {
			item.Line = r.line
			return item, nil
		}
		r.problem(err.Error())
	}
}

func (r *Reader) problem(reason string) {
	r.Bad++
	if len(r.Problems) < mostProblems {
		r.Problems = append(r.Problems, Problem{r.line, reason})
	}
}

// next returns one line; one that is too long is passed over.
func (r *Reader) next() ([]byte, error) {
	for {
		r.line++
		var line []byte
		long := false
		for {
			piece, err := r.r.ReadSlice('\n')
			if long = long || len(line)+len(piece) > MaxLine; !long {
				line = append(line, piece...)
			}
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			if err == io.EOF && len(line) == 0 && !long {
				return nil, io.EOF
			}
			if err != nil && err != io.EOF {
				return nil, err
			}
			break
		}
		if !long {
			return line, nil
		}
		r.problem(fmt.Sprintf("the line has more than %d bytes", MaxLine))
	}
}

func parse(raw []byte) (Item, error) {
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &kind); err != nil {
		return Item{}, wordless(err)
	}
	switch kind.Type {
	case "session":
		var s session
		if err := json.Unmarshal(raw, &s); err != nil {
			return Item{}, wordless(err)
		}
		out, err := s.record()
		return Item{Session: out}, err
	case "message":
		var m message
		if err := json.Unmarshal(raw, &m); err != nil {
			return Item{}, wordless(err)
		}
		out, err := m.record()
		return Item{Message: out}, err
	}
	return Item{}, fmt.Errorf("the line is neither a session nor a message")
}

// wordless says what is wrong without repeating what stands there.
func wordless(err error) error {
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &kind):
		article := "a"
		if strings.HasPrefix(kind.Value, "a") || strings.HasPrefix(kind.Value, "o") { // array, object
			article = "an"
		}
		return fmt.Errorf("%s is %s %s", kind.Field, article, kind.Value)
	case errors.As(err, &syntax):
		return fmt.Errorf("no JSON from byte %d on", syntax.Offset)
	}
	return err
}

// checkID judges the id of a session.
func checkID(id string) error {
	source, bare, ok := record.CutID(id)
	if !ok || source == "" || bare == "" || strings.ContainsAny(id, "\n\r\x00") {
		return errors.New("the id of the session is not of the form SOURCE:ID")
	}
	return nil
}

func keyText(key int64) string {
	if key == 0 {
		return ""
	}
	return strconv.FormatInt(key, 16)
}
