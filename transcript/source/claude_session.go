package source

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

type rawJSON = json.RawMessage

// How good a title is: a better one replaces a worse one, an equal one too.
const (
	titleSummary = 1 + iota
	titleAI
	titleRenamed
	titleCustom
)

// deliver sends a message on, with what its line says about it.
func (p *claudePass) deliver(l claudeLine, m transcript.Message) error {
	if err := p.flush(); err != nil {
		return err
	}
	if p.isProbe(l, m) {
		return nil
	}
	return p.send(l, m)
}

// isProbe tells whether a message is one of a session that holds nothing yet
// but the question how much is used up. Programs that show this in a menu bar
// make such sessions all day.
func (p *claudePass) isProbe(l claudeLine, m transcript.Message) bool {
	id, _ := p.owner(l)
	if p.kind != claudeMain || p.st.Known[id] != nil || m.Role != transcript.UserRole {
		return false
	}
	if m.Content == "/usage" {
		p.st.Probe = id
		return true
	}
	output := p.st.Probe == id && strings.HasPrefix(m.Content, "<local-command-stdout>")
	return output || m.Kind != "" && (strings.HasPrefix(m.Content, "<local-command-caveat>") || strings.HasPrefix(m.Content, "Caveat:"))
}

// send announces the message's session where there is something new about it,
// then delivers the message.
func (p *claudePass) send(l claudeLine, m transcript.Message) error {
	id, parent := p.owner(l)
	if err := p.announce(l, id, parent, m.Model); err != nil {
		return err
	}
	m.SessionID = id
	if m.At.IsZero() {
		m.At = l.At.Time
	}
	m.Dir, m.Branch = l.Cwd, l.Branch
	if m.ParentUID == "" && l.Parent != "" {
		m.ParentUID = p.uidOf(l.Parent)
	}
	m.Content, m.Reasoning = clean(m.Content), clean(m.Reasoning)
	unfence(&m)
	if m.UID == "" {
		m.UID = p.st.Counter.id(m)
	}
	if l.UUID != "" {
		p.alias(l.UUID, m.UID)
	}
	m.Global = isGlobalID(m.UID) || l.ForkedFrom.SessionID != ""
	p.st.Known[id].Last = m.UID
	return p.message(m)
}

// announce tells the sink what is new about a session.
func (p *claudePass) announce(l claudeLine, id, parent, model string) error {
	k := p.st.Known[id]
	fresh := k == nil
	if fresh {
		k = &claudeSession{}
		p.st.Known[id] = k
	}
	s := transcript.Session{ID: id, SourcePath: p.path, LastActive: l.At.Time}
	news := fresh
	take := func(held *string, now string, field *string) {
		if now != "" && now != *held {
			*held, *field, news = now, now, true
		}
	}
	take(&k.Model, model, &s.Model)
	take(&k.Version, l.Version, &s.Version)
	take(&k.Surface, surfaceOf(l), &s.Surface)
	take(&k.Branch, l.Branch, &s.Branch)
	if k.Dir == "" && l.Cwd != "" {
		k.Dir, s.Dir, news = l.Cwd, l.Cwd, true
		s.Project = p.gitRoot(l.Cwd)
	}
	if !k.Begun && !l.At.IsZero() {
		k.Begun, s.StartedAt, news = true, l.At.Time, true
	}
	if k.Parent == "" {
		s.ParentID, s.Relation = p.parentOf(l, id, parent)
		if s.ParentID != "" {
			k.Parent, news = s.ParentID, true
		}
	}
	if fresh && p.kind == claudeAgent {
		s.Title = p.agentTitle()
	}
	if !news {
		return nil
	}
	return p.sink.Session(s)
}

// parentOf says which session this one came out of, as far as one line tells.
func (p *claudePass) parentOf(l claudeLine, id, parent string) (string, transcript.Relation) {
	if parent != "" && claudeID(parent) != id {
		return claudeID(parent), transcript.Subagent
	}
	if from := l.ForkedFrom.SessionID; from != "" && claudeID(from) != id {
		return claudeID(from), transcript.Fork
	}
	// A resumed copy keeps the old session id on the lines it replays: the
	// first new line hangs on the last old one.
	if l.Parent != "" {
		for other, k := range p.st.Known {
			if other != id && k.Last == p.uidOf(l.Parent) {
				return other, transcript.Resume
			}
		}
	}
	return "", ""
}

func surfaceOf(l claudeLine) string {
	if l.SessionKind == "bg" {
		return "bg"
	}
	switch e := l.Entrypoint; {
	case e == "":
		return ""
	case e == "claude-desktop":
		return "desktop"
	case strings.HasPrefix(e, "claude-"):
		return "ide"
	case strings.HasPrefix(e, "sdk"):
		return "sdk"
	default:
		return e
	}
}

func (p *claudePass) gitRoot(dir string) string {
	root, ok := p.roots[dir]
	if !ok {
		root = gitRoot(dir)
		p.roots[dir] = root
	}
	return root
}

// agentTitle returns what the parent wanted of a subagent, from the file beside.
func (p *claudePass) agentTitle() string {
	raw, err := os.ReadFile(strings.TrimSuffix(p.path, ".jsonl") + ".meta.json")
	if err != nil {
		return ""
	}
	var meta struct {
		Description string `json:"description"`
		AgentType   string `json:"agentType"`
	}
	if decode(raw, &meta) != nil {
		return ""
	}
	if meta.Description == "" {
		return meta.AgentType
	}
	return meta.Description
}

// title gives the line's session a title, unless it has a better one.
func (p *claudePass) title(l claudeLine, title string, rank int) error {
	title = strings.TrimSpace(title)
	id, parent := p.owner(l)
	if title == "" {
		return nil
	}
	if p.st.Known[id] == nil {
		if err := p.announce(l, id, parent, ""); err != nil {
			return err
		}
	}
	k := p.st.Known[id]
	if rank < k.Rank {
		return nil
	}
	k.Rank = rank
	return p.sink.Session(transcript.Session{ID: id, Title: clean(title)})
}

// summaryLine reads a title in its old form, or, in a compaction helper's
// file, the summary itself. Titles of sessions in other files are theirs, see
// titleOthers.
func (p *claudePass) summaryLine(l claudeLine) error {
	if len(l.Message) > 0 {
		text, _, err := messageText(l.Message)
		if err != nil || text == "" {
			return err
		}
		return p.deliver(l, transcript.Message{UID: l.UUID, Role: transcript.Summary, Content: text})
	}
	if l.LeafUUID == "" {
		return nil
	}
	if p.uids[l.LeafUUID] != "" {
		return p.title(l, l.Summary, titleSummary)
	}
	if p.st.Leaves == nil {
		p.st.Leaves = map[string]string{}
	}
	if len(p.st.Leaves) < maxLeaves {
		p.st.Leaves[l.LeafUUID] = l.Summary // usually the leaf comes after it
	}
	return nil
}

// leaf gives the session its title when an earlier summary named this line.
func (p *claudePass) leaf(l claudeLine) error {
	summary, ok := p.st.Leaves[l.UUID]
	if !ok || l.UUID == "" {
		return nil
	}
	delete(p.st.Leaves, l.UUID)
	return p.title(l, summary, titleSummary)
}

// hasOwnFile tells whether a subagent's messages are in a file of their own.
func (p *claudePass) hasOwnFile(agent, session string) bool {
	has, known := p.agents[agent]
	if !known {
		dir, name := filepath.Dir(p.path), "agent-"+agent+".jsonl"
		for _, at := range []string{filepath.Join(dir, name), filepath.Join(dir, session, "subagents", name),
			filepath.Join(strings.TrimSuffix(p.path, ".jsonl"), "subagents", name)} {
			if _, err := os.Stat(at); err == nil {
				has = true
			}
		}
		p.agents[agent] = has
	}
	return has
}
