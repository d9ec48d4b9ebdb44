package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/hermes-mcp/hermes-mcp/memstore/durable"
)

// A Position says up to where a log has been read.
type Position struct {
	Head   string `json:"head"` // how the file begins, to know it again
	Offset int64  `json:"offset"`
}

const headLen = 40 // reaches over the first record's id

// Scan reads the whole lines behind p and calls fn with each record that is
// sound. It returns the position behind them. fresh is called first when the
// log is not the one that p is in, and everything is read from its beginning.
// A missing log is an empty one.
func (l Log) Scan(p Position, fresh func(), fn func(Record)) (Position, error) {
	f, err := durable.Open(l.Path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if p.Offset > 0 {
			fresh()
		}
		return Position{}, nil
	}
	if err != nil {
		return p, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return p, err
	}
	return scan(f, info.Size(), p, fresh, fn)
}

// scan reads the first size bytes of f.
func scan(f *os.File, size int64, p Position, fresh func(), fn func(Record)) (Position, error) {
	if p.Offset > 0 {
		head := make([]byte, headLen)
		n, err := f.ReadAt(head, 0)
		if err != nil && err != io.EOF {
			return p, err
		}
		if string(head[:n]) != p.Head || size < p.Offset {
			fresh()
			p = Position{}
		}
	}
	if size == p.Offset {
		return p, nil
	}
	r := bufio.NewReaderSize(io.NewSectionReader(f, p.Offset, size-p.Offset), 64<<10)
	for {
		line, err := r.ReadBytes('\n')
		if err == io.EOF {
			return p, nil
		}
		if err != nil {
			return p, err
		}
		if p.Offset == 0 {
			p.Head = string(line[:min(len(line), headLen)])
		}
		p.Offset += int64(len(line))
		if rec, ok := decode(line); ok {
			fn(rec)
		}
	}
}

// All calls fn with every sound record, oldest first.
func (l Log) All(fn func(Record)) error {
	_, err := l.Scan(Position{}, func() {}, fn)
	return err
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
