package durable

import (
	"os"
	"strings"
	"syscall"
)

// Boot names the time since the machine was last started: while it is the same,
// no power cut has taken anything back. "" where that cannot be told.
func Boot() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// startWriting is SYNC_FILE_RANGE_WRITE.
const startWriting = 2

// Start lets the disk begin to write f. Of two files that are then synced, the
// file system needs to commit its own journal but once. Only a hint.
func Start(f *os.File) {
	// What is wrong with the file its Sync will tell.
	_ = syscall.SyncFileRange(int(f.Fd()), 0, 0, startWriting)
}
