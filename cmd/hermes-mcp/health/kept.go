package health

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript/plain"
)

// A Kept is how much stands on the disk beside the memory itself, and where. A
// part that is not there yet has no size.
type Kept struct {
	Journal      string `json:"journal"` // the file that edits are noted in
	JournalBytes int64  `json:"journal_bytes"`
	JournalParts int    `json:"journal_parts"` // older ones, packed, which count in JournalBytes
	Snapshots    int    `json:"snapshots"`     // of sessions
	Log          string `json:"log"`
	LogBytes     int64  `json:"log_bytes"`
}

func (s Subject) kept() Kept {
	k := Kept{Journal: s.Home.MCP("memory-journal.jsonl"), Log: s.Home.MCP("logs", "hermes-mcp.log")}
	size := func(path string) int64 {
		info, err := os.Stat(path)
		if err != nil {
			return 0 // none yet
		}
		return info.Size()
	}
	k.JournalBytes = size(k.Journal)
	for _, e := range names(s.Home.MCP()) {
		if strings.HasPrefix(e, "memory-journal-") {
			k.JournalParts++
			k.JournalBytes += size(s.Home.MCP(e))
		}
	}
	for _, e := range names(filepath.Dir(k.Log)) {
		k.LogBytes += size(filepath.Join(filepath.Dir(k.Log), e))
	}
	for _, e := range names(s.Home.MCP("sessions")) {
		if strings.HasSuffix(e, ".json") {
			k.Snapshots++
		}
	}
	return k
}

// Lines tells what there is, one thing a line, each with its name.
func (k Kept) Lines() iter.Seq2[string, string] {
	return func(yield func(name, line string) bool) {
		if k.JournalBytes > 0 && !yield("journal", fmt.Sprintf("%.1f kB in %s, %s", float64(k.JournalBytes)/1e3, plain.Count(k.JournalParts+1, "file"), k.Journal)) {
			return
		}
		if k.Snapshots > 0 && !yield("sessions", plain.Count(k.Snapshots, "snapshot")) {
			return
		}
		if k.LogBytes > 0 {
			yield("log", fmt.Sprintf("%.1f kB, %s", float64(k.LogBytes)/1e3, k.Log))
		}
	}
}

// names lists a folder; one that cannot be listed has none.
func names(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// scanning warns where what enters the memory is not scanned as strictly as it
// can be.
func (s Subject) scanning() []string {
	var all []string
	for _, one := range []struct{ key, value string }{
		{"memory.scan", s.Config.MemoryScan}, {"memory.scan_user", s.Config.UserScan}, {"memory.scan_project", s.Config.ProjectScan},
	} {
		if one.value != "strict" {
			all = append(all, one.key+" is "+one.value+": a client may write what reads like an attack; it is masked in prompts, and memory list says which")
		}
	}
	return all
}
