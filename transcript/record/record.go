// Package record says what a session and a message are, how a message is packed
// for the archive, how two pieces of one are joined, and what of it is searched.
//
// Everything here works on values; package record does no I/O.
package record

import (
	"encoding/json"
	"time"
)

// A Role says who speaks.
type Role string

const (
	UserRole  Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool" // the result of a tool call
	System    Role = "system"
	Summary   Role = "summary" // a compaction summary: a model's words about the session
)

// A Relation says how a session came out of its parent.
type Relation string

const (
	Resume     Relation = "resume"
	Fork       Relation = "fork"
	Subagent   Relation = "subagent"
	Compaction Relation = "compaction"
	Branch     Relation = "branch"
	Delegate   Relation = "delegate"
	Reset      Relation = "reset"
)

// A Session is one conversation of one agent. Strings are "" and times zero
// when unknown.
type Session struct {
	ID         string // "<source>:<agent's id>"; the key everywhere outside the archive
	ParentID   string // same form
	Relation   Relation
	Title      string
	Project    string // canonical project name or path; Dir's git root when known
	Dir        string // working directory
	Branch     string // git branch
	Model      string // the last model seen
	Surface    string // cli, ide, desktop, sdk, telegram, cron, ...
	User       string // the user it belongs to, where the agent serves several
	Chat       string // the key of the chat that it belongs to, where a gateway keeps many apart
	Version    string // of the agent
	StartedAt  time.Time
	EndedAt    time.Time
	LastActive time.Time
	EndReason  string // "", compression, clear, exit, ...; the agent's own word
	SourcePath string // the file it was read from
	SourceGone bool   // the file is not there any more
	Messages   int    // how many are archived
	Preview    string // the first human prompt, shortened; set by reads
}

// Source returns the part of ID before the colon.
func (s Session) Source() string {
	for i := range len(s.ID) {
		if s.ID[i] == ':' {
			return s.ID[:i]
		}
	}
	return s.ID
}

// A ToolCall is one call that an assistant message makes.
type ToolCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"` // as the agent wrote it; a JSON string when it was not JSON
}

// A Message is one thing said or run. Everything the agent ran is kept,
// reasoning included.
type Message struct {
	ID        int64  // the archive's id, ascending in arrival; 0 before it is stored
	SessionID string // of the session that owns it
	// Key is the archive's own number for its identity: set by reads, and 0 in
	// what a source delivers.
	Key int64
	Seq int // position in the session, from 0; set by reads
	// UID is the agent's own id for the message, "" when it has none (the
	// archive then hashes role, content and how many equal ones came before).
	UID string
	// Global says that UID is unique over all sessions of the source, so that
	// the same UID in another session is a copied history and is stored once.
	Global    bool
	ParentUID string
	// Twin says that the agent keeps the session in another place too, where the
	// message has another id, or none: it is known again by what it says. Was is
	// the id under which an earlier version of the source told of it. Neither is
	// stored.
	Twin      bool
	Was       string
	Role      Role
	Kind      string // "" ordinary; notice, command, meta: stored, not searched, unless Role is Summary, or System and it tells a failure
	Content   string
	Reasoning string
	ToolCalls []ToolCall
	// Of a tool result: the call it answers.
	ToolCallID string
	ToolName   string
	ExitCode   *int // exit status where the agent tells it
	IsError    bool
	// OwnTrace marks what came out of hermes-mcp itself (tool results,
	// injected snapshots): kept, never searched.
	OwnTrace     bool
	OffPath      bool // on an abandoned branch
	Rewound      bool // undone by the user
	Compacted    bool // left the live context by compaction
	FinishReason string
	Model        string
	Dir, Branch  string
	At           time.Time
	Extra        json.RawMessage // whatever else is worth keeping, such as reasoning items
}
