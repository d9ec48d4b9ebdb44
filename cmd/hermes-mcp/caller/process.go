package caller

import (
	"path/filepath"
	"slices"
	"strings"
)

// A Process is told apart from a later one of the same number by its start.
type Process struct {
	PID   int    `json:"pid,omitempty"`
	Start uint64 `json:"start,omitempty"` // in the system's own unit
}

// A relative is a process with what is needed to climb on from it.
type relative struct {
	Process
	parent int
	name   string // of the program, without folder; may be cut by the system
}

// deepest bounds the climb; real chains have a dozen links.
const deepest = 64

// Ancestors returns the processes that pid descends from, nearest first. The
// first process of the system is everybody's ancestor and is left out.
func Ancestors(pid int) []Process {
	var out []Process
	for _, r := range climb(pid) {
		out = append(out, r.Process)
	}
	return out
}

// climb returns the ancestors of pid, as far as the system tells.
func climb(pid int) []relative {
	look, err := processes()
	if err != nil {
		return nil
	}
	self, ok := look(pid)
	if !ok {
		return nil
	}
	var out []relative
	for parent := self.parent; parent > 1 && len(out) < deepest; {
		r, ok := look(parent)
		if !ok {
			break
		}
		out = append(out, r)
		parent = r.parent
	}
	return out
}

// shells stand between an agent and its hook, and belong to the hook alone.
var shells = []string{"sh", "bash", "dash", "zsh", "fish", "ksh", "ash", "busybox", "cmd", "powershell", "pwsh", "env", "timeout"}

// AgentOf returns the process that ran the hook pid: the nearest ancestor that
// is no shell. It is zero when the system does not tell.
func AgentOf(pid int) Process {
	chain := climb(pid)
	for _, r := range chain {
		name := strings.TrimSuffix(strings.ToLower(filepath.Base(r.name)), ".exe")
		if !slices.Contains(shells, strings.TrimPrefix(name, "-")) {
			return r.Process
		}
	}
	if len(chain) > 0 {
		return chain[0].Process
	}
	return Process{}
}

// alive tells whether p still runs.
func alive(p Process) bool {
	if p.PID == 0 {
		return false
	}
	look, err := processes()
	if err != nil {
		return false
	}
	r, ok := look(p.PID)
	return ok && r.Process == p
}
