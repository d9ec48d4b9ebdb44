package memstore

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/memstore/journal"
)

// A file that is itself a mount, as in a container, cannot be replaced: it is
// written in place, after the journal.
func TestAMountedFileIsWrittenInPlace(t *testing.T) {
	s := open(t, "")
	real := filepath.Join(t.TempDir(), "outside.md")
	if err := os.WriteFile(real, []byte("a longer entry that is there"), 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, s, "")
	cmd := player("churn", s.home, "p", 8)
	cmd.Args = []string{"unshare", "-m", "sh", "-c", `mount --bind "$0" "$1" && exec "$2"`, real, path(s), os.Args[0]}
	tool, err := exec.LookPath("unshare")
	if err != nil {
		t.Skip("no unshare here")
	}
	cmd.Path = tool
	if exec.Command(tool, "-m", "true").Run() != nil {
		t.Skip("mounts need rights that this user has not")
	}
	if out, err := cmd.Output(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	raw, err := os.ReadFile(real)
	if err != nil || !strings.HasPrefix(string(raw), "a longer entry that is there\n§\np fact ") {
		t.Errorf("the file outside holds %q, %v", raw, err)
	}
	marks := 0
	if err := s.ledger.Log().All(func(r journal.Record) {
		if r.Kind == journal.InPlace {
			marks++
		}
	}); err != nil || marks != 8 {
		t.Errorf("%d marks in the journal, %v", marks, err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path(s)), ".*")); err != nil || left != nil {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// A kill in the middle of writing in place leaves a torn file; the next edit
// makes it whole first.
func TestATornFileIsMadeWhole(t *testing.T) {
	s := open(t, "a")
	apply(t, s, add("bb"))
	before, after := read(t, s), "a\n§\na much longer entry than bb was"
	id := "0zzzzzzzzz1"
	killed(t, s, id, before, after)
	log, err := s.ledger.Log().Append()
	if err != nil {
		t.Fatal(err)
	}
	var other journal.Index
	if err := log.Write(&other, &journal.Record{ID: "0zzzzzzzzz2", Target: "memory", Kind: journal.InPlace, Of: id}); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, s, after[:20])
	s = openHome(t, s.home)
	if _, err := s.Apply(context.Background(), Caller{}, Memory, add("c")); err != nil {
		t.Fatal(err)
	}
	if got := read(t, s); got != after+"\n§\nc" {
		t.Errorf("got %q", got)
	}
}
