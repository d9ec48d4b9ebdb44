package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/hermes-mcp/hermes-mcp/memstore/durable"
)

// rotateAt is how large the log may grow, in bytes, before it becomes a
// segment. Nothing is ever dropped: segments are packed and stay.
const rotateAt = 8 << 20

const (
	packed     = ".zst"
	unfinished = ".tmp" // ends the name of a packed segment that is being written
)

// segment returns where a log whose first bytes are head goes.
func (l Log) segment(head string) string {
	id := ""
	if _, rest, ok := strings.Cut(head, `"id":"`); ok && len(rest) >= idLen {
		id = rest[:idLen]
	}
	ext := filepath.Ext(l.Path)
	return strings.TrimSuffix(l.Path, ext) + "-" + id + ext
}

// segments lists the older parts of the log, oldest first: each packed, or
// plain while a killed writer has not got to packing it.
func (l Log) segments() ([]string, error) {
	ext := filepath.Ext(l.Path)
	prefix := filepath.Base(strings.TrimSuffix(l.Path, ext)) + "-"
	files, err := os.ReadDir(filepath.Dir(l.Path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []string
	for _, f := range files {
		name := strings.TrimSuffix(f.Name(), packed)
		if strings.HasPrefix(name, prefix) && strings.HasSuffix(name, ext) {
			all = append(all, filepath.Join(filepath.Dir(l.Path), name))
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// openSegment opens a segment, packed or not.
func openSegment(path string) (io.ReadCloser, error) {
	if f, err := durable.Open(path, os.O_RDONLY, 0); !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	f, err := durable.Open(path+packed, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return unpacking{z.IOReadCloser(), f}, nil
}

type unpacking struct {
	io.ReadCloser
	f *os.File
}

func (u unpacking) Close() error { return errors.Join(u.ReadCloser.Close(), u.f.Close()) }

// head returns how r begins.
func head(r io.Reader) (string, error) {
	b := make([]byte, headLen)
	n, err := io.ReadFull(r, b)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	if i := bytes.IndexByte(b[:n], '\n'); i >= 0 {
		n = i + 1
	}
	return string(b[:n]), err
}

// rotate makes a full log a segment. The caller holds the home's lock. A kill
// at any moment leaves every line in exactly one file that readers look at.
func (l Log) rotate(w *Writer) (*Writer, error) {
	first, err := head(io.NewSectionReader(w.f, 0, w.end))
	if err != nil {
		return w, err
	}
	path := l.segment(first)
	if err := errors.Join(w.Sync(), w.Close(), os.Rename(l.Path, path)); err != nil {
		return nil, err
	}
	old, err := l.segments()
	for _, segment := range old {
		err = errors.Join(err, pack(segment))
	}
	if err != nil {
		return nil, err
	}
	return l.Append()
}

// pack compresses a plain segment.
func pack(path string) error {
	in, err := durable.Open(path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // packed already
	}
	if err != nil {
		return err
	}
	defer in.Close()
	if err := putPacked(path+packed, func(out io.Writer) error {
		_, err := io.Copy(out, in)
		return err
	}); err != nil {
		return fmt.Errorf("pack %s: %w", path, err)
	}
	return os.Remove(path)
}

// putPacked makes a packed segment of what fill writes, or leaves all as it was.
func putPacked(path string, fill func(io.Writer) error) error {
	temp := path + unfinished
	out, err := durable.Open(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	z, err := zstd.NewWriter(out, zstd.WithEncoderConcurrency(1))
	if err == nil {
		err = errors.Join(fill(z), z.Close())
	}
	if err = errors.Join(err, out.Sync(), out.Close()); err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return durable.SyncFolder(filepath.Dir(path))
}
