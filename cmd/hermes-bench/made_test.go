package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/transcript/source"
)

func TestMadeSessionsAreReadAsWhatTheyAre(t *testing.T) {
	for what, files := range map[string]int{"files=7": 7, "1MB": 1} {
		dir := t.TempDir()
		if err := generateSessions(t.Context(), dir, what); err != nil {
			t.Fatal(err)
		}
		found, err := source.Recognise(t.Context(), dir)
		if err != nil || len(found) != files || found[0].Source != "claude-code" {
			t.Errorf("%s: %d files, %v", what, len(found), err)
		}
		b, err := newBed(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		r, err := b.measureIngest(t.Context(), dir, filepath.Join(t.TempDir(), "cpu"))
		if err = closing(b, err); err != nil {
			t.Fatal(err)
		}
		if r.Files != files || r.Sessions != files || files > 1 && r.Messages != files*shortSession || len(r.Sets) != 1 || len(r.Unreadable) != 0 {
			t.Errorf("%s: %+v", what, r)
		}
		if what == "1MB" {
			if st, err := os.Stat(found[0].Path); err != nil || st.Size() < 1e6 || st.Size() > 2e6 {
				t.Errorf("%v, %v", st, err)
			}
		}
	}
	for _, what := range []string{"", "GB", "0GB", "-1MB", "2TB", "files=", "files=0", "files=x", "2.5GB"} {
		if err := generateSessions(t.Context(), t.TempDir(), what); err == nil {
			t.Errorf("%q was taken", what)
		}
	}
}
