package source

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// What a state holds at most, so that it stays small.
const (
	maxLeaves  = 256
	maxTools   = 1 << 10
	maxPrompts = 64
	maxQueued  = 32
)

// claudeState is what a later read needs to go on where this one stops.
type claudeState struct {
	Session string                    `json:"session,omitempty"` // named by the last line that named one
	Known   map[string]*claudeSession `json:"known,omitempty"`
	Tools   map[string]string         `json:"tools,omitempty"`   // calls without a result yet: id, name
	Prompts []claudePrompt            `json:"prompts,omitempty"` // the latest, to see a rewind
	Queued  []claudeQueued            `json:"queued,omitempty"`
	Counter counter                   `json:"counter,omitempty"` // of messages without any id
	Leaves  map[string]string         `json:"leaves,omitempty"`  // titles by a line not seen yet
	Tip     [2]string                 `json:"tip"`               // the latest line's uuid, and its message
	Probe   string                    `json:"probe,omitempty"`   // the session that began with a question for the usage
	Sides   map[string]string         `json:"sides,omitempty"`   // the last lines of sidechains: uuid, that of the chain's first
}

// claudeSession is what was announced of a session.
type claudeSession struct {
	Rank    int    `json:"rank,omitempty"` // how good the title is
	Model   string `json:"model,omitempty"`
	Dir     string `json:"dir,omitempty"`
	Branch  string `json:"branch,omitempty"`
	Version string `json:"version,omitempty"`
	Parent  string `json:"parent,omitempty"`
	Surface string `json:"surface,omitempty"`
	Last    string `json:"last,omitempty"`  // the latest message
	Begun   bool   `json:"begun,omitempty"` // its start time was told
}

// claudePrompt is a human prompt, with the line and the message it hangs on.
type claudePrompt struct {
	Session, Line, Parent, UID string
}

// claudeQueued is a prompt typed while the agent was busy, of which it is not
// yet known whether it comes again as an ordinary line.
type claudeQueued struct {
	Session, UID, Text string
	At                 moment
	Delivered          bool // its own line, should it come, is then passed over
}

// claudePass is one read of one file.
type claudePass struct {
	*pass
	kind claudeKind
	st   claudeState

	open     *transcript.Message // an assistant message whose further lines may follow
	openLine claudeLine
	blocks   []string          // what open holds already
	seen     map[uint64]uint64 // uuids of user lines and what was said in them: an equal line is passed over
	uids     map[string]string // a line's uuid: the id of the message it became or hangs on
	sides    map[string]string // a sidechain line's uuid: that of its chain's first line
	roots    map[string]string // git roots of folders
	agents   map[string]bool   // whether a subagent has a file of its own
	beside   map[string]bool   // for the history: the sessions' files there are
}

// Read implements [transcript.Source].
func (c Claude) Read(ctx context.Context, f transcript.File, from transcript.Cursor, final bool, sink transcript.Sink) error {
	p := claudePass{kind: kindOf(f.Path), seen: map[uint64]uint64{}, uids: map[string]string{}, sides: map[string]string{}, roots: map[string]string{}, agents: map[string]bool{}}
	var err error
	if p.pass, err = openPass(ctx, f, from, final, sink, &p.st); err != nil {
		return fmt.Errorf("read claude code session: %w", err)
	}
	if p.st.Known == nil {
		p.st.Known = map[string]*claudeSession{}
	}
	if p.st.Tools == nil {
		p.st.Tools = map[string]string{}
	}
	p.uids[p.st.Tip[0]] = p.st.Tip[1]
	if p.st.Sides == nil {
		p.st.Sides = map[string]string{}
	}
	maps.Copy(p.sides, p.st.Sides)
	err = p.run(&p, &p.st)
	if err == nil && from.Offset == 0 {
		err = p.titleOthers(ctx)
	}
	if err != nil {
		return fmt.Errorf("read claude code session: %w", err)
	}
	return nil
}

// claudeLine is one line; what differs by type stays raw.
type claudeLine struct {
	Type         string     `json:"type"`
	Subtype      string     `json:"subtype"`
	UUID         string     `json:"uuid"`
	Parent       string     `json:"parentUuid"`
	LogicalPar   string     `json:"logicalParentUuid"`
	SessionID    word       `json:"sessionId"`
	At           moment     `json:"timestamp"`
	Cwd          string     `json:"cwd"`
	Branch       string     `json:"gitBranch"`
	Version      string     `json:"version"`
	Entrypoint   string     `json:"entrypoint"`
	SessionKind  string     `json:"sessionKind"`
	Sidechain    bool       `json:"isSidechain"`
	Meta         bool       `json:"isMeta"`
	Compact      bool       `json:"isCompactSummary"`
	APIError     bool       `json:"isApiErrorMessage"`
	AgentID      string     `json:"agentId"`
	Origin       claudeKey  `json:"origin"`
	ForkedFrom   claudeFork `json:"forkedFrom"`
	Message      rawJSON    `json:"message"`
	ToolResult   rawJSON    `json:"toolUseResult"`
	Attachment   rawJSON    `json:"attachment"`
	Data         rawJSON    `json:"data"`
	Content      rawJSON    `json:"content"`
	Operation    string     `json:"operation"`
	Summary      string     `json:"summary"`
	LeafUUID     string     `json:"leafUuid"`
	CustomTitle  string     `json:"customTitle"`
	AITitle      string     `json:"aiTitle"`
	PRURL        string     `json:"prUrl"`
	ParentToolID string     `json:"parentToolUseID"`
	// Of history.jsonl and of shapes from before messages were nested.
	Display string  `json:"display"`
	Project string  `json:"project"`
	Name    string  `json:"name"`
	Input   rawJSON `json:"input"`
	Output  rawJSON `json:"output"`
	Error   rawJSON `json:"error"`
}

type claudeKey struct {
	Kind string `json:"kind"`
}

type claudeFork struct {
	SessionID string `json:"sessionId"`
}

// value reads one JSON value of a line.
func (p *claudePass) value(v []byte) error {
	if len(v) == 0 || v[0] != '{' {
		p.in.count("<non-object>", "")
		return nil
	}
	var l claudeLine
	if err := decode(v, &l); err != nil {
		return fmt.Errorf("line %d: %w", p.in.no, err) // splitValues has seen that it is valid
	}
	typ := l.Type
	switch {
	case typ == "":
		typ = "None"
	case typ == "system" && l.Subtype != "":
		typ += ":" + l.Subtype
	}
	p.in.count(typ, string(l.SessionID))
	switch p.kind {
	case claudeSideline:
		return nil
	case claudeHistory:
		return p.historyLine(l)
	}
	if l.SessionID != "" {
		p.st.Session = string(l.SessionID)
	}
	if p.kind == claudeMain && l.Sidechain && l.AgentID == "" && l.UUID != "" {
		l.AgentID = p.chain(l)
	}
	if l.UUID != "" && l.Parent != "" {
		p.alias(l.UUID, p.uidOf(l.Parent)) // until the line becomes a message of its own
	}
	if err := p.line(l); err != nil {
		return err
	}
	return p.leaf(l)
}

// line delivers what one line holds.
func (p *claudePass) line(l claudeLine) error {
	switch l.Type {
	case "user":
		return p.userLine(l)
	case "assistant":
		return p.assistantLine(l)
	case "system":
		return p.systemLine(l)
	case "attachment":
		return p.attachmentLine(l)
	case "progress":
		return p.progressLine(l)
	case "queue-operation":
		return p.queueLine(l)
	case "summary":
		return p.summaryLine(l)
	case "custom-title":
		return p.title(l, l.CustomTitle, titleCustom)
	case "ai-title":
		return p.title(l, l.AITitle, titleAI)
	case "pr-link":
		if l.PRURL == "" {
			return nil
		}
		return p.deliver(l, transcript.Message{UID: l.UUID, Role: transcript.System, Content: l.PRURL})
	case "tool_use", "tool_result":
		return p.bareToolLine(l)
	}
	return nil
}

// alias remembers that the line with uuid is, or hangs on, message uid.
func (p *claudePass) alias(uuid, uid string) {
	if len(p.uids) > 1<<16 {
		clear(p.uids)
	}
	p.uids[uuid] = uid
	p.st.Tip = [2]string{uuid, uid}
}

// uidOf returns the id of the message that a line's uuid leads to.
func (p *claudePass) uidOf(uuid string) string {
	if uid, ok := p.uids[uuid]; ok {
		return uid
	}
	return uuid
}

// owner returns the archive's id of the session that a line belongs to, and
// the agent's own id of its parent for a subagent's.
func (p *claudePass) owner(l claudeLine) (id, parent string) {
	stem := strings.TrimSuffix(filepath.Base(p.path), filepath.Ext(p.path))
	session := string(l.SessionID)
	if session == "" {
		session = p.st.Session
	}
	switch {
	case p.kind == claudeAgent:
		return claudeID(stem), session
	case l.Sidechain && l.AgentID != "":
		return claudeID("agent-" + strings.TrimPrefix(l.AgentID, "agent-")), session
	case session == "":
		return claudeID(stem), ""
	}
	return claudeID(session), ""
}

func claudeID(own string) string { return Claude{}.Name() + ":" + own }
