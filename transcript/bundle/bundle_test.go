package bundle

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/transcript/record"
)

// What is read is written and read again the same, and no line takes another
// with it.
func FuzzReader(f *testing.F) {
	head := `{"type":"archive","format":1}` + "\n"
	for _, s := range []string{"", head, head + `{"type":"session","id":"a:b","started":"2026-01-01T00:00:00Z"}` + "\n",
		head + `{"type":"message","session":"a:b","key":"7f","role":"user","content":"x","tool_calls":[{"name":"n","args":"{\"a\": 1}"}],"exit_code":0}` + "\n{\n\n",
		head + `{"type":"message","session":"a:b","key":"-1","role":"user"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		sessions, messages := readAll(t, raw)
		var out bytes.Buffer
		w, err := NewWriter(&out, Head{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range sessions {
			if err := w.Session(&sessions[i]); err != nil {
				t.Skip("a year that has no form") // JSON refuses it
			}
		}
		for i := range messages {
			if err := w.Message(messages[i].SessionID, &messages[i]); err != nil {
				t.Skip("a year that has no form")
			}
		}
		again, said := readAll(t, out.Bytes())
		if !reflect.DeepEqual(again, sessions) || !reflect.DeepEqual(said, messages) {
			t.Errorf("read again %+v %+v\nwas %+v %+v", again, said, sessions, messages)
		}
	})
}

func readAll(t *testing.T, raw []byte) (sessions []record.Session, messages []record.Message) {
	r, err := NewReader(bytes.NewReader(raw))
	if err != nil {
		if !errors.Is(err, ErrFormat) {
			t.Fatal(err)
		}
		return nil, nil
	}
	for {
		item, err := r.Next()
		if err == io.EOF {
			return sessions, messages
		}
		if err != nil {
			t.Fatal(err)
		}
		if item.Session != nil {
			sessions = append(sessions, *item.Session)
		} else {
			messages = append(messages, *item.Message)
		}
	}
}

func TestAProblemSaysWhereAndNotWhat(t *testing.T) {
	r, err := NewReader(strings.NewReader(`{"type":"archive","format":1}` + "\n" + `{"type":"message","session":{"hunter2":1}}` + "\n" + `{"type":"message","content":"hunter2` + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(); err != io.EOF {
		t.Fatal(err)
	}
	if r.Bad != 2 || r.Problems[0].Line != 2 || r.Problems[1].Line != 3 {
		t.Errorf("%+v", r.Problems)
	}
	for _, p := range r.Problems {
		if strings.Contains(p.Reason, "hunter2") {
			t.Errorf("%+v", p)
		}
	}
}
