package source

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// Reports 6 and 7: glued and spliced lines; 11: separators of other scripts.
func TestALineGivesItsValues(t *testing.T) {
	deep := strings.Repeat(`{"a":[`, 50) + strings.Repeat(`]}`, 50)
	for _, c := range []struct {
		name, line string
		vals       []string
		bad        bool
	}{
		{"one object", `{"a":1}`, []string{`{"a":1}`}, false},
		{"two glued objects", `{"a":1}{"b":2}`, []string{`{"a":1}`, `{"b":2}`}, false},
		{"three with blanks between", `{"a":1} {"b":2}` + "\t[3]", []string{`{"a":1}`, `{"b":2}`, `[3]`}, false},
		{"a torn object before a whole one", `{"type":"pr-link","prNu{"parentUuid":null,"type":"user"}`, []string{`{"parentUuid":null,"type":"user"}`}, true},
		{"torn inside a string that holds braces", `{"t":"say {\"x\": {"type":"user","m":{"id":"1"}}`, []string{`{"type":"user","m":{"id":"1"}}`}, true},
		{"torn inside a number", `{"t":12{"type":"user"}`, []string{`{"type":"user"}`}, true},
		{"a whole one, a torn one, a whole one", `{"a":1}{"b":{"c{"type":"x"}`, []string{`{"a":1}`, `{"type":"x"}`}, true},
		{"torn, then two glued", `{"b":"c{"type":"x"}{"type":"y"}`, []string{`{"type":"x"}`, `{"type":"y"}`}, true},
		{"a whole one and a torn tail", `{"a":1}{"b":`, []string{`{"a":1}`}, true},
		{"torn only", `{"a":{"b":`, nil, true},
		{"no JSON", `hello`, nil, true},
		{"NUL bytes between values", `{"a":1}` + "\x00\x00" + `{"b":2}`, []string{`{"a":1}`, `{"b":2}`}, false},
		{"deep nesting", deep, []string{deep}, false},
		{"separators of other scripts inside a string", "{\"a\":\"x\u2028y\u0085z\"}", []string{"{\"a\":\"x\u2028y\u0085z\"}"}, false},
		{"a backslash that escapes nothing", `{"a":"C:\Users\demo\u12 \n"}`, []string{`{"a":"C:\\Users\\demo\\u12 \n"}`}, false},
		{"a value that is no object", `"massive error"`, []string{`"massive error"`}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			vals, reason := splitValues([]byte(c.line))
			var got []string
			for _, v := range vals {
				got = append(got, string(v))
			}
			equal(t, "value", got, c.vals)
			if (reason != "") != c.bad {
				t.Errorf("reason %q, bad should be %v", reason, c.bad)
			}
		})
	}
}

// linesOf reads a content to its end.
func linesOf(t *testing.T, content []byte, limit int, final bool) (got []string, l *lines) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.jsonl")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := openLines(path, 0, transcript.Tally{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if limit > 0 {
		l.max = limit
	}
	for {
		line, tooLong, err := l.next(final)
		if err == io.EOF {
			return got, l
		}
		if err != nil {
			t.Fatal(err)
		}
		l.values(line, tooLong)
		if tooLong {
			got = append(got, "too long")
			continue
		}
		got = append(got, string(line))
	}
}

// Reports 1, 2, 5, 10, 11 and 24: long lines, overlong ones, and no other limit.
func TestLinesEndAtNewlineOnly(t *testing.T) {
	long := `{"a":"` + strings.Repeat("x", 1<<20) + `"}`
	u16 := func(s string, bigEndian bool) []byte {
		var b bytes.Buffer
		for _, u := range utf16.Encode([]rune("\uFEFF" + s)) {
			if bigEndian {
				b.Write([]byte{byte(u >> 8), byte(u)})
			} else {
				b.Write([]byte{byte(u), byte(u >> 8)})
			}
		}
		return b.Bytes()
	}
	for _, c := range []struct {
		name    string
		content []byte
		limit   int
		final   bool
		want    []string
		offset  int64
		tally   transcript.Tally
	}{
		{"CRLF is cut", []byte("{\"a\":1}\r\n{\"b\":2}\r\n"), 0, false, []string{`{"a":1}`, `{"b":2}`}, 18, transcript.Tally{Lines: 2, Objects: 2}},
		{"a BOM is cut", []byte("\xEF\xBB\xBF{\"a\":1}\n"), 0, false, []string{`{"a":1}`}, 11, transcript.Tally{Lines: 1, Objects: 1}},
		{"blank lines do not count", []byte("\n\n{\"a\":1}\n \n"), 0, false, []string{`{"a":1}`}, 12, transcript.Tally{Lines: 1, Objects: 1}},
		{"NUL bytes before a record are cut", []byte("\x00\x00\x00{\"a\":1}\n"), 0, false, []string{`{"a":1}`}, 11, transcript.Tally{Lines: 1, Objects: 1}},
		{"U+2028 does not end a line", []byte("{\"a\":\"\u2028\"}\n"), 0, false, []string{"{\"a\":\"\u2028\"}"}, 12, transcript.Tally{Lines: 1, Objects: 1}},
		{"a torn last line waits", []byte("{\"a\":1}\n{\"b\":2}"), 0, false, []string{`{"a":1}`}, 8, transcript.Tally{Lines: 1, Objects: 1}},
		{"a final read takes it and the offset stays", []byte("{\"a\":1}\n{\"b\":2}"), 0, true, []string{`{"a":1}`, `{"b":2}`}, 8, transcript.Tally{Lines: 2, Objects: 2}},
		{"a long line is read", []byte(long + "\n{}\n"), 0, false, []string{long, "{}"}, int64(len(long)) + 4, transcript.Tally{Lines: 2, Objects: 2}},
		{"a line over the limit is one line lost", []byte("{}\n" + long + "\n{\"b\":2}\n"), 1 << 19, false, []string{"{}", "too long", `{"b":2}`}, int64(len(long)) + 12, transcript.Tally{Lines: 3, Objects: 2, Bad: 1}},
		{"a torn line over the limit", []byte("{}\n" + long), 1 << 19, true, []string{"{}", "too long"}, 3, transcript.Tally{Lines: 2, Objects: 1, Bad: 1}},
		{"UTF-16, little end first", u16("{\"a\":1}\n{\"b\":\"ü\"}\n", false), 0, true, []string{`{"a":1}`, `{"b":"ü"}`}, 19, transcript.Tally{Lines: 2, Objects: 2}},
		{"UTF-16, big end first", u16("{\"a\":1}\n", true), 0, true, []string{`{"a":1}`}, 8, transcript.Tally{Lines: 1, Objects: 1}},
		{"an empty file", nil, 0, true, nil, 0, transcript.Tally{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, l := linesOf(t, c.content, c.limit, c.final)
			equal(t, "line", got, c.want)
			if l.offset != c.offset {
				t.Errorf("offset %d, want %d", l.offset, c.offset)
			}
			if l.tally.Lines != c.tally.Lines || l.tally.Objects != c.tally.Objects || l.tally.Bad != c.tally.Bad {
				t.Errorf("tally %+v, want %+v", l.tally, c.tally)
			}
		})
	}
}

func TestABrokenLineCostsLittleMoreThanItsLength(t *testing.T) {
	line := []byte(strings.Repeat(`{"a":`, 200_000))
	if vals, reason := splitValues(line); len(vals) != 0 || reason == "" {
		t.Fatalf("got %d values, reason %q", len(vals), reason)
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("{\"a\":1}\n{\"b\":2}{\"c\":3}\r\n\x00{\"d\":"), true)
	f.Add([]byte("\xFF\xFE{\x00}\x00\n\x00"), false)
	f.Add([]byte("\xEF\xBB\xBF{\"a\":\"\xff\"}\n"), false)
	f.Fuzz(func(t *testing.T, content []byte, final bool) {
		_, l := linesOf(t, content, 1<<16, final)
		if l.offset > int64(len(content)) {
			t.Fatalf("offset %d beyond %d", l.offset, len(content))
		}
		if !l.whole && l.offset > 3 && content[l.offset-1] != '\n' {
			t.Fatalf("offset %d is not after a whole line", l.offset)
		}
	})
}

// FuzzGluedValues: values written one after the other come back as they were.
func FuzzGluedValues(f *testing.F) {
	f.Add("x", `y"{`, int64(3))
	f.Fuzz(func(t *testing.T, a, b string, n int64) {
		one, err := marshal(map[string]any{"a": a, "n": n})
		if err != nil {
			t.Fatal(err)
		}
		two, err := marshal(map[string]any{"b": b})
		if err != nil {
			t.Fatal(err)
		}
		vals, reason := splitValues(fmt.Appendf(nil, "%s%s", one, two))
		if reason != "" || len(vals) != 2 || !bytes.Equal(vals[0], one) || !bytes.Equal(vals[1], two) {
			t.Fatalf("%s%s gave %q, %s", one, two, vals, reason)
		}
	})
}
