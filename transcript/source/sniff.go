package source

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/text/encoding/unicode"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

const (
	// sniffBytes is how much of a file is looked at to recognise its format.
	sniffBytes = 64 << 10
	// sniffMore is how much when the first line is longer than that.
	sniffMore = 4 << 20
)

// A sniff is a file being recognised. What one source looked at is at hand for
// the next.
type sniff struct {
	path  string
	head  []byte
	read  bool
	whole bool // head is all there is
	vals  [][]byte
	top   map[string]bool
	// tables are, of a database, the columns of each table; nil when not looked at.
	tables map[string]map[string]bool
}

// is tells whether the file's name has an ending.
func (f *sniff) is(ext string) bool { return strings.EqualFold(filepath.Ext(f.path), ext) }

// bytes returns the first bytes of the file, decoded to UTF-8.
func (f *sniff) bytes() []byte {
	if !f.read {
		f.load(sniffBytes)
	}
	return f.head
}

func (f *sniff) load(n int) {
	f.read = true
	in, err := os.Open(f.path)
	if err != nil {
		f.head, f.whole = nil, true
		return
	}
	defer in.Close()
	if st, err := in.Stat(); err == nil && st.Mode().IsRegular() {
		n = int(min(int64(n), st.Size()+1)) // most files are small
	}
	b := make([]byte, n)
	got, err := io.ReadFull(in, b)
	f.whole = errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
	b = b[:got]
	if bytes.HasPrefix(b, []byte{0xFF, 0xFE}) || bytes.HasPrefix(b, []byte{0xFE, 0xFF}) {
		if utf8, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Bytes(b); err == nil {
			b = utf8
		}
	}
	f.head = bytes.TrimPrefix(b, []byte("\xEF\xBB\xBF"))
}

// maxSniffed is how many values are looked at.
const maxSniffed = 40

// values returns the first values of a file of lines, at most n.
func (f *sniff) values(n int) [][]byte {
	if f.vals == nil {
		f.vals = f.parse()
		if len(f.vals) == 0 && !f.whole {
			f.load(sniffMore)
			f.vals = f.parse()
		}
	}
	return f.vals[:min(n, len(f.vals))]
}

func (f *sniff) parse() [][]byte {
	vals := [][]byte{}
	rest := f.bytes()
	for tries := 0; len(rest) > 0 && len(vals) < maxSniffed && tries < 4*maxSniffed; tries++ {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		if !ended && !f.whole {
			break
		}
		rest = after
		if line = bytes.Trim(line, "\x00\r\t "); len(line) > 0 {
			got, _ := splitValues(line)
			vals = append(vals, got...)
		}
	}
	return vals
}

// keys returns the keys of the object that the file begins with, as far as its
// first bytes go.
func (f *sniff) keys() map[string]bool {
	if f.top == nil {
		f.top = topKeys(f.bytes())
	}
	return f.top
}

// holds tells whether a database has a table with all the columns named. A
// database that cannot be read holds nothing.
func (f *sniff) holds(ctx context.Context, table string, columns ...string) bool {
	if f.tables == nil {
		f.tables = map[string]map[string]bool{}
		f.look(ctx)
	}
	have := f.tables[table]
	for _, c := range columns {
		if !have[c] {
			return false
		}
	}
	return len(have) > 0
}

func (f *sniff) look(ctx context.Context) {
	db, err := openDatabase(ctx, f.path)
	if err != nil {
		return
	}
	defer db.Close()
	err = db.rowsOf(ctx, func(scan func(...any) error) error {
		var table, column string
		if err := scan(&table, &column); err != nil {
			return err
		}
		if f.tables[table] == nil {
			f.tables[table] = map[string]bool{}
		}
		f.tables[table][column] = true
		return nil
	}, "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table'")
	if err != nil {
		clear(f.tables)
	}
}

// A recogniser is a source that knows its files by what is in them.
type recogniser interface {
	transcript.Source
	recognises(ctx context.Context, f *sniff) bool
}

// findIn lists the files at or below path that r recognises.
func findIn(ctx context.Context, r recogniser, path string) ([]transcript.File, error) {
	files, err := walk(ctx, r.Name(), path, func(path string) bool { return r.recognises(ctx, &sniff{path: path}) })
	withDatabases(files)
	return files, err
}

// withDatabases adds to the databases among files what lies in their -wal.
func withDatabases(files []transcript.File) {
	for i, f := range files {
		if !isDatabase(f.Path) {
			continue
		}
		if db, ok := databaseAt(f.Source, f.Path); ok {
			files[i] = db
		}
	}
}
