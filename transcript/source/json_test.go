package source

import (
	"encoding/json"
	"strings"
	"testing"
)

var someJSON = []string{`{"a":[1,-0.5e+3,true,false,null,"x\n\u00e9\ud83d\/"],"b":{}}`, ` [ ] `, `"plain"`, `0`, `-1`, `01`, `1.`, `.5`, `1e`, `{"a":1,}`, `[1,]`, `{a:1}`, `{"a"}`, `{"a":}`,
	`tru`, `nulll`, `"a` + "\n" + `"`, `"\x"`, `"\u12g4"`, `"\u123`, `"\`, `[[]`, `{]`, `[}`, `1 2`, ``, ` `, "\"\xff\"", "\"\\ud83d\\ude00\"", strings.Repeat("[", 20_000), `{"a":1}{"b":2}`}

func TestDeepNestingIsJudgedAsByTheLibrary(t *testing.T) {
	for _, n := range []int{1, 9_999, 10_000, 10_001} {
		text := []byte(strings.Repeat("[", n) + strings.Repeat("]", n))
		if got, want := validJSON(text), json.Valid(text); got != want {
			t.Errorf("%d deep: %v, want %v", n, got, want)
		}
	}
}

// FuzzJSON: validity and text are what encoding/json says.
func FuzzJSON(f *testing.F) {
	for _, s := range someJSON {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if got, want := validJSON(text), json.Valid(text); got != want {
			t.Fatalf("%q: valid %v, want %v", text, got, want)
		}
		var want string
		is := len(text) > 0 && text[0] == '"' && json.Unmarshal(text, &want) == nil
		if got, ok := unquote(text); ok != (is && text[len(text)-1] == '"') || ok && got != want {
			t.Fatalf("%q: text %q, %v; want %q", text, got, ok, want)
		}
	})
}

func BenchmarkValid(b *testing.B) {
	line := []byte(`{"a":"` + strings.Repeat(`some words of a tool's output\n`, 200) + `","b":{"c":[1,2,3]}}`)
	for name, valid := range map[string]func([]byte) bool{"ours": validJSON, "bare": json.Valid} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				valid(line)
			}
		})
	}
}
