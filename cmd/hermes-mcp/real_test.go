package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/testbed"
)

// TestRealTranscriptsAreArchivedOnce ingests other people's sessions twice and
// looks one up by its first words.
func TestRealTranscriptsAreArchivedOnce(t *testing.T) {
	folder := testbed.Path(t, "transcripts", "claude-code")
	home := t.TempDir()
	ingest := func() report {
		t.Helper()
		var r report
		out := hermes(t, home, "ingest", "--json", folder)
		if err := json.Unmarshal(out, &r); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return r
	}
	first, second := ingest(), ingest()
	if first.Messages == 0 || len(first.Unreadable) > 0 {
		t.Errorf("first ingest: %+v", first)
	}
	if second.Messages != 0 || second.Sessions != 0 || second.Files != first.Files {
		t.Errorf("second ingest found something new: %+v", second)
	}

	var recent envelope
	if err := json.Unmarshal(hermes(t, home, "sessions", "--limit", "10", "--json"), &recent); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, want := range recent.Results {
		words := strings.Fields(want.Preview)
		if len(words) < 6 {
			continue // says too little to be told from others
		}
		var got envelope
		if err := json.Unmarshal(hermes(t, home, "search", "--json", strings.Join(words[:min(12, len(words))], " ")), &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Results) == 0 {
			t.Errorf("%s is not found by its own first words", want.SessionID)
			continue
		}
		if got.Results[0].SessionID == want.SessionID {
			found++
		}
	}
	if found == 0 {
		t.Error("no session comes first for its own first words")
	}
}

// hermes runs the program in this process and returns its output.
func hermes(t *testing.T, home string, args ...string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(t.Context(), append(args, "--home", home), strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("%v: exit code %d\n%s", args, code, errs.String())
	}
	return out.Bytes()
}
