package durable

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
)

// Resolve returns the real file behind path: path itself, or what a symbolic
// link leads to. A path where nothing is yet is fine. ErrRefused when the link
// is dangling, when it leads to another user's file, or when there is
// something else than a regular file.
func Resolve(path string) (string, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	if err != nil {
		return path, refuse(path, err)
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		return path, regular(path, info)
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		to, _ := os.Readlink(path) // only for the message
		return path, fmt.Errorf("%w: %s is a symbolic link to %s, which does not exist: make that file, or remove the link", ErrRefused, path, to)
	}
	if err != nil {
		return path, refuse(path, err)
	}
	if info, err = os.Stat(real); err != nil {
		return path, refuse(path, err)
	}
	if err := regular(real, info); err != nil {
		return path, err
	}
	if !ours(info) {
		return path, fmt.Errorf("%w: %s is a symbolic link to %s, which belongs to another user", ErrRefused, path, real)
	}
	return real, nil
}

func refuse(path string, err error) error {
	return fmt.Errorf("%w: %s cannot be looked at: %v", ErrRefused, path, err)
}

func regular(path string, info fs.FileInfo) error {
	switch {
	case info.Mode().IsRegular():
		return nil
	case info.IsDir():
		return fmt.Errorf("%w: %s is a folder, not a file", ErrRefused, path)
	default:
		return fmt.Errorf("%w: %s is not a regular file (%s)", ErrRefused, path, info.Mode().Type())
	}
}

// A File is what was read at one moment.
type File struct {
	Bytes []byte
	Info  fs.FileInfo // nil when there was no file

	f *os.File // still open after Hold, nil otherwise
}

// Read reads the file at a path that Resolve returned. No file is an empty
// File. ErrRefused when it is not a regular file, cannot be read, or is larger
// than MaxSize.
func Read(real string) (File, error) {
	f, err := Hold(real)
	f.Release()
	return f, err
}

// Hold is Read, and keeps the file open where that does not keep others from
// replacing it, so that its blocks are not freed while somebody waits for a
// Replace. Release must follow some time.
func Hold(real string) (file File, err error) {
	f, err := Open(real, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return File{}, nil
	}
	if err != nil {
		return File{}, refuse(real, err)
	}
	defer func() {
		if file.f == nil {
			f.Close() // only read from
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return File{}, refuse(real, err)
	}
	if err := regular(real, info); err != nil {
		return File{}, err
	}
	if info.Size() > MaxSize {
		return File{}, fmt.Errorf("%w: %s has %d bytes; at most %d are read", ErrRefused, real, info.Size(), MaxSize)
	}
	raw, err := readUpTo(f, info.Size(), MaxSize+1)
	if err != nil {
		return File{}, refuse(real, err)
	}
	if len(raw) > MaxSize {
		return File{}, fmt.Errorf("%w: %s has more than %d bytes", ErrRefused, real, MaxSize)
	}
	file = File{Bytes: raw, Info: info}
	if canHold {
		file.f = f
	}
	return file, nil
}

// Writable returns ErrReadOnly for a file that its owner may not write. To
// replace it would be possible all the same, and is not what they want.
func (f File) Writable(real string) error {
	if f.Info == nil || f.Info.Mode().Perm()&0o200 != 0 {
		return nil
	}
	return fmt.Errorf("%w: %s may not be written (%s); to allow it, chmod u+w it", ErrReadOnly, real, f.Info.Mode().Perm())
}

// Release closes a held file.
func (f *File) Release() {
	if f.f != nil {
		f.f.Close() // only read from
		f.f = nil
	}
}

// again reads the old name of what was replaced: through the open file, if it
// is that one.
func (f *File) again(old string) ([]byte, error) {
	if f.f != nil {
		info, err := os.Lstat(old)
		if err != nil {
			return nil, err
		}
		if os.SameFile(info, f.Info) {
			raw, err := readUpTo(io.NewSectionReader(f.f, 0, math.MaxInt64), info.Size(), math.MaxInt64)
			return raw, err
		}
	}
	o, err := Open(old, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	raw, err := readUpTo(o, 4<<10, math.MaxInt64)
	return raw, errors.Join(err, o.Close())
}

// readUpTo reads f to its end, or n bytes.
func readUpTo(f io.Reader, size, n int64) ([]byte, error) {
	b := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	_, err := b.ReadFrom(io.LimitReader(f, n))
	return b.Bytes(), err
}
