package transcript

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"
)

// rich puts sessions of every kind of relation, with everything a message holds.
func rich(t *testing.T, db *DB) {
	t.Helper()
	code := 3
	shared := Message{UID: "g1", Global: true, Role: UserRole, Content: "copied history", At: day}
	for _, s := range []struct {
		Session
		msgs []Message
	}{
		{Session{ID: "test:main", Title: "The main\x1b[31m one", Project: "/p", Dir: "/p/web", Branch: "trunk", Model: "m1", Surface: "cli", User: "anna",
			Chat: "agent:main:telegram:dm:7", Version: "2.1", StartedAt: day, EndedAt: day.Add(time.Hour), EndReason: "exit", SourcePath: "/x/main.jsonl"}, []Message{
			shared,
			{UID: "2", ParentUID: "1", Role: Assistant, Content: "héllo \x1b[1m 世界\n", Reasoning: "because", FinishReason: "tool_use", Model: "m1", Dir: "/p", Branch: "trunk",
				ToolCalls: []ToolCall{{ID: "c1", Name: "bash", Args: json.RawMessage(`{"command":  "ls <a> & b"}`)}, {Name: "odd", Args: json.RawMessage(`not json`)}, {ID: "c3", Name: "bare"}}, At: day.Add(1500 * time.Millisecond)},
			{UID: "3", Role: Tool, ToolCallID: "c1", ToolName: "bash", Content: "error\r\n\tx", ExitCode: &code, IsError: true, At: day, Extra: json.RawMessage(`{"a": [1, 2]}`)},
			{UID: "4", Role: UserRole, Kind: "meta", Content: "notice"},
			{UID: "5", Role: UserRole, Content: "abandoned", OffPath: true, Rewound: true},
			{UID: "6", Role: Summary, Content: "so far", Compacted: true},
			{UID: "7", Role: Assistant, Content: "of our own", OwnTrace: true},
		}},
		{Session{ID: "test:fork", ParentID: "test:main", Relation: Fork, StartedAt: day.Add(time.Hour)}, []Message{shared, {UID: "8", Role: UserRole, Content: "and on"}}},
		{Session{ID: "test:sub", ParentID: "test:main", Relation: Subagent}, []Message{{Role: UserRole, Content: "again"}, {Role: UserRole, Content: "again"}}},
		{Session{ID: "test:lost-parent", ParentID: "test:nobody", Relation: Compaction, SourceGone: true}, []Message{{Role: System, Content: "empty otherwise"}}},
	} {
		if err := db.Put(context.Background(), s.Session, s.msgs); err != nil {
			t.Fatal(err)
		}
	}
}

func export(t *testing.T, db *DB, mask func(string) string) string {
	t.Helper()
	what, err := db.Choose(context.Background(), Choice{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := db.Export(context.Background(), &b, what, mask); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func take(t *testing.T, db *DB, text string, revive bool) Imported {
	t.Helper()
	done, err := db.Import(context.Background(), func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }, revive)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// contents is all that an archive says, without its own numbers.
func contents(t *testing.T, db *DB) map[string][]any {
	t.Helper()
	all, err := db.sessions(context.Background(), "ORDER BY name")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]any{}
	for _, s := range all {
		out[s.ID] = []any{s}
		msgs, _, _, err := db.Messages(context.Background(), s.ID, Window{})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range msgs {
			m.ID = 0
			out[s.ID] = append(out[s.ID], m)
		}
	}
	return out
}

func TestAnExportMakesAnEqualArchive(t *testing.T) {
	from, to := openTest(t), openTest(t)
	rich(t, from)
	text := export(t, from, nil)
	done := take(t, to, text, false)
	if done.Sessions != 4 || done.Messages != 11 || done.Bad != 0 {
		t.Errorf("%+v", done)
	}
	if want, got := contents(t, from), contents(t, to); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for _, q := range []string{"copied history", "héllo", "command ls"} {
		if a, b := search(t, from, q), search(t, to, q); len(a.Hits) == 0 || len(a.Hits) != len(b.Hits) || a.Hits[0].Session.ID != b.Hits[0].Session.ID {
			t.Errorf("%q: %d and %d hits", q, len(a.Hits), len(b.Hits))
		}
	}
	lineage := func(db *DB) []string {
		ids, err := db.Lineage(context.Background(), "test:main")
		if err != nil {
			t.Fatal(err)
		}
		return ids
	}
	if a, b := lineage(from), lineage(to); len(a) != 3 || !reflect.DeepEqual(a, b) {
		t.Errorf("lineages %v and %v", a, b)
	}
	withoutHead := func(s string) string { _, rest, _ := strings.Cut(s, "\n"); return rest }
	if again := export(t, to, nil); withoutHead(again) != withoutHead(text) {
		t.Errorf("exported again it differs:\n%s\n%s", again, text)
	}
}

func TestAnImportAddsNothingTwice(t *testing.T) {
	db := openTest(t)
	rich(t, db)
	before := contents(t, db)
	mask := func(s string) string { return strings.ReplaceAll(s, "copied", "[REDACTED]") }
	for name, text := range map[string]string{"whole": export(t, db, nil), "redacted": export(t, db, mask)} {
		if done := take(t, db, text, false); done.Sessions+done.Messages != 0 || done.Read != 16 {
			t.Errorf("%s: %+v", name, done)
		}
		if after := contents(t, db); !reflect.DeepEqual(after, before) {
			t.Errorf("%s: %+v\nwas %+v", name, after, before)
		}
	}
}

func TestABrokenLineCostsNoOther(t *testing.T) {
	from, to := openTest(t), openTest(t)
	rich(t, from)
	lines := strings.Split(strings.TrimSpace(export(t, from, nil)), "\n")
	text := lines[0] + "\n" + lines[1] + "\n" + `{"type":"message","session":"test:main","ro` + "\n\n" + `{"type":"message","session":7,"role":"user"}` + "\n" +
		`{"type":"message","session":"nowhere","role":"user"}` + "\n" + `{"type":"letter"}` + "\n" + strings.Join(lines[2:], "\n")
	done := take(t, to, text, false)
	if done.Bad != 4 || len(done.Problems) != 4 || done.Problems[0].Line != 3 || done.Problems[3].Line != 7 || done.Messages != 11 {
		t.Errorf("%+v", done)
	}
	if !reflect.DeepEqual(contents(t, to), contents(t, from)) {
		t.Error("the rest is not what it was")
	}
}

func TestWhatIsNoExportIsRefusedWhole(t *testing.T) {
	db := openTest(t)
	for name, text := range map[string]string{
		"an empty file": "", "other text": "hello\nworld\n", "JSON of somebody else": `{"type":"user"}` + "\n",
		"a newer form": `{"type":"archive","format":99}` + "\n",
	} {
		_, err := db.Import(context.Background(), func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }, false)
		if !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnImportLeavesOutWhatWasForgottenUnlessRevived(t *testing.T) {
	db := openTest(t)
	rich(t, db)
	text := export(t, db, nil)
	before := contents(t, db)
	forget(t, db, Choice{Sessions: []string{"main"}, Lineage: true}, true)
	done := take(t, db, text, false)
	if done.Sessions+done.Messages != 0 || done.Forgotten != 14 {
		t.Errorf("%+v", done)
	}
	done = take(t, db, text, true)
	if done.Sessions != 3 || done.Messages != 10 || done.Forgotten != 0 {
		t.Errorf("%+v", done)
	}
	if after := contents(t, db); !reflect.DeepEqual(after, before) {
		t.Errorf("revived: %+v\nwas %+v", after, before)
	}
}

// A failingReader gives its text and then fails, as a disk does.
type failingReader struct{ io.Reader }

var errDisk = errors.New("the disk is gone")

func (f failingReader) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if err == io.EOF {
		err = errDisk
	}
	return n, err
}

func TestAnImportThatFailsTakesNothing(t *testing.T) {
	from, to := openTest(t), openTest(t)
	rich(t, from)
	text := export(t, from, nil)
	_, err := to.Import(context.Background(), func() (io.ReadCloser, error) {
		return io.NopCloser(failingReader{strings.NewReader(text[:len(text)*2/3])}), nil
	}, false)
	if !errors.Is(err, errDisk) {
		t.Fatalf("%v", err)
	}
	if got := contents(t, to); len(got) != 0 {
		t.Errorf("it took %v", got)
	}
	if done := take(t, to, text, false); done.Messages != 11 {
		t.Errorf("the second time: %+v", done)
	}
}
