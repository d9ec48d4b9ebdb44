package reading

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestEveryCharacterHasOneStableReading(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		once := Canonical(string(r)).Text
		if twice := Canonical(once).Text; twice != once {
			t.Errorf("U+%04X reads %q, and that reads %q", r, once, twice)
		}
	}
}

func TestTheCanonicalViewSeesThroughDisguises(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"case":                   {"IGNORE", "ignore"},
		"width":                  {"Ｉｇｎｏｒｅ", "ignore"},
		"mathematical letters":   {"𝓘𝕘𝐧𝖔𝘳𝙚", "ignore"},
		"accents":                {"ígñörè", "ignore"},
		"stacked marks":          {"i\u0336g\u0336n\u0336o\u0336r\u0336e\u0336", "ignore"},
		"circled letters":        {"ⓘⓖⓝⓞⓡⓔ", "ignore"},
		"zero width characters":  {"ig\u200bno\u2060re", "ignore"},
		"tag characters go":      {"a\U000E0041b", "ab"},
		"eszett":                 {"Vergiß", "vergiss"},
		"traditional ideographs": {"規則", "规则"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Canonical(c.text).Text; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func FuzzCanonical(f *testing.F) {
	for _, s := range []string{"Plain TEXT", "Ｉｇｎｏｒｅ", "한국어 ｶﾞ が", "\xff\xfea", "規則 ﷺ", "a\u0301\u200b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v := Canonical(text)
		if again := Canonical(v.Text); again.Text != v.Text {
			t.Errorf("view of %q is %q, and the view of that %q", text, v.Text, again.Text)
		}
		if v.offs == nil {
			if v.Text != text {
				t.Errorf("no offsets, but %q became %q", text, v.Text)
			}
			return
		}
		if len(v.offs) != len(v.Text)+1 || v.Raw(len(v.Text)) != len(text) {
			t.Fatalf("%d offsets for %d bytes of %q", len(v.offs), len(v.Text), text)
		}
		var whole strings.Builder
		for i := 0; i < len(v.Text); {
			off := v.Raw(i)
			_, n := utf8.DecodeRuneInString(text[off:])
			one := Canonical(text[off : off+n]).Text
			if !strings.HasPrefix(v.Text[i:], one) || one == "" {
				t.Fatalf("byte %d of %q is said to come from %q at %d", i, v.Text, text[off:off+n], off)
			}
			whole.WriteString(one)
			i += len(one)
		}
		if whole.String() != v.Text {
			t.Errorf("the pieces of %q do not make %q", text, v.Text)
		}
	})
}
