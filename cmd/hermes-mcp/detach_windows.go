package main

import "syscall"

// detachedProcess starts a process without a console.
const detachedProcess = 0x00000008

// apart makes a process outlive the console of the one that starts it.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: detachedProcess | syscall.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}
