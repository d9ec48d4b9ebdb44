package wording

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTermsAreWhatAQuestionIsAbout(t *testing.T) {
	for query, want := range map[string][]string{
		"What about my X99 route?":       {"x99", "route"},
		"the of and":                     nil,
		`pve-01 "quoted" (paren) pve-01`: {"pve-01", "quoted", "paren"},
		"用户偏好什么":                         {"用户偏好什么"},
		"(alpha*) ^beta: -gamma+ a":      {"alpha", "beta", "gamma"},
		strings.Repeat("x1 x2 ", 20):     {"x1", "x2"},
	} {
		if got := Terms(query); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}

func TestPairs(t *testing.T) {
	for text, want := range map[string][]string{
		"修改youer服务端": {"修改", "服务", "务端"}, "猫": {"猫"}, "a b": nil, "カメラ 카메라": {"カメ", "メラ", "카메", "메라"},
	} {
		if got := Pairs(text); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if got := slices.Sorted(maps.Keys(Bag("用户 uses 修改youer服务端, Go!"))); !slices.Equal(got, []string{"go", "uses", "youer", "修改", "务端", "服务", "用户"}) {
		t.Errorf("bag %q", got)
	}
}

func TestSays(t *testing.T) {
	for _, tc := range []struct {
		content, name string
		want          bool
	}{
		{"Mara Keller owns search-api", "mara keller", true}, {"Mara Keller owns search-api", "search api", true},
		{"Mara Kellerman", "Mara Keller", false}, {"王建国负责管道", "建国", true}, {"café au lait", "Cafe", true}, {"anything", "", false}, {"anything", "--", false},
	} {
		if got := Says(tc.content, tc.name); got != tc.want {
			t.Errorf("%q says %q: %v", tc.content, tc.name, got)
		}
	}
}

func TestWhatCannotBothBeTrue(t *testing.T) {
	for _, tc := range []struct {
		a, b   string
		entity string // of both
		kind   string
	}{
		{"Uses tabs", "Does not use tabs", "", "negation"},
		{"Mara likes tea", "Mara dislikes tea", "", "negation"},
		{"The flag is enabled in production", "The flag is disabled in production", "", "negation"},
		{"使用空格缩进", "不使用空格缩进", "", "negation"},
		{"billing listens on port 8000", "billing listens on port 9000", "billing", "value"},
		{"Ada's preferred editor is Vim", "The editor preferred by Ada is Emacs", "Ada", "value"},
		{"偏好深色主题", "偏好浅色主题", "", "value"},
		{"billing listens on port 8000", "billing is written in Go", "billing", ""},
		{"Mara likes tea", "Mara likes tea", "", ""},
		{"Shelf 3 holds the year 1973", "Shelf 4 holds the year 1974", "", ""},
		{"Uses tabs", "Drinks tea", "", ""},
		{"", "", "", ""},
	} {
		var names []string
		if tc.entity != "" {
			names = []string{tc.entity}
		}
		a, b := NewClaim(tc.a, names), NewClaim(tc.b, names)
		there, ok := Compare(a, b)
		back, ok2 := Compare(b, a)
		if there.Kind != tc.kind || ok != (tc.kind != "") || back.Kind != there.Kind || back.Score != there.Score || ok != ok2 {
			t.Errorf("%q / %q: %+v %v, back %+v", tc.a, tc.b, there, ok, back)
		}
	}
	if _, ok := Compare(NewClaim("x listens on port 1", []string{"x"}), NewClaim("y listens on port 2", []string{"y"})); ok {
		t.Error("claims of different things clash")
	}
}

func TestGramsCountRarePairsMore(t *testing.T) {
	g := NewGrams()
	for i, text := range []string{"用户喜欢绿茶", "用户喜欢咖啡", "用户讨厌绿茶", "no such letters"} {
		g.Add(int64(i), text)
	}
	got := g.Match(Pairs("用户绿茶咖啡"), 10)
	if len(got) != 3 || got[1] <= got[0] || got[0] != got[2] {
		t.Errorf("%v", got)
	}
	if got := g.Match(Pairs("用户绿茶咖啡"), 1); len(got) != 1 || got[1] == 0 {
		t.Errorf("%v", got)
	}
}

func TestGramsOfOneQuestionAnswerItAsAllGramsDo(t *testing.T) {
	texts := []string{"用户喜欢绿茶", "用Go写的用户服务", "用户用户", "ガラス窓の用意", "no such letters", "绿", "\xff绿茶"}
	for _, question := range []string{"用户绿茶", "绿", "窓の用意か", "用户 用户 绿", "nothing of the kind"} {
		all, few := NewGrams(), NewGrams(Pairs(question)...)
		for i, text := range texts {
			all.Add(int64(i), text)
			few.Add(int64(i), text)
		}
		got, want := few.Match(Pairs(question), 10), all.Match(Pairs(question), 10)
		if !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", question, got, want)
		}
	}
	few := NewGrams("绿茶")
	few.Add(1, "用户喜欢绿茶")
	if len(few.has) != 1 {
		t.Errorf("kept more than was asked for: %v", few.has)
	}
}

func FuzzWording(f *testing.F) {
	f.Add("修改youer服务端 it's", "don’t 不 \xff")
	f.Fuzz(func(t *testing.T, a, b string) {
		for w := range Bag(a) {
			if w == "" || strings.ContainsAny(w, " \n") {
				t.Fatalf("%q in the bag of %q", w, a)
			}
		}
		for _, p := range Pairs(a) {
			if n := utf8.RuneCountInString(p); n < 1 || n > 2 {
				t.Fatalf("%q in the pairs of %q", p, a)
			}
		}
		all, few := NewGrams(), NewGrams(Pairs(a)...)
		all.Add(1, b)
		few.Add(1, b)
		if asked := Pairs(a); !maps.Equal(few.Match(asked, 5), all.Match(asked, 5)) {
			t.Fatalf("%q is asked of %q: not the same with the pairs of the question alone", a, b)
		}
		x, y := NewClaim(a, Words(b)), NewClaim(b, Words(a))
		there, ok := Compare(x, y)
		back, ok2 := Compare(y, x)
		if ok != ok2 || there.Score != back.Score || there.Score < 0 || there.Score > 1 {
			t.Fatalf("%+v, back %+v", there, back)
		}
	})
}
