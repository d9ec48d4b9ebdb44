//go:build unix

package writer

import (
	"fmt"
	"os"
	"syscall"
)

// inode names the file behind a path, so that a replaced one is noticed.
func inode(info os.FileInfo) string {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("%d:%d", st.Dev, st.Ino)
	}
	return ""
}
