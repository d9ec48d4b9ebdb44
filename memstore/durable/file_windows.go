package durable

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// renamePatience is how long a rename is retried while another program, a
// reader or a virus scanner, has the file open.
const renamePatience = 2 * time.Second

// canHold: an open file can be replaced only by those that open it in a special way.
const canHold = false

// ours is true: rights are a matter of access control lists there, and a file
// of somebody else cannot be opened in the first place.
func ours(fs.FileInfo) bool { return true }

func noRename(err error) bool { return errors.Is(err, windows.ERROR_NOT_SAME_DEVICE) }

// rename retries for renamePatience.
func rename(from, to string) error {
	for end := time.Now().Add(renamePatience); ; time.Sleep(10 * time.Millisecond) {
		err := os.Rename(from, to)
		held := errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED)
		if !held || time.Now().After(end) {
			return err
		}
	}
}

// narrow does nothing: the home's access control list is inherited.
func narrow(string) error { return nil }

// Open is os.OpenFile.
func Open(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag, perm)
}

// SyncFolder does nothing: folders cannot be synced there.
func SyncFolder(string) error { return nil }
