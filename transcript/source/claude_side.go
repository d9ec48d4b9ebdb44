package source

import (
	"path/filepath"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

const maxSidesKept = 64 // sidechains that a later pass can go on with

// progressLine reads the messages of a subagent that stand nested in its
// parent's file. They are taken only where the subagent has no file itself.
func (p *claudePass) progressLine(l claudeLine) error {
	var d struct {
		Type    string     `json:"type"`
		AgentID string     `json:"agentId"`
		Message claudeLine `json:"message"`
	}
	if len(l.Data) == 0 || decode(l.Data, &d) != nil || d.Type != "agent_progress" || d.AgentID == "" {
		return nil
	}
	agent := strings.TrimPrefix(d.AgentID, "agent-")
	if p.hasOwnFile(agent, string(l.SessionID)) {
		return nil
	}
	in := d.Message
	in.SessionID, in.Sidechain, in.AgentID = l.SessionID, true, agent
	in.Cwd, in.Branch, in.Version = l.Cwd, l.Branch, l.Version
	if in.At.IsZero() {
		in.At = l.At
	}
	in.Parent = ""
	switch in.Type {
	case "user":
		return p.userLine(in)
	case "assistant":
		return p.assistantLine(in)
	}
	return nil
}

// chain names the subagent of a line that stands among its parent's own, as
// all did before subagents had files and ids: by the first line of its chain.
func (p *claudePass) chain(l claudeLine) string {
	first, known := p.sides[l.Parent]
	if !known {
		first = l.UUID
	}
	if len(p.sides) > 1<<16 {
		clear(p.sides)
	}
	if len(p.st.Sides) > maxSidesKept {
		clear(p.st.Sides)
	}
	delete(p.st.Sides, l.Parent)
	p.sides[l.UUID], p.st.Sides[l.UUID] = first, first
	return first
}

// historyLine reads a line of history.jsonl: one prompt of any project, kept
// when the session's own file is long deleted. It is taken only where there
// is no such file.
func (p *claudePass) historyLine(l claudeLine) error {
	typed, kind := prompt(l.Display)
	if l.SessionID == "" || kind != "" || typed == "" {
		return nil
	}
	if p.beside == nil {
		var err error
		if p.beside, err = namesOf(filepath.Join(globSafe(filepath.Dir(p.path)), "projects", "*", "*.jsonl")); err != nil {
			return err
		}
	}
	if p.beside[string(l.SessionID)+".jsonl"] {
		return nil
	}
	l.Cwd = l.Project
	if strings.HasPrefix(typed, "/") && !strings.Contains(typed, " ") {
		kind = "command"
	}
	return p.deliver(l, transcript.Message{Role: transcript.UserRole, Kind: kind, Content: typed})
}
