package document

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func parse(t *testing.T, raw string) Doc {
	t.Helper()
	d, err := Parse([]byte(raw))
	if err != nil {
		t.Fatalf("Parse(%q): %v", raw, err)
	}
	return d
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name, raw string
		want      []string
	}{
		{"an empty file has no entry", "", nil},
		{"white space alone is no entry", " \n\n\t", nil},
		{"one line is one entry", "a", []string{"a"}},
		{"two entries as a program writes them", "a\n§\nb", []string{"a", "b"}},
		{"an entry may have blank lines", "a\n\nb\n§\nc", []string{"a\n\nb", "c"}},
		{"blank lines around the delimiter do not matter (#42874, #61523)", "a\n\n§\n\nb\n", []string{"a", "b"}},
		{"blanks beside the delimiter do not matter", "a\n § \t\nb", []string{"a", "b"}},
		{"Windows line ends are read as plain ones (#61523)", "a\r\nb\r\n§\r\nc\r\n", []string{"a\nb", "c"}},
		{"old line ends too", "a\r§\rb", []string{"a", "b"}},
		{"a byte order mark is no text (#10878)", "\ufeffa\n§\nb", []string{"a", "b"}},
		{"a delimiter behind a byte order mark", "\ufeff§\nb", []string{"b"}},
		{"§ inside a line is text", "see § 5\n§§\n§ 6", []string{"see § 5\n§§\n§ 6"}},
		{"empty entries are left out", "§\na\n§\n§\n\n§\nb\n§", []string{"a", "b"}},
		{"raw Markdown without a delimiter is one entry (#32965)", "# Notes\n\n- a\n- b\n", []string{"# Notes\n\n- a\n- b"}},
		{"duplicates stay", "a\n§\na", []string{"a", "a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := parse(t, tt.raw).Entries(); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if _, err := Parse([]byte("a\xff")); err != ErrNotText {
		t.Errorf("bytes that are not UTF-8: got %v", err)
	}
}

func TestSplice(t *testing.T) {
	for _, tt := range []struct {
		name, raw string
		edit      func(Doc) Doc
		want      string
	}{
		{"append to nothing", "", add("x"), "x"},
		{"append to a mark alone", "\ufeff", add("x"), "\ufeffx"},
		{"append", "a", add("x"), "a\n§\nx"},
		{"append behind a line end", "a\n", add("x"), "a\n§\nx"},
		{"append behind blank lines", "a\n\n\n", add("x"), "a\n\n\n§\nx"},
		{"append behind a delimiter", "a\n§\n", add("x"), "a\n§\nx"},
		{"append behind a bare delimiter", "a\n§", add("x"), "a\n§\nx"},
		{"append keeps Windows line ends", "a\r\n§\r\nb", add("x\ny"), "a\r\n§\r\nb\r\n§\r\nx\r\ny"},
		{"append to mixed line ends", "a\r\n§\nb", add("x\ny"), "a\r\n§\nb\n§\nx\ny"},
		{"replace leaves the space around", "a\n\n§\n  b \n\n§\nc\n", replace(1, "x"), "a\n\n§\n  x \n\n§\nc\n"},
		{"replace the only one", "\ufeffa\r\n", replace(0, "x\ny"), "\ufeffx\r\ny\r\n"},
		{"remove the first", "a\n\n§\n\nb", remove(0), "\nb"},
		{"remove the first behind a mark", "\ufeffa\n§\nb", remove(0), "\ufeffb"},
		{"remove one in the middle", "a\n\n§\n b\n§\n\nc", remove(1), "a\n\n§\n\nc"},
		{"remove the last", "a\n§\nb", remove(1), "a"},
		{"remove the last before a line end", "a\n§\nb\n", remove(1), "a\n"},
		{"remove the last behind empty ones", "a\n§\n§\nb", remove(1), "a\n§\n"},
		{"remove the only one", "a", remove(0), ""},
		{"remove the first of two equal ones", "a\n§\nb\n§\na\n", remove(0), "b\n§\na\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(tt.edit(parse(t, tt.raw)).Bytes()); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func add(s string) func(Doc) Doc            { return func(d Doc) Doc { return d.Append(s) } }
func replace(i int, s string) func(Doc) Doc { return func(d Doc) Doc { return d.Replace(i, s) } }
func remove(i int) func(Doc) Doc            { return func(d Doc) Doc { return d.Remove(i) } }

func TestSplits(t *testing.T) {
	for text, want := range map[string]bool{
		"a": false, "a § b": false, "§§": false, "§ a": false,
		"§": true, "a\n§\nb": true, "a\r\n§\r\nb": true, "a\n § \nb": true, "a\r§": true,
	} {
		if got := Splits(text); got != want {
			t.Errorf("Splits(%q) = %v", text, got)
		}
	}
}

func TestChars(t *testing.T) {
	if got := Chars([]string{"修改", "b"}); got != 6 {
		t.Errorf("got %d, want 2 + 3 + 1 code points", got)
	}
	if got := Chars(nil); got != 0 {
		t.Errorf("nothing counts %d", got)
	}
}

func TestNotesSayHowAFileWasRead(t *testing.T) {
	got := strings.Join(parse(t, "\ufeff# A\r\n\r\n- b\r\n").Notes(), "\n")
	for _, want := range []string{"byte order mark", "Windows line ends", "one entry"} {
		if !strings.Contains(got, want) {
			t.Errorf("no word of %s in %q", want, got)
		}
	}
	if got := parse(t, "a\n§\nb").Notes(); got != nil {
		t.Errorf("a normal file has notes: %q", got)
	}
	if got := parse(t, "a\n§\na").Notes(); len(got) != 1 {
		t.Errorf("a duplicate: %q", got)
	}
}

// FuzzDocument checks, for any bytes: entries read back from their own format,
// and each edit changes exactly the entry it names and one range of bytes.
func FuzzDocument(f *testing.F) {
	for _, raw := range []string{"", "a", "a\n§\nb", "\ufeffa\r\n§\r\nb\r\n", "a\n\n § \n\nb\n§\n§\n", "§\r§\n\r", "a§\n§"} {
		f.Add([]byte(raw), "x\ny", uint8(1))
	}
	f.Fuzz(func(t *testing.T, raw []byte, text string, n uint8) {
		d, err := Parse(raw)
		if err != nil {
			return
		}
		was := d.Entries()
		for _, e := range was {
			if e == "" || Clean(e) != e || Splits(e) {
				t.Fatalf("%q is no entry", e)
			}
		}
		again, err := Parse([]byte(strings.Join(was, Delimiter)))
		if err != nil || !slices.Equal(again.Entries(), was) {
			t.Fatalf("parse(format(%q)) = %q, %v", was, again.Entries(), err)
		}
		text = Clean(strings.ToValidUTF8(text, "?"))
		if text != "" && !Splits(text) {
			got := d.Append(text)
			check(t, "append", got, append(slices.Clone(was), text))
			if !bytes.HasPrefix(got.Bytes(), raw) {
				t.Fatalf("append changed bytes: %q → %q", raw, got.Bytes())
			}
		}
		if len(was) == 0 {
			return
		}
		i := int(n) % len(was)
		got := d.Remove(i)
		check(t, "remove", got, slices.Delete(slices.Clone(was), i, i+1))
		oneRange(t, raw, got.Bytes(), 0)
		if text != "" && !Splits(text) {
			want := slices.Clone(was)
			want[i] = text
			got := d.Replace(i, text)
			check(t, "replace", got, want)
			b := d.blocks[d.index[i]]
			if want := string(raw[:b.textA]) + d.native(text) + string(raw[b.textB:]); string(got.Bytes()) != want {
				t.Fatalf("replace of %d in %q gives %q, want %q", i, raw, got.Bytes(), want)
			}
		}
	})
}

func check(t *testing.T, what string, d Doc, want []string) {
	t.Helper()
	if !slices.Equal(d.Entries(), want) {
		t.Fatalf("%s: got %q, want %q, from %q", what, d.Entries(), want, d.Bytes())
	}
}

// oneRange fails unless after is before with one range exchanged for at most n
// bytes.
func oneRange(t *testing.T, before, after []byte, n int) {
	t.Helper()
	p := 0
	for p < len(before) && p < len(after) && before[p] == after[p] {
		p++
	}
	s := 0
	for s < len(before)-p && s < len(after)-p && before[len(before)-1-s] == after[len(after)-1-s] {
		s++
	}
	if len(after)-p-s > n {
		t.Fatalf("more than the entry changed: %q → %q", before, after)
	}
}
