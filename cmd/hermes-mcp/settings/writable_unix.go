//go:build unix

package settings

import (
	"errors"
	"syscall"
)

// unwritable is why nobody like us makes a file in dir, nil where that is not
// known: a folder that is not there is made when it is needed.
func unwritable(dir string) error {
	const write = 2 // W_OK
	err := syscall.Access(dir, write)
	if errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EACCES) {
		return err
	}
	return nil
}
