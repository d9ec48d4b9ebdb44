package source

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// A chat's key comes from the database's own column, else from the routing index
// beside it; a session of which neither tells has none.
func TestHermesSessionsCarryTheKeyOfTheirChat(t *testing.T) {
	dir := t.TempDir()
	makeDB(t, filepath.Join(dir, "state.db"), hermes30, "ALTER TABLE sessions ADD COLUMN session_key TEXT",
		`INSERT INTO sessions(id, source, started_at, session_key) VALUES ('own','telegram',1,'agent:main:telegram:dm:7'),('indexed','telegram',2,NULL),('neither','cli',3,NULL)`)
	writeAt(t, filepath.Join(dir, "sessions", "20260501_100000_abcdef.jsonl"), `{"role":"session_meta","model":"opus","platform":"telegram"}
{"role":"user","content":"hello"}
`)
	writeAt(t, filepath.Join(dir, "sessions", "sessions.json"), `{"_note":"routing","agent:main:telegram:dm:8":{"session_id":"indexed","platform":"telegram"},
		"agent:main:discord:group:9":{"session_id":"20260501_100000_abcdef"},"odd":7}`)
	files, err := Hermes{}.Find(context.Background(), transcript.Places{HermesHome: dir})
	if err != nil || len(files) != 2 {
		t.Fatalf("found %v, %v", files, err)
	}
	got := newCollector()
	for _, f := range files {
		got.cursor = transcript.Cursor{}
		readInto(t, Hermes{}, f.Path, got, true)
	}
	for id, want := range map[string]string{"own": "agent:main:telegram:dm:7", "indexed": "agent:main:telegram:dm:8", "neither": "", "20260501_100000_abcdef": "agent:main:discord:group:9"} {
		if s := got.sessions["hermes:"+id]; s.Chat != want {
			t.Errorf("%s: %q, want %q", id, s.Chat, want)
		}
	}
	writeAt(t, filepath.Join(dir, "sessions", "sessions.json"), `{"torn":`)
	if chats := hermesChats(filepath.Join(dir, "sessions")); len(chats) > 0 {
		t.Errorf("of a torn index: %v", chats)
	}
}
