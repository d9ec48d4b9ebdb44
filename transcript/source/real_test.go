package source

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/hermes-mcp/hermes-mcp/testbed"
	"github.com/hermes-mcp/hermes-mcp/transcript"
)

var update = flag.Bool("update", false, "write testdata/real.tsv anew")

// TestRealFilesGiveWhatTheTableSays reads every file of the published
// transcripts and compares what comes out of it with a table that was checked
// by eye: source, sessions, messages, tool calls, first and last time.
func TestRealFilesGiveWhatTheTableSays(t *testing.T) {
	root := testbed.Path(t, "transcripts")
	files, err := Recognise(context.Background(), root)
	if err != nil {
		t.Fatal(err)
	}
	loc := time.Local
	time.Local = time.UTC // aider writes local times
	defer func() { time.Local = loc }()
	var rows []string
	for _, f := range files {
		name, err := filepath.Rel(root, f.Path)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row(t, filepath.ToSlash(name), f, read(t, sourceOf(t, f.Source), f.Path)))
	}
	for _, name := range dumps(t, root) {
		path := filepath.Join(t.TempDir(), "dump.db")
		sql, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		makeDB(t, path, string(sql))
		found, err := Recognise(context.Background(), path)
		if err != nil || len(found) != 1 {
			t.Errorf("%s: recognised %v, %v", name, found, err)
			continue
		}
		rows = append(rows, row(t, name, found[0], read(t, sourceOf(t, found[0].Source), found[0].Path)))
	}
	sort.Strings(rows)
	got := []byte(strings.Join(rows, "\n") + "\n")
	table := filepath.Join("testdata", "real.tsv")
	if *update {
		writeAt(t, table, string(got))
		return
	}
	want, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		wants := map[string]bool{}
		for _, w := range strings.Split(string(want), "\n") {
			wants[w] = true
		}
		for _, r := range rows {
			if !wants[r] {
				t.Errorf("not in the table: %s", r)
			}
			delete(wants, r)
		}
		for w := range wants {
			if w != "" {
				t.Errorf("only in the table: %s", w)
			}
		}
	}
}

// dumps lists the databases that are published as SQL.
func dumps(t *testing.T, root string) (names []string) {
	t.Helper()
	for _, name := range []string{"goose/deja-vu/sessions/goose.sql", "hermes/deja-vu/profiles/architect/hermes.sql", "opencode/deja-vu/opencode.sql", "zed/deja-vu/zed.sql", "zed/kenn-io/zed-legacy-threads.sql"} {
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(name))); err == nil {
			names = append(names, name)
		}
	}
	return names
}

func row(t *testing.T, name string, f transcript.File, c *collector) string {
	t.Helper()
	calls := 0
	var start, end time.Time
	for _, m := range c.msgs {
		calls += len(m.ToolCalls)
		if m.At.IsZero() {
			continue
		}
		if start.IsZero() || m.At.Before(start) {
			start = m.At
		}
		if m.At.After(end) {
			end = m.At
		}
	}
	stamp := func(at time.Time) string {
		if at.IsZero() {
			return "-"
		}
		return at.UTC().Format(time.RFC3339)
	}
	return strings.Join([]string{name, f.Source, fmt.Sprint(len(c.sessions)), fmt.Sprint(len(c.msgs)), fmt.Sprint(calls), stamp(start), stamp(end)}, "\t")
}
