package durable

import (
	"os"

	"golang.org/x/sys/unix"
)

// Boot names the time since the machine was last started: while it is the same,
// no power cut has taken anything back. "" where that cannot be told.
func Boot() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}

// Start is a hint that this system has no use for.
func Start(*os.File) {}
