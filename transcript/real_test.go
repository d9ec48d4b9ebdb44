package transcript_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/transcript"
	"github.com/hermes-mcp/hermes-mcp/transcript/source"
)

func TestRealX(t *testing.T) {
	dir := "/work/shared/data/transcripts/claude-code"
	ctx := context.Background()
	db, err := transcript.Open(ctx, filepath.Join("/tmp/real", "a.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_ = os.Stat
	for round := range 3 {
		for _, src := range source.All() {
			files, err := src.FindIn(ctx, dir)
			if err != nil {
				t.Fatal(err)
			}
			rep, err := db.Ingest(ctx, src, files, true, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Log(round, src.Name(), rep.Files, rep.Unchanged, rep.Sessions, rep.Messages, rep.Bytes, len(rep.Problems))
		}
	}
	t.Log(db.Sizes(ctx))
	cov, err := db.Coverage(ctx)
	t.Log(len(cov), err, cov[0].Files, cov[0].Pending, cov[0].Messages)
	for _, q := range []string{"golang coverage tests", "git push failed", "main.go"} {
		a, err := db.Search(ctx, transcript.Query{Text: q})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range a.Hits {
			t.Log(q, h.Session.ID, h.Session.Title, h.Score, len(h.Matches))
			if len(h.Matches) > 0 {
				t.Log("   ", h.Matches[0].Snippet)
			}
		}
	}
}
