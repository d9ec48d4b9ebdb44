package analysis

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func texts(tokens []Token) string {
	var out []string
	for _, t := range tokens {
		out = append(out, t.Text)
	}
	return strings.Join(out, " ")
}

func TestTermsOfATextReadLikeThis(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "",
		"The Running children went": "the run child go",
		"parseConfigFile":           "pars config file parseconfigfil",
		"HTTPServer2Go":             "http server2 go httpserver2go",
		"snake_case_name":           "snake case name snakecasenam",
		"kebab-case":                "kebab case kebabcas",
		"trailing- -dash _x_":       "trail dash x",
		"v2.3.1":                    "v2 3 1",
		"gateway/run.py":            "gatewai run py",
		"alice@example.com":         "alic exampl com",
		"it's Caroline's, don’t":    "it carolin don",
		"O'Brien 'quoted'":          "o brien quot",
		"café CAFÉ ｃａｆｅ":            "cafe cafe cafe",
		"修改youer服务端":                "修改 改 youer 服务 务端 端",
		"中":                         "中",
		"データベース":                    "デー ータ タベ ベー ース ス",
		"ไม่มี":                     "ไม่ ม่มี มี",
		"50% #123 $5":               "50 123 5",
		"Привет Йод ёлка":           "привет йод елка",
		"\xff\xfe bad":              "bad",
		"👩‍👩‍👧 🚀":                   "",
	} {
		if got := texts(Tokens(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestLongRunsAreCutNotLost(t *testing.T) {
	got := Tokens(strings.Repeat("a", 500))
	if len(got) != 1 || len(got[0].Text) != maxToken || got[0].End != 500 {
		t.Errorf("%v", got)
	}
}

func FuzzTokensPointIntoTheText(f *testing.F) {
	for _, s := range []string{"parseConfigFile", "修改youer服务端", "it's", "ไม่มี", "\xff", "a_b-c", "é", "e\u0301"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		for _, tok := range Tokens(text) {
			if tok.Start < 0 || tok.End > len(text) || tok.Start >= tok.End {
				t.Fatalf("%q: token %+v is outside", text, tok)
			}
			if tok.Kind != Whole && tok.Start < last {
				t.Fatalf("%q: token %+v goes back", text, tok)
			}
			last = tok.Start
			if tok.Text == "" || strings.ContainsAny(tok.Text, "\" \x00") || !utf8.ValidString(tok.Text) {
				t.Fatalf("%q: token %q cannot be indexed", text, tok.Text)
			}
		}
		if utf8.ValidString(text) && !utf8.ValidString(Snippet(text, []int{0, 1, 2})) {
			t.Fatalf("%q: snippet is cut inside a rune", text)
		}
	})
}

func describe(q Query) string {
	var out []string
	add := func(mark string, terms []Term) {
		for _, t := range terms {
			s := mark + strings.Join(t.Tokens, "+")
			if t.Prefix {
				s += "*"
			}
			out = append(out, s)
		}
	}
	add("", q.Terms)
	add("!", q.Must)
	add("-", q.Not)
	for _, f := range q.Filters {
		out = append(out, f.Field+"="+f.Value)
	}
	return strings.Join(out, " ")
}

func TestQueriesReadLikeThis(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "",
		"What did we decide?":         "decid",
		"the and of":                  "the and of",
		`"exact phrase" word`:         "exact phrase word !exact+phrase",
		`"unbalanced word`:            "unbalanc word",
		"a OR b":                      "b",
		"red OR blue":                 "red blue",
		"red AND blue":                "red blue !red !blue",
		"red NOT blue":                "red -blue",
		"red -blue":                   "red -blue",
		"tar -xz file":                "tar xz file",
		`red -"deep blue"`:            "red -deep+blue",
		"NOT blue":                    "blue",
		"OR OR":                       "or or",
		"migrat*":                     "migrat*",
		"running*":                    "running*",
		"run.py":                      "run py run+py",
		"read_config":                 "read config readconfig read+config",
		"服务端":                         "服务 服* 务* 务端 务* 端* 服务+务端",
		"中":                           "中*",
		"role:user since:7d red":      "red role=user since=7d",
		"unknown:field":               "unknown field unknown+field",
		"http://example.com/a?b=c":    "http exampl com b c http+exampl+com+a+b+c",
		"error: it's broken; fix it!": "error break fix",
		"“quoted” 「引用」":               "quot 引用 引* 用* !quot !引用",
	} {
		if got := describe(Parse(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzParseUnderstandsEverything(f *testing.F) {
	for _, s := range []string{`"a b" OR c* NOT d -e role:x`, `"`, "AND AND", "-\"a", "*", "中* \"中\""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q := Parse(text)
		if len(q.Terms) > maxTerms+8*maxToken {
			t.Errorf("%d terms", len(q.Terms))
		}
		for _, list := range [][]Term{q.Terms, q.Must, q.Not} {
			for _, term := range list {
				if len(term.Tokens) == 0 {
					t.Fatalf("%q: empty term %+v", text, term)
				}
				for _, tok := range term.Tokens {
					if tok == "" || strings.ContainsAny(tok, "\" \x00") {
						t.Fatalf("%q: token %q", text, tok)
					}
				}
			}
		}
		Vague(text)
		Points(text)
		Misspellings(text)
	})
}

func TestAQuestionPointsAtASpeaker(t *testing.T) {
	for q, want := range map[string]Speaker{
		"what did you recommend for dinner": TheAssistant, "Can you remind me of the name": TheAssistant,
		"where did I put my keys": TheUser, "我的手机": TheUser, "how does raft work": Anybody, "are you sure": Anybody,
		"what did you say about it": TheAssistant, "Can you suggest a hotel for my trip": TheUser,
	} {
		if got := Points(q); got != want {
			t.Errorf("%s: %v", q, got)
		}
	}
}

func TestSnippetsShowTheDensestPlace(t *testing.T) {
	text := "alpha " + strings.Repeat("noise ", 200) + "alpha beta gamma " + strings.Repeat("noise ", 200)
	var marks []int
	for i, tok := range Tokens(text) {
		if tok.Text != "nois" {
			marks = append(marks, i)
		}
	}
	got := Snippet(text, marks)
	if !strings.Contains(got, ">>>alpha<<< >>>beta<<< >>>gamma<<<") || len(got) > snippetBytes+60 || !strings.HasPrefix(got, "…") {
		t.Errorf("%q", got)
	}
	if got := Snippet("short", []int{0}); got != ">>>short<<<" {
		t.Errorf("%q", got)
	}
}

func BenchmarkTokens(b *testing.B) {
	text := strings.Repeat("The parseConfigFile function in gateway/run.py reads the configuration and returns 42 errors; 修改服务端. ", 100)
	b.SetBytes(int64(len(text)))
	var dst []Token
	for b.Loop() {
		dst = AppendTokens(dst[:0], text)
	}
}
