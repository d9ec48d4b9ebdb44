package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"os"
	"regexp"
	"slices"

	"github.com/hermes-mcp/hermes-mcp/curator"
	"github.com/hermes-mcp/hermes-mcp/scanner"
)

// A hookEvent is what of an agent's JSON is used, under the names that Claude
// Code and Codex share.
type hookEvent struct {
	Session    string `json:"session_id"`
	Transcript string `json:"transcript_path"`
	Dir        string `json:"cwd"`
	Event      string `json:"hook_event_name"`
	Source     string `json:"source"` // of a SessionStart: startup, resume, clear, compact, fork
	Parent     string `json:"parent_session_id"`
	Prompt     string `json:"prompt"`                 // of a UserPromptSubmit
	Said       string `json:"last_assistant_message"` // of a Stop and a SubagentStop, in newer versions
	Subagent   string `json:"agent_id"`               // set inside a subagent, whose session is its parent's
	// Of a tool call.
	Tool      string          `json:"tool_name"`
	ToolInput json.RawMessage `json:"tool_input"`
	// Of a subagent that ended; Transcript is its parent's then.
	SubagentTranscript string `json:"agent_transcript_path"`

	// Names of the other agents, read into those above.
	Camel      string   `json:"sessionId"`
	Cursor     string   `json:"conversation_id"`
	CamelPath  string   `json:"transcriptPath"`
	Workspaces []string `json:"workspace_roots"`
	Response   string   `json:"prompt_response"` // Gemini CLI

	own string // the event as the agent called it
}

// The events that something is done for.
const (
	sessionStart     = "SessionStart"
	userPromptSubmit = "UserPromptSubmit"
	preToolUse       = "PreToolUse"
	stop             = "Stop"
	subagentStop     = "SubagentStop"
	preCompact       = "PreCompact"
	sessionEnd       = "SessionEnd"
)

// eventNames are other agents' names for those events.
var eventNames = map[string]string{
	"BeforeAgent": userPromptSubmit, "AfterAgent": stop, "PreCompress": preCompact, // Gemini CLI
	"sessionStart": sessionStart, "userPromptSubmitted": userPromptSubmit, "agentStop": stop, "sessionEnd": sessionEnd, // Copilot CLI
	"beforeSubmitPrompt": userPromptSubmit, "stop": stop, "preCompact": preCompact, // Cursor
}

// readEvent reads an agent's JSON. event names it where the JSON does not.
func readEvent(in io.Reader, event string) (hookEvent, error) {
	var e hookEvent
	if err := json.NewDecoder(io.LimitReader(in, largestEvent)).Decode(&e); err != nil {
		return e, err
	}
	e.Session, e.Transcript = cmp.Or(e.Session, e.Camel, e.Cursor), cmp.Or(e.Transcript, e.CamelPath)
	if e.Dir == "" && len(e.Workspaces) > 0 {
		e.Dir = e.Workspaces[0]
	}
	e.Said = cmp.Or(e.Said, e.Response)
	e.own = cmp.Or(e.Event, event)
	e.Event = cmp.Or(eventNames[e.own], e.own)
	return e, nil
}

// hears tells whether the agent of that name takes what a hook answers into the
// context. Of the others no answer is known.
func hears(source string) bool { return source != "cursor" && source != "copilot-cli" }

// told is the answer that puts text into the agent's context, and after it what
// was recalled, which has a fence of its own. A fence within the text would end
// ours.
func (e hookEvent) told(source, text, recalled string) any {
	if text != "" {
		text = fenceOpen + scanner.StripFences(text) + fenceClose
	}
	if text != "" && recalled != "" {
		text += "\n\n"
	}
	if text += recalled; text == "" || !hears(source) {
		return nil
	}
	return map[string]any{"hookSpecificOutput": map[string]string{"hookEventName": e.own, "additionalContext": text}}
}

// writingTool are our tools that write, and those of the local provider, as agents
// call them, also from a plugin.
var writingTool = regexp.MustCompile(`^mcp__(?:plugin_.+_)?hermes__(memory|session_record|fact_store|fact_feedback)$`)

// looks are the actions of fact_store that change nothing.
var looks = []string{"search", "probe", "related", "reason", "contradict", "list"}

// denial is the answer to a subagent that is about to edit the memory, nil for
// every other call. A subagent sees a part of the work and none of the user.
func (e hookEvent) denial() any {
	tool := writingTool.FindStringSubmatch(e.Tool)
	if e.Event != preToolUse || e.Subagent == "" || tool == nil {
		return nil
	}
	var input map[string]any
	if json.Unmarshal(e.ToolInput, &input) == nil {
		action, named := input["action"]
		text, _ := action.(string) // what is no word is no look
		switch tool[1] {
		case "memory":
			if text == "read" || !named && input["content"] == nil && input["operations"] == nil && input["old_text"] == nil {
				return nil
			}
		case "fact_store":
			if slices.Contains(looks, text) {
				return nil
			}
		}
	}
	return map[string]any{"hookSpecificOutput": map[string]string{
		"hookEventName": preToolUse, "permissionDecision": "deny",
		"permissionDecisionReason": "Subagents may read the memory, not edit it. Nothing was saved. Tell the fact in your result, and the main agent can save it.",
	}}
}

// mostScanned bounds what is read of a subagent's transcript to see whether it
// edited the memory.
const mostScanned = 32 << 20

// slipped tells whether a subagent that ended called our memory tool.
func (e hookEvent) slipped() bool {
	f, err := os.Open(e.SubagentTranscript)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(io.LimitReader(f, mostScanned))
	return err == nil && bytes.Contains(text, []byte("hermes__memory"))
}

// job is what an event makes due for a session, "" for nothing.
func (a *app) job(e hookEvent) curator.Kind {
	switch e.Event {
	case preCompact, sessionEnd:
		if a.config.FlushMinTurns > 0 && a.flushModel() != nil {
			return curator.FlushJob // archives, too
		}
		// Also beside a server: the agent may be about to end it.
		return curator.ArchiveJob
	case subagentStop:
		if e.slipped() {
			return curator.SubagentJob
		}
	}
	return ""
}
