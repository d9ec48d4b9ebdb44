package sessions

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/tools/wire/wiretest"
	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// What people paste into a search: each finds what it is from, or says why not.
func TestWhatPeoplePasteIsAnswered(t *testing.T) {
	db := open(t)
	at := day
	for id, says := range map[string][]string{
		"claude-code:7f3a9c21-aaaa-4bbb-8ccc-000000000001": {"the build is broken", "Traceback (most recent call last):\n  File \"/srv/app/worker/queue.py\", line 214, in drain\n    item = self.pending.popleft()\nIndexError: pop from an empty deque"},
		"codex:commit":   {"what did the last commit change", "commit 9fceb02d0ae598e95dc970b74767f19372d61af8\nAuthor: Demo\n\n    Drop the old cache"},
		"codex:spaces":   {"look at /Users/demo/My Documents/Q3 report (final).xlsx", "The sheet has two tabs."},
		"codex:emoji":    {"the 🚀 launch page 🎉", "It says lift-off."},
		"codex:mixed":    {"把 deployment 的 timeout 改成 30 秒", "Готово: таймаут 30 секунд."},
		"codex:regex":    {`why does ^\d{3}-(foo|bar)\w+$ not match`, `\w+ wants at least one letter after foo.`},
		"codex:code":     {"curl says E_CONN_4471 again", "E_CONN_4471 means that the proxy closed the connection."},
		"codex:http":     {"HTTP 502 Bad Gateway from nginx", "The upstream had no worker."},
		"codex:windows":  {`cd "C:\Program Files\Demo App" fails`, "Quote the path."},
		"codex:greeting": {"what did we do", "We did that and this, and it was all that there was to do."},
	} {
		put(t, db, transcript.Session{ID: id, StartedAt: at}, said1(transcript.UserRole, says[0]), said1(transcript.Assistant, says[1]))
		at = at.AddDate(0, 0, 1)
	}
	tool := searcher(db, Options{})
	long := strings.Repeat("nothing of this is anywhere, ", 340) + "E_CONN_4471"
	for name, c := range map[string]struct {
		query string
		want  string // the first session; "" for none
		note  string
	}{
		"ten thousand characters, of which the first say it": {"E_CONN_4471 " + long, "codex:code", ""},
		"only punctuation":               {"?!... --- ***", "", "no letters and no digits"},
		"only quotes":                    {`"" '' “”`, "", "No session matched"},
		"only words that say little":     {"what did we do", "codex:greeting", "say little"},
		"an emoji with a word":           {"🚀 launch", "codex:emoji", ""},
		"an emoji alone":                 {"🎉", "", "No session matched"},
		"three scripts":                  {"deployment 超时 timeout 秒 таймаут", "codex:mixed", ""},
		"Cyrillic in capitals":           {"ТАЙМАУТ", "codex:mixed", ""},
		"a regular expression":           {`^\d{3}-(foo|bar)\w+$`, "codex:regex", ""},
		"a path with spaces":             {"/Users/demo/My Documents/Q3 report (final).xlsx", "codex:spaces", ""},
		"a Windows path with spaces":     {`C:\Program Files\Demo App`, "codex:windows", ""},
		"a line of a stack trace":        {`  File "/srv/app/worker/queue.py", line 214, in drain`, "claude-code:7f3a9c21-aaaa-4bbb-8ccc-000000000001", ""},
		"an exception":                   {"IndexError: pop from an empty deque", "claude-code:7f3a9c21-aaaa-4bbb-8ccc-000000000001", ""},
		"a commit":                       {"9fceb02d0ae598e95dc970b74767f19372d61af8", "codex:commit", ""},
		"the beginning of a commit":      {"9fceb02", "codex:commit", ""},
		"an error's code":                {"E_CONN_4471", "codex:code", ""},
		"an error's code, in lower case": {"e_conn_4471", "codex:code", ""},
		"a status":                       {"502 bad gateway", "codex:http", ""},
		"the beginning of a session id":  {"7f3a9c21", "claude-code:7f3a9c21-aaaa-4bbb-8ccc-000000000001", "id"},
		"a whole session id":             {"claude-code:7f3a9c21-aaaa-4bbb-8ccc-000000000001", "claude-code:7f3a9c21-aaaa-4bbb-8ccc-000000000001", "id"},
		"a link":                         {"hermes://session/codex:commit", "codex:commit", "id"},
		"JSON":                           {`{"query":"E_CONN_4471"}`, "codex:code", ""},
		"SQL":                            {`'; DROP TABLE message; -- E_CONN_4471`, "codex:code", ""},
		"filters alone":                  {"source:claude-code since:2020", "claude-code:7f3a9c21-aaaa-4bbb-8ccc-000000000001", "filters and no words"},
		"a command with pipes":           {"cat x | grep E_CONN_4471 && echo done", "codex:code", ""},
		"control characters":             {"\x00\x1b[31mE_CONN_4471\x1b[0m", "codex:code", ""},
		"operators alone":                {"AND OR NOT", "codex:regex", "say little"},
	} {
		t.Run(name, func(t *testing.T) {
			args, err := json.Marshal(map[string]string{"query": c.query})
			if err != nil {
				t.Fatal(err)
			}
			got, failed := wiretest.Call(t, tool, string(args))
			found := results(got)
			note, _ := got["note"].(string)
			switch {
			case failed, !strings.Contains(note, c.note):
				t.Errorf("%v", got)
			case c.want == "" && len(found) > 0, c.want != "" && (len(found) == 0 || found[0]["session_id"] != c.want):
				var ids []any
				for _, r := range found {
					ids = append(ids, r["session_id"])
				}
				t.Errorf("%v, want %s; %s", ids, c.want, note)
			}
		})
	}
}

func TestAMisspeltSourceIsNamedWhereNothingMatched(t *testing.T) {
	tool := searcher(library(t), Options{Sources: []string{"claude-code", "codex"}})
	for args, told := range map[string]bool{
		`{"query":"redis","source":"claude"}`:                  true,
		`{"source":"claude"}`:                                  true,
		`{"query":"redis","source":"claude-code"}`:             false,
		`{"query":"neverwritten","source":"codex"}`:            false,
		`{"query":"redis","source":"claude, claude-code"}`:     false,
		`{"query":"neverwritten","source":"codex,clade-code"}`: true,
	} {
		got, failed := wiretest.Call(t, tool, args)
		note, _ := got["note"].(string)
		if failed || strings.Contains(note, "There is no source") != told {
			t.Errorf("%s: %v", args, got)
		}
	}
}
