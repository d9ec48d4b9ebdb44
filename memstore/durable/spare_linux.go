package durable

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// NewSpare makes a spare in dir, if that is possible there.
func NewSpare(dir string) Spare {
	f, err := Open(dir, os.O_WRONLY|unix.O_TMPFILE, 0o600)
	if err != nil {
		return Spare{}
	}
	return Spare{dir: dir, f: f}
}

// link gives an open file without a name one.
func link(f *os.File, path string) error {
	return unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(int(f.Fd())), unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW)
}
