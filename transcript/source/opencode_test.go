package source

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

const openUser = `{"id":"m1","sessionID":"s1","role":"user","time":{"created":1777629601000}}`
const openAnswer = `{"id":"m2","sessionID":"s1","role":"assistant","parentID":"m1","time":{"created":1777629602000},"modelID":"gpt","path":{"cwd":"/w/app"},"finish":"stop"}`

var openWant = []string{"user: run it", `assistant: Done. [bash {"command":"make"}]`, "tool: boom"}

// Report 41: the database and the folders before it are both read.
func TestOpenCodeReadsDatabaseAndFolders(t *testing.T) {
	home := t.TempDir()
	root := filepath.Join(home, ".local", "share", "opencode")
	db := makeDB(t, filepath.Join(root, "opencode.db"), `CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, version TEXT, time_created INTEGER, time_updated INTEGER);
		CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
		CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT)`,
		`INSERT INTO session VALUES ('s1', 's0', '/w/app', 'Look (@explore subagent)', '1.2', 1777629600000, 1777629602000)`,
		`INSERT INTO message VALUES ('m1','s1',1777629601000,0,'{"role":"user"}'), ('m2','s1',1777629602000,0,'{"role":"assistant","modelID":"gpt"}')`,
		`INSERT INTO part VALUES ('p1','m1','s1','{"type":"text","text":"run it"}'), ('p0','m1','s1','{"type":"text","text":"hidden","synthetic":true}'),
			('p2','m2','s1','{"type":"reasoning","text":"hm"}'), ('p3','m2','s1','{"type":"tool","tool":"bash","callID":"c1","state":{"status":"completed","input":{"command":"make"},"output":"boom","metadata":{"exit":2}}}'),
			('p4','m2','s1','{"type":"text","text":"Done."}')`)
	store := filepath.Join(root, "storage")
	for name, content := range map[string]string{
		"session/p/s1.json":  `{"id":"s1","directory":"/w/app","title":"Old","time":{"created":1777629600000}}`,
		"message/s1/m1.json": openUser, "message/s1/m2.json": openAnswer,
		"part/m1/p1.json": `{"id":"p1","type":"text","text":"run it"}`, "part/m2/p4.json": `{"id":"p4","type":"text","text":"Done."}`,
		"part/m2/p3.json":      `{"id":"p3","type":"tool","tool":"bash","callID":"c1","state":{"status":"error","input":{"command":"make"},"error":"boom"}}`,
		"message/lost/x1.json": `{"id":"x1","sessionID":"lost","role":"user","time":{"created":1},"summary":{"body":"all that is left"}}`,
		"project/p.json":       `{"id":"p"}`,
	} {
		writeAt(t, filepath.Join(store, filepath.FromSlash(name)), content)
	}
	files, err := OpenCode{}.Find(context.Background(), transcript.Places{Home: home, GOOS: "linux"})
	if err != nil || len(files) != 3 {
		t.Fatalf("found %v, %v", files, err)
	}
	got := newCollector()
	for _, f := range files {
		got.cursor = transcript.Cursor{}
		readInto(t, OpenCode{}, f.Path, got, true)
		equal(t, "message", got.of("opencode:s1"), openWant)
	}
	equal(t, "without a session", got.of("opencode:lost"), []string{"user: all that is left"})
	s := got.sessions["opencode:s1"]
	if s.ParentID != "opencode:s0" || s.Relation != transcript.Subagent || s.Model != "gpt" || got.msgs[1].Reasoning != "hm" || *got.msgs[2].ExitCode != 2 {
		t.Errorf("%+v", s)
	}
	// Only what changed is read again.
	got = read(t, OpenCode{}, files[0].Path)
	execAll(t, db, `INSERT INTO session VALUES ('s2', NULL, '/w', 'Next', '1.2', 1777629700000, 1777629700000)`,
		`INSERT INTO message VALUES ('n1','s2',1777629700000,0,'{"role":"user"}'), ('n2','s2',1777629701000,0,'{"role":"assistant","summary":true}')`,
		`INSERT INTO part VALUES ('q1','n1','s2','{"type":"text","text":"more"}'), ('q2','n2','s2','{"type":"text","text":"so far"}')`)
	readInto(t, OpenCode{}, files[0].Path, got, true)
	equal(t, "added", got.of("opencode:s2"), []string{"user: more", "summary: so far"})
	if !got.msgs[3].Compacted {
		t.Error("what stands before a summary left the context")
	}
}

func TestAnOpenCodeExport(t *testing.T) {
	path := write(t, "x.json", `{"info":{"id":"s1","title":"T"},"messages":[{"info":`+openUser+`,"parts":[{"type":"text","text":"run it"},{"type":"file","filename":"a.png"}]}]}`)
	files, err := OpenCode{}.FindIn(context.Background(), path)
	if err != nil || len(files) != 1 {
		t.Fatalf("found %v, %v", files, err)
	}
	equal(t, "message", read(t, OpenCode{}, path).of("opencode:s1"), []string{"user: run it\n\n[file a.png]"})
}

func FuzzOpenCode(f *testing.F) {
	f.Add([]byte(`{"info":{"id":"s"},"messages":[{"info":{"role":"user"},"parts":[{"type":"tool","state":{"output":{}}}]}]}`))
	f.Fuzz(func(t *testing.T, content []byte) { readTwice(t, OpenCode{}, "fuzz.json", content) })
}
