package source

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// MaxLine is the longest line that is read, in bytes. A longer one is dropped,
// counted as bad and reported; the lines after it are read.
const MaxLine = 64 << 20

// salvageTimes bounds the bytes looked at while searching a broken line for a
// whole value, in lengths of the line, so that a hostile one costs little more.
const salvageTimes = 8

const maxSessionsTallied = 256

// lines reads a JSONL file line by line and counts what it meets.
type lines struct {
	tally transcript.Tally
	// offset counts the bytes of all whole lines read so far. It never passes
	// a torn last line.
	offset int64
	hold   bool // a torn last line is left even when reading to the end
	whole  bool // offsets mean nothing: the file is read whole each time
	torn   bool // the line just returned has no '\n'
	no     int  // the line just returned, from 1

	file *os.File
	zstd *zstd.Decoder
	r    *bufio.Reader
	buf  []byte
	max  int
	size int64
}

// openLines opens path for reading from offset. Tally is taken up from t.
func openLines(path string, offset int64, t transcript.Tally) (*lines, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	l := &lines{file: f, offset: offset, tally: t, max: MaxLine}
	if err := l.start(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return l, nil
}

func (l *lines) start() error {
	st, err := l.file.Stat()
	if err != nil {
		return err
	}
	l.size = st.Size()
	head := make([]byte, 4)
	n, err := l.file.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return err
	}
	head = head[:n]
	utf16 := bytes.HasPrefix(head, []byte{0xFF, 0xFE}) || bytes.HasPrefix(head, []byte{0xFE, 0xFF})
	packed := bytes.Equal(head, []byte{0x28, 0xB5, 0x2F, 0xFD})
	if l.whole = utf16 || packed; l.whole {
		l.offset, l.tally = 0, transcript.Tally{}
	}
	if l.offset == 0 && bytes.HasPrefix(head, []byte("\xEF\xBB\xBF")) {
		l.offset = 3
	}
	if _, err := l.file.Seek(l.offset, io.SeekStart); err != nil {
		return err
	}
	var in io.Reader = l.file
	switch {
	case utf16:
		in = transform.NewReader(l.file, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder())
	case packed:
		if l.zstd, err = zstd.NewReader(l.file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(1<<27)); err != nil {
			return err
		}
		in = l.zstd
	}
	l.r = bufio.NewReaderSize(in, int(min(256<<10, max(4<<10, l.size))))
	if l.tally.Types == nil {
		l.tally.Types = map[string]int{}
	}
	return nil
}

// Close closes the file.
func (l *lines) Close() error {
	if l.zstd != nil {
		l.zstd.Close()
	}
	return l.file.Close()
}

// fresh tells whether reading begins at the file's beginning.
func (l *lines) fresh() bool { return l.whole || l.offset <= 3 }

// position returns what a cursor says of how far the file was read.
func (l *lines) position() int64 {
	if l.whole {
		return l.size
	}
	return l.offset
}

// next returns the next line without its end; valid until the next call. A
// torn last line is returned only when final. io.EOF says that there is no
// more. A line over the limit is returned as nil with tooLong.
func (l *lines) next(final bool) (line []byte, tooLong bool, err error) {
	for {
		line, n, whole, err := l.raw()
		if err != nil {
			return nil, false, err
		}
		if !whole && (!final || l.hold) {
			return nil, false, io.EOF
		}
		l.torn = !whole
		l.no++
		if whole {
			l.offset += int64(n)
		}
		if line == nil {
			return nil, true, nil
		}
		line = bytes.Trim(line, "\x00\r\n\t ")
		if len(line) > 0 {
			return line, false, nil
		}
	}
}

// raw returns the bytes of one line, nil when it is over the limit, with its
// length on disk.
func (l *lines) raw() (line []byte, n int, whole bool, err error) {
	l.buf = l.buf[:0]
	over := false
	for {
		piece, err := l.r.ReadSlice('\n')
		n += len(piece)
		if !over && len(l.buf)+len(piece) > l.max {
			over = true
			l.buf = nil
		}
		if err == nil && len(l.buf) == 0 && !over {
			return piece, n, true, nil
		}
		if !over {
			l.buf = append(l.buf, piece...)
		}
		switch {
		case err == nil || err == io.EOF && n > 0:
			if over {
				return nil, n, err == nil, nil
			}
			return l.buf, n, err == nil, nil
		case err != bufio.ErrBufferFull:
			return nil, n, false, err
		}
	}
}

// values counts a line and returns its JSON values, none of one that was too
// long. When something of the line could not be decoded, reason says what.
func (l *lines) values(line []byte, tooLong bool) (vals [][]byte, reason string) {
	l.tally.Lines++
	if tooLong {
		l.tally.Bad++
		return nil, fmt.Sprintf("line over %d MiB dropped", MaxLine>>20)
	}
	vals, reason = splitValues(line)
	l.tally.Objects += len(vals)
	if reason != "" {
		l.tally.Bad++
		if len(vals) > 0 {
			reason = fmt.Sprintf("part of the line is not JSON (%s); the rest of it is kept", reason)
		} else {
			reason = fmt.Sprintf("the line is not JSON (%s)", reason)
		}
	}
	if len(vals) > 1 {
		l.tally.Glued++
	}
	return vals, reason
}

// count counts one value's type and the session it names.
func (l *lines) count(typ, session string) {
	l.tally.Types[typ]++
	if session == "" {
		return
	}
	if i, held := slices.BinarySearch(l.tally.Sessions, session); !held && len(l.tally.Sessions) < maxSessionsTallied {
		l.tally.Sessions = slices.Insert(l.tally.Sessions, i, session)
	}
}

// splitValues returns the JSON values that stand in a line one after the
// other. Where one is broken, it looks for whole ones after it that reach to
// the end of the line.
func splitValues(line []byte) (vals [][]byte, reason string) {
	if validJSON(line) {
		return [][]byte{line}, ""
	}
	if mended := mendEscapes(line); mended != nil && validJSON(mended) {
		return [][]byte{mended}, ""
	}
	vals, rest, err := wholeValues(line)
	if err == nil {
		return vals, ""
	}
	reason = err.Error()
	budget := salvageTimes*len(line) + 1<<16
	at := min(brokenAt(err)+1, len(rest))
	// Where the line just ends too early, a value that reaches its end may be
	// a part of the torn one: it must have the looks of a record of its own.
	torn := errors.Is(err, io.ErrUnexpectedEOF)
	// The seam stands shortly before the place where the decoder stumbled,
	// because a torn string swallows the next value up to its first quote.
	for i, tries := at, 0; i > 0 && tries < 256; tries++ {
		if i = bytes.LastIndex(rest[:i], []byte(`{"`)); i > 0 && tail(rest[i:], torn, &vals, &budget) {
			return vals, reason
		}
	}
	for i, tries := at, 0; tries < 4096; tries++ {
		j := bytes.Index(rest[i:], []byte(`{"`))
		if j < 0 || budget <= 0 {
			break
		}
		if i += j; i > 0 && tail(rest[i:], torn, &vals, &budget) {
			return vals, reason
		}
		i++
	}
	return vals, reason
}

// mendEscapes returns a line in which a backslash that begins no escape of
// JSON's stands for itself, nil when there is none. Tools that rewrite
// transcripts leave such.
func mendEscapes(line []byte) []byte {
	var out []byte
	done := 0
	for i := 0; i+1 < len(line); i++ {
		if line[i] != '\\' {
			continue
		}
		switch c := line[i+1]; {
		case c == 'u' && i+5 < len(line) && isHex(line[i+2:i+6]), bytes.IndexByte([]byte(`"\/bfnrt`), c) >= 0:
			i++
		default:
			out = append(append(out, line[done:i]...), '\\', '\\')
			done = i + 1
		}
	}
	if out == nil {
		return nil
	}
	return append(out, line[done:]...)
}

func isHex(b []byte) bool {
	for _, c := range b {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return true
}

// tail appends the values of b when they fill it to its end.
func tail(b []byte, torn bool, vals *[][]byte, budget *int) bool {
	if *budget <= 0 {
		return false
	}
	more, rest, err := wholeValues(b)
	if err != nil {
		*budget -= len(b) - len(rest) + brokenAt(err)
		return false
	}
	if torn && !isRecord(more[0]) {
		*budget -= len(b)
		return false
	}
	*vals = append(*vals, more...)
	return true
}

// isRecord tells whether a value has what the lines of agents' logs have and
// what is nested in them has not.
func isRecord(v []byte) bool {
	var r struct {
		Type, Timestamp, SessionID, Payload, Data, ParentID json.RawMessage
	}
	if decode(v, &r) != nil {
		return false
	}
	return r.Type != nil && r.Timestamp != nil && (r.SessionID != nil || r.Payload != nil || r.Data != nil || r.ParentID != nil)
}

// wholeValues returns the values at the start of b and what follows them; err
// is nil when nothing does.
func wholeValues(b []byte) (vals [][]byte, rest []byte, err error) {
	rest = b
	for {
		rest = bytes.TrimLeft(rest, "\x00\r\n\t ")
		if len(rest) == 0 {
			return vals, nil, nil
		}
		dec := json.NewDecoder(bytes.NewReader(rest))
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return vals, rest, err
		}
		n := int(dec.InputOffset())
		vals = append(vals, rest[:n])
		rest = rest[n:]
	}
}

// brokenAt returns the offset of a syntax error.
func brokenAt(err error) int {
	var syn *json.SyntaxError
	if errors.As(err, &syn) {
		return int(syn.Offset)
	}
	return 1 << 30 // torn: the end
}
