package bundle

import (
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/hermes-mcp/hermes-mcp/transcript/record"
)

// A session is a line about a session.
type session struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Parent    string          `json:"parent,omitempty"`
	Relation  record.Relation `json:"relation,omitempty"`
	Title     string          `json:"title,omitempty"`
	Project   string          `json:"project,omitempty"`
	Dir       string          `json:"dir,omitempty"`
	Branch    string          `json:"branch,omitempty"`
	Model     string          `json:"model,omitempty"`
	Surface   string          `json:"surface,omitempty"`
	User      string          `json:"user,omitempty"`
	Chat      string          `json:"chat,omitempty"`
	Version   string          `json:"version,omitempty"`
	Started   time.Time       `json:"started,omitzero"`
	Ended     time.Time       `json:"ended,omitzero"`
	Active    time.Time       `json:"last_active,omitzero"`
	EndReason string          `json:"end_reason,omitempty"`
	Path      string          `json:"path,omitempty"`
	Gone      bool            `json:"gone,omitempty"`
	Messages  int             `json:"messages"` // that follow
}

func newSession(s *record.Session) session {
	return session{"session", s.ID, s.ParentID, s.Relation, s.Title, s.Project, s.Dir, s.Branch, s.Model, s.Surface, s.User, s.Chat, s.Version,
		s.StartedAt, s.EndedAt, s.LastActive, s.EndReason, s.SourcePath, s.SourceGone, s.Messages}
}

func (s session) record() (*record.Session, error) {
	if err := checkID(s.ID); err != nil {
		return nil, err
	}
	return &record.Session{ID: s.ID, ParentID: s.Parent, Relation: s.Relation, Title: s.Title, Project: s.Project, Dir: s.Dir, Branch: s.Branch,
		Model: s.Model, Surface: s.Surface, User: s.User, Chat: s.Chat, Version: s.Version, StartedAt: s.Started, EndedAt: s.Ended,
		LastActive: s.Active, EndReason: s.EndReason, SourcePath: s.Path, SourceGone: s.Gone}, nil
}

// A message is a line about a message.
type message struct {
	Type       string      `json:"type"`
	Session    string      `json:"session"`
	Key        string      `json:"key,omitempty"` // its identity in an archive, hexadecimal
	UID        string      `json:"uid,omitempty"`
	Global     bool        `json:"global,omitempty"` // uid holds in the whole source
	ParentUID  string      `json:"parent_uid,omitempty"`
	Role       record.Role `json:"role"`
	Kind       string      `json:"kind,omitempty"`
	At         time.Time   `json:"at,omitzero"`
	Content    string      `json:"content,omitempty"`
	Reasoning  string      `json:"reasoning,omitempty"`
	ToolCalls  []call      `json:"tool_calls,omitempty"`
	ToolCallID string      `json:"tool_call_id,omitempty"`
	ToolName   string      `json:"tool_name,omitempty"`
	ExitCode   *int        `json:"exit_code,omitempty"`
	IsError    bool        `json:"is_error,omitempty"`
	OwnTrace   bool        `json:"own_trace,omitempty"`
	OffPath    bool        `json:"off_path,omitempty"`
	Rewound    bool        `json:"rewound,omitempty"`
	Compacted  bool        `json:"compacted,omitempty"`
	Finish     string      `json:"finish_reason,omitempty"`
	Model      string      `json:"model,omitempty"`
	Dir        string      `json:"dir,omitempty"`
	Branch     string      `json:"branch,omitempty"`
	Extra      string      `json:"extra,omitempty"` // JSON, as it stood
}

type call struct {
	ID   string `json:"id,omitempty"`
	Name string `json:"name"`
	Args string `json:"args,omitempty"` // JSON, as the agent wrote it
}

func newMessage(session string, m *record.Message) message {
	out := message{"message", session, keyText(m.Key), m.UID, m.Global, m.ParentUID, m.Role, m.Kind, m.At, m.Content, m.Reasoning, nil,
		m.ToolCallID, m.ToolName, m.ExitCode, m.IsError, m.OwnTrace, m.OffPath, m.Rewound, m.Compacted, m.FinishReason, m.Model, m.Dir, m.Branch, string(m.Extra)}
	for _, c := range m.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, call{c.ID, c.Name, string(c.Args)})
	}
	return out
}

func (m message) record() (*record.Message, error) {
	if err := checkID(m.Session); err != nil {
		return nil, err
	}
	if m.Role == "" {
		return nil, errors.New("the message has no role")
	}
	out := &record.Message{SessionID: m.Session, UID: m.UID, Global: m.Global, ParentUID: m.ParentUID, Role: m.Role, Kind: m.Kind, At: m.At,
		Content: m.Content, Reasoning: m.Reasoning, ToolCallID: m.ToolCallID, ToolName: m.ToolName, ExitCode: m.ExitCode, IsError: m.IsError,
		OwnTrace: m.OwnTrace, OffPath: m.OffPath, Rewound: m.Rewound, Compacted: m.Compacted, FinishReason: m.Finish,
		Model: m.Model, Dir: m.Dir, Branch: m.Branch}
	if m.Extra != "" {
		out.Extra = record.ValidArgs(json.RawMessage(m.Extra))
	}
	if m.Key != "" {
		key, err := strconv.ParseInt(m.Key, 16, 64)
		if err != nil || key <= 0 {
			return nil, errors.New("the key of the message is no number")
		}
		out.Key = key
	}
	for _, c := range m.ToolCalls {
		t := record.ToolCall{ID: c.ID, Name: c.Name}
		if c.Args != "" {
			t.Args = record.ValidArgs(json.RawMessage(c.Args))
		}
		out.ToolCalls = append(out.ToolCalls, t)
	}
	return out, nil
}
