//go:build unix

package durable

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// canHold: an open file can be replaced here.
const canHold = true

// ours tells whether the file belongs to the user we run as.
func ours(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(st.Uid) == os.Geteuid()
}

func noRename(err error) bool {
	return errors.Is(err, syscall.EBUSY) || errors.Is(err, syscall.EXDEV)
}

func rename(from, to string) error {
	if err := syscall.Rename(from, to); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

func narrow(dir string) error { return os.Chmod(dir, 0o700) }

// Open is os.OpenFile without the attempt to make the descriptor pollable,
// which for a regular file costs more than the rest.
func Open(path string, flag int, perm fs.FileMode) (*os.File, error) {
	for {
		fd, err := syscall.Open(path, flag|syscall.O_CLOEXEC, uint32(perm.Perm()))
		if err == nil {
			return os.NewFile(uintptr(fd), path), nil
		}
		if !errors.Is(err, syscall.EINTR) {
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
}

// SyncFolder makes the names in dir durable, where the file system can do that
// for a folder: some network and user-space ones cannot.
func SyncFolder(dir string) error {
	f, err := Open(dir, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, f.Close())
}
