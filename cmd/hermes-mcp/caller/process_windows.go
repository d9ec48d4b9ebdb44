package caller

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

// processes takes one picture of all processes; start times are asked for as
// they are needed.
func processes() (func(pid int) (relative, bool), error) {
	shot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	defer windows.CloseHandle(shot) //nolint:errcheck // nothing was written through it
	all := map[int]relative{}
	entry := windows.ProcessEntry32{}
	entry.Size = uint32(unsafe.Sizeof(entry))
	for err = windows.Process32First(shot, &entry); err == nil; err = windows.Process32Next(shot, &entry) {
		pid := int(entry.ProcessID)
		all[pid] = relative{Process: Process{PID: pid}, parent: int(entry.ParentProcessID), name: windows.UTF16ToString(entry.ExeFile[:])}
	}
	return func(pid int) (relative, bool) {
		r, ok := all[pid]
		r.Start = started(pid)
		return r, ok
	}, nil
}

func started(pid int) uint64 {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return 0 // another user's: the number has to do
	}
	defer windows.CloseHandle(h) //nolint:errcheck // only read through
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &created, &exited, &kernel, &user); err != nil {
		return 0
	}
	return uint64(created.HighDateTime)<<32 | uint64(created.LowDateTime)
}
