package source

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// makeDB makes a database of the statements and leaves it open for writing.
func makeDB(t *testing.T, path string, statements ...string) *sql.DB {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path}).String())
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	execAll(t, db, statements...)
	return db
}

func execAll(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

const (
	hermes6 = `CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, model TEXT, model_config TEXT,
		system_prompt TEXT, parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT,
		message_count INTEGER DEFAULT 0, title TEXT);
	CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL, content TEXT,
		tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL, token_count INTEGER, finish_reason TEXT)`
	hermes17 = hermes6 + `;
	ALTER TABLE sessions ADD COLUMN cwd TEXT; ALTER TABLE sessions ADD COLUMN git_branch TEXT; ALTER TABLE sessions ADD COLUMN git_repo_root TEXT;
	ALTER TABLE messages ADD COLUMN reasoning TEXT; ALTER TABLE messages ADD COLUMN reasoning_content TEXT; ALTER TABLE messages ADD COLUMN reasoning_details TEXT;
	ALTER TABLE messages ADD COLUMN codex_reasoning_items TEXT;
	ALTER TABLE messages ADD COLUMN active INTEGER DEFAULT 1; ALTER TABLE messages ADD COLUMN compacted INTEGER DEFAULT 0`
	hermes30 = hermes17 + `;
	ALTER TABLE sessions ADD COLUMN last_activity_at REAL; ALTER TABLE sessions ADD COLUMN system_prompt_hash TEXT;
	ALTER TABLE messages ADD COLUMN display_kind TEXT; ALTER TABLE messages ADD COLUMN _compressed_summary INTEGER;
	CREATE TABLE system_prompts (hash TEXT PRIMARY KEY, prompt TEXT)`
)

func TestHermesDatabasesOfEverySchemaAreRead(t *testing.T) {
	rows := []string{
		`INSERT INTO sessions(id, source, model, started_at, title) VALUES ('20260501_100000_abcdef', 'cli', 'opus', 1777629600.5, 'Retry loop')`,
		`INSERT INTO messages(session_id, role, content, timestamp) VALUES ('20260501_100000_abcdef', 'user', 'why no backoff?', 1777629601)`,
		`INSERT INTO messages(session_id, role, content, tool_calls, timestamp, finish_reason) VALUES ('20260501_100000_abcdef', 'assistant', '',
			'[{"id":"c1","type":"function","function":{"name":"terminal","arguments":"{\"command\":\"go test\"}"}}]', 1777629602, 'tool_calls')`,
		`INSERT INTO messages(session_id, role, content, tool_call_id, tool_name, timestamp) VALUES ('20260501_100000_abcdef', 'tool',
			'{"output":"FAIL","exit_code":1,"error":null}', 'c1', 'terminal', 1777629603)`,
		`INSERT INTO messages(session_id, role, content, timestamp) VALUES ('20260501_100000_abcdef', 'user', char(0) || 'json:[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]', 1777629604)`,
		`INSERT INTO messages(session_id, role, content, tool_name, timestamp) VALUES ('20260501_100000_abcdef', 'tool', 'old talk', 'session_search', 1777629605)`,
	}
	want := []string{"user: why no backoff?", `assistant:  [terminal {"command":"go test"}]`, `tool: {"output":"FAIL","exit_code":1,"error":null}`,
		"user: see\n\n[image image/png 3 bytes]", "tool: old talk"}
	for name, schema := range map[string]string{"schema 6": hermes6, "schema 17": hermes17, "schema 30": hermes30} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			path := filepath.Join(home, "profiles", "work", "state.db")
			makeDB(t, path, append([]string{"PRAGMA journal_mode=WAL", schema}, rows...)...)
			files, err := Hermes{}.Find(context.Background(), transcript.Places{HermesHome: home})
			if err != nil || len(files) != 1 {
				t.Fatalf("found %v, %v", files, err)
			}
			got := read(t, Hermes{}, files[0].Path)
			equal(t, "message", got.of("hermes:20260501_100000_abcdef"), want)
			s := got.sessions["hermes:20260501_100000_abcdef"]
			if s.Title != "Retry loop" || s.Surface != "cli" || s.Model != "opus" || s.StartedAt.UnixMilli() != 1777629600500 {
				t.Errorf("session %+v", s)
			}
			tool := got.msgs[2]
			if tool.ExitCode == nil || *tool.ExitCode != 1 || !tool.IsError || tool.ToolName != "terminal" {
				t.Errorf("result %+v", tool)
			}
			if !got.msgs[4].OwnTrace {
				t.Error("the result of session_search is not marked")
			}
			readInto(t, Hermes{}, files[0].Path, got, true)
			if len(got.msgs) != len(want) {
				t.Errorf("read again: %d messages", len(got.msgs))
			}
		})
	}
}

func TestHermesLineageFollowsMarkersAndEndReasons(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	add := func(id, parent, reason, config string) string {
		null := func(s string) string {
			if s == "" {
				return "NULL"
			}
			return "'" + s + "'"
		}
		return fmt.Sprintf(`INSERT INTO sessions(id, source, parent_session_id, end_reason, model_config, started_at) VALUES ('%s','cli',%s,%s,%s,1777629600)`,
			id, null(parent), null(reason), null(config))
	}
	makeDB(t, path, hermes17,
		add("root", "", "compression", ""), add("tip", "root", "", ""),
		add("left", "", "branched", ""), add("right", "left", "", ""),
		add("marked", "tip", "", `{"_branched_from":"tip"}`),
		add("child", "tip", "", `{"_delegate_from":"tip"}`), add("plain", "tip", "", ""),
		add("orphan", "", "", `{"_delegate_from":"__orphaned__"}`),
		add("old", "", "new_session", ""), add("new", "old", "", ""),
		add("fresh", "", "", `{"_reset_from":"tip"}`))
	got := read(t, Hermes{}, path)
	var out []string
	for _, id := range got.order {
		s := got.sessions[id]
		out = append(out, strings.TrimPrefix(id, "hermes:")+" "+string(s.Relation)+" "+strings.TrimPrefix(s.ParentID, "hermes:"))
	}
	equal(t, "session", out, []string{"child delegate tip", "fresh reset tip", "left  ", "marked branch tip", "new reset old", "old  ", "orphan  ", "plain delegate tip",
		"right branch left", "root  ", "tip compaction root"})
}

func TestHermesFlagsAndReasoningAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	db := makeDB(t, path, hermes30,
		`INSERT INTO sessions(id, source, started_at, cwd, git_branch, git_repo_root) VALUES ('s','cli',1777629600,'/w/app/sub','main','/w/app')`,
		`INSERT INTO messages(session_id, role, content, timestamp, active) VALUES ('s','user','undone',1,0)`,
		`INSERT INTO messages(session_id, role, content, timestamp, active, compacted) VALUES ('s','user','folded',2,0,1)`,
		`INSERT INTO messages(session_id, role, content, timestamp, _compressed_summary) VALUES ('s','user','so far: x',3,1)`,
		`INSERT INTO messages(session_id, role, content, timestamp) VALUES ('s','assistant','[CONTEXT COMPACTION] we did y',4)`,
		`INSERT INTO messages(session_id, role, content, timestamp, display_kind) VALUES ('s','user','nudge',5,'hidden')`,
		`INSERT INTO messages(session_id, role, content, timestamp, reasoning, reasoning_details, codex_reasoning_items) VALUES
			('s','assistant','answer',6,'because','[{"type":"x","text":"because","signature":"zz"}]','[{"encrypted_content":"zz"}]')`,
		`INSERT INTO messages(session_id, role, content, timestamp) VALUES ('s','user','yes',7), ('s','user','yes',8)`)
	got := read(t, Hermes{}, path)
	var out []string
	for _, m := range got.msgs {
		out = append(out, fmt.Sprint(say(m), " rewound=", m.Rewound, " compacted=", m.Compacted))
	}
	equal(t, "message", out, []string{"user: undone rewound=true compacted=false", "user: folded rewound=false compacted=true", "summary: so far: x rewound=false compacted=false",
		"summary: [CONTEXT COMPACTION] we did y rewound=false compacted=false", "user/meta: nudge rewound=false compacted=false",
		"assistant: answer rewound=false compacted=false", "user: yes rewound=false compacted=false", "user: yes rewound=false compacted=false"})
	if a := got.msgs[5]; a.Reasoning != "because" || string(a.Extra) != `{"reasoning_details":[{"text":"because","type":"x"}]}` || a.Dir != "/w/app/sub" || a.Branch != "main" {
		t.Errorf("%+v %s", a, a.Extra)
	}
	if s := got.sessions["hermes:s"]; s.Project != "/w/app" {
		t.Errorf("project %q", s.Project)
	}

	// A rewrite gives rows new ids; flags of old rows change; a session ends.
	execAll(t, db, `DELETE FROM messages WHERE content = 'answer'`,
		`INSERT INTO messages(session_id, role, content, timestamp) VALUES ('s','assistant','answer',6), ('s','user','yes',9)`,
		`UPDATE messages SET active = 0 WHERE content = 'answer'`, `UPDATE sessions SET end_reason = 'compression'`)
	readInto(t, Hermes{}, path, got, true)
	if len(got.msgs) != 9 || got.msgs[8].Content != "yes" {
		t.Fatalf("%q", got.of("hermes:s"))
	}
	if !got.msgs[6].Compacted {
		t.Error("a session ended by compression left the context, its messages are not flagged")
	}
}

func TestAHermesDatabaseWithoutSessionsTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hermes.db")
	makeDB(t, path, strings.SplitN(hermes6, ";", 2)[1], `INSERT INTO messages(session_id, role, content, timestamp) VALUES ('x','user','hello',1777629600)`)
	got := read(t, Hermes{}, path)
	equal(t, "message", got.of("hermes:x"), []string{"user: hello"})
	files, err := Hermes{}.FindIn(context.Background(), filepath.Dir(path))
	if err != nil || len(files) != 1 {
		t.Errorf("found %v, %v", files, err)
	}
}

// Reports 42 and 43: never created, readable while its owner writes and what it
// wrote last is seen, readable at rest.
func TestDatabasesAreReadAndNeverTouched(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "state.db")
	if err := (Hermes{}).Read(context.Background(), transcript.File{Path: missing}, transcript.Cursor{}, true, newCollector()); err == nil {
		t.Error("a missing database was read")
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("a missing database was created")
	}
	path := filepath.Join(t.TempDir(), "100% ?#", "state.db")
	db := makeDB(t, path, "PRAGMA journal_mode=WAL", hermes6, `INSERT INTO sessions(id, source, started_at) VALUES ('s','cli',1)`)
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(`INSERT INTO messages(session_id, role, content, timestamp) VALUES ('s','user','not yet',1)`); err != nil {
		t.Fatal(err)
	}
	if got := read(t, Hermes{}, path); len(got.msgs) != 0 {
		t.Error("an uncommitted row was read")
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if got := read(t, Hermes{}, path); len(got.msgs) != 1 { // it stands in the -wal file only
		t.Errorf("%d messages while the owner is there", len(got.msgs))
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	rest := filepath.Join(t.TempDir(), "ro", "state.db")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	writeAt(t, rest, string(raw))
	if err := os.Chmod(filepath.Dir(rest), 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(filepath.Dir(rest), 0o755)
	if got := read(t, Hermes{}, rest); len(got.msgs) != 1 {
		t.Errorf("%d messages at rest", len(got.msgs))
	}
	if left, err := filepath.Glob(rest + "-*"); err != nil || len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestHermesSessionFilesGiveTheSameMessagesAsTheDatabase(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "state.db")
	makeDB(t, db, hermes6, `INSERT INTO sessions(id, source, started_at) VALUES ('20260501_100000_abcdef','telegram',1777629600)`,
		`INSERT INTO messages(session_id, role, content, timestamp) VALUES ('20260501_100000_abcdef','user','hello',1777629601),('20260501_100000_abcdef','assistant','hi',1777629602)`)
	jsonl := filepath.Join(dir, "sessions", "20260501_100000_abcdef.jsonl")
	writeAt(t, jsonl, `{"role":"session_meta","model":"opus","platform":"telegram","timestamp":"2026-05-01T10:00:00"}
{"role":"user","content":"hello","timestamp":"2026-05-01T10:00:01"}
{"role":"assistant","content":"hi"}
{"role":"user","content":"only in the file"}
`)
	snapshot := filepath.Join(dir, "sessions", "session_20260501_100000_abcdef.json")
	writeAt(t, snapshot, `{"session_id":"20260501_100000_abcdef","model":"opus","platform":"telegram","session_start":"2026-05-01T10:00:00","messages":[
		{"role":"user","content":[{"type":"text","text":"hello"}]},{"role":"assistant","content":"hi","reasoning":"greet","tool_calls":[]}]}`)
	writeAt(t, filepath.Join(dir, "sessions", "sessions.json"), `{}`)
	files, err := Hermes{}.Find(context.Background(), transcript.Places{HermesHome: dir})
	if err != nil || len(files) != 3 {
		t.Fatalf("found %v, %v", files, err)
	}
	got := newCollector()
	for _, f := range files {
		got.cursor = transcript.Cursor{}
		readInto(t, Hermes{}, f.Path, got, true)
	}
	equal(t, "message", got.of("hermes:20260501_100000_abcdef"), []string{"user: hello", "assistant: hi", "user: only in the file"})
}

// Report 50: an export has one session a line.
func TestAHermesExportGivesItsSessions(t *testing.T) {
	path := write(t, "export.jsonl", `{"id":"a","source":"cli","started_at":1777629600.0,"messages":[{"id":1,"role":"user","content":"one"}]}`,
		`{"id":"b","source":"cli","started_at":1777629700.0,"messages":[{"id":2,"role":"user","content":"two"}]}`)
	files, err := Hermes{}.FindIn(context.Background(), path)
	if err != nil || len(files) != 1 {
		t.Fatalf("found %v, %v", files, err)
	}
	got := read(t, Hermes{}, path)
	equal(t, "a", got.of("hermes:a"), []string{"user: one"})
	equal(t, "b", got.of("hermes:b"), []string{"user: two"})
}

func FuzzHermesContent(f *testing.F) {
	f.Add("\x00json:[{\"type\":\"text\",\"text\":\"x\"}]", `[{"id":"1","function":{"name":"t","arguments":"{}"}}]`)
	f.Add("\x00json:{", `{}`)
	f.Add("plain \xff text <memory-context>x</memory-context>", `null`)
	f.Fuzz(func(t *testing.T, content, calls string) {
		text := hermesText(content)
		if strings.IndexByte(text, 0) >= 0 {
			t.Fatalf("NUL in %q", text)
		}
		hermesMessage{Role: "tool", Calls: rawJSON(calls)}.message(text)
	})
}

func FuzzHermesFile(f *testing.F) {
	f.Add([]byte(`{"role":"session_meta","session_id":"s"}` + "\n" + `{"role":"user","content":"x"}`))
	f.Fuzz(func(t *testing.T, content []byte) { readTwice(t, Hermes{}, "s.jsonl", content) })
}
