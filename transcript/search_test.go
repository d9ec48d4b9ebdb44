package transcript

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// corpus is what the table of queries is asked of.
func corpus(t testing.TB) *DB {
	db := openTest(t)
	for id, says := range map[string][]string{
		"quote":   {"it's a pity that the gateway broke", "It broke in gateway/run.py at line 40."},
		"mail":    {"please write to alice@example.com", "Sent."},
		"percent": {"the disk is at 50% again", "Cleaned up, it was issue #123."},
		"windows": {`open C:\Users\demo and look`, "There is nothing in it."},
		"logic":   {"OR OR is what the parser printed", "AND NOT was the other one."},
		"near":    {"NEAR(a b) is FTS syntax", "Right."},
		"emoji":   {"the family 👩‍👩‍👧 and the 🚀 rocket", "nice"},
		"han":     {"修改youer服务端的配置", "好的"},
		"ident":   {"rename parseConfigFile to read_config_file", "Done; also MAX_RETRIES and kebab-case-name."},
		"version": {"bump to v2.3.1 please", "bumped"},
		"thai":    {"ภาษาไทยไม่มีช่องว่าง", "ok"},
		"kana":    {"データベースの移行", "はい"},
		"hangul":  {"서버에서 오류가 발생했다", "네"},
		"accents": {"le café est fermé", "Überraschung"},
		"typo":    {"the kubernetes deployment failed", "Rolled back the deployment."},
		"bent":    {"we wrote the children's tests", "They ran."},
	} {
		put(t, db, "t:"+id, says...)
	}
	return db
}

// Upstream #7824, #82152: queries with punctuation found nothing or failed.
// Upstream #11511, #54242: Chinese, and Latin beside it, was not found.
func TestAnyStringIsAQueryAndFindsWhatItMeans(t *testing.T) {
	db := corpus(t)
	for _, c := range []struct{ query, want string }{
		{"it's", "quote"}, {"gateway/run.py", "quote"}, {"run.py", "quote"}, {`run.py "run.py"`, "quote"}, {`"parseConfigFile"`, "ident"}, {`"gateway broke"`, "quote"},
		{"alice@example.com", "mail"}, {"example.com", "mail"}, {"50%", "percent"}, {"#123", "percent"},
		{`C:\Users\demo`, "windows"}, {"OR OR", "logic"}, {"AND NOT", "logic"}, {`"unbalanced OR parser`, "logic"},
		{"NEAR(a b)", "near"}, {"🚀 rocket", "emoji"}, {"👩‍👩‍👧 family", "emoji"},
		{"youer", "han"}, {"服务", "han"}, {"服务端", "han"}, {"修改youer服务端", "han"}, {"配", "han"}, {"ｙｏｕｅｒ", "han"},
		{"parseConfigFile", "ident"}, {"parseconfigfile", "ident"}, {"config file", "ident"}, {"read_config", "ident"},
		{"max retries", "ident"}, {"kebab-case-name", "ident"}, {"kebabcasename", "ident"}, {"parseConf*", "ident"}, {"retr*", "ident"},
		{"v2.3.1", "version"}, {"2.3.1", "version"}, {"ไม่มี", "thai"}, {"データベース", "kana"}, {"移行", "kana"}, {"서버", "hangul"}, {"오류", "hangul"},
		{"cafe", "accents"}, {"CAFÉ", "accents"}, {"uberraschung", "accents"},
		{"kubernets", "typo"}, {"deploymnet", "typo"}, {"kuberneets deployment", "typo"},
		{"write child test", "bent"}, {"who ran children?", "bent"},
		{"deployment NOT gateway", "typo"}, {"broke -deployment", "quote"},
		{"role:assistant bumped", "version"},
	} {
		a := search(t, db, c.query)
		if len(a.Hits) == 0 || a.Hits[0].Session.ID != "t:"+c.want {
			t.Errorf("%q found %v, want %s", c.query, hitIDs(a), c.want)
		}
	}
}

func hitIDs(a Answer) (out []string) {
	for _, h := range a.Hits {
		out = append(out, h.Session.ID)
	}
	return out
}

// snippet is the one of a hit's match.
func snippet(t testing.TB, db *DB, h Hit, m Match) string {
	t.Helper()
	return m.Snippet(matched(t, db, h, m))
}

func matched(t testing.TB, db *DB, h Hit, m Match) Message {
	t.Helper()
	msgs, _, _, err := db.Messages(context.Background(), h.Holder.ID, Window{Around: m.MessageID})
	if err != nil {
		t.Fatal(err)
	}
	return msgs[0]
}

func TestNoQueryFails(t *testing.T) {
	db := corpus(t)
	for _, q := range []string{"", " ", "*", "**", `"`, `""`, `" "`, "-", "--", "NOT", "NOT NOT", "OR", "AND", "(", ")", "a:b", "role:", "since:x",
		"since:7d", "\x00", "\xff\xfe", "^a", "a^b", "{a}", "+", "a+b", ":", "text:a", "…", strings.Repeat("word ", 5000), strings.Repeat("x", 100000), "中", "的的的",
		"NOT gateway", "-gateway", `-"gateway broke"`, "'; DROP TABLE message; --"} {
		if _, err := db.Search(context.Background(), Query{Text: q}); err != nil {
			t.Errorf("%.20q: %v", q, err)
		}
	}
}

func FuzzSearchNeverFails(f *testing.F) {
	db := corpus(f)
	for _, s := range []string{"it's", `"a b" OR c*`, "NOT (", "修改youer服务端", "-x y", "role:user a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, q string) {
		a, err := db.Search(context.Background(), Query{Text: q})
		if err != nil {
			t.Fatalf("%q: %v", q, err)
		}
		for _, h := range a.Hits {
			for _, m := range h.Matches {
				if s := snippet(t, db, h, m); strings.ToValidUTF8(s, "") != s {
					t.Errorf("%q: snippet %q is cut inside a rune", q, s)
				}
			}
		}
	})
}

func TestAnExclusionOfEverythingLooksForIt(t *testing.T) {
	db := corpus(t)
	if a := search(t, db, "NOT kubernetes"); len(a.Hits) == 0 || a.Hits[0].Session.ID != "t:typo" {
		t.Errorf("%v", hitIDs(a))
	}
	if a := search(t, db, "gateway NOT broke"); len(a.Hits) != 0 {
		t.Errorf("%v", hitIDs(a))
	}
}

func TestAPhraseThatIsNowhereIsLoosenedAndToldSo(t *testing.T) {
	db := corpus(t)
	a := search(t, db, `"broke gateway"`)
	if len(a.Hits) == 0 || a.Hits[0].Session.ID != "t:quote" || a.Note == "" {
		t.Errorf("%v %q", hitIDs(a), a.Note)
	}
}

func TestFiltersLeaveOutWhatTheyShould(t *testing.T) {
	db := openTest(t)
	ctx := context.Background()
	for i, s := range []Session{
		{ID: "claude:a", Dir: "/work/alpha", StartedAt: day},
		{ID: "codex:b", Project: "/work/beta", StartedAt: day.AddDate(0, 1, 0)},
		{ID: "codex:c", Project: `C:\work\gamma`, StartedAt: day.AddDate(0, 2, 0)},
	} {
		if err := db.Put(ctx, s, []Message{
			{Role: UserRole, Content: "pelican", At: s.StartedAt},
			{Role: Assistant, Content: "flamingo", At: s.StartedAt.Add(time.Duration(i) * time.Hour)},
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		q    Query
		want string
	}{
		{"all", Query{Text: "pelican"}, "a b c"},
		{"source", Query{Text: "pelican", Sources: []string{"codex"}}, "b c"},
		{"role", Query{Text: "pelican", Roles: []Role{Assistant}}, ""},
		{"role that has it", Query{Text: "flamingo", Roles: []Role{Assistant}}, "a b c"},
		{"project by path", Query{Text: "pelican", Project: "/work/beta/"}, "b"},
		{"project by folder", Query{Text: "pelican", Project: "/work"}, "a b"},
		{"project by name", Query{Text: "pelican", Project: "Gamma"}, "c"},
		{"since", Query{Text: "pelican", Since: day.AddDate(0, 0, 10)}, "b c"},
		{"until", Query{Text: "pelican", Until: day.AddDate(0, 0, 40)}, "a b"},
		{"in the text", Query{Text: "pelican source:codex until:2026-06-20"}, "b"},
		{"newest first", Query{Text: "pelican", Sort: ByNewest}, "c b a"},
		{"oldest first", Query{Text: "pelican", Sort: ByOldest}, "a b c"},
	} {
		a, err := db.Search(ctx, c.q)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range a.Hits {
			got = append(got, h.Session.ID[strings.Index(h.Session.ID, ":")+1:])
		}
		if c.q.Sort == ByRank {
			slices.Sort(got)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %q, want %q", c.name, s, c.want)
		}
	}
	recent, err := db.Recent(ctx, Query{Sources: []string{"codex"}})
	if err != nil || len(recent) != 2 || recent[0].ID != "codex:c" || recent[0].Preview != "pelican" {
		t.Errorf("%v %v", recent, err)
	}
}

func TestTheCallersOwnLineageIsLeftOutExceptWhatLeftItsContext(t *testing.T) {
	db := openTest(t)
	ctx := context.Background()
	store := func(s Session, m Message) {
		t.Helper()
		m.Role = UserRole
		if err := db.Put(ctx, s, []Message{m}); err != nil {
			t.Fatal(err)
		}
	}
	store(Session{ID: "t:now", ParentID: "t:before", Relation: Compaction}, Message{Content: "pelican now"})
	store(Session{ID: "t:before", EndReason: "compression"}, Message{Content: "pelican before"})
	store(Session{ID: "t:sub", ParentID: "t:now", Relation: Subagent}, Message{Content: "pelican sub"})
	store(Session{ID: "t:other"}, Message{Content: "pelican other"})
	store(Session{ID: "t:inplace"}, Message{Content: "pelican inplace", Compacted: true})
	for _, c := range []struct {
		exclude []string
		want    string
	}{
		{nil, "t:before t:inplace t:other"},
		{[]string{"t:now"}, "t:before t:inplace t:other"},
		{[]string{"t:now", "t:inplace", "t:other"}, "t:before t:inplace"},
	} {
		a, err := db.Search(ctx, Query{Text: "pelican", Exclude: c.exclude})
		if err != nil {
			t.Fatal(err)
		}
		got := hitIDs(a)
		for i := range got {
			if got[i] == "t:now" || got[i] == "t:sub" {
				if c.exclude != nil {
					t.Errorf("%v: %s is live", c.exclude, got[i])
				}
				got[i] = "t:before" // any of the lineage
			}
		}
		slices.Sort(got)
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%v: %s, want %s", c.exclude, s, c.want)
		}
	}
}

func TestMemoryNeverFindsItself(t *testing.T) {
	db := openTest(t)
	msgs := []Message{
		{Role: UserRole, Content: "question\n<memory-context>\nsecretrecall\n</memory-context>"},
		{Role: Tool, Content: "secretresult", OwnTrace: true},
		{Role: Assistant, Content: "answer", Reasoning: "secretthought"},
		{Role: Assistant, ToolCalls: []ToolCall{{Name: "mcp__hermes__session_search", Args: []byte(`{"query":"secretquery"}`)}}},
		{Role: UserRole, Content: "secretnotice", Kind: "notice"},
		{Role: System, Content: "secretsystem"},
		{Role: UserRole, Content: "secretrewound", Rewound: true},
	}
	if err := db.Put(context.Background(), Session{ID: "t:a"}, msgs); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"secretrecall", "secretresult", "secretthought", "secretquery", "secretnotice", "secretsystem", "secretrewound"} {
		if a := search(t, db, word); len(a.Hits) != 0 {
			t.Errorf("%s is found", word)
		}
	}
	a := search(t, db, "question")
	if len(a.Hits) != 1 || strings.Contains(fmt.Sprint(a.Hits[0].Matches), "secretrecall") {
		t.Errorf("%+v", a.Hits)
	}
	got, _, _, err := db.Messages(context.Background(), "t:a", Window{})
	if err != nil || len(got) != len(msgs) || got[2].Reasoning != "secretthought" || !strings.Contains(got[0].Content, "secretrecall") {
		t.Errorf("what is not searched is not kept: %v", err)
	}
}

func TestToolCallsAreFoundByTheirArguments(t *testing.T) {
	db := openTest(t)
	if err := db.Put(context.Background(), Session{ID: "t:a"}, []Message{
		{Role: Assistant, ToolCalls: []ToolCall{{ID: "1", Name: "Bash", Args: []byte(`{"command":"terraform apply -auto-approve","timeout":5}`)}}},
		{Role: Tool, ToolCallID: "1", Content: strings.Repeat("filler ", 3000) + "quagmire"},
		{Role: Assistant, ToolCalls: []ToolCall{{ID: "2", Name: "Write", Args: []byte(`{"file_path":"/srv/app/Makefile","content":"` + strings.Repeat("noise ", 200) + `hidden"}`)}}},
		{Role: Assistant, ToolCalls: []ToolCall{{ID: "3", Name: "Odd", Args: []byte(`not json`)}}},
	}); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]int{"terraform apply": 1, "Makefile": 1, "quagmire": 1, "tool:bash terraform": 1, "hidden": 0} {
		if a := search(t, db, query); len(a.Hits) != want {
			t.Errorf("%s: %d hits, want %d", query, len(a.Hits), want)
		}
	}
}

func TestATitleIsFoundAndChanges(t *testing.T) {
	db := openTest(t)
	s := Session{ID: "t:a", Title: "Zeppelin maintenance", Dir: "/home/me/hangar"}
	if err := db.Put(context.Background(), s, []Message{{Role: UserRole, Content: "hello"}}); err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{"zeppelin", "hangar"} {
		if a := search(t, db, q); len(a.Hits) != 1 || len(a.Hits[0].Matches) != 0 {
			t.Errorf("%s: %+v", q, a)
		}
	}
	s.Title = "Balloon maintenance"
	if err := db.Put(context.Background(), s, nil); err != nil {
		t.Fatal(err)
	}
	if a := search(t, db, "balloon"); len(a.Hits) != 1 {
		t.Error("the new title is not found")
	}
	if a := search(t, db, "zeppelin"); len(a.Hits) != 0 {
		t.Error("the old title is found")
	}
}

func TestSessionIDsMayBeShortened(t *testing.T) {
	db := openTest(t)
	for _, id := range []string{"claude:abc123", "claude:abd456", "codex:abc999", "codex:same", "claude:same"} {
		put(t, db, id, "x")
	}
	for id, want := range map[string]string{"claude:abc123": "claude:abc123", "abd456": "claude:abd456", "abc1": "claude:abc123", "codex:a": "codex:abc999"} {
		if s, err := db.Session(context.Background(), id); err != nil || s.ID != want {
			t.Errorf("%s: %s, %v", id, s.ID, err)
		}
	}
	for _, id := range []string{"abc", "same", "claude:"} {
		if _, err := db.Session(context.Background(), id); err == nil || !strings.Contains(err.Error(), "ambiguous") {
			t.Errorf("%s: %v", id, err)
		}
	}
}

func TestMarksMoveForwardOnly(t *testing.T) {
	db := openTest(t)
	put(t, db, "t:a", "x")
	ctx := context.Background()
	for _, c := range []struct{ set, want int64 }{{70, 70}, {66, 70}, {99, 99}} {
		if err := db.SetMark(ctx, "t:a", Flushed, c.set); err != nil {
			t.Fatal(err)
		}
		if got, err := db.Mark(ctx, "t:a", Flushed); err != nil || got != c.want {
			t.Errorf("%d, %v; want %d", got, err, c.want)
		}
	}
	if got, err := db.Mark(ctx, "t:a", Reviewed); err != nil || got != 0 {
		t.Errorf("%d, %v", got, err)
	}
	if err := db.SetMark(ctx, "t:nobody", Flushed, 1); err == nil {
		t.Error("marked a session that is not there")
	}
}
