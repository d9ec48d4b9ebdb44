package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/hermes-mcp/hermes-mcp/memstore/durable"
)

// Forget takes what the lines about targets say out of every file of the log, and
// tells of how many lines. Each keeps its length, its id and its time, so that
// positions in the log stay true. The caller holds the home's lock. A kill on the
// way leaves whole lines of either kind, or one that readers skip; to do it again
// finishes it.
func (l Log) Forget(targets []string) (lines int, err error) {
	of := func(line []byte) bool {
		return slices.ContainsFunc(targets, func(t string) bool {
			return bytes.Contains(line, quote(key(nil, "target"), t))
		})
	}
	older, err := l.segments()
	if err != nil {
		return 0, err
	}
	for _, path := range append(older, l.Path) {
		n, err := blankFile(path, of)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		// A kill while a segment was packed leaves it in both forms, or half packed.
		inPacked := 0
		if err == nil && path != l.Path {
			inPacked, err = blankPacked(path+packed, of)
			err = errors.Join(err, os.RemoveAll(path+packed+unfinished)) // also when there is none
		}
		if err != nil {
			return lines, fmt.Errorf("forget in %s: %w", path, err)
		}
		lines += max(n, inPacked)
	}
	return lines, nil
}

// blankFile blanks lines where they stand.
func blankFile(path string, of func([]byte) bool) (lines int, err error) {
	f, err := durable.Open(path, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	at := int64(0)
	err = eachLine(f, func(line []byte) error {
		from := at
		at += int64(len(line))
		if !of(line) || !blank(line) {
			return nil
		}
		lines++
		_, err := f.WriteAt(line, from)
		return err
	})
	if lines > 0 {
		err = errors.Join(err, f.Sync())
	}
	return lines, err
}

// errNothing: no line is to be blanked.
var errNothing = errors.New("nothing to forget")

// blankPacked puts a packed segment anew where it holds such lines.
func blankPacked(path string, of func([]byte) bool) (lines int, err error) {
	in, err := durable.Open(path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer in.Close()
	r, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return 0, err
	}
	defer r.Close()
	err = putPacked(path, func(out io.Writer) error {
		err := eachLine(r, func(line []byte) error {
			if of(line) && blank(line) {
				lines++
			}
			_, err := out.Write(line)
			return err
		})
		if err == nil && lines == 0 {
			return errNothing
		}
		return err
	})
	if errors.Is(err, errNothing) {
		return 0, nil
	}
	return lines, err
}

// eachLine calls do with every line of r, its end included where it has one.
func eachLine(r io.Reader, do func(line []byte) error) error {
	for b := bufio.NewReaderSize(r, 64<<10); ; {
		line, err := b.ReadBytes('\n')
		if len(line) > 0 {
			if err := do(line); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// blank makes of a line one that says only that something was forgotten, and tells
// whether there was anything to take out.
func blank(line []byte) bool {
	whole := bytes.HasSuffix(line, []byte("\n"))
	rec, ok := decode(line)
	if ok && rec.Kind != Confirm && !rec.HasText() {
		return false // it quotes nothing
	}
	var b []byte
	if ok {
		b = (&Record{ID: rec.ID, At: rec.At, Target: rec.Target, Kind: Forgotten}).line(nil)
	}
	if len(b) >= len(line) {
		b = nil
	}
	b = append(b, bytes.Repeat([]byte(" "), len(line)-len(b))...)
	copy(line, b)
	if whole {
		line[len(line)-1] = '\n'
	}
	return true
}
