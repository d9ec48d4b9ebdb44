package caller

import (
	"bytes"

	"golang.org/x/sys/unix"
)

// processes asks the kernel for one process at a time.
func processes() (func(pid int) (relative, bool), error) {
	return func(pid int) (relative, bool) {
		k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
		if err != nil || int(k.Proc.P_pid) != pid {
			return relative{}, false
		}
		name, _, _ := bytes.Cut(k.Proc.P_comm[:], []byte{0})
		start := uint64(k.Proc.P_starttime.Sec)*1_000_000 + uint64(k.Proc.P_starttime.Usec)
		return relative{Process: Process{PID: pid, Start: start}, parent: int(k.Eproc.Ppid), name: string(name)}, true
	}, nil
}
