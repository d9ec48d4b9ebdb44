package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/hermes-mcp/hermes-mcp/tools/wire"
	"github.com/hermes-mcp/hermes-mcp/tools/wire/wiretest"
	"github.com/hermes-mcp/hermes-mcp/transcript"
)

var day = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// open makes an archive with what put puts into it.
func open(t testing.TB) *transcript.DB {
	t.Helper()
	db, err := transcript.Open(t.Context(), filepath.Join(t.TempDir(), "archive.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func put(t testing.TB, db *transcript.DB, s transcript.Session, msgs ...transcript.Message) {
	t.Helper()
	for i := range msgs {
		if msgs[i].At.IsZero() {
			msgs[i].At = s.StartedAt.Add(time.Duration(i) * time.Minute)
		}
		if msgs[i].UID == "" {
			msgs[i].UID = fmt.Sprintf("m%d", i)
		}
	}
	if err := db.Put(t.Context(), s, msgs); err != nil {
		t.Fatal(err)
	}
}

func said1(role transcript.Role, text string) transcript.Message {
	return transcript.Message{Role: role, Content: text}
}

func exit(n int) *int { return &n }

// library is an archive of a few sessions that a person would tell apart.
func library(t testing.TB) *transcript.DB {
	db := open(t)
	put(t, db, transcript.Session{ID: "claude-code:aaaa-1111", Title: "Redis dropped", Project: "/home/demo/shop", Model: "opus", StartedAt: day},
		said1(transcript.UserRole, "Why does the shop still use redis for sessions?"),
		transcript.Message{Role: transcript.Assistant, Content: "Let me look.", ToolCalls: []transcript.ToolCall{{ID: "t1", Name: "Bash", Args: json.RawMessage(`{"command":"grep -rn redis ."}`)}}},
		transcript.Message{Role: transcript.Tool, ToolCallID: "t1", ToolName: "Bash", ExitCode: exit(1), Content: "\x1b[31mgrep: nothing found\x1b[0m"},
		said1(transcript.Assistant, "We decided to drop redis: sessions fit into PostgreSQL and one service less runs."),
		said1(transcript.UserRole, "Good. Remove the docker service too."),
		said1(transcript.Assistant, "Done, docker-compose.yml has no redis any more."))
	put(t, db, transcript.Session{ID: "codex:bbbb-2222", Title: "Token rotation", Project: "/home/demo/gateway", StartedAt: day.AddDate(0, 0, 7)},
		said1(transcript.UserRole, "rotate the token "+secret),
		said1(transcript.Assistant, "The gateway has the new one now."))
	put(t, db, transcript.Session{ID: "claude-code:aaaa-3333", Title: "修改服务端", Project: "/home/demo/shop", StartedAt: day.AddDate(0, 0, 14)},
		said1(transcript.UserRole, "修改youer服务端"),
		said1(transcript.Assistant, "服务端已修改。"))
	put(t, db, transcript.Session{ID: "claude-code:live-0000", Title: "Now", Project: "/home/demo/shop", StartedAt: day.AddDate(0, 0, 20)},
		said1(transcript.UserRole, "what did we say about redis?"))
	return db
}

// secret is in the form of a real one, and none.
var secret = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"

func searcher(db *transcript.DB, o Options) server.ServerTool {
	return Search(func(context.Context) (*transcript.DB, error) { return db, nil }, o)
}

func results(r map[string]any) []map[string]any {
	list, _ := r["results"].([]any)
	var out []map[string]any
	for _, x := range list {
		out = append(out, x.(map[string]any))
	}
	return out
}

// all tells whether every result has that value.
func all(results []map[string]any, field string, value any) bool {
	return !slices.ContainsFunc(results, func(r map[string]any) bool { return r[field] != value })
}

func messages(r map[string]any) []map[string]any {
	list, _ := r["messages"].([]any)
	var out []map[string]any
	for _, x := range list {
		out = append(out, x.(map[string]any))
	}
	return out
}

func TestDiscoverShowsTheSessionWithItsEvidence(t *testing.T) {
	tool := searcher(library(t), Options{Live: func(context.Context) []string { return []string{"claude-code:live-0000"} }})
	got, failed := wiretest.Call(t, tool, `{"query":"why did we drop redis"}`)
	if failed || got["mode"] != "discover" || len(results(got)) == 0 {
		t.Fatalf("answer: %v", got)
	}
	h := results(got)[0]
	for field, want := range map[string]any{
		"session_id": "claude-code:aaaa-1111", "link": "hermes://session/claude-code:aaaa-1111", "title": "Redis dropped",
		"source": "claude-code", "project": "/home/demo/shop", "when": "2026-03-01T09:00:00Z", "last_active": "2026-03-01T09:05:00Z",
		"message_count": 6.0, "matched_role": "assistant", "detail": "full",
	} {
		if h[field] != want {
			t.Errorf("%s is %v, want %v", field, h[field], want)
		}
	}
	if !strings.Contains(h["snippet"].(string), ">>>") {
		t.Errorf("snippet %q is not marked", h["snippet"])
	}
	var anchor map[string]any
	for _, m := range messages(h) {
		if m["match"] == true {
			anchor = m
		}
	}
	if anchor["id"] != h["match_message_id"] || !strings.Contains(anchor["content"].(string), "decided") {
		t.Errorf("anchor: %v", anchor)
	}
	if lines, _ := h["digest"].([]any); len(lines) == 0 || !strings.Contains(fmt.Sprint(lines), "decided to drop redis") || lines[0].(map[string]any)["message_id"] == "" {
		t.Errorf("digest: %v", h["digest"])
	}
	if commands, _ := h["commands"].([]any); len(commands) != 1 || commands[0].(map[string]any)["exit"] != 1.0 {
		t.Errorf("commands: %v", h["commands"])
	}
	if !strings.Contains(got["note"].(string), "history") {
		t.Errorf("note: %v", got["note"])
	}
}

func TestTheModesFollowFromTheArguments(t *testing.T) {
	db := library(t)
	tool := searcher(db, Options{Project: func(context.Context) string { return "/home/demo/gateway" }})
	redis, _ := wiretest.Call(t, tool, `{"query":"why did we drop redis"}`)
	id, match := results(redis)[0]["session_id"], results(redis)[0]["match_message_id"]
	for name, c := range map[string]struct {
		args string
		mode string
		says func(r map[string]any) bool
	}{
		"nothing lists the recent sessions": {`{}`, "browse", func(r map[string]any) bool {
			return len(results(r)) == 4 && results(r)[0]["session_id"] == "claude-code:live-0000" && results(r)[1]["preview"] == "修改youer服务端"
		}},
		"a limit holds and next goes on": {`{"limit":3}`, "browse", func(r map[string]any) bool {
			return len(results(r)) == 3 && fmt.Sprint(r["next"]) == "map[limit:3 offset:3]" && r["truncated"] == false
		}},
		"a source filters": {`{"source":"codex, hermes"}`, "browse", func(r map[string]any) bool { return len(results(r)) == 1 }},
		"the current project filters": {`{"project":"current"}`, "browse", func(r map[string]any) bool {
			return len(results(r)) == 1 && results(r)[0]["session_id"] == "codex:bbbb-2222"
		}},
		"a project's name filters": {`{"project":"shop","query":"redis"}`, "discover", func(r map[string]any) bool {
			return len(results(r)) >= 2 && all(results(r), "project", "/home/demo/shop")
		}},
		"a date filters":                {`{"since":"2026-03-10","until":"2026-03-15"}`, "browse", func(r map[string]any) bool { return len(results(r)) == 1 }},
		"Chinese finds Latin beside it": {`{"query":"youer"}`, "discover", func(r map[string]any) bool { return results(r)[0]["session_id"] == "claude-code:aaaa-3333" }},
		"two characters are enough":     {`{"query":"服务"}`, "discover", func(r map[string]any) bool { return results(r)[0]["session_id"] == "claude-code:aaaa-3333" }},
		"a session is read from its start by a bare id": {`{"session_id":"aaaa-1111"}`, "read", func(r map[string]any) bool {
			m := messages(r)
			return len(m) == 6 && m[0]["role"] == "user" && m[2]["content"] == "grep: nothing found" && m[2]["exit"] == 1.0 &&
				fmt.Sprint(m[1]["tool_calls"]) == "[Bash: grep -rn redis .]" && r["messages_after"] == 0.0 && r["next"] == nil
		}},
		"a link is a session id":  {`{"session_id":"hermes://session/codex:bbbb-2222"}`, "read", func(r map[string]any) bool { return len(messages(r)) == 2 }},
		"a unique prefix will do": {`{"session_id":"bbbb"}`, "read", func(r map[string]any) bool { return len(messages(r)) == 2 }},
		"roles are kept to":       {`{"session_id":"aaaa-1111","role_filter":"user"}`, "read", func(r map[string]any) bool { return len(messages(r)) == 2 }},
		"messages may be skipped": {`{"session_id":"aaaa-1111","offset":"4"}`, "read", func(r map[string]any) bool { return len(messages(r)) == 2 && r["messages_before"] == 4.0 }},
		"around a message": {fmt.Sprintf(`{"session_id":%q,"around_message_id":%s,"window":1}`, id, match), "scroll", func(r map[string]any) bool {
			return len(messages(r)) == 3 && messages(r)[1]["match"] == true && r["messages_before"] == 2.0 && r["messages_after"] == 1.0
		}},
		"onward from a message":   {fmt.Sprintf(`{"session_id":%q,"around_message_id":"%s","offset":0}`, id, match), "scroll", func(r map[string]any) bool { return len(messages(r)) == 3 && r["messages_before"] == 3.0 }},
		"out of range is told":    {`{"limit":50,"window":-3}`, "browse", func(r map[string]any) bool { return len(r["adjusted"].([]any)) == 2 }},
		"a summary needs a model": {`{"query":"redis","summarize":true}`, "discover", func(r map[string]any) bool { return strings.Contains(r["note"].(string), "No auxiliary model") }},
		"nothing found says so": {`{"query":"zzzzqqq"}`, "discover", func(r map[string]any) bool {
			return len(results(r)) == 0 && strings.Contains(r["note"].(string), "No session matched")
		}},
		"the index is an index": {`{"query":"redis","detail":"index"}`, "discover", func(r map[string]any) bool {
			line, err := json.Marshal(results(r)[0])
			return err == nil && len(line) < 130 && results(r)[0]["match_message_id"] != nil && results(r)[0]["when"] == "2026-03-01"
		}},
		"null is not given":        {`{"query":null,"limit":null}`, "browse", func(r map[string]any) bool { return len(results(r)) == 4 }},
		"offset pages the results": {`{"query":"redis","limit":1,"offset":1}`, "discover", func(r map[string]any) bool { return len(results(r)) == 1 }},
	} {
		t.Run(name, func(t *testing.T) {
			got, failed := wiretest.Call(t, tool, c.args)
			if failed || got["mode"] != c.mode || !c.says(got) {
				text, _ := json.MarshalIndent(got, "", " ")
				t.Errorf("%s", text)
			}
		})
	}
}

// Somebody may forget a session between the search and the reading of what it
// found.
func TestAHitThatWasForgottenMeanwhileIsLeftOut(t *testing.T) {
	db := open(t)
	for i := range 3 {
		put(t, db, transcript.Session{ID: fmt.Sprintf("t:%d", i), StartedAt: day}, said1(transcript.UserRole, fmt.Sprintf("the redis cache %d", i)))
	}
	ans, err := db.Search(t.Context(), transcript.Query{Text: "redis cache"})
	if err != nil || len(ans.Hits) != 3 {
		t.Fatalf("%v, %v", ans, err)
	}
	gone := ans.Hits[1].Session.ID
	chosen, err := db.Choose(t.Context(), transcript.Choice{Sessions: []string{gone}})
	if err == nil {
		_, err = db.Forget(t.Context(), chosen, true)
	}
	if err != nil {
		t.Fatal(err)
	}
	kept, loaded, err := (&search{}).loadAll(t.Context(), db, ans.Hits, ask{query: "redis cache", detail: adaptive})
	if err != nil || len(kept) != 2 || len(loaded) != 2 {
		t.Fatalf("%d hits, %d loaded, %v", len(kept), len(loaded), err)
	}
	for i, h := range kept {
		if h.Session.ID == gone || loaded[i] == nil || loaded[i].hit.Session.ID != h.Session.ID {
			t.Errorf("%s with %+v", h.Session.ID, loaded[i])
		}
	}
}

// What an index says of a session is short, and is enough to read it.
func TestAnIndexIsShortAndLeadsToEverySession(t *testing.T) {
	db := open(t)
	ids := map[string]string{}
	for i, id := range []string{
		"claude-code:b00b80af-879f-4265-b95b-48db0938673c", "claude-code:b00b80af-879f-4265-b95b-48db09386700", "codex:b00b80af-1111-7971-91df-0c9512a065da",
		"codex:019efc87-fa98-7971-91df-0c9512a065da", "codex:019efc87-fb00-7971-91df-0c9512a065da", "hermes:20260310_101500_ab12cd", "hermes:20260310_101500_ab12ce", "t:日本語日本語日本語", "t:short",
	} {
		title := ""
		if i%2 == 0 {
			title = "Make the redis cache of the staging cluster survive a restart of its nodes"
		}
		put(t, db, transcript.Session{ID: id, Title: title, StartedAt: day.AddDate(0, 0, i)},
			said1(transcript.UserRole, fmt.Sprintf("session number%d asks why the redis cache is empty after each restart of the machines", i)))
		ids[fmt.Sprintf("number%d", i)] = id
	}
	tool := searcher(db, Options{Redact: true})
	got, failed := wiretest.Call(t, tool, `{"query":"redis cache","detail":"index","limit":10}`)
	if failed || len(results(got)) != len(ids) {
		t.Fatalf("%v", got)
	}
	total, seen := 0, map[any]bool{}
	for _, r := range results(got) {
		total += cost(r)
		seen[r["session_id"]] = true
		page, failed := wiretest.Call(t, tool, fmt.Sprintf(`{"session_id":%q,"around_message_id":%q}`, r["session_id"], r["match_message_id"]))
		if failed {
			t.Errorf("%v leads to %v", r, page)
		}
	}
	if len(seen) != len(ids) || total/len(ids) > 150 {
		t.Errorf("%d sessions, %d characters each: %v", len(seen), total/len(ids), seen)
	}
	for want, short := range map[string]string{"number0": "claude-code:b00b80af-879f-4265-b95b-48db0938673c", "number2": "codex:b00b80af", "number3": "codex:019efc87-fa98", "number5": "hermes:20260310_101500_ab12cd", "number8": "t:short"} {
		if !seen[short] {
			t.Errorf("%s, %s, is not told as %s: %v", want, ids[want], short, seen)
		}
	}
}

func TestAnyStringIsAQuery(t *testing.T) {
	tool := searcher(library(t), Options{})
	for _, q := range []string{`it's`, `gateway/run.py`, `alice@example.com`, `50%`, `#123`, `C:\Users\demo`, `OR OR`, `AND NOT`, `"unbalanced`, `NEAR(a b)`, `*`, `''`, "\x00", strings.Repeat("long ", 3000)} {
		args, _ := json.Marshal(map[string]string{"query": q})
		if got, failed := wiretest.Call(t, tool, string(args)); failed {
			t.Errorf("%q: %v", q, got)
		}
	}
}

func TestWhatCannotBeAnsweredTeaches(t *testing.T) {
	db := library(t)
	tool := searcher(db, Options{})
	for name, c := range map[string]struct {
		args string
		code wire.Code
		says string
	}{
		"an unknown session":           {`{"session_id":"nobody"}`, wire.NotFound, "call with query"},
		"a prefix of several":          {`{"session_id":"claude-code:aaaa"}`, wire.Ambiguous, "aaaa-3333"},
		"a message that is elsewhere":  {`{"session_id":"bbbb-2222","around_message_id":"1"}`, wire.NotFound, "from the same result"},
		"a message without a session":  {`{"around_message_id":"1"}`, wire.Invalid, "session_id"},
		"a message id that is none":    {`{"session_id":"bbbb-2222","around_message_id":"x1"}`, wire.Invalid, "match_message_id"},
		"a sort that is none":          {`{"query":"x","sort":"random"}`, wire.Invalid, "newest"},
		"a detail that is none":        {`{"query":"x","detail":"some"}`, wire.Invalid, "adaptive"},
		"a role that is none":          {`{"query":"x","role_filter":"user,robot"}`, wire.Invalid, "robot"},
		"a date that is none":          {`{"query":"x","since":"soon"}`, wire.Invalid, "7d"},
		"an until before since":        {`{"query":"x","since":"2026-02-02","until":"2026-02-01"}`, wire.Invalid, "before"},
		"a number that is none":        {`{"query":"x","limit":"many"}`, wire.Invalid, "number"},
		"no current project":           {`{"query":"x","project":"current"}`, wire.Invalid, "no current project"},
		"a query that is an object":    {`{"query":{}}`, wire.Invalid, "text"},
		"a summarize that is a number": {`{"query":"x","summarize":"maybe"}`, wire.Invalid, "true or false"},
	} {
		got, failed := wiretest.Call(t, tool, c.args)
		if msg, _ := got["error"].(string); !failed || got["code"] != string(c.code) || !strings.Contains(msg, c.says) {
			t.Errorf("%s: %v", name, got)
		}
	}
	broken := Search(func(context.Context) (*transcript.DB, error) { return nil, transcript.ErrNewer }, Options{})
	if got, failed := wiretest.Call(t, broken, `{}`); !failed || got["code"] != string(wire.IO) || !strings.Contains(got["error"].(string), "newer") {
		t.Errorf("an archive that does not open: %v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if res, err := tool.Handler(ctx, mcp.CallToolRequest{}); err == nil || res != nil {
		t.Errorf("a caller that is gone: %v %v", res, err)
	}
}

func TestSecretsAreMaskedInEveryMode(t *testing.T) {
	db := library(t)
	masked, open := searcher(db, Options{Redact: true}), searcher(db, Options{})
	for _, args := range []string{`{"query":"rotate token"}`, `{"query":"rotate token","detail":"index"}`, `{"query":"rotate token","detail":"full"}`,
		`{"query":"` + secret + `"}`, `{"session_id":"bbbb"}`, `{"source":"codex"}`} {
		got, failed := wiretest.Call(t, masked, args)
		delete(got, "query")
		if text, _ := json.Marshal(got); failed || strings.Contains(string(text), secret[5:20]) {
			t.Errorf("%s: %s", args, text)
		}
	}
	if got, _ := wiretest.Call(t, open, `{"session_id":"bbbb"}`); !strings.Contains(fmt.Sprint(got), secret) {
		t.Error("masked although it need not be")
	}
}

// noise is a text of n words, some of them costly to encode.
func noise(rng *rand.Rand, n int) string {
	words := []string{"deploy", "redis", "the", "gateway", "panic:", "服务端", "C:\\Users", `"quoted"`, "\n", "\t", "\x1b[31mred\x1b[0m", "\x00", "👩‍💻", "\u2028", "<b>", "a=b&c", "\xff"}
	var b strings.Builder
	for range n {
		b.WriteString(words[rng.IntN(len(words))])
		b.WriteByte(' ')
	}
	return b.String()
}

// crowd is an archive of many sessions of all sizes.
func crowd(t testing.TB, rng *rand.Rand) (*transcript.DB, []string) {
	db := open(t)
	var ids []string
	for i := range 12 {
		s := transcript.Session{ID: fmt.Sprintf("claude-code:%08x-%s", rng.Uint32(), strings.Repeat("f", rng.IntN(60))), Title: noise(rng, rng.IntN(40)),
			Project: "/home/demo/" + noise(rng, rng.IntN(20)), Model: noise(rng, rng.IntN(10)), StartedAt: day.Add(time.Duration(i) * time.Hour)}
		ids = append(ids, s.ID)
		var msgs []transcript.Message
		for range 1 + rng.IntN([]int{3, 20, 60, 320}[i%4]) {
			m := transcript.Message{Role: []transcript.Role{transcript.UserRole, transcript.Assistant, transcript.Tool, transcript.Summary}[rng.IntN(4)],
				Content: noise(rng, rng.IntN([]int{5, 20, 150}[rng.IntN(3)]))}
			if rng.IntN(200) == 0 {
				m.Content = noise(rng, 6000)
			}
			for range rng.IntN(4) * rng.IntN(4) {
				m.ToolCalls = append(m.ToolCalls, transcript.ToolCall{Name: "Bash", Args: json.RawMessage(strconv.Quote(strings.ToValidUTF8(strings.Repeat("x", rng.IntN(300)), "")))})
			}
			msgs = append(msgs, m)
		}
		put(t, db, s, msgs...)
	}
	return db, ids
}

// size is what rules an answer: its characters as JSON text.
func size(t *testing.T, tool server.ServerTool, args map[string]any) (got map[string]any, n int) {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	req := mcp.CallToolRequest{}
	req.Params.RawArguments = raw
	res, err := tool.Handler(t.Context(), req)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	text := res.Content[0].(mcp.TextContent).Text
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	return got, utf8.RuneCountInString(text)
}

func TestNoAnswerExceedsItsBudgetAndEveryOneCanBeContinued(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	db, ids := crowd(t, rng)
	for range 3 {
		roam(t, rng, db, ids, 20)
	}
}

func FuzzNoAnswerExceedsItsBudget(f *testing.F) {
	db, ids := crowd(f, rand.New(rand.NewPCG(9, 9)))
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { roam(t, rand.New(rand.NewPCG(seed, 1)), db, ids, 1) })
}

// roam makes so many random calls and follows next three times from each.
func roam(t *testing.T, rng *rand.Rand, db *transcript.DB, ids []string, calls int) {
	t.Helper()
	tool := searcher(db, Options{Redact: true, Pending: func(context.Context) string { return noise(rng, 100) }})
	pick := func(of ...any) any { return of[rng.IntN(len(of))] }
	var seen []any // message ids
	for range calls {
		args := map[string]any{}
		give := func(name string, of ...any) {
			if v := pick(append(of, nil)...); v != nil {
				args[name] = v
			}
		}
		give("query", "redis", "deploy gateway", "服务", noise(rng, 3), noise(rng, 3000))
		give("limit", 1, 3, 10, 99)
		give("detail", "index", "full", "adaptive")
		give("role_filter", "user", "assistant,tool", "tool")
		give("sort", "newest", "oldest")
		if rng.IntN(2) == 0 {
			args["session_id"] = ids[rng.IntN(len(ids))]
			give("window", 1, 20)
			give("offset", 0, 3, 100, 5000)
			if len(seen) > 0 {
				give("around_message_id", seen[rng.IntN(len(seen))])
			}
		}
		for step := 0; args != nil && step < 4; step++ {
			got, n := size(t, tool, args)
			raw, err := json.Marshal(args)
			if err != nil {
				t.Fatal(err)
			}
			if limit := detail(fmt.Sprint(args["detail"])).budget(); n > limit {
				t.Fatalf("%.300s: %d characters, budget %d", raw, n, limit)
			}
			if got["success"] != true && got["code"] != string(wire.NotFound) {
				t.Fatalf("%.300s: %v", raw, got)
			}
			for _, m := range messages(got) {
				seen = append(seen, m["id"])
			}
			next, more := got["next"].(map[string]any)
			if got["truncated"] == true && !more {
				t.Fatalf("%.300s: truncated without next: %v", raw, got["count"])
			}
			args = next
		}
	}
}

func TestFollowingNextShowsEveryMessageOfASession(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	db, ids := crowd(t, rng)
	tool := searcher(db, Options{})
	for _, id := range ids {
		for _, d := range []string{"index", "adaptive", "full"} {
			want, _, _, err := db.Messages(t.Context(), id, transcript.Window{})
			if err != nil {
				t.Fatal(err)
			}
			want = slices.DeleteFunc(want, empty)
			args := map[string]any{"session_id": id, "detail": d}
			shown := map[string]bool{}
			var order []string
			for step := 0; args != nil; step++ {
				if step > 3000 {
					t.Fatalf("%s: no end", id)
				}
				got, _ := size(t, tool, args)
				for _, m := range messages(got) {
					if key := fmt.Sprint(m["id"]); !shown[key] {
						shown[key] = true
						order = append(order, key)
					}
				}
				args, _ = got["next"].(map[string]any)
			}
			if len(order) != len(want) {
				t.Fatalf("%s, %s: %d of %d messages were shown", id, d, len(order), len(want))
			}
			for i, m := range want {
				if order[i] != messageID(m.ID) {
					t.Fatalf("%s: place %d shows %s, want %d", id, i, order[i], m.ID)
				}
			}
		}
	}
}

func TestACutMessageCanBeReadToItsEnd(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	db := open(t)
	long := strings.ToValidUTF8(noise(rng, 9000), "?")
	put(t, db, transcript.Session{ID: "x:1", StartedAt: day}, said1(transcript.UserRole, long), said1(transcript.Assistant, "after"))
	tool := searcher(db, Options{})
	got, _ := size(t, tool, map[string]any{"session_id": "x:1"})
	first := messages(got)[0]
	whole := viewer{}.content(transcript.Message{Content: long})
	if first["content_truncated"] != true || first["original_content_chars"] != float64(utf8.RuneCountInString(whole)) {
		t.Fatalf("first: %v of %v", first["original_content_chars"], utf8.RuneCountInString(whole))
	}
	text := first["content"].(string)
	for args := map[string]any{"session_id": "x:1", "around_message_id": first["id"], "offset": first["next_offset"]}; ; {
		got, _ := size(t, tool, args)
		m := messages(got)[0]
		text += m["content"].(string)
		if m["next_offset"] == nil {
			if last := messages(got); last[len(last)-1]["content"] != "after" {
				t.Errorf("the chain does not go on: %v", last)
			}
			break
		}
		args = got["next"].(map[string]any)
	}
	if text != whole {
		t.Errorf("%d characters were read of %d", len(text), len(whole))
	}
}

func FuzzSessionSearchArguments(f *testing.F) {
	for _, seed := range []string{`{"query":"redis"}`, `{"session_id":"aaaa-1111","around_message_id":3,"offset":2}`, `{"limit":1e400}`, `{"offset":-1}`, `{"since":"7d","until":null}`, `[]`, `"{}"`} {
		f.Add(seed)
	}
	tool := searcher(library(f), Options{Redact: true})
	f.Fuzz(func(t *testing.T, args string) {
		if json.Valid([]byte(args)) {
			wiretest.Call(t, tool, args)
		}
	})
}

// A subagent's find is told as its parent's, and what is shown of it can be
// read on from there.
func TestASubagentsFindIsShownAsItsParents(t *testing.T) {
	db := open(t)
	put(t, db, transcript.Session{ID: "codex:parent", Title: "Look after the birds", StartedAt: day},
		said1(transcript.UserRole, "look after the birds"), said1(transcript.Assistant, "A subagent does."))
	long := strings.Repeat("The pelican is the ninth of the birds. ", 400)
	put(t, db, transcript.Session{ID: "codex:child", Title: "Count", ParentID: "codex:parent", Relation: transcript.Subagent, StartedAt: day},
		said1(transcript.UserRole, "count the birds"), said1(transcript.Assistant, long))
	tool := searcher(db, Options{})
	for _, detail := range []string{"index", "adaptive", "full"} {
		got, failed := wiretest.Call(t, tool, `{"query":"pelican ninth","detail":"`+detail+`"}`)
		if failed || len(results(got)) != 1 {
			t.Fatalf("%s: %v", detail, got)
		}
		h := results(got)[0]
		in, _ := h["matched_in"].(map[string]any)
		if h["session_id"] != "codex:parent" || h["title"] != "Look after the birds" || in["session_id"] != "codex:child" || in["relation"] != "subagent" {
			t.Errorf("%s: %v", detail, h)
		}
		around, failed := wiretest.Call(t, tool, fmt.Sprintf(`{"session_id":"codex:parent","around_message_id":%q}`, h["match_message_id"]))
		if failed || !strings.Contains(fmt.Sprint(messages(around)), "pelican") {
			t.Errorf("%s: the match cannot be read: %v", detail, around)
		}
		if next, ok := got["next"].(map[string]any); ok && next["session_id"] != "codex:child" {
			t.Errorf("%s: goes on in %v", detail, next)
		}
	}
}

func TestATimeAloneListsItsSessions(t *testing.T) {
	db := open(t)
	now := time.Now()
	put(t, db, transcript.Session{ID: "codex:then", StartedAt: now.AddDate(0, 0, -1)}, said1(transcript.UserRole, "feed the birds"))
	put(t, db, transcript.Session{ID: "codex:long-ago", StartedAt: now.AddDate(0, 0, -30)}, said1(transcript.UserRole, "yesterday"))
	got, failed := wiretest.Call(t, searcher(db, Options{}), `{"query":"what did we do yesterday"}`)
	if failed || len(results(got)) != 1 || results(got)[0]["session_id"] != "codex:then" || results(got)[0]["matched_role"] != "session_time" ||
		!strings.Contains(got["note"].(string), "names only a time") || len(messages(results(got)[0])) == 0 {
		t.Errorf("%v", got)
	}
}
