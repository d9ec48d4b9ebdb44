// Package caller finds out for whom hermes-mcp runs: which agent's session is
// current, and which project it works on.
//
// An agent's hook leaves a [Report] in mcp/sessions. A server that the same
// agent process started finds the report by process ancestry, which beats the
// environment it was started with: agents respawn servers in mid-session, and
// change the session's id on resume and on /clear without respawning them.
//
// Nothing here reads the environment of the process or writes a log.
package caller

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ClaudeCode is the source that a bare session id belongs to.
const ClaudeCode = "claude-code"

// A Finder resolves the current session. Set the fields before first use; safe
// for concurrent use.
type Finder struct {
	Sessions  string              // the folder mcp/sessions
	Asked     string              // --session, "" when not given
	Env       func(string) string // looks a variable up
	Dir       string              // our folder: CLAUDE_PROJECT_DIR, else the working directory; "" when there is none
	ClaudeDir string              // where Claude Code keeps projects/
	Ancestors []Process           // ours, nearest first
	Now       func() time.Time
}

// A Current says which sessions are live in the caller's context.
type Current struct {
	ID   string   // "<source>:<id>" of the caller's session, "" when it cannot be told for certain
	Live []string // all sessions that may be the caller's, ID included
	How  string   // how it was found, for status
}

// Find resolves the current session anew; hooks may have reported since.
func (f *Finder) Find() Current {
	if f.Asked != "" {
		return only(qualified(f.Asked), "--session")
	}
	reports := liveReports(f.Sessions)
	// The nearest first: an agent may have been started by another one's tool.
	for _, p := range f.Ancestors {
		if id := newestOf(reports, p); id != "" {
			return only(id, "hook of our agent process")
		}
	}
	if id := f.Env("HERMES_SESSION_ID"); id != "" {
		return only("hermes:"+id, "HERMES_SESSION_ID")
	}
	if id := f.Env("CLAUDE_CODE_SESSION_ID"); id != "" {
		return only(ClaudeCode+":"+id, "CLAUDE_CODE_SESSION_ID")
	}
	if f.Dir == "" {
		return Current{How: "none: no folder"}
	}
	var ids []string
	for _, r := range reports {
		if r.Dir == f.Dir && alive(r.Agent) {
			ids = append(ids, r.ID())
		}
	}
	if len(ids) == 1 {
		return only(ids[0], "hook in our folder")
	}
	if len(ids) > 1 {
		return Current{Live: ids, How: "several hooks in our folder"}
	}
	// A transcript that grew just now may as well be that of the session before
	// ours: enough to keep it out of search, not enough to answer with its snapshot.
	if ids = f.growing(); len(ids) > 0 {
		return Current{Live: ids, How: "transcript growing in our folder"}
	}
	return Current{How: "none"}
}

func only(id, how string) Current { return Current{ID: id, Live: []string{id}, How: how} }

func qualified(id string) string {
	if strings.Contains(id, ":") {
		return id
	}
	return ClaudeCode + ":" + id
}

// newestOf returns the session that agent last reported, for one that was
// cleared or resumed leaves its report behind.
func newestOf(reports []Report, agent Process) string {
	reports = slices.DeleteFunc(slices.Clone(reports), func(r Report) bool { return r.Agent != agent })
	if len(reports) == 0 {
		return ""
	}
	newest := slices.MaxFunc(reports, func(a, b Report) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID(), b.ID()))
	})
	return newest.ID()
}

// stillGrowing is how fresh a transcript must be to count as being written.
const stillGrowing = 2 * time.Minute

// growing lists the Claude Code sessions whose transcripts grew just now.
func (f *Finder) growing() []string {
	files, err := filepath.Glob(filepath.Join(f.ClaudeDir, "projects", slug(f.Dir), "*.jsonl"))
	if err != nil {
		return nil // a pattern that cannot be one names no file
	}
	var ids []string
	for _, file := range files {
		stem := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		info, err := os.Stat(file)
		if err != nil || strings.HasPrefix(stem, "agent-") || f.Now().Sub(info.ModTime()) > stillGrowing {
			continue
		}
		ids = append(ids, ClaudeCode+":"+stem)
	}
	return ids
}

// slug is the name that Claude Code gives the folder of a project's sessions.
func slug(dir string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '-'
	}, dir)
}
