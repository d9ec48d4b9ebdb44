package source

import (
	"path/filepath"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// What formats allow, or versions once wrote, beside what they usually hold.
func TestWhatIsOddButLegalIsRead(t *testing.T) {
	const (
		id      = "11111111-1111-4111-8111-111111111111"
		rollout = "rollout-2025-06-01T08-00-00-" + id
		claude  = `"sessionId":"` + id + `","timestamp":"2026-05-01T10:00:00Z"`
	)
	for name, c := range map[string]struct {
		src        transcript.Source
		file, text string
		want       []string
	}{
		"a Claude Code block of an unknown type has its text": {Claude{}, id + ".jsonl",
			lined(`{"type":"user","uuid":"u",` + claude + `,"message":{"role":"user","content":[{"type":"hologram","text":"new words"}]}}`),
			[]string{"user: new words"}},
		"a Claude Code document of plain text is what was pasted": {Claude{}, id + ".jsonl",
			lined(`{"type":"user","uuid":"u",` + claude + `,"message":{"role":"user","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"pasted words"}}]}}`),
			[]string{"user: pasted words"}},
		"a Claude Code result without content has what is told beside it": {Claude{}, id + ".jsonl",
			lined(`{"type":"user","uuid":"u",` + claude + `,"toolUseResult":"Error: no such tool","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]}}`),
			[]string{"tool: Error: no such tool"}},
		"numbers where strings are expected are taken as written": {Claude{}, id + ".jsonl",
			lined(`{"type":"assistant","uuid":7,"version":2.1,`+claude+`,"message":{"id":8,"role":"assistant","content":[{"type":"text","text":42},{"type":"tool_use","id":9,"name":"Bash","input":{}}]}}`,
				`{"type":"user","uuid":10,`+claude+`,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":9,"content":"ran"}]}}`),
			[]string{"assistant: 42 [Bash {}]", "tool: ran"}},
		"a Codex refusal is an answer": {Codex{}, rollout + ".jsonl",
			lined(`{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"I cannot"},"nor this"]}}`),
			[]string{"assistant: I cannot\n\nnor this"}},
		"a Codex rollout without envelopes": {Codex{}, rollout + ".jsonl",
			lined(`{"id":"`+id+`","timestamp":"2025-06-01T08:00:00Z","instructions":null,"git":{"branch":"main"}}`, `{"record_type":"state"}`,
				`{"type":"message","role":"user","content":[{"type":"input_text","text":"bare"}]}`,
				`{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}","call_id":"c"}`, `{"type":"function_call_output","call_id":"c","output":"done"}`),
			[]string{"user: bare", `assistant:  [shell {"command":["ls"]}]`, "tool: done"}},
		"a Codex rollout that is one document": {Codex{}, "rollout-2025-05-01-" + id + ".json",
			`{"session":{"id":"` + id + `","timestamp":"2025-05-01T08:00:00Z"},"items":[{"type":"message","role":"user","content":[{"type":"input_text","text":"first"}]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"second"}]}]}`,
			[]string{"user: first", "assistant: second"}},
		"Gemini parts that are bare strings, and results in other shapes": {Gemini{}, "session-2026-01-01T10-00-aaaa1111.json",
			`{"sessionId":"` + id + `","projectHash":"p","startTime":"2026-01-01T10:00:00Z","messages":[{"id":"1","type":"user","content":["bare",{"text":"part"}]},` +
				`{"id":"2","type":"gemini","content":"","toolCalls":[{"id":"a","name":"x","result":null,"resultDisplay":"shown"},{"id":"b","name":"y","result":[{"functionResponse":{"response":{"content":[{"type":"text","text":"of a server"}]}}}]},` +
				`{"id":"c","name":"z","result":[{"functionResponse":{"response":{"rows":3}}}]}]}]}`,
			[]string{"user: bare\n\npart", "assistant:  [x ] [y ] [z ]", "tool: shown", "tool: of a server", `tool: {"rows":3}`}},
		"a Copilot result and error that are strings": {Copilot{}, "events.jsonl",
			lined(event(1, "session.start", `"sessionId":"`+id+`"`), event(2, "telemetry.new", `"x":1`), event(3, "tool.execution_complete", `"toolCallId":"a","success":true,"result":"well"`),
				event(4, "tool.execution_complete", `"toolCallId":"b","success":false,"error":"badly"`)),
			[]string{"tool: well", "tool: badly"}},
		"a VS Code request whose message is a string": {VSCode{}, id + ".json",
			`{"version":3,"sessionId":"` + id + `","requests":[{"requestId":"r","message":"just words","response":[{"value":"an answer"}]}]}`,
			[]string{"user: just words", "assistant: an answer"}},
		"Goose contents that are a string, or blocks not known yet": {Goose{}, "20260101_1.jsonl",
			lined(`{"working_dir":"/w","description":"d"}`, `{"role":"user","created":1777629600,"content":"words"}`, `{"role":"assistant","created":1777629601,"content":[{"type":"new","text":"more"}]}`),
			[]string{"user: words", "assistant: more"}},
		"a Hermes result that is an object": {Hermes{}, filepath.Join("sessions", "20260101_100000_abcdef.jsonl"),
			lined(`{"role":"session_meta","platform":"cli"}`, `{"role":"tool","tool_call_id":"c","content":{"output":"x","exit_code":1}}`),
			[]string{`tool: {"output":"x","exit_code":1}`}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), c.file)
			writeAt(t, path, c.text)
			files, err := c.src.(recogniser).FindIn(t.Context(), path)
			if err != nil || len(files) != 1 {
				t.Fatalf("recognised: %v, %v", files, err)
			}
			got := read(t, c.src, path)
			var said []string
			for _, m := range got.msgs {
				said = append(said, say(m))
			}
			equal(t, "message", said, c.want)
		})
	}
}

// Programs store what they like in any column.
func TestAnOddRowOfADatabaseCostsNoOther(t *testing.T) {
	for name, c := range map[string]struct {
		src            transcript.Source
		file           string
		statements     []string
		want, problems []string
	}{
		"Hermes": {Hermes{}, "state.db", []string{
			"CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, started_at REAL)",
			"CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, timestamp REAL)",
			"INSERT INTO sessions VALUES ('s', NULL, 'yesterday')",
			"INSERT INTO messages VALUES (1, 's', 'user', 'a time as text', '2026-05-01T10:00:00'), (2, 's', NULL, x'627974657320', 'never'), (3, 's', 'assistant', 42, NULL)",
		}, []string{"user: a time as text", "user: bytes ", "assistant: 42"}, nil},
		"Goose": {Goose{}, "sessions.db", []string{
			"CREATE TABLE sessions (id TEXT, description TEXT, created_at TIMESTAMP, updated_at TIMESTAMP)",
			"CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER)",
			"INSERT INTO sessions VALUES ('20260101_1', NULL, 'never', NULL)",
			`INSERT INTO messages VALUES (1, '20260101_1', 'user', '[{"type":"text","text":"before"}]', 'soon'), (2, '20260101_1', 'user', NULL, NULL), (3, '20260101_1', 'user', '{torn', NULL), (4, '20260101_1', 'user', '"after"', 1777629600)`,
		}, []string{"user: before", "user: after"}, []string{"message 3 is not valid JSON"}},
		"OpenCode": {OpenCode{}, "opencode.db", []string{
			"CREATE TABLE session (id TEXT, directory TEXT, time_updated INTEGER)",
			"CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT)",
			"CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT)",
			"INSERT INTO session VALUES ('ses_1', NULL, NULL)",
			`INSERT INTO message VALUES ('msg_1', 'ses_1', 1, '{"role":"user"}'), ('msg_2', 'ses_1', NULL, NULL), ('msg_3', 'ses_1', 3, '{"role":"assistant"}')`,
			`INSERT INTO part VALUES ('prt_1', 'msg_1', 'ses_1', '{"type":"text","text":"before"}'), ('prt_2', 'msg_3', 'ses_1', NULL), ('prt_3', 'msg_3', 'ses_1', '{"type":"text","text":"after"}')`,
		}, []string{"user: before", "assistant: after"}, []string{"message msg_2 is not valid JSON", "part prt_2 is not valid JSON"}},
		"Crush": {Crush{}, filepath.Join(".crush", "crush.db"), []string{
			"CREATE TABLE sessions (id TEXT, title TEXT, created_at INTEGER, updated_at INTEGER)",
			"CREATE TABLE messages (id TEXT, session_id TEXT, role TEXT, parts TEXT, created_at INTEGER)",
			"INSERT INTO sessions VALUES ('s', NULL, 'never', 1754564150)",
			`INSERT INTO messages VALUES ('1', 's', 'user', '[{"type":"text","data":{"text":"before"}}]', 1754564150), ('2', 's', NULL, NULL, 1754564151), ('3', 's', 'user', '{torn', 1754564152), ('4', 's', 'user', '[{"type":"text","data":{"text":"after"}}]', 1754564153)`,
		}, []string{"user: before", "user: after"}, []string{"message 3 is not valid JSON"}},
		"Zed": {Zed{}, filepath.Join("threads", "threads.db"), []string{
			"CREATE TABLE threads (id TEXT, summary TEXT, updated_at TEXT, data_type TEXT, data BLOB)",
			`INSERT INTO threads VALUES ('z', NULL, NULL, NULL, '{"version":"0.3.0","messages":[{"User":{"id":"u","content":[{"Text":"words"}]}}]}')`,
		}, []string{"user: words"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), c.file)
			makeDB(t, path, c.statements...)
			got := read(t, c.src, path)
			var said []string
			for _, m := range got.msgs {
				said = append(said, say(m))
			}
			equal(t, "message", said, c.want)
			equal(t, "problem", got.problems, c.problems)
		})
	}
}
