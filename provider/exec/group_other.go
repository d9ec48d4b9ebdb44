//go:build !unix

package exec

import "os/exec"

func ownGroup(*exec.Cmd) {}

// killGroup ends the program; one that is gone is what was wanted.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
