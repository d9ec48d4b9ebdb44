package source

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// Codex reads the rollouts of Codex CLI, its IDE extension and app: live,
// archived and compressed ones, and the shapes from before there were any.
type Codex struct{}

// Name implements [transcript.Source].
func (Codex) Name() string { return "codex" }

func codexID(own string) string { return Codex{}.Name() + ":" + own }

// Find lists the rollouts under CODEX_HOME or ~/.codex, the prompt history, and
// the index that holds the titles, which CODEX_SQLITE_HOME moves elsewhere.
func (c Codex) Find(ctx context.Context, p transcript.Places) ([]transcript.File, error) {
	home := p.Env["CODEX_HOME"]
	if home == "" {
		if p.Home == "" {
			return nil, nil
		}
		home = filepath.Join(p.Home, ".codex")
	}
	var found []transcript.File
	for _, dir := range []string{"sessions", "archived_sessions"} {
		files, err := walk(ctx, c.Name(), filepath.Join(home, dir), func(path string) bool {
			return isRolloutName(path) || isOldRollout(&sniff{path: path})
		})
		if err != nil {
			return found, err
		}
		found = append(found, files...)
	}
	if f, ok := fileAt(c.Name(), filepath.Join(home, "history.jsonl")); ok {
		found = append(found, f)
	}
	if f, ok := stateOf(first(p.Env["CODEX_SQLITE_HOME"], home)); ok {
		found = append(found, f)
	}
	return found, nil
}

// rolloutName is how rollouts are named: local time, then the thread's id.
var rolloutName = regexp.MustCompile(`^rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-(.+?)\.json(?:l(?:\.zst)?)?$`)

func isRolloutName(path string) bool {
	name := filepath.Base(path)
	return strings.HasPrefix(name, "rollout-") && (strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".jsonl.zst"))
}

// FindIn lists the rollouts at or below path: by name, or by what their first
// lines hold.
func (c Codex) FindIn(ctx context.Context, path string) ([]transcript.File, error) {
	return findIn(ctx, c, path)
}

func (Codex) recognises(ctx context.Context, f *sniff) bool {
	return strings.HasSuffix(f.path, ".jsonl.zst") && isRolloutName(f.path) || f.is(".jsonl") && isCodex(f) || isState(ctx, f) || isOldRollout(f)
}

var codexTypes = map[string]bool{"session_meta": true, "turn_context": true, "response_item": true, "event_msg": true,
	"compacted": true, "world_state": true, "inter_agent_communication": true}

// isCodex recognises a rollout, Codex's history, or a log of the time before
// rollouts: bare messages of which the person's name a model.
func isCodex(f *sniff) bool {
	vals := f.values(8)
	for _, v := range vals {
		var r struct {
			Type      string  `json:"type"`
			Payload   rawJSON `json:"payload"`
			SessionID string  `json:"session_id"`
			TS        float64 `json:"ts"`
			Text      *string `json:"text"`
			Role      string  `json:"role"`
			Model     string  `json:"model"`
			Timestamp string  `json:"timestamp"`
			Created   string  `json:"created_at"`
			ID        string  `json:"id"`
		}
		if decode(v, &r) != nil {
			continue
		}
		switch {
		case codexTypes[r.Type] && len(r.Payload) > 0:
			return true
		case r.SessionID != "" && r.TS > 0 && r.Text != nil && r.Role == "":
			return true
		case isRolloutName(f.path) && (r.Type == "" && r.ID != "" && r.Timestamp != "" || bareItems[r.Type]):
			return true
		case r.Role == "user" && r.Model != "" && (r.Timestamp != "" || r.Created != "") && r.Type == "":
			return true
		}
		return isRolloutName(f.path) && len(vals) == 0
	}
	return isRolloutName(f.path)
}

// codexState is what a later read needs to go on.
type codexState struct {
	ID        string             `json:"id,omitempty"`     // of the thread that the file belongs to
	Parent    string             `json:"parent,omitempty"` // of which it may begin with a copy
	Copies    bool               `json:"copies,omitempty"`
	Turn      string             `json:"turn,omitempty"`
	Dir       string             `json:"dir,omitempty"` // of the present turn
	Known     transcript.Session `json:"known"`         // as announced
	Tools     map[string]string  `json:"tools,omitempty"`
	Items     counter            `json:"items,omitempty"`  // prompts and answers that came as response items
	Events    counter            `json:"events,omitempty"` // the same, as events
	Prompts   []string           `json:"prompts,omitempty"`
	Counter   counter            `json:"counter,omitempty"`
	Reasoning []string           `json:"reasoning,omitempty"` // for the next message
}

// codexPass is one read of one rollout.
type codexPass struct {
	*pass
	st    codexState
	turns map[string]bool // of the parent, where its rollout is beside; nil when not looked at
	// threads are, for the history, those of which there is a rollout.
	threads map[string]bool
}

// Read implements [transcript.Source].
func (c Codex) Read(ctx context.Context, f transcript.File, from transcript.Cursor, final bool, sink transcript.Sink) error {
	if isDatabase(f.Path) {
		if err := readState(ctx, f, from, sink); err != nil {
			return fmt.Errorf("read codex index: %w", err)
		}
		return nil
	}
	if isOldRollout(&sniff{path: f.Path}) {
		return c.readOld(ctx, f, sink)
	}
	var p codexPass
	var err error
	if p.pass, err = openPass(ctx, f, from, final, sink, &p.st); err != nil {
		return fmt.Errorf("read codex rollout: %w", err)
	}
	if p.st.Tools == nil {
		p.st.Tools = map[string]string{}
	}
	if err := p.run(&p, &p.st); err != nil {
		return fmt.Errorf("read codex rollout: %w", err)
	}
	return nil
}

func (p *codexPass) flush() error { return nil }
func (p *codexPass) end() error   { return nil }

// codexLine is one line; the payload's fields by type.
type codexLine struct {
	Type    string       `json:"type"`
	At      moment       `json:"timestamp"`
	Created moment       `json:"created_at"`
	Payload codexPayload `json:"payload"`

	// Of the history, and of logs from before rollouts.
	SessionID string  `json:"session_id"`
	TS        moment  `json:"ts"`
	Text      string  `json:"text"`
	Role      string  `json:"role"`
	Content   rawJSON `json:"content"`
	Message   rawJSON `json:"message"`
	Model     string  `json:"model"`
	Function  codexFn `json:"function"`
	Arguments rawJSON `json:"arguments"`
	Name      string  `json:"name"`
	Result    rawJSON `json:"result"`
}

type codexFn struct {
	Name string `json:"name"`
}

// codexPayload holds the fields of all types of payload.
type codexPayload struct {
	Type      string  `json:"type"`
	ID        word    `json:"id"`
	SessionID string  `json:"session_id"`
	Timestamp moment  `json:"timestamp"`
	TurnID    string  `json:"turn_id"`
	CallID    string  `json:"call_id"`
	Role      string  `json:"role"`
	Content   rawJSON `json:"content"`
	Phase     string  `json:"phase"`
	Message   rawJSON `json:"message"`
	Text      string  `json:"text"`
	Summary   rawJSON `json:"summary"`
	Name      string  `json:"name"`
	Namespace string  `json:"namespace"`
	Arguments rawJSON `json:"arguments"`
	Input     rawJSON `json:"input"`
	Output    rawJSON `json:"output"`
	Action    rawJSON `json:"action"`
	Query     string  `json:"query"`
	Function  codexFn `json:"function"`
	Result    rawJSON `json:"result"`
	Item      rawJSON `json:"item"`
	NumTurns  int     `json:"num_turns"`
	Title     string  `json:"thread_name"`

	ExitCode   *int    `json:"exit_code"`
	Aggregated string  `json:"aggregated_output"`
	Stdout     string  `json:"stdout"`
	Stderr     string  `json:"stderr"`
	Command    rawJSON `json:"command"`
	Success    *bool   `json:"success"`

	Cwd        string    `json:"cwd"`
	Model      string    `json:"model"`
	Originator string    `json:"originator"`
	Version    string    `json:"cli_version"`
	Source     rawJSON   `json:"source"`
	ForkedFrom string    `json:"forked_from_id"`
	ParentID   string    `json:"parent_thread_id"`
	Git        codexGit  `json:"git"`
	Base       codexBase `json:"history_base"`
	Review     rawJSON   `json:"review_output"`
}

type codexGit struct {
	Branch string `json:"branch"`
}

type codexBase struct {
	ThreadID string `json:"thread_id"`
}

// value reads one line's value.
func (p *codexPass) value(v []byte) error {
	if len(v) == 0 || v[0] != '{' {
		p.in.count("<non-object>", "")
		return nil
	}
	var l codexLine
	if err := decode(v, &l); err != nil {
		return fmt.Errorf("line %d: %w", p.in.no, err) // splitValues has seen that it is valid
	}
	typ := l.Type
	switch {
	case typ == "":
		typ = "None"
	case (typ == "response_item" || typ == "event_msg") && l.Payload.Type == "":
		typ += ":None"
	case typ == "response_item" || typ == "event_msg":
		typ += ":" + l.Payload.Type
	}
	session := ""
	if l.Type == "session_meta" {
		session = string(l.Payload.ID)
	}
	p.in.count(typ, session)
	if l.Type == "session_meta" {
		return p.meta(l)
	}
	if p.st.ID == "" && l.Type == "" && l.Role == "" && l.SessionID == "" && !l.At.IsZero() && isRolloutName(p.path) { // a first line of 2025
		if err := decode(v, &l.Payload); err != nil {
			return err
		}
		return p.meta(l)
	}
	if err := l.unwrapped(v); err != nil {
		return err
	}
	if id := l.Payload.TurnID; id != "" && (l.Type == "turn_context" || l.Payload.Type == "task_started" || l.Payload.Type == "turn_started") {
		p.st.Turn = id
	}
	if p.copied() {
		return nil
	}
	switch l.Type {
	case "turn_context":
		return p.context(l.Payload)
	case "response_item":
		return p.item(l)
	case "event_msg":
		return p.event(l)
	case "compacted":
		return p.compacted(l)
	}
	return p.bare(l)
}
