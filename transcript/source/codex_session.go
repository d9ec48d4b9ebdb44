package source

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// meta reads a session_meta line. The first one says whose the file is; the
// same again comes at each resume, another one is the parent's, copied.
func (p *codexPass) meta(l codexLine) error {
	m := l.Payload
	id := string(m.ID)
	if id == "" {
		id = m.SessionID
	}
	if p.st.ID != "" {
		if id != p.st.ID && id == p.st.Parent {
			p.st.Copies = true
		}
		return nil
	}
	p.st.ID = id
	if id == "" {
		p.st.ID = p.nameID()
	}
	s := transcript.Session{Dir: m.Cwd, Branch: m.Git.Branch, Version: m.Version, Project: gitRoot(m.Cwd), Surface: codexSurface(m),
		StartedAt: m.Timestamp.Time}
	if s.StartedAt.IsZero() {
		s.StartedAt = l.At.Time
	}
	var sub struct {
		Subagent struct {
			Spawn struct {
				Parent   string `json:"parent_thread_id"`
				Nickname string `json:"agent_nickname"`
				Role     string `json:"agent_role"`
			} `json:"thread_spawn"`
		} `json:"subagent"`
	}
	isSub := len(m.Source) > 0 && m.Source[0] == '{' && decode(m.Source, &sub) == nil
	switch parent := first(m.ParentID, sub.Subagent.Spawn.Parent); {
	case isSub && parent != "":
		p.st.Parent, s.ParentID, s.Relation = parent, codexID(parent), transcript.Subagent
		s.Title = strings.TrimSpace(sub.Subagent.Spawn.Role + " " + sub.Subagent.Spawn.Nickname)
	case first(m.ForkedFrom, m.Base.ThreadID) != "":
		parent = first(m.ForkedFrom, m.Base.ThreadID)
		p.st.Parent, s.ParentID, s.Relation = parent, codexID(parent), transcript.Fork
	}
	p.st.Copies = m.ForkedFrom != "" || isSub
	s.Title = first(p.indexTitle(), s.Title)
	return p.announce(s)
}

// maxIndex is how long a session index is still looked through.
const maxIndex = 4 << 20

// indexTitle returns the thread's name in the session index, the last one.
func (p *codexPass) indexTitle() (title string) {
	dir := filepath.Dir(p.path)
	for _, home := range []string{filepath.Dir(dir), filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(dir))))} {
		index := filepath.Join(home, "session_index.jsonl")
		if st, err := os.Stat(index); err != nil || st.Size() > maxIndex {
			continue
		}
		raw, err := os.ReadFile(index)
		if err != nil {
			continue
		}
		for line := range bytes.SplitSeq(raw, []byte("\n")) {
			var e struct {
				ID   string `json:"id"`
				Name string `json:"thread_name"`
			}
			if len(line) > 0 && decode(line, &e) == nil && e.ID == p.st.ID && e.Name != "" {
				title = clean(e.Name)
			}
		}
	}
	return title
}

func first(s ...string) string {
	for _, v := range s {
		if v != "" {
			return v
		}
	}
	return ""
}

func codexSurface(m codexPayload) string {
	switch o := strings.ToLower(m.Originator); {
	case strings.Contains(o, "vscode"):
		return "ide"
	case strings.Contains(o, "desktop"):
		return "desktop"
	case strings.Contains(o, "exec"), strings.Contains(o, "sdk"):
		return "sdk"
	}
	if s := str(m.Source); s == "vscode" {
		return "ide"
	} else if s != "" {
		return s
	}
	return "cli"
}

// nameID returns the thread's id from the file's name, the whole name when it
// is no rollout's.
func (p *codexPass) nameID() string {
	name := filepath.Base(p.path)
	if m := rolloutName.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, ".zst"), ".jsonl"), ".json")
}

// announce tells the sink what is new about the thread.
func (p *codexPass) announce(s transcript.Session) error {
	if p.st.ID == "" {
		p.st.ID = p.nameID()
	}
	s.ID = codexID(p.st.ID)
	s.SourcePath = p.path
	k := &p.st.Known
	if k.ID == s.ID && (s.Model == "" || s.Model == k.Model) && (s.Title == "" || s.Title == k.Title) && (s.Dir == "" || s.Dir == k.Dir) && s.EndReason == k.EndReason {
		return nil
	}
	k.ID = s.ID
	k.Model, k.Title, k.Dir, k.Branch = first(s.Model, k.Model), first(s.Title, k.Title), first(s.Dir, k.Dir), first(s.Branch, k.Branch)
	k.EndReason = s.EndReason
	return p.sink.Session(s)
}

// copied tells whether the present line belongs to the parent, of which a
// forked thread begins with a copy: its turn was begun before this thread was,
// or stands in the parent's own rollout. Lines are never judged by their time,
// which is the copy's.
func (p *codexPass) copied() bool {
	if !p.st.Copies || p.st.Turn == "" {
		return false
	}
	if p.turns == nil {
		p.turns = p.parentTurns()
	}
	born, ok := v7Time(p.st.ID)
	began, ok2 := v7Time(p.st.Turn)
	p.st.Copies = p.turns[p.st.Turn] || ok && ok2 && len(p.turns) == 0 && began.Before(born)
	return p.st.Copies // the first turn of its own ends the copy
}

// v7Time returns the time in a version 7 UUID.
func v7Time(id string) (time.Time, bool) {
	if len(id) != 36 || id[14] != '7' || id[8] != '-' || id[13] != '-' {
		return time.Time{}, false
	}
	ms, err := strconv.ParseInt(id[:8]+id[9:13], 16, 64)
	if err != nil {
		return time.Time{}, false
	}
	return time.UnixMilli(ms), true
}

// parentTurns returns the ids of the turns in the parent's rollout, empty when
// it is not found where rollouts of its day lie, or beside this one.
func (p *codexPass) parentTurns() map[string]bool {
	turns := map[string]bool{}
	dir := filepath.Dir(p.path)
	patterns := []string{filepath.Join(globSafe(dir), "rollout-*-"+globSafe(p.st.Parent)+".jsonl*")}
	if t, ok := v7Time(p.st.Parent); ok {
		root := filepath.Dir(filepath.Dir(filepath.Dir(dir)))
		for _, day := range []time.Time{t.AddDate(0, 0, -1), t, t.AddDate(0, 0, 1)} {
			patterns = append(patterns, filepath.Join(globSafe(root), day.Format("2006/01/02"), "rollout-*-"+globSafe(p.st.Parent)+".jsonl*"))
		}
	}
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 || files[0] == p.path {
			continue
		}
		in, err := openLines(files[0], 0, transcript.Tally{})
		if err != nil {
			continue
		}
		defer in.Close()
		for {
			line, _, err := in.next(true)
			if err == io.EOF || err != nil {
				return turns
			}
			if vals, _ := splitValues(line); len(vals) > 0 && strings.Contains(string(line[:min(len(line), 400)]), `"turn_id"`) {
				var l codexLine
				if decode(vals[0], &l) == nil && l.Payload.TurnID != "" {
					turns[l.Payload.TurnID] = true
				}
			}
		}
	}
	return turns
}

// context reads a turn_context line: the model and folder of the turn.
func (p *codexPass) context(m codexPayload) error {
	s := transcript.Session{Model: m.Model}
	if p.st.Known.Dir == "" {
		s.Dir, s.Project = m.Cwd, gitRoot(m.Cwd)
	}
	p.st.Dir = first(m.Cwd, p.st.Dir)
	return p.announce(s)
}
