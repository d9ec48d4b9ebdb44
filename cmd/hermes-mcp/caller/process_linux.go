package caller

import (
	"bytes"
	"os"
	"strconv"
)

// processes looks a process up in /proc.
func processes() (func(pid int) (relative, bool), error) {
	return func(pid int) (relative, bool) {
		raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil {
			return relative{}, false
		}
		return parseStat(raw)
	}, nil
}

// parseStat reads a line of /proc/PID/stat: number, (name), state, parent, and
// as the 22nd field the start in clock ticks after boot. The name may hold
// spaces and parentheses, so the last ")" ends it.
func parseStat(raw []byte) (relative, bool) {
	open, end := bytes.IndexByte(raw, '('), bytes.LastIndexByte(raw, ')')
	if open < 0 || end < open {
		return relative{}, false
	}
	rest := bytes.Fields(raw[end+1:])
	if len(rest) < 20 {
		return relative{}, false
	}
	pid, err1 := strconv.Atoi(string(bytes.TrimSpace(raw[:open])))
	parent, err2 := strconv.Atoi(string(rest[1]))
	start, err3 := strconv.ParseUint(string(rest[19]), 10, 64)
	if err1 != nil || err2 != nil || err3 != nil {
		return relative{}, false
	}
	return relative{Process: Process{PID: pid, Start: start}, parent: parent, name: string(raw[open+1 : end])}, true
}
