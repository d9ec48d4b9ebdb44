package transcript

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// tell stores a session that begins at a time.
func tell(t testing.TB, db *DB, s Session, msgs ...Message) {
	t.Helper()
	for i := range msgs {
		msgs[i].UID = fmt.Sprintf("%s-%d", s.ID, i)
		if msgs[i].At.IsZero() {
			if !s.StartedAt.IsZero() {
				msgs[i].At = s.StartedAt.Add(time.Duration(i) * time.Minute)
			}
		}
	}
	if err := db.Put(context.Background(), s, msgs); err != nil {
		t.Fatal(err)
	}
}

func spoke(role Role, text string) Message { return Message{Role: role, Content: text} }

// What stands first, where the words alone would not tell.
func TestWhatStandsFirst(t *testing.T) {
	type session struct {
		Session
		msgs []Message
	}
	user := func(text string) []Message { return []Message{spoke(UserRole, text)} }
	for name, c := range map[string]struct {
		sessions []session
		query    string
		want     string // session ids, best first
	}{
		"what a person said, before what an agent said, before what a tool printed": {
			[]session{{Session{ID: "t:tool"}, []Message{spoke(Tool, "pelican nests here")}}, {Session{ID: "t:agent"}, []Message{spoke(Assistant, "pelican nests here")}}, {Session{ID: "t:person"}, user("pelican nests here")}},
			"pelican", "person agent tool"},
		"the main path before an abandoned branch": {
			[]session{{Session{ID: "t:main"}, user("pelican nests here")}, {Session{ID: "t:side"}, []Message{{Role: UserRole, Content: "pelican nests here", OffPath: true}}}},
			"pelican", "main side"},
		"what a person sat in front of, before a script's run, before a schedule's": {
			[]session{{Session{ID: "t:seen", Surface: "cli"}, user("pelican nests here")}, {Session{ID: "t:script", Surface: "sdk"}, user("pelican nests here")}, {Session{ID: "t:cron", Surface: "cron"}, user("pelican nests here")}},
			"pelican", "seen script cron"},
		"a schedule's run that says more, before a person's that says less": {
			[]session{{Session{ID: "t:seen"}, user("pelican, among many other birds that were seen at the lake in that cold and rainy spring by our neighbours")}, {Session{ID: "t:cron", Surface: "cron"}, user("pelican nests: pelican eggs, pelican chicks")}},
			"pelican nests", "cron seen"},
		"the session that a title is about, before one that mentions it": {
			[]session{{Session{ID: "t:about", Title: "Pelican"}, user("let us look at how they live")}, {Session{ID: "t:mentions"}, user("there was a heron, a duck, a swan, a goose, a coot, a grebe, a stork and then a pelican at the far end of the pond")}},
			"pelican", "about mentions"},
		"the one of last week, when that is asked for": {
			[]session{{Session{ID: "t:old", StartedAt: day.AddDate(0, -2, 0)}, user("pelican nests here")}, {Session{ID: "t:then", StartedAt: day.AddDate(0, 0, -7)}, user("pelican nests here")}, {Session{ID: "t:new", StartedAt: day}, user("pelican nests here")}},
			"the pelican of last week", "then new old"},
		"the one of 上周": {
			[]session{{Session{ID: "t:then", StartedAt: day.AddDate(0, 0, -7)}, user("数据库迁移")}, {Session{ID: "t:new", StartedAt: day}, user("数据库迁移")}},
			"上周的数据库迁移", "then new"},
		"the one of a month, of any year": {
			[]session{{Session{ID: "t:march", StartedAt: time.Date(2024, 3, 9, 0, 0, 0, 0, time.UTC)}, user("pelican nests here")}, {Session{ID: "t:new", StartedAt: day}, user("pelican nests here")}},
			"pelican in March", "march new"},
		"the newer one, when last week stands in quotes": {
			[]session{{Session{ID: "t:then", StartedAt: day.AddDate(0, 0, -7)}, user("pelican last week")}, {Session{ID: "t:new", StartedAt: day}, user("pelican last week")}},
			`pelican "last week"`, "new then"},
		"the newer one, when yesterday is a file": {
			[]session{{Session{ID: "t:then", StartedAt: day.AddDate(0, 0, -1)}, user("pelican yesterday.txt")}, {Session{ID: "t:new", StartedAt: day}, user("pelican yesterday.txt")}},
			"pelican yesterday.txt", "new then"},
		"a better match of another time, before a poor one of that time": {
			[]session{{Session{ID: "t:poor", StartedAt: day.AddDate(0, 0, -7)}, user("the heron, the duck, the goose, the coot and the grebe were there, and a pelican")}, {Session{ID: "t:good", StartedAt: day}, user("pelican nests: how a pelican builds its nest and hatches pelican eggs")}},
			"pelican nests eggs hatches builds last week", "good poor"},
		"another task, before a third run of the same": {
			[]session{
				{Session{ID: "t:a", StartedAt: day}, []Message{spoke(UserRole, "make the daily report of the pelicans at the lake"), spoke(Assistant, "pelican count 3")}},
				{Session{ID: "t:b", StartedAt: day.AddDate(0, 0, 1)}, []Message{spoke(UserRole, "make the daily report of the pelicans at the lake"), spoke(Assistant, "pelican count 4")}},
				{Session{ID: "t:c", StartedAt: day.AddDate(0, 0, 2)}, []Message{spoke(UserRole, "make the daily report of the pelicans at the lake"), spoke(Assistant, "pelican count 5")}},
				{Session{ID: "t:other", StartedAt: day.AddDate(0, 0, -9)}, []Message{spoke(UserRole, "why is the report of the pelicans at the lake empty"), spoke(Assistant, "no pelican came")}}},
			"pelicans report lake", "c other b a"},
	} {
		t.Run(name, func(t *testing.T) {
			db := openTest(t)
			db.Now = func() time.Time { return day }
			for _, s := range c.sessions {
				tell(t, db, s.Session, s.msgs...)
			}
			a := search(t, db, c.query)
			if got := strings.ReplaceAll(strings.Join(hitIDs(a), " "), "t:", ""); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestTheNoteSaysWhatWasUnderstood(t *testing.T) {
	db := openTest(t)
	db.Now = func() time.Time { return day }
	tell(t, db, Session{ID: "t:a", StartedAt: day.AddDate(0, 0, -1)}, spoke(UserRole, "the pelican did what we said"))
	yesterday := day.AddDate(0, 0, -1).Format(time.DateOnly)
	for query, want := range map[string]string{
		"pelican yesterday":         `"yesterday" as ` + yesterday,
		"pelican":                   "",
		`pelican "yesterday"`:       "nothing matches all",
		"what did we do":            "say little",
		"what did we do yesterday?": "sessions of " + yesterday,
		"pelicna":                   "spelled alike",
		"pelican since:soon":        "since:soon is no time",
		"pelican role:robot":        "role:robot is no role",
	} {
		a := search(t, db, query)
		if len(a.Hits) != 1 || !strings.Contains(a.Note, want) || want == "" && a.Note != "" {
			t.Errorf("%s: %d hits, note %q", query, len(a.Hits), a.Note)
		}
	}
}

func TestAQueryThatNamesOnlyATimeListsTheSessionsOfThatTime(t *testing.T) {
	db := openTest(t)
	db.Now = func() time.Time { return day }
	for i, back := range []int{0, 1, 1, 7, 40} {
		tell(t, db, Session{ID: fmt.Sprintf("t:%d", i), StartedAt: day.AddDate(0, 0, -back).Add(time.Duration(i) * time.Minute), Project: fmt.Sprintf("/p%d", i)},
			spoke(UserRole, "week, year and yesterday are words too"))
	}
	tell(t, db, Session{ID: "t:timeless"}, spoke(UserRole, "yesterday"))
	endless := Session{ID: "t:endless", StartedAt: day.AddDate(-2, 0, 0)} // nobody knows when it was last active
	if err := db.Put(context.Background(), endless, []Message{{UID: "endless-0", Role: UserRole, Content: "yesterday"}}); err != nil {
		t.Fatal(err)
	}
	tell(t, db, Session{ID: "t:end", LastActive: day.AddDate(0, 0, 3)}, spoke(UserRole, "yesterday"))
	for _, c := range []struct {
		q     Query
		want  string
		timed bool
	}{
		{Query{Text: "yesterday"}, "2 1", true},
		{Query{Text: "what did we work on yesterday?"}, "2 1", true},
		{Query{Text: "昨天我们做了什么"}, "2 1", true},
		{Query{Text: "yesterday", Project: "/p1"}, "1", true},
		{Query{Text: "yesterday", Exclude: []string{"t:2"}}, "1", true},
		{Query{Text: "what happened last week"}, "3", true},
		{Query{Text: "what happened last year"}, "", false}, // none is of then, so the words are looked for
	} {
		a, err := db.Search(context.Background(), c.q)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.ReplaceAll(strings.Join(hitIDs(a), " "), "t:", "")
		if c.timed && got != c.want || len(a.Hits) == 0 || (a.Hits[0].Why == OfTime) != c.timed {
			t.Errorf("%q: %s, want %s (%s)", c.q.Text, got, c.want, a.Note)
		}
	}
}

// A subagent's find is the parent's, one hit, with where the match is.
func TestASubagentsFindIsCreditedToItsParent(t *testing.T) {
	db := openTest(t)
	tell(t, db, Session{ID: "t:parent", Title: "Birds"}, spoke(UserRole, "look after the birds"), spoke(Assistant, "a subagent does"))
	tell(t, db, Session{ID: "t:child", ParentID: "t:parent", Relation: Subagent}, spoke(UserRole, "count them"), spoke(Assistant, "the pelican is the ninth"))
	tell(t, db, Session{ID: "t:grandchild", ParentID: "t:child", Relation: Subagent}, spoke(Assistant, "the flamingo is the tenth, the pelican aside"))
	tell(t, db, Session{ID: "t:orphan", ParentID: "t:nobody", Relation: Subagent}, spoke(Assistant, "an albatross"))
	for query, want := range map[string][2]string{
		"pelican ninth": {"t:parent", "t:child"}, "flamingo": {"t:parent", "t:grandchild"}, "birds": {"t:parent", "t:parent"}, "albatross": {"t:orphan", "t:orphan"},
	} {
		a := search(t, db, query)
		if len(a.Hits) != 1 || a.Hits[0].Session.ID != want[0] || a.Hits[0].Holder.ID != want[1] {
			t.Fatalf("%s: %v", query, hitIDs(a))
		}
		for _, m := range a.Hits[0].Matches {
			if _, _, _, err := db.Messages(context.Background(), want[1], Window{Around: m.MessageID}); err != nil {
				t.Errorf("%s: message %d is not where it should be: %v", query, m.MessageID, err)
			}
		}
	}
}

// A word in more messages than can be looked at: what is about it is found by
// its title or first prompt, though it is the oldest, and the note says that
// else recency decided.
func TestACommonWordFindsTheSessionThatIsAboutIt(t *testing.T) {
	if testing.Short() {
		t.Skip("stores 13,000 messages")
	}
	db := openTest(t)
	tell(t, db, Session{ID: "t:title", Title: "Deploy", StartedAt: day}, spoke(UserRole, "how does it go?"))
	tell(t, db, Session{ID: "t:prompt", StartedAt: day}, spoke(UserRole, "deploy"), spoke(Assistant, "deploy: a deploy is one script, deploy.sh"))
	for i := range 26 {
		msgs := make([]Message, 500)
		for j := range msgs {
			msgs[j] = spoke(Tool, fmt.Sprintf("line %d of the deploy log, nothing else to see here today", j))
		}
		tell(t, db, Session{ID: fmt.Sprintf("t:%d", i), StartedAt: day.AddDate(0, 0, i+1)}, msgs...)
	}
	a := search(t, db, "deploy")
	if len(a.Hits) < 3 || !strings.Contains(a.Note, "newest messages decide") {
		t.Fatalf("%v %q", hitIDs(a), a.Note)
	}
	first := strings.Join(hitIDs(a)[:2], " ")
	if first != "t:prompt t:title" && first != "t:title t:prompt" {
		t.Errorf("%v", hitIDs(a))
	}
	if got := a.Hits[2].Session.ID; got != "t:25" {
		t.Errorf("the newest stands behind %s", got)
	}
}
