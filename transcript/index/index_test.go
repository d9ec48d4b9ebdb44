package index

import (
	"slices"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/transcript/analysis"
	"github.com/hermes-mcp/hermes-mcp/transcript/rank"
)

func TestASlotComesBackAsItWas(t *testing.T) {
	for _, s := range []Slot{{}, {Role: "user", Indexed: true, Tokens: 7, At: 1700000000}, {Header: true, Tokens: 3},
		{Role: "summary", Compacted: true, OffPath: true, Indexed: true, Tokens: 65535}} {
		b := s.Encode()
		if got := decodeSlot(b[:]); got != s {
			t.Errorf("%+v became %+v", s, got)
		}
	}
	b := Slot{Role: "stranger", Tokens: 1 << 20}.Encode()
	if got := decodeSlot(b[:]); got.Role != "" || got.Tokens != 1<<16-1 {
		t.Errorf("%+v", got)
	}
}

func TestProjectsAreNamedByPathOrName(t *testing.T) {
	for _, c := range []struct {
		have, want string
		ok         bool
	}{{"/a/b", "", true}, {"/a/b", "/a/b/", true}, {"/a/b/c", "/a/b", true}, {"/a/bc", "/a/b", false}, {"/a/b", "B", true},
		{"/a/b", "a", false}, {`C:\x\y`, "y", true}, {`C:\x\y`, `C:\x`, true}, {"", "a", false}} {
		if InProject(c.have, c.want) != c.ok {
			t.Errorf("%q in %q", c.have, c.want)
		}
	}
}

func TestExpressionsReadLikeThis(t *testing.T) {
	p := newPlan(analysis.Parse(`red blue* "deep sea" NOT fish`), nil, 100)
	var all []int
	for i := range p.terms {
		all = append(all, i)
	}
	e := p.matching(all, p.joined(p.must, " AND "))
	if want := `(("red" OR "blue"* OR "deep" OR "sea" OR "deep sea") AND (("deep sea"))) NOT ("fish")`; e.match != want {
		t.Errorf("%s\nwant %s", e.match, want)
	}
	if len(e.owner) != 5 || e.owner[4] != 4 {
		t.Errorf("%v", e.owner)
	}
	if got := p.pairs([]int{0, 2, 3}); got != `(("red") AND ("deep")) OR (("red") AND ("sea")) OR (("deep") AND ("sea"))` {
		t.Error(got)
	}
}

func TestSequencesAreFoundFromWhereTheirWordsStand(t *testing.T) {
	p := newPlan(analysis.Parse("gateway/run.py"), nil, 100)
	if len(p.terms) != 4 || len(p.terms[3].derived) != 3 || p.terms[3].phrases != nil {
		t.Fatalf("%+v", p.terms)
	}
	hits := []rank.Hit{{Term: 0, Pos: 3}, {Term: 0, Pos: 9}, {Term: 1, Pos: 4}, {Term: 1, Pos: 10}, {Term: 2, Pos: 5}}
	got := p.sequences(hits)
	if len(got) != 6 || got[5] != (rank.Hit{Term: 3, Pos: 3}) {
		t.Errorf("%v", got)
	}
}

// A statement may see what was written after the directory was read.
func TestWhatTheDirectoryDoesNotKnowIsNotWanted(t *testing.T) {
	one := &dirSession{id: 1, blocks: []int64{0}}
	slot := Slot{Role: "user", Indexed: true, Tokens: 3}.Encode()
	dir := &directory{sessions: map[int64]*dirSession{1: one}, blocks: []dirBlock{{one, append(make([]byte, SlotSize), slot[:]...)}, {}}}
	s := &search{dir: dir, filter: Filter{}.resolve(dir), known: make([]uint64, 2)}
	for id, want := range map[int64]bool{1: true, -1: false, 2: false, BlockSlots: false, 1 << 40: false, -1 << 62: false} {
		if s.wanted(id) != want {
			t.Errorf("message %d: %v", id, !want)
		}
	}
	s.known[0] = 1 << 1
	if s.wanted(1) {
		t.Error("collected twice")
	}
}

// What must hold all that is looked for names each term once: FTS5 would walk its
// list twice.
func TestARowThatHoldsEverythingIsAskedForOnce(t *testing.T) {
	p := newPlan(analysis.Parse("deep sea fish -salt"), nil, 100)
	for _, c := range []struct {
		terms, some []int
		match       string
		owner       []int32
	}{
		{[]int{1, 0, 2}, []int{1, 0, 2}, `((("sea") AND ("deep") AND ("fish"))) NOT ("salt")`, []int32{1, 0, 2}},
		{[]int{0, 1, 2}, []int{0, 1}, `(("deep" OR "sea" OR "fish") AND (("deep") AND ("sea"))) NOT ("salt")`, []int32{0, 1, 2}},
	} {
		if e := p.holding(c.terms, c.some); e.match != c.match || !slices.Equal(e.owner, c.owner) {
			t.Errorf("%v: %s, %v", c.some, e.match, e.owner)
		}
	}
}

// A phrase of common words is asked for alone; its words are found in it.
func TestAPhraseOfCommonWordsIsLookedForByItself(t *testing.T) {
	p := newPlan(analysis.Parse(`"deep sea" fish`), nil, 100)
	var all []int
	for i := range p.terms {
		all = append(all, i)
		p.terms[i].df = 10
	}
	if e := p.insisting(all); e.match != `("deep" OR "sea" OR "fish" OR "deep sea") AND (("deep sea"))` || len(p.covers) != 0 {
		t.Errorf("rare words: %s", e.match)
	}
	p.terms[0].df, p.terms[1].df = 2*leadRows, 2*leadRows
	if e := p.insisting(all); e.match != `("fish" OR "deep sea") AND (("deep sea"))` {
		t.Errorf("common words: %s", e.match)
	}
	got := p.sequences([]rank.Hit{{Term: 2, Pos: 9}, {Term: 3, Pos: 4}})
	if len(got) != 4 || got[2] != (rank.Hit{Term: 0, Pos: 4}) || got[3] != (rank.Hit{Term: 1, Pos: 5}) {
		t.Errorf("%v", got)
	}
	if e := p.insisting([]int{0, 1, 3}); e.match != `("deep sea")` {
		t.Errorf("alone: %s", e.match)
	}
}
