package unseen

import (
	"testing"
	"unicode/utf8"
)

func FuzzClean(f *testing.F) {
	for _, s := range []string{"plain", "👩\u200d👩\u200d👧", "می\u200cخواهم", "a\u200b\u202eb\u202c", "\xff\u200b", "ab\U000E0041\ufe0f\ufe0f", "\u2067א\u2069\n\u2066"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		kept, removed, hiding := Clean(text)
		if len(removed)+len(hiding) == 0 && kept != text {
			t.Errorf("nothing was removed, yet %q became %q", text, kept)
		}
		for _, m := range append(removed, hiding...) {
			if m.Offset < 0 || m.Offset >= len(text) || m.Count < 1 || !utf8.RuneStart(text[m.Offset]) {
				t.Errorf("bad mark %+v in %q", m, text)
			}
		}
		again, removed, hiding := Clean(kept)
		if again != kept || removed != nil || hiding != nil {
			t.Errorf("%q cleaned to %q and again to %q (%v %v)", text, kept, again, removed, hiding)
		}
	})
}
