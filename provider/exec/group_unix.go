//go:build unix

package exec

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the program the head of a group, so that it can be ended with
// all that it started.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends the group; a group that is gone is what was wanted.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
