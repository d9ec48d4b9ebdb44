package rule

import "testing"

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		if _, err := compile(); err != nil {
			b.Fatal(err)
		}
	}
}

func TestWordsThatDoNotLoadAreNamed(t *testing.T) {
	for name, text := range map[string]string{
		"a language nobody speaks": "send\nxx: send\n",
		"phrases of no concept":    "en: send\n",
		"a concept twice":          "send\nen: send\nsend\n",
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := readWords(text); err == nil {
				t.Error("loaded")
			}
		})
	}
}
