package source

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hermes-mcp/hermes-mcp/testbed"
	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// forgetAll archives the folder first, forgets all of it, and returns the ids
// that the sessions had.
func forgetAll(t *testing.T, first string) (l life, ids []string) {
	l = openLife(t)
	l.archive(first)
	all, err := l.db.Choose(t.Context(), transcript.Choice{})
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Sessions) == 0 {
		t.Skip("nothing was archived")
	}
	for _, s := range all.Sessions {
		_, bare, _ := strings.Cut(s.ID, ":")
		ids = append(ids, bare)
	}
	if _, err := l.db.Forget(t.Context(), all, true); err != nil {
		t.Fatal(err)
	}
	return l, ids
}

// nothing sees to it that no session and no message came back.
func (l life) nothing(when string) {
	l.Helper()
	all, err := l.db.Choose(l.Context(), transcript.Choice{})
	if err != nil {
		l.Fatal(err)
	}
	for _, s := range all.Sessions {
		if s.Title != "" {
			l.Errorf("%s: %s came back, of %s, with %d messages and the title %q", when, s.ID, s.SourcePath, s.Messages, s.Title)
		}
	}
	for _, m := range l.holds() {
		// What holds an id that was changed is not what was forgotten.
		if _, text, _ := strings.Cut(m, " "); !slices.ContainsFunc(l.others, func(id string) bool { return strings.Contains(text, id) }) {
			l.Errorf("%s: %q", when, m)
		}
	}
}

// copyAs copies a tree, each file under the name that rename gives its path, with
// what change makes of its bytes.
func copyAs(t *testing.T, from, to string, rename func(string) string, change func([]byte) []byte) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		writeAt(t, filepath.Join(to, rename(rel)), string(change(raw)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// otherIDs puts ids of the same form in the place of ids. Short ones may be any
// word, and stay.
func otherIDs(ids []string) (others []string, replace *strings.Replacer) {
	var pairs []string
	for _, id := range ids {
		if !isGlobalID(id) {
			continue
		}
		other := strings.Map(func(r rune) rune {
			switch {
			case r >= '0' && r <= '9':
				return '0' + (r-'0'+3)%10
			case r >= 'a' && r <= 'f':
				return 'a' + (r-'a'+3)%6
			}
			return r
		}, id)
		others, pairs = append(others, other), append(pairs, id, other)
	}
	return others, strings.NewReplacer(pairs...)
}

func staysForgotten(t *testing.T, first string) {
	l, ids := forgetAll(t, first)
	same, as := func(s string) string { return s }, func(b []byte) []byte { return b }
	half := func(b []byte) []byte { return b[:bytes.LastIndexByte(b[:len(b)/2], '\n')+1] }
	l.archive(first)
	l.nothing("the same files")

	copied := filepath.Join(l.top, "copied")
	copyAs(t, first, copied, same, as)
	l.archive(copied)
	l.nothing("a copy elsewhere")

	renamed := filepath.Join(l.top, "renamed")
	copyAs(t, first, renamed, func(s string) string {
		switch filepath.Ext(s) {
		case ".jsonl", ".json":
			return strings.TrimSuffix(s, filepath.Ext(s)) + "-copy" + filepath.Ext(s)
		}
		return s
	}, as)
	l.archive(renamed)
	l.nothing("under other names")

	others, replace := otherIDs(ids)
	l.others = others
	raw := func(b []byte) []byte { return []byte(replace.Replace(string(b))) }
	changed := filepath.Join(l.top, "changed")
	copyAs(t, first, changed, replace.Replace, raw)
	l.archive(changed)
	l.nothing("with other session ids")

	cut := filepath.Join(l.top, "cut")
	copyAs(t, first, cut, replace.Replace, func(b []byte) []byte {
		if bytes.HasPrefix(b, []byte("SQLite format 3")) || bytes.Contains(b, []byte(`"id":"[trimmed for fixture]"`)) {
			return raw(b) // which cannot be cut, or whose messages all have one id
		}
		return half(raw(b))
	})
	l.archive(cut)
	l.nothing("with other session ids and cut off")
	later := time.Now().Add(time.Minute)
	l.eachFile(func(_ int, path string, _ fs.FileInfo) error { return os.Chtimes(path, later, later) })
	l.archive(changed)
	l.nothing("read once more")
}

// Whatever is done to the files, what was forgotten stays forgotten.
func TestWhatWasForgottenDoesNotComeBackByACopy(t *testing.T) {
	dir := t.TempDir()
	everyFormat(t, dir)
	staysForgotten(t, dir)
}

func TestWhatWasForgottenOfRealFilesDoesNotComeBackByACopy(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	root := testbed.Path(t, "transcripts")
	agents, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, agent := range agents {
		if agent.IsDir() {
			t.Run(agent.Name(), func(t *testing.T) { staysForgotten(t, filepath.Join(root, agent.Name())) })
		}
	}
}
