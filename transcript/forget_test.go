package transcript

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
	"github.com/hermes-mcp/hermes-mcp/transcript/residue"
)

// nowhere fails when word stands anywhere below the archive's folder.
func nowhere(t *testing.T, db *DB, word string) {
	t.Helper()
	found, err := residue.Find(filepath.Dir(db.sqlite.Path), word)
	if err != nil || len(found) > 0 {
		t.Errorf("%q still stands in %s (%v)", word, strings.Join(found, "; "), err)
	}
}

func forget(t *testing.T, db *DB, c Choice, bury bool) Receipt {
	t.Helper()
	what, err := db.Choose(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := db.Forget(context.Background(), what, bury)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Scrub(context.Background()); err != nil {
		t.Fatal(err)
	}
	return r
}

// full puts a session with the word everywhere that a message has room for it,
// in short messages and in ones that are packed.
func full(t *testing.T, db *DB, id, word string) {
	t.Helper()
	long := strings.Repeat("The zeppelin needs a "+word+" before it flies over the lake again. ", 200)
	code := 3
	msgs := []Message{
		{UID: "1", Role: UserRole, Content: "a " + word + ", please"},
		{UID: "2", Role: Assistant, Content: long, Reasoning: "they mean the " + word,
			ToolCalls: []ToolCall{{ID: "c", Name: "bash", Args: json.RawMessage(`{"command":"make ` + word + `"}`)}}},
		{UID: "3", Role: Tool, ToolCallID: "c", Content: "no rule to make " + word + "\n" + long, ExitCode: &code, Extra: json.RawMessage(`{"k":"` + word + `"}`)},
		{UID: "4", Role: Assistant, Content: "first"},
	}
	for i := range msgs {
		msgs[i].At, msgs[i].Dir = day.Add(time.Duration(i)*time.Minute), "/work/"+word
	}
	s := Session{ID: id, Title: "Find the " + word, Dir: "/work/" + word, StartedAt: day}
	if err := db.Put(context.Background(), s, msgs); err != nil {
		t.Fatal(err)
	}
	// A message that grows leaves its shorter form behind in the file.
	msgs[3].Content = "first, and then the " + word
	if err := db.Put(context.Background(), s, msgs); err != nil {
		t.Fatal(err)
	}
}

func TestAForgottenSessionLeavesNoByteBehind(t *testing.T) {
	db := openTest(t)
	for i := range 40 {
		put(t, db, fmt.Sprintf("test:before%d", i), "we talked about tomatoes", strings.Repeat("water them every day. ", 40))
	}
	full(t, db, "test:secret", "quokkaflange")
	for i := range 40 {
		put(t, db, fmt.Sprintf("test:after%d", i), "we talked about potatoes", strings.Repeat("dig them up in autumn. ", 40))
	}
	if found, err := residue.Find(filepath.Dir(db.sqlite.Path), "quokkaflange"); err != nil || len(found) < 3 {
		t.Fatalf("the test does not see what is there: %v, %v", found, err)
	}
	r := forget(t, db, Choice{Sessions: []string{"secret"}}, true)
	if r.Messages != 4 || len(r.Sessions) != 1 || r.Bytes == 0 {
		t.Errorf("%+v", r)
	}
	nowhere(t, db, "quokkaflange")
	nowhere(t, db, "quokkaflang")
	if a := search(t, db, "tomatoes"); len(a.Hits) != 5 || a.More < 35 {
		t.Errorf("the neighbours: %d hits, %d more", len(a.Hits), a.More)
	}
	if a := search(t, db, "quokkaflange"); len(a.Hits) != 0 {
		t.Errorf("found: %+v", a.Hits)
	}
	if err := db.Check(context.Background()); err != nil {
		t.Error(err)
	}
}

// What a session said all the time is kept beside it, and goes with it.
func TestAForgottenSessionLeavesNothingOfWhatItSaidAllTheTime(t *testing.T) {
	db := openTest(t)
	var msgs []Message
	for i := range 20 {
		msgs = append(msgs, spoke(Assistant, fmt.Sprintf("part %d of the quokkaflange", i)))
	}
	tell(t, db, Session{ID: "test:secret"}, msgs...)
	tell(t, db, Session{ID: "test:stays"}, spoke(UserRole, "plan the garden"))
	var dense string
	if err := db.read.QueryRow("SELECT dense FROM session WHERE name = 'test:secret'").Scan(&dense); err != nil || dense != "part quokkaflang" {
		t.Fatalf("%q, %v", dense, err)
	}
	forget(t, db, Choice{Sessions: []string{"secret"}}, true)
	nowhere(t, db, "quokkaflang")
}

// Every table that knows of messages or sessions is looked at: what a new one
// holds of a session that was forgotten must go too.
func TestForgettingLeavesNoRowBehindInAnyTable(t *testing.T) {
	db := openTest(t)
	ctx := context.Background()
	full(t, db, "test:stays", "walrusbeam")
	full(t, db, "test:goes", "quokkaflange")
	goes, err := db.Session(ctx, "test:goes")
	if err != nil {
		t.Fatal(err)
	}
	msgs, _, _, err := db.Messages(ctx, goes.ID, Window{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.SetMark(ctx, goes.ID, Flushed, msgs[0].ID); err != nil {
		t.Fatal(err)
	}
	db.Embedder = &fakeEmbedder{}
	if err := db.Embed(ctx, nil); err != nil {
		t.Fatal(err)
	}
	forget(t, db, Choice{Sessions: []string{goes.ID}}, true)
	// What each table must not hold any more: a query that counts it.
	left := map[string]string{
		"session":           "SELECT count(*) FROM session WHERE name = 'test:goes'",
		"block":             "SELECT count(*) FROM block WHERE session NOT IN (SELECT id FROM session)",
		"message":           "SELECT count(*) FROM message WHERE session NOT IN (SELECT id FROM session)",
		"member":            "SELECT count(*) FROM member WHERE session NOT IN (SELECT id FROM session) OR message NOT IN (SELECT id FROM message)",
		"mark":              "SELECT count(*) FROM mark WHERE session NOT IN (SELECT id FROM session)",
		"chunk":             "SELECT count(*) FROM chunk WHERE session NOT IN (SELECT id FROM session)",
		"embedded":          "SELECT count(*) FROM embedded WHERE session NOT IN (SELECT id FROM session)",
		"embedding":         "SELECT 0", // names of models
		"context":           "SELECT count(*) FROM context WHERE dir LIKE '%quokka%'",
		"term":              "SELECT count(*) FROM term WHERE term LIKE 'quokka%' OR df <= 0",
		"message_fts":       "SELECT count(*) FROM message_fts WHERE message_fts MATCH 'quokkaflang*'",
		"session_fts":       "SELECT count(*) FROM session_fts WHERE session_fts MATCH 'quokkaflang*'",
		"file":              "SELECT 0", // see the test of cursors
		"counter":           "SELECT 0", // numbers
		"migration":         "SELECT 0",
		"tombstone":         "SELECT count(*) FROM tombstone WHERE name <> 'test:goes'",
		"tombstone_message": "SELECT count(*) FROM tombstone_message WHERE key IN (SELECT key FROM message)",
		"receipt":           "SELECT count(*) FROM receipt WHERE body LIKE '%quokka%'",
		"export":            "SELECT 0", // paths
	}
	tables, err := engine.Column[string](db.read.Query("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"))
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		query, ok := left[table]
		if !ok {
			if i := strings.LastIndex(table, "_"); i > 0 && left[table[:i]] != "" && strings.HasSuffix(table[:i], "_fts") {
				continue // a table of an index
			}
			t.Errorf("the table %s is new: clear it in transcript/removal/removal.go, and say here how that is seen", table)
			continue
		}
		var n int
		if err := db.read.QueryRow(query).Scan(&n); err != nil || n != 0 {
			t.Errorf("%s: %d rows are left, %v", table, n, err)
		}
	}
	if _, _, _, err := db.Messages(ctx, "test:stays", Window{}); err != nil {
		t.Error(err)
	}
}

func TestIdsOfWhatWasForgottenAreNotGivenAgain(t *testing.T) {
	db := openTest(t)
	ctx := context.Background()
	full(t, db, "test:last", "quokkaflange")
	before, _, _, err := db.Messages(ctx, "test:last", Window{})
	if err != nil {
		t.Fatal(err)
	}
	forget(t, db, Choice{Sessions: []string{"last"}}, true)
	put(t, db, "test:next", "hello")
	after, _, _, err := db.Messages(ctx, "test:next", Window{})
	if err != nil || after[0].ID <= before[len(before)-1].ID {
		t.Errorf("%d after %d, %v", after[0].ID, before[len(before)-1].ID, err)
	}
}

func TestWhatAnotherSessionRepeatsStaysWithIt(t *testing.T) {
	db := openTest(t)
	ctx := context.Background()
	said := func(uid, text string) Message {
		return Message{UID: uid, Global: true, Role: UserRole, Content: text, At: day}
	}
	origin := []Message{said("u1", "the aardwolf prompt"), said("u2", "the bandicoot answer"), said("u3", "only in the first: quokkaflange")}
	fork := []Message{said("u1", "the aardwolf prompt"), said("u2", "the bandicoot answer"), said("u4", "and then the cassowary")}
	if err := db.Put(ctx, Session{ID: "test:origin", StartedAt: day}, origin); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"test:fork", "test:second"} {
		if err := db.Put(ctx, Session{ID: id, ParentID: "test:origin", Relation: Fork, StartedAt: day}, fork); err != nil {
			t.Fatal(err)
		}
	}
	what, err := db.Choose(ctx, Choice{Sessions: []string{"origin"}})
	if err != nil || what.Shared != 2 || len(what.Related) != 2 || what.Messages != 3 {
		t.Fatalf("%+v, %v", what, err)
	}
	search(t, db, "aardwolf") // the directory is in memory now
	if r := forget(t, db, Choice{Sessions: []string{"origin"}}, true); r.Moved != 2 || r.Messages != 1 {
		t.Errorf("%+v", r)
	}
	for _, id := range []string{"test:fork", "test:second"} {
		msgs, _, _, err := db.Messages(ctx, id, Window{})
		var got []string
		for _, m := range msgs {
			got = append(got, m.Content)
		}
		if err != nil || !slices.Equal(got, []string{"the aardwolf prompt", "the bandicoot answer", "and then the cassowary"}) {
			t.Errorf("%s: %q, %v", id, got, err)
		}
	}
	if a := search(t, db, "aardwolf"); len(a.Hits) != 1 || a.Hits[0].Session.ID != "test:fork" {
		t.Errorf("%+v", a.Hits)
	}
	nowhere(t, db, "quokkaflange")
	// A third copy of the history does not bring back what was forgotten.
	if err := db.Put(ctx, Session{ID: "test:third", StartedAt: day}, append(slices.Clone(origin), said("u5", "new"))); err != nil {
		t.Fatal(err)
	}
	nowhere(t, db, "quokkaflange")
	if msgs, _, _, err := db.Messages(ctx, "test:third", Window{}); err != nil || len(msgs) != 3 {
		t.Errorf("%d messages, %v", len(msgs), err)
	}
}

func TestSubagentsGoWithTheirSessionAndForksStay(t *testing.T) {
	db := openTest(t)
	for _, s := range []Session{
		{ID: "test:main"}, {ID: "test:sub", ParentID: "test:main", Relation: Subagent}, {ID: "test:subsub", ParentID: "test:sub", Relation: Subagent},
		{ID: "test:fork", ParentID: "test:main", Relation: Fork}, {ID: "test:stranger"},
	} {
		if err := db.Put(context.Background(), s, []Message{{Role: UserRole, Content: "in " + s.ID}}); err != nil {
			t.Fatal(err)
		}
	}
	ids := func(all []Session) (out []string) {
		for _, s := range all {
			out = append(out, s.ID)
		}
		return out
	}
	what, err := db.Choose(context.Background(), Choice{Sessions: []string{"main"}})
	if err != nil || !slices.Equal(ids(what.Sessions), []string{"test:main", "test:sub", "test:subsub"}) || !slices.Equal(ids(what.Related), []string{"test:fork"}) {
		t.Errorf("%v, %v, %v", ids(what.Sessions), ids(what.Related), err)
	}
	what, err = db.Choose(context.Background(), Choice{Sessions: []string{"main"}, Lineage: true})
	if err != nil || len(what.Sessions) != 4 || len(what.Related) != 0 {
		t.Errorf("%v, %v, %v", ids(what.Sessions), ids(what.Related), err)
	}
}

func TestAChoiceTakesWhatFitsAllItSays(t *testing.T) {
	db := openTest(t)
	for _, s := range []struct{ id, project, text, args string }{
		{"one:a", "/home/u/shop", "The Invoice\n number is 7", ""},
		{"one:b", "/home/u/shop/web", "hello", `{"command":"echo \"caf\u00e9 au lait\""}`},
		{"two:c", "/home/u/garden", "invoice for seeds", ""},
	} {
		m := Message{Role: Assistant, Content: s.text, At: day}
		if s.args != "" {
			m.ToolCalls = []ToolCall{{ID: "1", Name: "bash", Args: json.RawMessage(s.args)}}
		}
		at := day.AddDate(0, 0, int(s.id[4]-'a'))
		m.At = at
		if err := db.Put(context.Background(), Session{ID: s.id, Project: s.project, StartedAt: at}, []Message{m}); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		choice Choice
		want   string
	}{
		"no condition takes all":                   {Choice{}, "one:a one:b two:c"},
		"a project by its name":                    {Choice{Project: "shop"}, "one:a"},
		"a project by its path, with what is in":   {Choice{Project: "/home/u/shop"}, "one:a one:b"},
		"a source":                                 {Choice{Sources: []string{"two"}}, "two:c"},
		"text in any case, across a line end":      {Choice{Text: "invoice number"}, "one:a"},
		"text in arguments, however it is spelled": {Choice{Text: "Café au"}, "one:b"},
		"text and source together":                 {Choice{Text: "invoice", Sources: []string{"two"}}, "two:c"},
		"before a time":                            {Choice{Before: day.AddDate(0, 0, 1)}, "one:a"},
		"since a time":                             {Choice{Since: day.AddDate(0, 0, 1)}, "one:b two:c"},
		"a word that is nowhere":                   {Choice{Text: "nowhere"}, ""},
	} {
		what, err := db.Choose(context.Background(), c.choice)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range what.Sessions {
			got = append(got, s.ID)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}

func TestAForgottenSessionDoesNotComeBackByItsFile(t *testing.T) {
	f := newFolder(t)
	f.write("a.jsonl", says("b", "2", "user", "the walrusbeam of b"), says("a", "1", "user", "the quokkaflange of a"))
	f.ingest(true)
	forget(t, f.db, Choice{Sessions: []string{"lines:a"}}, true)
	nowhere(t, f.db, "quokkaflange") // not in the file's cursor either
	f.write("elsewhere.jsonl", says("a", "1", "user", "the quokkaflange of a"), says("a", "3", "user", "more quokkaflange"))
	f.appendRaw("a.jsonl", `{"Session":"a","UID":"5","Role":"user","Text":"still the quokkaflange"}`+"\n"+`{"Session":"b","UID":"6","Role":"user","Text":"and the walrusbeam again"}`+"\n")
	for range 2 {
		f.ingest(true)
	}
	if _, err := f.db.Session(context.Background(), "lines:a"); !errors.Is(err, ErrNotFound) {
		t.Errorf("it is back: %v", err)
	}
	f.want("b", "the walrusbeam of b | and the walrusbeam again")
	nowhere(t, f.db, "quokkaflange")
	err := f.db.Put(context.Background(), Session{ID: "lines:a"}, []Message{{Role: UserRole, Content: "quokkaflange"}})
	if !errors.Is(err, ErrForgotten) {
		t.Errorf("put: %v", err)
	}
}

func TestAReaderWhoIsInTheWayIsTold(t *testing.T) {
	db := openTest(t)
	full(t, db, "test:goes", "quokkaflange")
	other, err := Open(context.Background(), db.sqlite.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	tx, err := other.read.BeginTx(context.Background(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRow("SELECT count(*) FROM message").Scan(&n); err != nil {
		t.Fatal(err)
	}
	what, err := db.Choose(context.Background(), Choice{Sessions: []string{"goes"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Forget(context.Background(), what, true); err != nil {
		t.Fatal(err)
	}
	if err := db.Scrub(context.Background()); !errors.Is(err, ErrPinned) {
		t.Fatalf("%v", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := db.Scrub(context.Background()); err != nil {
		t.Fatal(err)
	}
	nowhere(t, db, "quokkaflange")
}

func TestAnotherProcessNoticesThatSomethingWasForgotten(t *testing.T) {
	db := openTest(t)
	full(t, db, "test:goes", "quokkaflange")
	put(t, db, "test:stays", "the zeppelin stays")
	other, err := Open(context.Background(), db.sqlite.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if a := search(t, other, "zeppelin"); len(a.Hits) != 2 {
		t.Fatalf("%+v", a)
	}
	forget(t, db, Choice{Sessions: []string{"goes"}}, true)
	if a := search(t, other, "zeppelin"); len(a.Hits) != 1 || a.Hits[0].Session.ID != "test:stays" {
		t.Errorf("%+v", a.Hits)
	}
	recent, err := other.Recent(context.Background(), Query{Limit: 1}) // the one that went was the newest
	if err != nil || len(recent) != 1 {
		t.Errorf("%+v, %v", recent, err)
	}
}

// A forgetting that is killed after its rows went is finished by whoever scrubs
// next: the receipt says that it must be.
func TestAForgettingThatWasStoppedSaysSo(t *testing.T) {
	p := newPlace(t)
	p.with(t, func(db *DB) {
		full(t, db, "test:goes", "quokkaflange")
		what, err := db.Choose(context.Background(), Choice{Sessions: []string{"goes"}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Forget(context.Background(), what, true); err != nil {
			t.Fatal(err)
		}
	})
	p.with(t, func(db *DB) {
		if found, err := residue.Find(filepath.Dir(p.path), "quokkaflange"); err != nil || len(found) == 0 {
			t.Errorf("a file that was not scrubbed holds nothing: %v, %v", found, err)
		}
		r, err := db.Receipts(context.Background())
		if err != nil || len(r) != 1 || r[0].Done {
			t.Fatalf("%+v, %v", r, err)
		}
		if _, err := db.Session(context.Background(), "test:goes"); !errors.Is(err, ErrNotFound) {
			t.Errorf("it is still there: %v", err)
		}
		if err := db.Scrub(context.Background()); err != nil {
			t.Fatal(err)
		}
		nowhere(t, db, "quokkaflange")
	})
}

// told is a line with a time.
func told(session, role, text string, at int64) line {
	return line{Session: session, Role: role, Text: text, At: at}
}

func TestForgottenWordsAreKnownAgainUnderAnotherSessionsName(t *testing.T) {
	for name, of := range map[string]func(session string) []line{
		"by their times": func(s string) []line {
			return []line{told(s, "user", "the quokkaflange", 1777629600), told(s, "assistant", "is here", 1777629601), told(s, "user", "the quokkaflange", 1777629602)}
		},
		"by what stands before them": func(s string) []line {
			return []line{told(s, "user", "the quokkaflange", 0), told(s, "assistant", "is here", 0), told(s, "user", "the quokkaflange", 0)}
		},
		"with one id of their own": func(s string) []line {
			return []line{says(s, "1", "user", "the quokkaflange"), says(s, "2", "assistant", "is here")}
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t)
			f.write("a.jsonl", append([]line{{Session: "a", Title: "Quokkaflange"}}, of("a")...)...)
			f.ingest(true)
			forget(t, f.db, Choice{Sessions: []string{"lines:a"}}, true)
			for n, markEvery := range []int{0, 1} {
				f.write("b.jsonl", append([]line{{Session: "b", Title: "Quokkaflange"}}, of("b")...)...)
				if n == 1 { // it goes on
					f.appendRaw("b.jsonl", `{"Session":"b","Role":"user","Text":"the walrusbeam","At":1777629700}`+"\n")
				}
				files, err := lines{}.FindIn(context.Background(), f.dir)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := f.db.Ingest(context.Background(), lines{markEvery: markEvery}, files, true, nil); err != nil {
					t.Fatal(err)
				}
				_, err = f.db.Session(context.Background(), "lines:b")
				if n == 0 && !errors.Is(err, ErrNotFound) {
					t.Errorf("it is back: %v", err)
				}
			}
			f.want("b", "the walrusbeam")
			nowhere(t, f.db, "quokkaflange")
		})
	}
}

func TestWhatIsSaidAnewIsArchivedThoughItWasForgottenOnce(t *testing.T) {
	f := newFolder(t)
	f.write("a.jsonl", told("a", "user", "review it", 0), told("a", "assistant", "it is fine", 0), told("a", "user", "thanks", 0), told("t", "user", "review it", 1777629600))
	f.write("copy.jsonl", told("copy", "user", "review it", 0), told("copy", "assistant", "it is fine", 0))
	f.ingest(true)
	forget(t, f.db, Choice{Sessions: []string{"lines:a", "lines:t"}}, true)
	f.write("b.jsonl", told("b", "user", "review it", 0), told("b", "assistant", "it is broken", 0), told("b", "user", "thanks", 0))
	f.write("c.jsonl", line{Session: "c", Title: "Review"}, told("c", "user", "review it", 1777629601))
	f.write("copy.jsonl", told("copy", "user", "review it", 0), told("copy", "assistant", "it is fine", 0), told("copy", "user", "thanks a lot", 0))
	f.write("empty.jsonl", line{Session: "empty", Title: "Nothing said"})
	for range 2 {
		f.ingest(true)
	}
	f.want("b", "review it | it is broken | thanks")
	f.want("c", "review it")
	f.want("copy", "review it | it is fine | thanks a lot")
	if s, err := f.db.Session(context.Background(), "lines:empty"); err != nil || s.Title != "Nothing said" {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err := f.db.Session(context.Background(), "lines:c"); err != nil || s.Title != "Review" {
		t.Errorf("%+v, %v", s, err)
	}
}
