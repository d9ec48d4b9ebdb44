package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestEventsOfEveryAgentAreReadAlike(t *testing.T) {
	for _, test := range []struct {
		name, json, event string
		want              hookEvent
		answered          bool // text can be put into the context
	}{
		{"Claude Code", `{"session_id":"a","transcript_path":"/t","cwd":"/w","hook_event_name":"UserPromptSubmit","prompt":"x"}`, "",
			hookEvent{Session: "a", Transcript: "/t", Dir: "/w", Event: userPromptSubmit}, true},
		{"codex", `{"session_id":"a","transcript_path":null,"cwd":"/w","hook_event_name":"PreCompact","turn_id":"1"}`, "",
			hookEvent{Session: "a", Dir: "/w", Event: preCompact}, true},
		{"gemini", `{"session_id":"a","transcript_path":"/t","cwd":"/w","hook_event_name":"BeforeAgent","timestamp":"2026-01-01"}`, "",
			hookEvent{Session: "a", Transcript: "/t", Dir: "/w", Event: userPromptSubmit}, true},
		{"cursor", `{"conversation_id":"a","generation_id":"g","hook_event_name":"beforeSubmitPrompt","workspace_roots":["/w","/v"]}`, "",
			hookEvent{Session: "a", Dir: "/w", Event: userPromptSubmit}, false},
		{"copilot-cli", `{"sessionId":"a","timestamp":1,"cwd":"/w","transcriptPath":"/t","stopReason":"end"}`, "agentStop",
			hookEvent{Session: "a", Transcript: "/t", Dir: "/w", Event: stop}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := readEvent(strings.NewReader(test.json), test.event)
			if err != nil || got.Session != test.want.Session || got.Transcript != test.want.Transcript || got.Dir != test.want.Dir || got.Event != test.want.Event {
				t.Errorf("%+v, %v", got, err)
			}
			out := got.told(test.name, "words", "")
			if (out != nil) != test.answered {
				t.Errorf("answer %v", out)
			}
			if raw, err := json.Marshal(out); err != nil || out != nil && !strings.Contains(string(raw), `"hookEventName":"`+got.own+`"`) {
				t.Errorf("answer %s, %v", raw, err)
			}
			if got.told(test.name, "", "") != nil {
				t.Error("an answer without words")
			}
		})
	}
}

func TestOnlyEditsBySubagentsAreDenied(t *testing.T) {
	for _, test := range []struct {
		name, json string
		denied     bool
	}{
		{"an add", `{"agent_id":"s","tool_name":"mcp__hermes__memory","tool_input":{"action":"add","content":"x"}}`, true},
		{"an add through a plugin", `{"agent_id":"s","tool_name":"mcp__plugin_my_x_hermes__memory","tool_input":{"action":"add"}}`, true},
		{"a batch", `{"agent_id":"s","tool_name":"mcp__hermes__memory","tool_input":{"operations":[{"action":"add"}]}}`, true},
		{"an edit whose action is missing", `{"agent_id":"s","tool_name":"mcp__hermes__memory","tool_input":{"content":"x"}}`, true},
		{"input that is no object", `{"agent_id":"s","tool_name":"mcp__hermes__memory","tool_input":"{\"action\":\"add\"}"}`, true},
		{"a read", `{"agent_id":"s","tool_name":"mcp__hermes__memory","tool_input":{"action":"read"}}`, false},
		{"a read without words", `{"agent_id":"s","tool_name":"mcp__hermes__memory","tool_input":{}}`, false},
		{"a search", `{"agent_id":"s","tool_name":"mcp__hermes__session_search","tool_input":{"query":"x"}}`, false},
		{"a record of a turn", `{"agent_id":"s","tool_name":"mcp__hermes__session_record","tool_input":{"user_text":"x"}}`, true},
		{"a fact for the provider", `{"agent_id":"s","tool_name":"mcp__hermes__fact_store","tool_input":{"action":"add","content":"x"}}`, true},
		{"a fact looked for", `{"agent_id":"s","tool_name":"mcp__hermes__fact_store","tool_input":{"action":"probe","entity":"x"}}`, false},
		{"a fact store without an action", `{"agent_id":"s","tool_name":"mcp__hermes__fact_store","tool_input":{}}`, true},
		{"trust in a fact", `{"agent_id":"s","tool_name":"mcp__hermes__fact_feedback","tool_input":{"action":"helpful","fact_id":1}}`, true},
		{"an action that is no word", `{"agent_id":"s","tool_name":"mcp__hermes__memory","tool_input":{"action":3}}`, true},
		{"another memory", `{"agent_id":"s","tool_name":"mcp__other__memory","tool_input":{"action":"add"}}`, false},
		{"the main agent", `{"tool_name":"mcp__hermes__memory","tool_input":{"action":"add"}}`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, err := readEvent(strings.NewReader(test.json), preToolUse)
			if err != nil || (e.denial() != nil) != test.denied {
				t.Errorf("%v, %v", e.denial(), err)
			}
		})
	}
}

func FuzzReadEvent(f *testing.F) {
	f.Add(`{"session_id":"a","hook_event_name":"Stop"}`)
	f.Add(`{"agent_id":"s","tool_name":"mcp__hermes__memory","hook_event_name":"PreToolUse","tool_input":[]}`)
	f.Fuzz(func(t *testing.T, text string) {
		e, err := readEvent(strings.NewReader(text), "")
		if err == nil {
			e.denial()
			e.told("claude-code", "x", "y")
		}
	})
}
