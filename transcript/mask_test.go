package transcript

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestAMaskedTextNeverReachesTheArchive(t *testing.T) {
	const secret = "hunter2"
	mask := func(s string) string { return strings.ReplaceAll(s, secret, "[MASKED]") }
	db := openTest(t)
	db.Mask = mask
	sess := Session{ID: "test:a", Title: "about " + secret}
	call := ToolCall{ID: "1", Name: "bash", Args: json.RawMessage(`{"command":"login hunter2"}`)}
	msgs := []Message{
		{Role: UserRole, Content: "the password is " + secret},
		{Role: UserRole, Content: "the password is " + secret},
		{UID: "3", Role: Assistant, Content: "thanks", Reasoning: secret, ToolCalls: []ToolCall{call}, Extra: json.RawMessage(`{"thought":"hunter2"}`)},
	}
	for range 2 { // known again by what is stored of it
		if err := db.Put(t.Context(), sess, msgs); err != nil {
			t.Fatal(err)
		}
	}
	if string(call.Args) != string(msgs[2].ToolCalls[0].Args) || !strings.Contains(msgs[0].Content, secret) {
		t.Error("the caller's own messages were changed")
	}
	got, _, _, err := db.Messages(t.Context(), sess.ID, Window{})
	if err != nil || len(got) != len(msgs) {
		t.Fatalf("%d messages, %v", len(got), err)
	}
	kept, err := db.Session(t.Context(), sess.ID)
	if err != nil {
		t.Fatal(err)
	}
	all, err := json.Marshal([]any{kept, got})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(all), secret) || strings.Count(string(all), "[MASKED]") != 7 {
		t.Errorf("stored: %s", all)
	}
	if ans, err := db.Search(t.Context(), Query{Text: secret}); err != nil || len(ans.Hits) != 0 {
		t.Errorf("found by the secret: %+v, %v", ans.Hits, err)
	}

	f := newFolder(t)
	f.db.Mask = mask
	f.write("a.jsonl", says("a", "1", "user", "it is "+secret))
	f.ingest(true)
	f.want("a", "it is [MASKED]")
}
