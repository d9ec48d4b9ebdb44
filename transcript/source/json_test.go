package source

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

var someJSON = []string{`{"a":[1,-0.5e+3,true,false,null,"x\n\u00e9\ud83d\/"],"b":{}}`, ` [ ] `, `"plain"`, `0`, `-1`, `01`, `1.`, `.5`, `1e`, `{"a":1,}`, `[1,]`, `{a:1}`, `{"a"}`, `{"a":}`,
	`tru`, `nulll`, `"a` + "\n" + `"`, `"\x"`, `"\u12g4"`, `"\u123`, `"\`, `[[]`, `{]`, `[}`, `1 2`, ``, ` `, "\"\xff\"", "\"\\ud83d\\ude00\"", strings.Repeat("[", 20_000), `{"a":1}{"b":2}`,
	`"a longer text with \"quotes\", a \\ and \n"`, `"seven..\"eight...\\nine"`, "\"a control\x1fcharacter in a long text\"", `"ends in a backslash\`, "\"\u4fee\u6539\u670d\u52a1\u7aef\u914d\u7f6e!\"", `[{"a":1}, "x" ,[2], null,true]`}

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

// A mixture has every kind of field that formats have, its strings of type S.
type mixture[S ~string] struct {
	Text  S                 `json:"text"`
	Other S                 // by its own name, in any case
	Yes   bool              `json:"yes"`
	Raw   rawJSON           `json:"raw"`
	N     int               `json:"n"`
	F     float64           `json:"f"`
	Word  word              `json:"word"`
	At    moment            `json:"at"`
	Ptr   *string           `json:"ptr"`
	Any   any               `json:"any"`
	Map   map[string]string `json:"map"`
	Words []string          `json:"words"`
	Inner struct {
		ID   S                `json:"id"`
		List []mixed[S]       `json:"list"`
		Deep *mixture[string] `json:"deep"` // which the library decodes
	} `json:"inner"`
	List   []mixed[S] `json:"list"`
	Hidden string     `json:"-"`
}

type mixed[S ~string] struct {
	Type S       `json:"type"`
	Text *string `json:"text"`
	Raw  rawJSON `json:"raw"`
}

func asJSON(t *testing.T, v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// A lenient string takes numbers as they are written.
type lenient string

func (l *lenient) UnmarshalJSON(b []byte) error {
	if b[0] == '-' || b[0] >= '0' && b[0] <= '9' {
		*l = lenient(b)
		return nil
	}
	return agreed(json.Unmarshal(b, (*string)(l)))
}

// FuzzDecode: what is decoded here is what the library decodes, into strings that
// take numbers.
func FuzzDecode(f *testing.F) {
	for _, s := range someJSON {
		f.Add([]byte(s))
		f.Add([]byte(`{"text":` + s + `,"other":"o","OTHER":"p","yes":true,"raw": ` + s + ` ,"n":3,"f":1.5,"word":7,"at":"2026-05-01T10:00:00Z","ptr":"x","any":[1],"map":{"a":"b"},"words":["a"],"inner":{"id":"i","list":[{"type":"t"},7]},"list":[{"text":"x","raw":{}},null]}`))
	}
	f.Add([]byte(`{"t\u0065xt":"escaped name","list":null,"inner":null,"text":null,"raw":null,"yes":null}`))
	f.Add([]byte(`{"text":5,"yes":"no","list":{},"inner":[],"n":"x","words":7,"map":[],"list":[[],{"type":1}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var got mixture[string]
		var want mixture[lenient]
		err, wanted := decode(text, &got), agreed(json.Unmarshal(text, &want))
		if (err != nil) != (wanted != nil) {
			t.Fatalf("%q: error %v, want %v", text, err, wanted)
		}
		if err == nil && asJSON(t, got) != asJSON(t, want) {
			t.Fatalf("%q:\n got %+v\nwant %+v", text, got, want)
		}
		var line, wantLine claudeLine
		if decode(text, &line) == nil && json.Unmarshal(text, &wantLine) == nil && !reflect.DeepEqual(line, wantLine) {
			t.Fatalf("%q:\n got %+v\nwant %+v", text, line, wantLine)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	line := []byte(userLine("u1", "", sidA, 0, toolResult("t1", `"`+strings.Repeat(`some words of a tool's output\n`, 100)+`"`), `"toolUseResult":{"stdout":"`+strings.Repeat(`some words of a tool's output\n`, 100)+`"}`))
	for name, decode := range map[string]func([]byte, any) error{"ours": decode, "bare": json.Unmarshal} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				var l claudeLine
				if err := decode(line, &l); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
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
