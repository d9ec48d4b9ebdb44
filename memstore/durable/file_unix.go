//go:build unix

package durable

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// ours tells whether the file belongs to the user we run as.
func ours(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(st.Uid) == os.Geteuid()
}

func noRename(err error) bool {
	return errors.Is(err, syscall.EBUSY) || errors.Is(err, syscall.EXDEV)
}

func rename(from, to string) error { return os.Rename(from, to) }

func narrow(dir string) error { return os.Chmod(dir, 0o700) }

// SyncFolder makes the names in dir durable.
func SyncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
