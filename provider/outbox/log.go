package outbox

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hermes-mcp/hermes-mcp/memstore/durable"
)

// The ops of the log.
const (
	opLog     = "log" // the first line of a log, which tells it from others
	opPut     = "put"
	opBegin   = "begin"   // about to be sent
	opDone    = "done"    // arrived, or dropped by a person
	opBack    = "back"    // not sent after all, or harmless to repeat: waits, in its old place
	opUnknown = "unknown" // set aside
	opReject  = "reject"  // set aside
	opAgain   = "again"   // no longer set aside: waits, in the last place
)

// A record is one line of the log.
type record struct {
	Op    string          `json:"op"`
	ID    string          `json:"id"`
	Kind  string          `json:"kind,omitempty"`
	At    time.Time       `json:"at,omitzero"`
	Error string          `json:"error,omitempty"`
	Tries int             `json:"tries,omitempty"`
	Body  json.RawMessage `json:"body,omitempty"`
}

// maxError bounds what is kept of an error, in bytes.
const maxError = 500

// tidyAt is the size from which a log that is mostly done is written anew.
const tidyAt = 1 << 20

// A log is the open log, read to its end, under the lock.
type log struct {
	path string
	view *view
	f    *os.File
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// openLog opens the log and brings v up to date. A last line without an end
// was never acknowledged, and is taken off.
func openLog(path string, v *view) (l *log, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	l = &log{path: path, view: v, f: f}
	if err := l.refresh(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return l, nil
}

func (l *log) refresh() error {
	info, err := l.f.Stat()
	if err != nil {
		return err
	}
	// The first line tells whether this is still the log that was read: file
	// numbers do not, since file systems use them again.
	first := make([]byte, len(l.view.first))
	if _, err := l.f.ReadAt(first, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if l.view.byID == nil || info.Size() < l.view.end || !bytes.Equal(first, l.view.first) {
		*l.view = newView()
	}
	tail := make([]byte, info.Size()-l.view.end)
	if _, err := l.f.ReadAt(tail, l.view.end); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	l.view.read(tail)
	if l.view.end < info.Size() {
		if err := l.f.Truncate(l.view.end); err != nil {
			return err
		}
	}
	if l.view.end > 0 {
		return nil
	}
	if err := l.append(true, record{Op: opLog, ID: rand.Text()}); err != nil {
		return err
	}
	return durable.SyncFolder(filepath.Dir(l.path))
}

func (l *log) close() error { return l.f.Close() }

// append adds lines, all or none, and takes them in. durable says that they
// survive a power cut.
func (l *log) append(durableNow bool, lines ...record) error {
	if len(lines) == 0 {
		return nil
	}
	var buf bytes.Buffer
	for _, r := range lines {
		r.Error = cut(r.Error)
		line, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("write %s: %w", r.ID, err)
		}
		buf.Write(line)
		buf.WriteByte('\n')
	}
	_, err := l.f.WriteAt(buf.Bytes(), l.view.end)
	if err == nil && durableNow {
		err = l.f.Sync()
	}
	if err != nil { // take back what was not acknowledged, as far as a full disk lets us
		return errors.Join(err, l.f.Truncate(l.view.end))
	}
	l.view.read(buf.Bytes())
	return nil
}

func cut(s string) string {
	if len(s) <= maxError {
		return s
	}
	return string(bytes.ToValidUTF8([]byte(s[:maxError]), nil)) + "…"
}

// body reads the body of an entry.
func (l *log) body(e *entry) (json.RawMessage, error) {
	line := make([]byte, e.length)
	if _, err := l.f.ReadAt(line, e.offset); err != nil {
		return nil, fmt.Errorf("read %s: %w", e.id, err)
	}
	var r record
	if err := json.Unmarshal(line, &r); err != nil {
		return nil, fmt.Errorf("read %s: %w", e.id, err)
	}
	return r.Body, nil
}

// next is the first item in one of the states, with its body, or nil.
func (l *log) next(states ...State) (*Item, error) {
	for _, e := range l.view.live {
		if !slices.Contains(states, e.state) {
			continue
		}
		it := e.item()
		var err error
		it.Body, err = l.body(e)
		return &it, err
	}
	return nil, nil
}

// tidy writes the log anew when most of it is done.
func (l *log) tidy() error {
	_, size := l.view.held()
	if l.view.end < tidyAt || int64(size) > l.view.end/2 {
		return nil
	}
	text, err := l.anew(func(string, []byte) bool { return false })
	if err != nil || int64(len(text)) > l.view.end/4*3 { // what is remembered may be most of it
		return err
	}
	return l.replace(text)
}

// anew is the log without what is done, and without what is gone, by its id or
// by its text; a damaged line has no id.
func (l *log) anew(gone func(id string, text []byte) bool) ([]byte, error) {
	var buf bytes.Buffer
	add := func(r record) error {
		line, err := json.Marshal(r)
		buf.Write(line)
		buf.WriteByte('\n')
		return err
	}
	err := add(record{Op: opLog, ID: rand.Text()})
	for _, line := range l.view.damaged {
		if !gone("", line) {
			buf.Write(line)
			buf.WriteByte('\n')
		}
	}
	for _, id := range l.view.done {
		if !gone(id, nil) {
			err = errors.Join(err, add(record{Op: opDone, ID: id}))
		}
	}
	for _, e := range l.view.live {
		body, bad := l.body(e)
		if gone(e.id, body) {
			continue
		}
		put := record{Op: opPut, ID: e.id, Kind: e.kind, At: e.at, Tries: e.tries, Body: body}
		then := record{Op: opBack, ID: e.id, Error: e.err}
		switch e.state {
		case Sending:
			put.Tries--
			then = record{Op: opBegin, ID: e.id}
		case Unknown:
			then.Op = opUnknown
		case Rejected:
			then.Op = opReject
		}
		err = errors.Join(err, bad, add(put), add(then))
	}
	return buf.Bytes(), err
}

// replace puts a new content in the place of the log.
func (l *log) replace(content []byte) error {
	temp := l.path + ".new"
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	if err := l.f.Close(); err != nil {
		return err
	}
	if err := os.Rename(temp, l.path); err != nil {
		return err
	}
	if err := durable.SyncFolder(filepath.Dir(l.path)); err != nil {
		return err
	}
	again, err := openLog(l.path, l.view)
	if err == nil {
		l.f = again.f
	}
	return err
}
