package journal

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
	"unicode/utf8"

	"github.com/hermes-mcp/hermes-mcp/memstore/durable"
)

// A Writer appends to the log. Its caller holds the home's lock.
type Writer struct {
	log     Log
	f       *os.File
	end     int64  // of the file, since nobody else writes now
	pending []byte // what must come before the next line
}

// Append opens the log for writing, and makes it when it is missing. A log that
// has grown large is put aside first; that never loses a line.
func (l Log) Append() (*Writer, error) {
	f, err := durable.Open(l.Path, os.O_RDWR|os.O_APPEND, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if f, err = durable.Open(l.Path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600); err == nil {
			err = durable.SyncFolder(filepath.Dir(l.Path))
		}
	}
	if err != nil {
		return nil, err
	}
	w := &Writer{log: l, f: f}
	w.end, err = f.Seek(0, io.SeekEnd)
	if err == nil && w.end > 0 {
		var last [1]byte
		if _, err = f.ReadAt(last[:], w.end-1); err == nil && last[0] != '\n' {
			w.pending = []byte("\n") // a line that was cut short
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if w.end > rotateAt {
		return l.rotate(w)
	}
	return w, nil
}

// Write appends records in one write, not yet durable, fills in their version
// and hashes, and lets x know of them.
func (w *Writer) Write(x *Index, records ...*Record) error {
	size := len(w.pending)
	for _, r := range records { // a little more than a line takes whose text is not escaped much
		size += 1<<10 + len(r.Ops) + (len(r.Before)+len(r.After))*9/8
	}
	start, b := w.end, append(make([]byte, 0, size), w.pending...)
	for _, r := range records {
		r.V = 1
		if r.HasText() {
			r.BeforeSHA, r.AfterSHA = Hash(r.Before), Hash(r.After)
		}
		b = append(r.line(b), '\n')
	}
	w.pending = []byte("\n") // in case this write is cut short
	n, err := w.f.Write(b)
	w.end += int64(n)
	if err != nil {
		return err
	}
	w.pending = nil
	x.took(start, b, records)
	return nil
}

// Start lets the disk begin with what was written, which Sync then waits for.
func (w *Writer) Start() { durable.Start(w.f) }

// Sync makes what was written durable.
func (w *Writer) Sync() error { return w.f.Sync() }

// Close closes the log.
func (w *Writer) Close() error { return w.f.Close() }

// line appends the record as JSON. By hand, since it is on the way of every
// edit and encoding/json takes as long as the rest of it.
func (r *Record) line(b []byte) []byte {
	b = append(b, `{"v":1`...)
	b = field(b, "id", r.ID)
	b = field(b, "at", r.At.Format(time.RFC3339Nano))
	b = field(b, "target", r.Target)
	b = field(b, "kind", r.Kind)
	b = field(b, "of", r.Of)
	b = raw(b, "ops", r.Ops)
	b = text(b, "before", r.Before)
	b = text(b, "after", r.After)
	b = field(b, "before_sha256", r.BeforeSHA)
	b = field(b, "after_sha256", r.AfterSHA)
	if !r.FileTime.IsZero() {
		b = field(b, "file_time", r.FileTime.Format(time.RFC3339Nano))
	}
	b = field(b, "boot", r.Boot)
	return append(raw(b, "who", r.Who), '}')
}

func field(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return quote(key(b, name), value)
}

func raw(b []byte, name string, value json.RawMessage) []byte {
	if len(value) == 0 {
		return b
	}
	return append(key(b, name), value...)
}

func text(b []byte, name string, value Text) []byte {
	if value == nil {
		return b
	}
	return value.append(key(b, name))
}

func (t Text) append(b []byte) []byte {
	if utf8.Valid(t) {
		return quote(b, t)
	}
	b = append(b, `{"base64":"`...)
	return append(base64.StdEncoding.AppendEncode(b, t), `"}`...)
}

func key(b []byte, name string) []byte {
	return append(append(append(b, `,"`...), name...), `":`...)
}

// quote appends s, which is UTF-8, as a JSON string.
func quote[T string | Text](b []byte, s T) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		default:
			b = append(b, `\u00`...)
			b = append(b, hex[c>>4], hex[c&15])
		}
	}
	return append(append(b, s[from:]...), '"')
}
