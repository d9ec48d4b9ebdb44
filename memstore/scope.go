package memstore

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/memstore/ledger"
)

// A place is where a target lives.
type place struct {
	target Target
	name   string // of the file, for messages
	file   ledger.File
	limit  int
	scan   Scanning
}

// plainKey is what may be part of a path: nothing that leads elsewhere.
var plainKey = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// place finds the file of a target. What is not meant for this store's user and
// project has no place.
func (s *Store) place(t Target) (place, error) {
	p := place{target: t}
	refuse := func(format string, args ...any) (place, error) {
		return p, &OpError{Err: ErrInvalid, Op: -1, Reason: fmt.Sprintf(format, args...)}
	}
	limit := func(set, otherwise int) {
		if p.limit = set; set <= 0 {
			p.limit = otherwise
		}
	}
	switch t {
	case Memory:
		p.name = "MEMORY.md"
		limit(s.MemoryLimit, 2200)
		p.scan = s.MemoryScan
		p.file = ledger.File{Target: "memory", Path: filepath.Join(s.home, "memories", p.name)}
	case User:
		p.name = "USER.md"
		limit(s.UserLimit, 1375)
		p.scan = s.UserScan
		p.file = ledger.File{Target: "user", Path: filepath.Join(s.home, "memories", p.name)}
		if s.User != "" {
			if !plainKey.MatchString(s.User) {
				return refuse("user %q is no name: letters, digits, dot, dash and underscore", s.User)
			}
			p.file = ledger.File{Target: "user:" + s.User, Path: s.own("users", s.User, p.name)}
		}
	case Project:
		p.name = "MEMORY.md"
		limit(s.ProjectLimit, 1100)
		p.scan = s.ProjectScan
		if s.Project == "" {
			return refuse("there is no project here, so nothing can be kept for one; use scope global")
		}
		if !plainKey.MatchString(s.Project) {
			return refuse("project key %q is no key", s.Project)
		}
		p.file = ledger.File{Target: "project:" + s.Project, Path: s.own("projects", s.Project, p.name)}
	default:
		session, ok := strings.CutPrefix(string(t), sessionPrefix)
		if !ok {
			return refuse("target %q is neither %q nor %q", t, Memory, User)
		}
		p.name = "this session's notes"
		limit(s.ProjectLimit, 1100)
		p.scan = s.MemoryScan
		p.file = ledger.File{Target: s.userPrefix() + string(t), Path: strings.TrimSuffix(s.sessionFile(session), ".json") + ".md"}
	}
	return p, nil
}

const sessionPrefix = "session:"

// SessionTarget is where entries of scope session live: beside the session's
// snapshot, until the session is forgotten.
func SessionTarget(session string) Target { return Target(sessionPrefix + session) }

// placeFor finds the file that ops of a call on t are meant for: their scope
// may say that it is the project's or the session's.
func (s *Store) placeFor(t Target, by Caller, ops []Op) (place, error) {
	for i, op := range ops {
		if op.Scope != ops[0].Scope {
			return place{target: t}, &OpError{Err: ErrInvalid, Op: i, Action: op.Action, Reason: "the operations of one call need one scope, since they are made in one file"}
		}
	}
	if t != Memory || len(ops) == 0 {
		return s.place(t)
	}
	switch ops[0].Scope {
	case ProjectOnly:
		return s.place(Project)
	case SessionOnly:
		if by.Session == "" {
			return place{target: t}, &OpError{Err: ErrInvalid, Op: 0, Action: ops[0].Action, Reason: "the session is not known, so nothing can be kept for it; use scope global"}
		}
		return s.place(SessionTarget(by.Session))
	}
	return s.place(t)
}

// knows returns the target that the journal calls name, if it is this store's.
func (s *Store) knows(name string) (Target, bool) {
	for _, t := range []Target{Memory, User, Project} {
		if p, err := s.place(t); err == nil && p.file.Target == name {
			return t, true
		}
	}
	own, ok := strings.CutPrefix(name, s.userPrefix())
	if ok && strings.HasPrefix(own, sessionPrefix) {
		return Target(own), true
	}
	return "", false
}

// userPrefix stands in the journal before what is not one of the home's files
// and yet a user's own: no name of a user holds a slash.
func (s *Store) userPrefix() string {
	if s.User == "" {
		return ""
	}
	return "user:" + s.User + "/"
}

// A Chat says where a message came from, for gateways that serve many people.
type Chat struct {
	Namespace string // "agent:main" when ""
	Platform  string
	Type      string // dm, group, channel, thread, …
	ChatID    string
	ThreadID  string
	UserID    string
	UserIDAlt string // preferred to UserID where a platform has one
}

// Key returns the key that isolates a chat's sessions, built as Hermes Agent
// builds it: a direct message by its chat, a group by its chat and, with
// groupPerUser, by who writes; in a thread who writes counts only with
// threadPerUser.
func (c Chat) Key(groupPerUser, threadPerUser bool) string {
	first := func(all ...string) string {
		for _, s := range all {
			if s != "" {
				return s
			}
		}
		return ""
	}
	parts := []string{first(c.Namespace, "agent:main"), c.Platform, first(c.Type, "dm")}
	who := first(c.UserIDAlt, c.UserID)
	if parts[2] == "dm" {
		parts = append(parts, first(c.ChatID, who), c.ThreadID)
	} else {
		parts = append(parts, c.ChatID, c.ThreadID)
		if c.ThreadID == "" && groupPerUser || c.ThreadID != "" && threadPerUser {
			parts = append(parts, who)
		}
	}
	var key []string
	for _, p := range parts {
		if p != "" {
			key = append(key, p)
		}
	}
	return strings.Join(key, ":")
}
