package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/hermes-mcp/hermes-mcp/memstore/durable"
)

// A Position says up to where a log has been read: the file, known by how it
// begins, and the bytes of it.
type Position struct {
	Head   string `json:"head"`
	Offset int64  `json:"offset"`
}

const headLen = 40 // reaches over the first record's id

// Scan reads the whole lines behind p, older segments first, and calls fn with
// each record that is sound. It returns the position behind them. fresh is
// called first when p is in no file of the log, and everything is read from the
// beginning. A missing log is an empty one.
func (l Log) Scan(p Position, fresh func(), fn func(Record)) (Position, error) {
	f, err := durable.Open(l.Path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return l.scan(nil, 0, p, fresh, fn)
	}
	if err != nil {
		return p, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return p, err
	}
	return l.scan(f, info.Size(), p, fresh, fn)
}

// All calls fn with every sound record, oldest first.
func (l Log) All(fn func(Record)) error {
	_, err := l.Scan(Position{}, func() {}, fn)
	return err
}

// scan is Scan with the newest file open, of which size bytes are there; f may
// be nil.
func (l Log) scan(f *os.File, size int64, p Position, fresh func(), fn func(Record)) (Position, error) {
	first := ""
	if size > 0 {
		var err error
		if first, err = head(io.NewSectionReader(f, 0, size)); err != nil {
			return p, err
		}
	}
	if p.Offset == 0 || p.Head != first || size < p.Offset {
		older, err := l.segments()
		if err != nil {
			return p, err
		}
		if p, err = scanSegments(older, first, p, fresh, fn); err != nil {
			return p, err
		}
	}
	if size == 0 || p.Head == first && size == p.Offset {
		return p, nil
	}
	if p.Head != first {
		p = Position{Head: first}
	}
	return scanFile(io.NewSectionReader(f, p.Offset, size-p.Offset), p, fn)
}

// scanSegments reads what is behind p in the older files. newest is how the
// newest file begins, which may have become a segment while we looked.
func scanSegments(paths []string, newest string, p Position, fresh func(), fn func(Record)) (Position, error) {
	heads := make([]string, len(paths))
	from := 0
	known := p.Offset == 0
	for i, path := range paths {
		err := withSegment(path, func(r io.Reader) (err error) {
			heads[i], err = head(r)
			return err
		})
		if err != nil {
			return p, err
		}
		if p.Offset > 0 && heads[i] == p.Head {
			known, from = true, i
		}
	}
	if !known {
		fresh()
		p = Position{}
	}
	for i := from; i < len(paths); i++ {
		if heads[i] == newest {
			continue
		}
		if p.Head != heads[i] {
			p = Position{Head: heads[i]}
		}
		err := withSegment(paths[i], func(r io.Reader) (err error) {
			if _, err = io.CopyN(io.Discard, r, p.Offset); err == nil {
				p, err = scanFile(r, p, fn)
			}
			return err
		})
		if err != nil {
			return p, err
		}
	}
	return p, nil
}

func withSegment(path string, read func(io.Reader) error) error {
	r, err := openSegment(path)
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	if err := errors.Join(read(r), r.Close()); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// scanFile reads whole lines from r, which stands at p.
func scanFile(r io.Reader, p Position, fn func(Record)) (Position, error) {
	b := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := b.ReadBytes('\n')
		if err == io.EOF {
			return p, nil
		}
		if err != nil {
			return p, err
		}
		p.Offset += int64(len(line))
		if rec, ok := decode(line); ok {
			fn(rec)
		}
	}
}

// decode reads one line; ok is false for a damaged one.
func decode(line []byte) (rec Record, ok bool) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || json.Unmarshal(line, &rec) != nil || rec.ID == "" {
		return Record{}, false
	}
	if rec.HasText() && (Hash(rec.Before) != rec.BeforeSHA || Hash(rec.After) != rec.AfterSHA) {
		return Record{}, false
	}
	return rec, true
}
