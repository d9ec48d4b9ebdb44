package sessions

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hermes-mcp/hermes-mcp/summarizer"
	"github.com/hermes-mcp/hermes-mcp/tools/wire/wiretest"
)

func TestASummaryStandsBesideTheEvidence(t *testing.T) {
	db := library(t)
	long := strings.Repeat("Redis was dropped, it was said at length [m:1]. ", 100)
	fine := func(_ context.Context, query string, found []summarizer.Found) ([]summarizer.Summary, error) {
		if query != "redis" || len(found) == 0 || len(found[0].Messages) == 0 || len(found[0].Matches) == 0 {
			t.Errorf("asked %q with %+v", query, found)
		}
		out := make([]summarizer.Summary, len(found))
		out[0] = summarizer.Summary{Text: long, Model: "small"}
		return out, nil
	}
	broken := func(_ context.Context, _ string, found []summarizer.Found) ([]summarizer.Summary, error) {
		return make([]summarizer.Summary, len(found)), errors.New("endpoint answered 503 to " + secret)
	}
	tests := []struct {
		name, when, args string
		ask              Summarize
		text, note       string
	}{
		{"when the call asks", "ask", `{"query":"redis","summarize":true}`, fine, "at length [m:1].", "words of a model"},
		{"when the call asks for everything", "", `{"query":"redis","summarize":true,"detail":"full"}`, fine, "at length [m:1].", "words of a model"},
		{"always, when it is set so", "always", `{"query":"redis"}`, fine, "at length [m:1].", "words of a model"},
		{"not unless asked", "ask", `{"query":"redis"}`, fine, "", ""},
		{"not when it is off", "off", `{"query":"redis","summarize":true}`, fine, "", "turned off"},
		{"not without a model", "always", `{"query":"redis","summarize":true}`, nil, "", "No auxiliary model"},
		{"not in an index", "ask", `{"query":"redis","summarize":true,"detail":"index"}`, fine, "", "detail index"},
		{"not when the endpoint fails, which is said", "ask", `{"query":"redis","summarize":true}`, broken, "", "endpoint answered 503"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, failed := wiretest.Call(t, searcher(db, Options{Redact: true, Summarize: tt.ask, WhenSummarize: tt.when}), tt.args)
			if failed {
				t.Fatalf("%v", r)
			}
			first := results(r)[0]
			summary, _ := first["summary"].(map[string]any)
			text, _ := summary["text"].(string)
			if !strings.HasSuffix(text, tt.text) || (text == "") != (tt.text == "") || utf8.RuneCountInString(text) > summaryWhole {
				t.Errorf("summary %q", text)
			}
			if text != "" && (summary["model"] != "small" || first["digest"] == nil) {
				t.Errorf("without model or evidence: %v", first)
			}
			note := r["note"].(string)
			if !strings.Contains(note, tt.note) || strings.Contains(note, secret) || tt.note == "" && strings.Contains(note, "model") {
				t.Errorf("note %q", note)
			}
		})
	}
}
