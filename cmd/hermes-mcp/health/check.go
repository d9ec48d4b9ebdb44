package health

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"github.com/hermes-mcp/hermes-mcp/transcript/plain"
	"github.com/hermes-mcp/hermes-mcp/transcript/source"
)

// A Verdict of one check.
type Verdict string

// The Verdicts.
const (
	Fine Verdict = "ok"
	Warn Verdict = "warn"
	Bad  Verdict = "fail"
)

// A Check is one thing that doctor looked at.
type Check struct {
	Name    string  `json:"name"`
	Verdict Verdict `json:"verdict"`
	Detail  string  `json:"detail"`
	Mend    Mend    `json:"mend,omitempty"`
}

// A Mend is what doctor --fix may do about a Check: it is safe, whatever else is
// true. The empty one leaves it to a person.
type Mend string

// Narrow takes the rights of others on our folder. Every other Mend is the name
// of a client that is to be set up anew.
const Narrow Mend = "rights"

// MendHook has Claude Code's hook run the program that the server is.
const MendHook Mend = "hook"

// Check checks everything, worst news not first but each beside its kin.
func (s Subject) Check(ctx context.Context) []Check {
	var checks []Check
	add := func(name string, v Verdict, format string, args ...any) *Check {
		checks = append(checks, Check{Name: name, Verdict: v, Detail: fmt.Sprintf(format, args...)})
		return &checks[len(checks)-1]
	}
	s.checkHome(add)
	for _, p := range s.Problems {
		add("config", Bad, "%s", p)
	}
	if len(s.Problems) == 0 {
		add("config", Fine, "%s said, the others at their default", plain.Count(len(s.Config.Origins), "setting"))
	}
	for _, w := range s.scanning() {
		add("scan", Warn, "%s", w)
	}
	s.checkMemory(ctx, add)
	s.checkFacts(ctx, add)
	s.checkArchive(ctx, add)
	s.checkSources(ctx, add)
	s.checkEmbeddings(ctx, add)
	s.checkAuxiliary(add)
	s.checkProvider(add)
	s.checkClients(ctx, add)
	add("session", Fine, "%s", SessionLine(s.Session.ID, s.Session.How))
	return checks
}

// SessionLine says which agent's session calls, and how that is known. At a
// terminal there is none, which is no fault.
func SessionLine(id, how string) string {
	switch {
	case id != "":
		return fmt.Sprintf("%s (%s)", id, how)
	case strings.HasPrefix(how, "none"):
		return "none: no agent is running this"
	}
	return fmt.Sprintf("unknown (%s)", how)
}

// checkProvider looks at the external memory. Nothing is asked of it.
func (s Subject) checkProvider(add addCheck) {
	if s.External == nil {
		return
	}
	v := Fine
	if h := s.External; h.Failures > 0 || h.Damaged > 0 || h.Problem != "" || len(h.SetAside)+len(h.EventsSetAside) > 0 {
		v = Warn
	}
	for i, line := range s.External.Lines() {
		if i == 0 || v == Warn {
			add("provider", v, "%s", line)
		}
	}
}

// An addCheck notes a Check. What it returns is good until the next one.
type addCheck func(name string, v Verdict, format string, args ...any) *Check

func (s Subject) checkHome(add addCheck) {
	info, err := os.Stat(s.Home.Path)
	switch {
	case os.IsNotExist(err):
		add("home", Warn, "%s is not there yet; the first use makes it", s.Home.Path)
		return
	case err != nil:
		add("home", Bad, "%v", err)
		return
	case !info.IsDir():
		add("home", Bad, "%s is not a folder", s.Home.Path)
		return
	}
	add("home", Fine, "%s (%s)", s.Home.Path, s.Home.From)
	if s.Unwritable != nil {
		add("home", Warn, "%s", s.onlyRead())
	}
	if s.Home.Warning != "" {
		add("home", Warn, "%s", s.Home.Warning)
	}
	ours, err := os.Stat(s.Home.MCP())
	if err == nil && ours.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		add("rights", Warn, "others can look into %s; the next start narrows it", s.Home.MCP()).Mend = Narrow
	} else if err == nil {
		add("rights", Fine, "%s is yours alone", s.Home.MCP())
	}
	for _, lock := range []string{s.Home.MCP("memory.lock"), filepath.Join(s.Home.Path, "memories", "MEMORY.md.lock"), filepath.Join(s.Home.Path, "memories", "USER.md.lock")} {
		checkLock(lock, add)
	}
}

// checkLock tells a lock that somebody holds now: for long it would mean that
// no edit is possible.
func checkLock(path string, add addCheck) {
	if _, err := os.Stat(path); err != nil {
		return // nobody ever needed it
	}
	lock := flock.New(path)
	held, err := lock.TryRLock()
	switch {
	case err != nil:
		add("lock", Bad, "%s: %v", path, err)
	case !held:
		add("lock", Warn, "%s is held by another process just now", path)
	default:
		add("lock", Fine, "%s is free", path)
		if err := lock.Unlock(); err != nil {
			add("lock", Bad, "%s: %v", path, err)
		}
	}
}

// nearlyFull is when a person should consolidate, in percent.
const nearlyFull = 90

func (s Subject) checkMemory(ctx context.Context, add addCheck) {
	for _, s := range s.targets(ctx) {
		name := string(s.Target)
		switch {
		case s.Error != "":
			add(name, Bad, "%s", s.Error)
			continue
		case s.Chars > s.Limit:
			add(name, Warn, "%d of %d characters: over the limit, only edits that shorten it are taken", s.Chars, s.Limit)
		case s.Limit > 0 && s.Chars*100 >= s.Limit*nearlyFull:
			add(name, Warn, "%d of %d characters: nearly full", s.Chars, s.Limit)
		default:
			add(name, Fine, "%s, %d of %d characters, %s", plain.Count(s.Entries, "entry"), s.Chars, s.Limit, s.Path)
		}
		if info, err := os.Stat(s.Path); err == nil && info.Mode().Perm()&0o200 == 0 {
			add(name, Warn, "%s may not be written, so no edit is taken; chmod u+w it to allow them", s.Path)
		}
		if s.Blocked > 0 {
			add(name, Warn, "masked in prompts, for reading like an attack: %s", plain.Count(s.Blocked, "entry"))
		}
		for _, l := range s.Lost {
			add(name, Warn, "left the file without an edit: %q (hermes-mcp memory restore %s)", brief(l.Text), l.Restore)
		}
	}
}

func (s Subject) checkArchive(ctx context.Context, add addCheck) {
	now := s.archive(ctx)
	switch {
	case now.Error != "":
		add("archive", Bad, "%s", now.Error)
	case now.Pending != "":
		add("archive", Warn, "%s", now.Pending)
	}
	for _, line := range now.Room.Lines() {
		v := Fine
		if now.Over() || now.Left > 0 {
			v = Warn
		}
		add("archive", v, "%s", line)
	}
	for _, e := range now.Expiring {
		v := Fine
		if e.NotArchived > 0 || e.Error != "" {
			v = Warn
		}
		add("archive", v, "%s", e)
	}
	for _, c := range now.Sources {
		v := Fine
		if c.Unreadable > 0 {
			v = Warn
		}
		add("archive", v, "%s: %s, %s; of %s gone: %d, unreadable: %d", c.Source, plain.Count(c.Sessions, "session"), plain.Count(c.Messages, "message"), plain.Count(c.Files, "file"), c.Gone, c.Unreadable)
		for _, p := range c.Problems {
			add("archive", Warn, "not read: %s", p)
		}
		if more := c.Unreadable - len(c.Problems); more > 0 {
			add("archive", Warn, "%s: %d more were not read", c.Source, more)
		}
	}
}

func (s Subject) checkSources(ctx context.Context, add addCheck) {
	var none []string
	for _, src := range s.Sources {
		files, err := src.Find(ctx, s.Places)
		switch {
		case err != nil:
			add("source", Bad, "%s: %v", src.Name(), err)
		case len(files) == 0:
			none = append(none, src.Name())
		case s.Config.Excluded(src.Name()):
			add("source", Warn, "%s is excluded: %s not archived", src.Name(), plain.Count(len(files), "file"))
		default:
			add("source", Fine, "%s: %s on this machine", src.Name(), plain.Count(len(files), "file"))
		}
	}
	for _, why := range source.Elsewhere(s.Places) {
		add("source", Warn, "%s", why)
	}
	if len(none) > 0 {
		add("source", Fine, "no files on this machine of %s", strings.Join(none, ", "))
	}
}
