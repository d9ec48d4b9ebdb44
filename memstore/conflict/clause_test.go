package conflict

import (
	"regexp"
	"slices"
	"testing"
)

var clauseRule = regexp.MustCompile(`[.;!?](?:\s|$)|[,。；！？，\n]|\s[-–—]\s`)

func nonEmpty(list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == "" })
}

// FuzzParts holds the quick ways against the rules that they stand for.
func FuzzParts(f *testing.F) {
	for _, file := range []string{"pairs.tsv", "heldout.tsv"} {
		for _, p := range pairs(f, file) {
			f.Add(p.old)
			f.Add(p.new)
		}
	}
	for _, s := range []string{
		"a - b – c—d -\n- e", "Mail anna.b+c@example.org, or see https://x.io/a?b.", "port 8080: 10:30 v1.2.3 #12 90% 5GB ~/a/b ./c 2 a/b c_d e-f", "x.\ty!z? ，。",
		"日本 2 天，café naïve Ünder ’s don’t", "\xff a\xe3\x80 b\xef", ".", "a.", "-", " - ", "a  -  b", "1a a1 a_ _a 1_", "\v\u00a0\u0085a b",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, entry string) {
		got, want := nonEmpty(clauses(entry)), nonEmpty(clauseRule.Split(entry, -1))
		if !slices.Equal(got, want) {
			t.Fatalf("clauses of %q: %q, want %q", entry, got, want)
		}
		for _, c := range append(want, entry) {
			if got, want := rawTokens(c), tokenRule.FindAllString(c, -1); !slices.Equal(got, want) {
				t.Fatalf("tokens of %q: %q, want %q", c, got, want)
			}
		}
	})
}
