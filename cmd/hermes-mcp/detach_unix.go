//go:build !windows

package main

import "syscall"

// apart makes a process outlive the session of the one that starts it.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
