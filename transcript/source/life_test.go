package source

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hermes-mcp/hermes-mcp/scanner"
	"github.com/hermes-mcp/hermes-mcp/testbed"
	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// A life is a folder of sessions that is archived again and again while
// everything happens to it that happens to folders.
type life struct {
	*testing.T
	db     *transcript.DB
	top    string
	others []string // ids in the place of those that were forgotten
}

// archive ingests what is recognised at root, and tells every other source that
// of its files none is left.
func (l life) archive(root string) {
	l.Helper()
	files, err := Recognise(l.Context(), root)
	if err != nil {
		l.Fatal(err)
	}
	for _, src := range All() {
		of := slices.DeleteFunc(slices.Clone(files), func(f transcript.File) bool { return f.Source != src.Name() })
		if _, err := l.db.Ingest(l.Context(), src, of, true, nil); err != nil {
			l.Fatalf("%s: %v", src.Name(), err)
		}
	}
}

// holds lists the messages of the archive, one line each, sorted; messages that
// say the same in one session are as many lines.
func (l life) holds() (all []string) {
	l.Helper()
	chosen, err := l.db.Choose(l.Context(), transcript.Choice{})
	if err != nil {
		l.Fatal(err)
	}
	for _, s := range chosen.Sessions {
		msgs, _, _, err := l.db.Messages(l.Context(), s.ID, transcript.Window{})
		if err != nil {
			l.Fatal(err)
		}
		for i := range msgs {
			all = append(all, s.ID+" "+say(&msgs[i]))
		}
	}
	slices.Sort(all)
	return all
}

// same compares what is held with what was.
func (l life) same(when string, want []string) {
	l.Helper()
	got := l.holds()
	if slices.Equal(got, want) {
		return
	}
	left := map[string]int{}
	for _, m := range want {
		left[m]++
	}
	for _, m := range got {
		left[m]--
	}
	l.Errorf("%s: %d messages, there were %d", when, len(got), len(want))
	told := 0
	for m, n := range left {
		if n != 0 && told < 10 {
			l.Errorf("%d missing (below 0: too many): %.150q", n, m)
			told++
		}
	}
}

// eachFile calls do with every file below the top folder, in order.
func (l life) eachFile(do func(n int, path string, info fs.FileInfo) error) {
	l.Helper()
	n := 0
	if err := filepath.WalkDir(l.top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		n++
		return do(n, path, info)
	}); err != nil {
		l.Fatal(err)
	}
}

// goThrough archives the folder first at all its stations.
func goThrough(t *testing.T, first string) {
	l := openLife(t)
	l.archive(first)
	want := l.holds()
	if len(want) == 0 {
		t.Fatal("nothing was archived")
	}
	l.archive(first)
	l.same("ingested again", want)

	second := filepath.Join(l.top, "copy")
	if err := os.CopyFS(second, os.DirFS(first)); err != nil {
		t.Fatal(err)
	}
	l.archive(second)
	l.same("copied elsewhere", want)

	third := filepath.Join(l.top, "renamed")
	if err := os.Rename(second, third); err != nil {
		t.Fatal(err)
	}
	l.archive(third)
	l.same("renamed", want)

	later := time.Now().Add(time.Minute)
	l.eachFile(func(n int, path string, info fs.FileInfo) error {
		if n%2 != 0 {
			return nil
		}
		if err := os.Truncate(path, info.Size()/2); err != nil {
			return err
		}
		return os.Chtimes(path, later, later)
	})
	l.archive(third)
	l.same("half of the files cut off", want)

	if err := os.RemoveAll(third); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(third, 0o700); err != nil {
		t.Fatal(err)
	}
	l.archive(third)
	l.same("deleted", want)

	if err := os.RemoveAll(third); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(third, os.DirFS(first)); err != nil {
		t.Fatal(err)
	}
	l.archive(third)
	l.same("put back", want)
}

// everyFormat writes something of every agent below dir.
func everyFormat(t *testing.T, dir string) {
	t.Helper()
	for i, s := range append(logs(), documents()...) {
		writeAt(t, filepath.Join(dir, "f"+string(rune('a'+i%26))+string(rune('a'+i/26)), filepath.FromSlash(s.file)), s.content)
	}
	makeDB(t, filepath.Join(dir, "hermes", "state.db"), hermes6, `INSERT INTO sessions(id, source, started_at) VALUES ('s','cli',1777629600)`,
		`INSERT INTO messages(session_id, role, content, timestamp) VALUES ('s','user','hello',1777629601),('s','assistant','hi',1777629602),('s','user','hello',1777629603)`)
	makeDB(t, filepath.Join(dir, "crush", "crush.db"), `CREATE TABLE sessions (id TEXT, parent_session_id TEXT, title TEXT, created_at INTEGER, updated_at INTEGER);
		CREATE TABLE messages (id TEXT, session_id TEXT, role TEXT, parts TEXT, model TEXT, created_at INTEGER)`,
		`INSERT INTO sessions VALUES ('s1',NULL,'T',1777629600,1777629602)`,
		`INSERT INTO messages VALUES ('1','s1','user','[{"type":"text","data":{"text":"go"}}]',NULL,1777629600)`)
	makeDB(t, filepath.Join(dir, "zed", "threads.db"), `CREATE TABLE threads (id TEXT, summary TEXT, updated_at TEXT, data_type TEXT, data BLOB)`,
		`INSERT INTO threads VALUES ('z0','Old','2026-05-01T09:00:00+00:00','json','{"version":"0.2.0","messages":[{"id":1,"role":"user","segments":[{"type":"text","text":"hi"}]}]}')`)
}

// None is lost and none comes twice, whatever becomes of the files.
func TestAFolderThatIsCopiedCutAndLostGivesTheSameArchive(t *testing.T) {
	dir := t.TempDir()
	everyFormat(t, dir)
	goThrough(t, dir)
}

// The next lines are read while the last ones are written.
func TestALongSessionIsArchivedWhileItIsRead(t *testing.T) {
	const turns = 5 * markMessages
	var b strings.Builder
	for i := range turns {
		fmt.Fprintf(&b, `{"type":"user%d","uuid":"u%d","sessionId":"S%d"}`+"\n", i%97, i, i%89) // types and ids to count
		fmt.Fprintf(&b, `{"type":"user","uuid":"u%d","sessionId":"S","timestamp":"2026-05-01T10:00:00Z","message":{"role":"user","content":"turn %d"}}`+"\n", i, i)
	}
	path := filepath.Join(t.TempDir(), "S.jsonl")
	writeAt(t, path, b.String())
	db, err := transcript.Open(t.Context(), filepath.Join(t.TempDir(), "archive.db"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := Claude{}.FindIn(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	rep, err := db.Ingest(t.Context(), Claude{}, files, true, nil)
	if err != nil || rep.Messages != turns {
		t.Errorf("%+v, %v", rep, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestThePublishedFilesCopiedCutAndLostGiveTheSameArchive(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	goThrough(t, testbed.Path(t, "transcripts"))
}

// openLife makes an archive in which nothing is yet.
func openLife(t *testing.T) life {
	t.Helper()
	db, err := transcript.Open(context.Background(), filepath.Join(t.TempDir(), "archive.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return life{T: t, db: db, top: t.TempDir()}
}

// goOver exports what is archived of a folder, makes an archive of that, and
// archives the folder there too.
func goOver(t *testing.T, first string, mask func(string) string) {
	from := openLife(t)
	from.archive(first)
	want := from.holds()
	if len(want) == 0 {
		t.Skip("nothing was archived")
	}
	all, err := from.db.Choose(t.Context(), transcript.Choice{})
	if err != nil {
		t.Fatal(err)
	}
	var export bytes.Buffer
	if _, err := from.db.Export(t.Context(), &export, all, mask); err != nil {
		t.Fatal(err)
	}
	to := openLife(t)
	if _, err := to.db.Import(t.Context(), func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(export.Bytes())), nil }, false); err != nil {
		t.Fatal(err)
	}
	if mask == nil {
		to.same("imported", want)
	}
	for range 2 {
		to.archive(first)
		if mask == nil {
			to.same("imported and ingested", want)
		} else if got := to.holds(); len(got) != len(want) {
			t.Errorf("imported and ingested: %d messages, there were %d", len(got), len(want))
		}
	}
}

// How far files were read is no part of an export: they are read anew, and nothing
// of them comes twice.
func TestWhatWasImportedIsNotArchivedAgainFromItsFiles(t *testing.T) {
	dir := t.TempDir()
	everyFormat(t, dir)
	goOver(t, dir, nil)
	goOver(t, dir, scanner.Redact)
}

func TestWhatWasImportedOfRealFilesIsNotArchivedAgainFromThem(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	goOver(t, testbed.Path(t, "transcripts"), nil)
}
