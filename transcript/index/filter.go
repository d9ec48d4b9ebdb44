package index

import (
	"cmp"
	"path"
	"strings"
)

// A Filter is what a search leaves out. The zero Filter leaves out nothing.
type Filter struct {
	Sources      []string // all when empty
	Roles        []string // all when empty
	Project      string   // a path, or a name: the last element of the path
	Since, Until int64    // Unix seconds, 0 for open
	Dated        bool     // sessions of which no time is known are left out too
	// Live names sessions whose lineage is in the caller's context: left out,
	// except what has left that context.
	Live []string
	// Sees tells whether the reader may see sessions of a source that carry a
	// user and are of a chat; nil sees all.
	Sees func(source, user, chat string) bool
}

// A filter is a Filter in the directory's terms.
type filter struct {
	Filter
	open bool           // leaves out nothing
	live map[int64]bool // roots
}

func (f Filter) resolve(d *directory) *filter {
	r := &filter{Filter: f, live: make(map[int64]bool)}
	for _, s := range d.sessions {
		if len(f.Live) == 0 {
			break
		}
		if contains(f.Live, s.name) {
			r.live[s.root] = true
		}
	}
	r.open = len(f.Sources)+len(f.Roles)+len(f.Live) == 0 && f.Project == "" && f.Since == 0 && f.Until == 0 && !f.Dated && f.Sees == nil
	return r
}

// session tells whether messages of s may be found at all.
func (f *filter) session(s *dirSession) bool {
	first, last := cmp.Or(s.started, s.active), cmp.Or(s.active, s.started)
	return (f.Sees == nil || f.Sees(s.source, s.user, s.chat)) && contains(f.Sources, s.source) && InProject(s.project, f.Project) &&
		(f.Since == 0 || last == 0 || last >= f.Since) && (f.Until == 0 || first <= f.Until) &&
		(!f.Dated || last != 0)
}

// message tells whether a message of s may be found.
func (f *filter) message(s *dirSession, m Slot) bool {
	if f.live[s.root] && !s.left && !m.Compacted {
		return false
	}
	if m.Header {
		return len(f.Roles) == 0
	}
	at := m.At
	if at == 0 {
		at = s.started
	}
	return contains(f.Roles, m.Role) && (f.Since == 0 || at == 0 || at >= f.Since) && (f.Until == 0 || at == 0 || at <= f.Until)
}

// contains tells whether list is empty or holds s.
func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return len(list) == 0
}

// InProject tells whether a session's project is the one asked for: the same
// path, a folder in it, or the name of its last element.
func InProject(have, want string) bool {
	if want == "" {
		return true
	}
	have, want = slashed(have), slashed(want)
	if have == want || strings.HasPrefix(have, want+"/") {
		return true
	}
	return !strings.Contains(want, "/") && strings.EqualFold(path.Base(have), want)
}

func slashed(p string) string { return strings.TrimRight(strings.ReplaceAll(p, `\`, "/"), "/") }
