package record

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestABodyComesBackAsItWas(t *testing.T) {
	zero, minus := 0, -9
	for name, m := range map[string]Message{
		"empty":   {},
		"plain":   {UID: "u", Content: "hello"},
		"long":    {Content: strings.Repeat("long ", 10000), Reasoning: "why", Kind: "notice", ParentUID: "p", FinishReason: "stop"},
		"calls":   {ToolCalls: []ToolCall{{ID: "1", Name: "bash", Args: json.RawMessage(`{"a":1}`)}, {Name: "nameless id"}, {ID: "3"}}},
		"result":  {ToolCallID: "1", ToolName: "bash", ExitCode: &zero, Content: "ok"},
		"failed":  {ExitCode: &minus, Extra: json.RawMessage(`{"x":[1,2]}`)},
		"foreign": {Content: "修改\x00\xff服务端"},
	} {
		b, err := EncodeBody(&m)
		if err != nil {
			t.Fatal(err)
		}
		var got Message
		if err := DecodeBody(b, &got); err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func FuzzDecodingABodyNeverPanics(f *testing.F) {
	m := Message{UID: "u", Content: strings.Repeat("hello ", 50), ToolCalls: []ToolCall{{ID: "1", Name: "n", Args: json.RawMessage("{}")}}}
	b, err := EncodeBody(&m)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte{packedPlain, tagContent, 3, 'a', 'b', 'c'})
	f.Add([]byte{packedPlain, tagContent, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 0 && b[0] == packedZstd && len(b) > 1<<12 {
			return // a bomb is the decoder's limit to catch, not ours
		}
		var m Message
		if DecodeBody(b, &m) != nil {
			return
		}
		again, err := EncodeBody(&m)
		if err != nil {
			t.Fatal(err)
		}
		var n Message
		if err := DecodeBody(again, &n); err != nil || !reflect.DeepEqual(m, n) {
			t.Errorf("%+v became %+v, %v", m, n, err)
		}
	})
}

func TestUnionNeverLosesAnything(t *testing.T) {
	m := Message{Content: "a long text", ToolCalls: []ToolCall{{ID: "1", Name: "n", Args: json.RawMessage(`{"x":1}`)}}, At: day, Model: "m"}
	for _, n := range []Message{{}, {Content: "long"}, {Content: "a long text"}, {ToolCalls: []ToolCall{{ID: "1", Name: "n"}}}, {Model: "other"}, {At: day.Add(time.Hour)}} {
		got := m
		if Union(&got, &n) || got.Content != m.Content || len(got.ToolCalls) != 1 || got.Model != "m" || !got.At.Equal(day) {
			t.Errorf("%+v changed it to %+v", n, got)
		}
	}
	if !Union(&m, &Message{Content: "a long text, and more", Compacted: true}) || m.Content != "a long text, and more" || !m.Compacted {
		t.Errorf("%+v", m)
	}
}

var day = time.Date(2026, 5, 8, 12, 0, 0, 0, time.UTC)
