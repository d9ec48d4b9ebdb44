package transcript

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
)

func says(session, uid, role, text string) line {
	return line{Session: session, UID: uid, Role: role, Text: text}
}

func TestIngestingAgainAddsNothing(t *testing.T) {
	f := newFolder(t)
	f.write("a.jsonl", says("a", "1", "user", "hello"), says("a", "2", "assistant", "hi"), says("a", "", "user", "ok"), says("a", "", "user", "ok"))
	if rep := f.ingest(true); rep.Messages != 4 || rep.Sessions != 1 {
		t.Fatalf("%+v", rep)
	}
	if rep := f.ingest(true); rep.Messages != 0 || rep.Unchanged != 1 {
		t.Fatalf("unchanged file: %+v", rep)
	}
	later := time.Now().Add(time.Minute)
	if err := os.Chtimes(f.path("a.jsonl"), later, later); err != nil {
		t.Fatal(err)
	}
	if rep := f.ingest(true); rep.Messages != 0 || rep.Unchanged != 0 {
		t.Fatalf("touched file: %+v", rep)
	}
	f.want("a", "hello | hi | ok | ok")
}

func TestATornLastLineWaitsForItsEnd(t *testing.T) {
	f := newFolder(t)
	f.write("a.jsonl", says("a", "1", "user", "hello"))
	f.appendRaw("a.jsonl", `{"Session":"a","UID":"2","Role":"user","Te`)
	if rep := f.ingest(false); rep.Messages != 1 || len(rep.Problems) != 0 {
		t.Fatalf("%+v", rep)
	}
	f.appendRaw("a.jsonl", `xt":"world"}`+"\n")
	if rep := f.ingest(false); rep.Messages != 1 {
		t.Fatalf("%+v", rep)
	}
	f.want("a", "hello | world")
}

func TestEqualMessagesWithoutAnIDAreCounted(t *testing.T) {
	f := newFolder(t)
	f.write("a.jsonl", says("a", "", "user", "go on"), says("a", "", "assistant", "done"))
	f.ingest(false)
	f.appendRaw("a.jsonl", `{"Session":"a","Role":"user","Text":"go on"}`+"\n")
	f.ingest(false)
	f.want("a", "go on | done | go on")
	// A copy of the beginning in another file adds nothing; its end does.
	f.write("b.jsonl", says("a", "", "user", "go on"), says("a", "", "assistant", "done"), says("a", "", "user", "go on"), says("a", "", "user", "go on"))
	f.ingest(false)
	f.want("a", "go on | done | go on | go on")
}

func TestPiecesOfOneMessageAreJoined(t *testing.T) {
	f := newFolder(t)
	f.write("a.jsonl", says("a", "1", "assistant", "first"), line{Session: "a", UID: "1", Role: "assistant", Call: "bash", Args: `{"command":"ls"}`}, says("a", "1", "assistant", "second"))
	f.ingest(false)
	f.appendRaw("a.jsonl", `{"Session":"a","UID":"1","Role":"assistant","Text":"zyzzyva"}`+"\n"+`{"Session":"a","UID":"1","Role":"assistant","Text":"first"}`+"\n")
	f.ingest(false)
	m := f.messages("a")
	if len(m) != 1 || m[0].Content != "first\n\nsecond\n\nzyzzyva" || len(m[0].ToolCalls) != 1 {
		t.Fatalf("%+v", m)
	}
	if a := search(t, f.db, "zyzzyva"); len(a.Hits) != 1 || len(a.Hits[0].Matches) != 1 {
		t.Errorf("the later piece is not found: %+v", a)
	}
}

func TestAFileThatShrankKeepsWhatWasRead(t *testing.T) {
	f := newFolder(t)
	f.write("a.jsonl", says("a", "1", "user", "one"), says("a", "2", "user", "two"), says("a", "3", "user", "three"))
	f.ingest(false)
	f.write("a.jsonl", says("a", "1", "user", "one"), says("a", "4", "user", "four"))
	if rep := f.ingest(false); rep.Messages != 1 {
		t.Fatalf("%+v", rep)
	}
	f.want("a", "one | two | three | four")
}

func TestAFileRewrittenInPlaceIsReadAgain(t *testing.T) {
	f := newFolder(t)
	f.write("a.jsonl", says("a", "1", "user", "one"))
	f.ingest(false)
	f.write("a.jsonl", says("a", "9", "user", "another beginning"), says("a", "1", "user", "one"), says("a", "2", "user", "two"))
	if rep := f.ingest(false); rep.Messages != 2 {
		t.Fatalf("%+v", rep)
	}
}

func TestAVanishedFileIsMarkedAndItsMessagesStay(t *testing.T) {
	f := newFolder(t)
	f.write("a.jsonl", says("a", "1", "user", "precious"))
	f.write("b.jsonl", says("b", "1", "user", "other"))
	f.ingest(false)
	if err := os.Remove(f.path("a.jsonl")); err != nil {
		t.Fatal(err)
	}
	f.ingest(false)
	f.want("a", "precious")
	s, err := f.db.Session(context.Background(), "lines:a")
	if err != nil || !s.SourceGone {
		t.Errorf("%+v, %v", s, err)
	}
	c, err := f.db.Coverage(context.Background())
	if err != nil || len(c) != 1 || c[0].Files != 2 || c[0].Gone != 1 || c[0].Sessions != 2 || c[0].Messages != 2 || c[0].Pending != 0 {
		t.Errorf("%+v, %v", c, err)
	}
	f.write("a.jsonl", says("a", "1", "user", "precious"))
	f.ingest(false)
	if s, err = f.db.Session(context.Background(), "lines:a"); err != nil || s.SourceGone {
		t.Errorf("it came back: %+v, %v", s, err)
	}
}

func TestARefreshLooksAtNothingElse(t *testing.T) {
	f := newFolder(t)
	f.write("a.jsonl", says("a", "1", "user", "one"))
	f.write("b.jsonl", says("b", "1", "user", "other"))
	f.ingest(false)
	if err := os.Remove(f.path("b.jsonl")); err != nil {
		t.Fatal(err)
	}
	f.appendRaw("a.jsonl", `{"Session":"a","UID":"2","Role":"user","Text":"two"}`+"\n"+`{"Session":"a","UID":"3","Ro`)
	files, err := lines{}.FindIn(t.Context(), f.dir)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if rep, err := f.db.Refresh(t.Context(), lines{}, files, nil); err != nil || rep.Files != 1 {
			t.Fatalf("%+v, %v", rep, err)
		}
		f.want("a", "one | two")
	}
	if s, err := f.db.Session(t.Context(), "lines:b"); err != nil || s.SourceGone {
		t.Errorf("%+v, %v", s, err)
	}
	if rep, err := f.db.Refresh(t.Context(), lines{}, nil, nil); err != nil || rep.Files != 0 {
		t.Errorf("of no files: %+v, %v", rep, err)
	}
	f.ingest(false)
	if s, err := f.db.Session(t.Context(), "lines:b"); err != nil || !s.SourceGone {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestAFileThatComesBackLongerIsNotGone(t *testing.T) {
	f := newFolder(t)
	f.write("a.jsonl", says("a", "1", "user", "precious"))
	f.ingest(false)
	if err := os.Remove(f.path("a.jsonl")); err != nil {
		t.Fatal(err)
	}
	f.ingest(false)
	f.write("a.jsonl", says("a", "1", "user", "precious"), says("a", "2", "user", "and more"))
	f.ingest(false)
	f.want("a", "precious | and more")
	if s, err := f.db.Session(context.Background(), "lines:a"); err != nil || s.SourceGone {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestManyFilesOfOneSessionInOneTransactionAreTheUnion(t *testing.T) {
	ids := []line{says("a", "1", "user", "ok"), says("a", "2", "assistant", "fine"), says("a", "3", "user", "ok")}
	bare := []line{says("a", "", "user", "ok"), says("a", "", "user", "only there"), says("a", "", "assistant", "fine"), says("a", "", "user", "ok")}
	for name, files := range map[string][][]line{
		"ids, bare, ids":  {ids, bare, append(ids[:3:3], says("a", "4", "user", "only there"))},
		"bare, ids, bare": {bare, ids, bare},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t)
			for i, lines := range files {
				f.write(string(rune('a'+i))+".jsonl", lines...)
			}
			f.ingest(false)
			var got []string
			for _, m := range f.messages("a") {
				got = append(got, m.Content)
			}
			slices.Sort(got)
			if want := []string{"fine", "ok", "ok", "only there"}; !slices.Equal(got, want) {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestProgressIsToldByOneAtATimeAndEndsAtTheWhole(t *testing.T) {
	f := newFolder(t)
	var size int64
	for i := range 40 {
		name := fmt.Sprintf("%02d.jsonl", i)
		var all []line
		for n := range 200 {
			all = append(all, says(name, fmt.Sprint(n), "user", fmt.Sprintf("pelican %d", n)))
		}
		f.write(name, all...)
	}
	if err := os.Remove(f.path("07.jsonl")); err != nil {
		t.Fatal(err)
	}
	files, err := lines{markEvery: 30}.FindIn(t.Context(), f.dir)
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, File{Source: "lines", Path: f.path("07.jsonl"), Size: 5})
	for _, one := range files {
		size += one.Size
	}
	var last Progress
	rep, err := f.db.Ingest(t.Context(), lines{markEvery: 30}, files, false, func(p Progress) {
		if p.FilesDone < last.FilesDone || p.BytesDone < last.BytesDone || p.Messages < last.Messages {
			t.Errorf("%+v after %+v", p, last)
		}
		last = p
	})
	if err != nil || rep.Messages != 39*200 || len(rep.Problems) != 1 {
		t.Fatalf("%+v, %v", rep, err)
	}
	if last.FilesDone != 40 || last.Files != 40 || last.BytesDone != size || last.Bytes != size || last.Messages != rep.Messages {
		t.Errorf("%+v", last)
	}
}

func TestACopiedHistoryIsStoredOnceAndReadInBothSessions(t *testing.T) {
	f := newFolder(t)
	global := func(s, uid, text string) line {
		return line{Session: s, UID: uid, Role: "user", Text: text, Global: true}
	}
	f.write("a.jsonl", global("a", "1", "ostrich"), global("a", "2", "walrus"))
	f.write("b.jsonl", line{Session: "b", Parent: "a", Relation: "fork"}, global("b", "1", "ostrich"), global("b", "2", "walrus"), global("b", "3", "narwhal"))
	if rep := f.ingest(false); rep.Messages != 3 || rep.Sessions != 2 {
		t.Fatalf("%+v", rep)
	}
	f.want("a", "ostrich | walrus")
	f.want("b", "ostrich | walrus | narwhal")
	if a := search(t, f.db, "walrus"); len(a.Hits) != 1 || a.Hits[0].Session.ID != "lines:a" {
		t.Errorf("%+v", a)
	}
	if a := search(t, f.db, "narwhal"); len(a.Hits) != 1 || a.Hits[0].Session.ID != "lines:b" {
		t.Errorf("%+v", a)
	}
	m := f.messages("b")
	msgs, before, after, err := f.db.Messages(context.Background(), "lines:b", Window{Around: m[1].ID, Before: 1, After: 1})
	if err != nil || len(msgs) != 3 || before != 0 || after != 0 || msgs[2].Seq != 2 {
		t.Errorf("%d messages, %d before, %d after, %v", len(msgs), before, after, err)
	}
}

func TestOneSessionFromTwoPlacesIsTheUnion(t *testing.T) {
	for name, order := range map[string][]string{"with ids first": {"ids", "bare"}, "without ids first": {"bare", "ids"}} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t)
			of := map[string][]line{
				"ids":  {says("a", "1", "user", "ok"), says("a", "2", "assistant", "fine"), says("a", "3", "user", "ok"), says("a", "4", "user", "only here")},
				"bare": {says("a", "", "user", "ok"), says("a", "", "assistant", "fine"), says("a", "", "user", "ok"), says("a", "", "user", "only there"), says("a", "", "user", "ok")},
			}
			for range 2 {
				for i, which := range order {
					f.write(string(rune('a'+i))+".jsonl", of[which]...)
					f.ingest(false)
				}
				later := time.Now().Add(time.Minute)
				for _, n := range []string{"a.jsonl", "b.jsonl"} {
					if err := os.Chtimes(f.path(n), later, later); err != nil {
						t.Fatal(err)
					}
				}
			}
			var got []string
			for _, m := range f.messages("a") {
				got = append(got, m.Content)
			}
			slices.Sort(got)
			if want := []string{"fine", "ok", "ok", "ok", "only here", "only there"}; !slices.Equal(got, want) {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestALineageIsKnownInWhateverOrderItArrives(t *testing.T) {
	for _, order := range [][]string{{"a", "b", "c"}, {"c", "b", "a"}, {"c", "a", "b"}, {"b", "c", "a"}} {
		f := newFolder(t)
		parent := map[string]string{"b": "a", "c": "b"}
		for _, s := range order {
			f.write(s+".jsonl", line{Session: s, Parent: parent[s], Relation: "resume"}, says(s, "1", "user", "zeppelin "+s))
			f.ingest(false)
		}
		ids, err := f.db.Lineage(context.Background(), "lines:b")
		slices.Sort(ids)
		if err != nil || !slices.Equal(ids, []string{"lines:a", "lines:b", "lines:c"}) {
			t.Errorf("%v: %v, %v", order, ids, err)
		}
		if a := search(t, f.db, "zeppelin"); len(a.Hits) != 1 {
			t.Errorf("%v: %d hits of one lineage", order, len(a.Hits))
		}
	}
}

func TestSecondThoughtsReachOnlyWhatWasDeliveredBefore(t *testing.T) {
	f := newFolder(t)
	all := []line{says("a", "1", "user", "one"), says("a", "2", "user", "two"), {Session: "a", Compact: true},
		says("a", "3", "user", "three"), says("a", "4", "user", "four"), {Session: "a", Rewind: "4"}, says("a", "5", "user", "five")}
	check := func(round string) {
		t.Helper()
		var got string
		for _, m := range f.messages("a") {
			switch {
			case m.Compacted:
				got += "c"
			case m.OffPath:
				got += "o"
			default:
				got += "."
			}
		}
		if got != "cc.o." {
			t.Errorf("%s: %s", round, got)
		}
	}
	f.write("a.jsonl", all[:4]...)
	f.ingest(false)
	f.write("a.jsonl", all...)
	f.ingest(false)
	check("onward")
	f.write("b.jsonl", all...) // the same again, from its beginning
	f.ingest(false)
	check("again")
}

func TestBadLinesAreToldAndDoNotStopTheRest(t *testing.T) {
	f := newFolder(t)
	f.appendRaw("a.jsonl", "not json\n")
	f.appendRaw("a.jsonl", `{"Session":"a","UID":"1","Role":"user","Text":"fine"}`+"\n")
	rep := f.ingest(false)
	if rep.Messages != 1 || len(rep.Problems) != 1 || rep.Problems[0].Line != 1 {
		t.Fatalf("%+v", rep)
	}
	c, err := f.db.Coverage(context.Background())
	if err != nil || len(c[0].Unreadable) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestIndexAndMessagesAgreeAfterMerges(t *testing.T) {
	f := newFolder(t)
	for i := range 30 {
		name := string(rune('a'+i%5)) + ".jsonl"
		f.appendRaw(name, `{"Session":"s`+name[:1]+`","UID":"`+string(rune('0'+i/5))+`","Role":"user","Text":"pelican `+string(rune('a'+i))+`"}`+"\n")
		f.ingest(false)
	}
	if err := f.db.Tend(context.Background(), true); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"message_fts", "session_fts"} {
		if err := f.db.update(context.Background(), false, func(tx *engine.Tx) error {
			return tx.Exec("INSERT INTO " + table + "(" + table + ", rank) VALUES ('integrity-check', 0)")
		}); err != nil {
			t.Errorf("%s: %v", table, err)
		}
	}
	if err := f.db.Check(context.Background()); err != nil {
		t.Error(err)
	}
	if a := search(t, f.db, "pelican"); len(a.Hits) != 5 || a.More != 0 {
		t.Errorf("%d hits, %d more", len(a.Hits), a.More)
	}
	var df int
	if err := f.db.read.QueryRow("SELECT df FROM term WHERE term = 'pelican'").Scan(&df); err != nil || df != 30 {
		t.Errorf("df %d, %v", df, err)
	}
	sizes, err := f.db.Sizes(context.Background())
	if err != nil || sizes.Text == 0 || sizes.DB == 0 || sizes.Index == 0 {
		t.Errorf("%+v, %v", sizes, err)
	}
}
