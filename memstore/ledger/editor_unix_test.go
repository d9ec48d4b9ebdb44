//go:build unix

package ledger

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/hermes-mcp/hermes-mcp/memstore/document"
)

// Some editors empty a file before they write it. What such a one writes after
// the file has been replaced goes into the one that was replaced.
func TestAnEditorThatIsHalfwayWhenTheFileIsReplacedIsWaitedFor(t *testing.T) {
	l := New(filepath.Join(t.TempDir(), "mcp"))
	f := File{Target: "memory", Path: filepath.Join(t.TempDir(), "MEMORY.md")}
	if err := os.WriteFile(f.Path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	var saved chan error
	_, _, err := l.Edit(context.Background(), f, Request{
		Kind: "edit",
		Plan: func(d document.Doc) (document.Doc, error) { return d.Append("ours"), nil },
		Meanwhile: func(View) {
			if saved != nil {
				return // the edit starts over
			}
			saved = make(chan error, 1)
			editor, err := os.OpenFile(f.Path, os.O_WRONLY|os.O_TRUNC, 0)
			if err != nil {
				saved <- err
				return
			}
			go func() { saved <- saveOnceReplaced(editor, f.Path) }()
		},
	})
	if err := errors.Join(err, <-saved, l.Close(context.Background())); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(f.Path)
	if want := "old\n§\nthe editor's\n§\nours"; err != nil || string(got) != want {
		t.Errorf("the file holds %q, %v; want %q", got, err, want)
	}
}

// saveOnceReplaced writes into an opened file as soon as path is another.
func saveOnceReplaced(editor *os.File, path string) error {
	defer editor.Close()
	mine, err := editor.Stat()
	if err != nil {
		return err
	}
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); runtime.Gosched() {
		if now, err := os.Stat(path); err == nil && !os.SameFile(now, mine) {
			_, err := editor.WriteString("old\n§\nthe editor's")
			return err
		}
	}
	return errors.New("the file was not replaced")
}

// An edit that starts over has been in force for a moment, in which an editor may
// have read it: what is missing from what it then saves has left the file.
func TestWhatAnEditorSavesFromAnEditThatStartsOverLeftTheFile(t *testing.T) {
	ctx := context.Background()
	l := New(filepath.Join(t.TempDir(), "mcp"))
	f := File{Target: "memory", Path: filepath.Join(t.TempDir(), "MEMORY.md")}
	save := func(text string) {
		if err := os.WriteFile(f.Path, []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	}
	save("gone\n§\nstays")
	noMatch := errors.New("no match")
	try := 0
	_, _, err := l.Edit(ctx, f, Request{
		Kind: "edit",
		Plan: func(d document.Doc) (document.Doc, error) {
			if i := slices.Index(d.Entries(), "gone"); i >= 0 {
				return d.Remove(i), nil
			}
			return d, noMatch
		},
		Meanwhile: func(View) {
			if try++; try == 1 {
				save("gone\n§\nstays\n§\nthe editor's")
				return
			}
			now, err := os.ReadFile(f.Path)
			if err != nil {
				t.Error(err)
			}
			save(string(now) + "\n§\nlater")
		},
	})
	if !errors.Is(err, noMatch) || try != 2 {
		t.Fatalf("after %d tries %v", try, err)
	}
	lost, err := l.Lost(ctx, f)
	if err := errors.Join(err, l.Close(ctx)); err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, one := range lost {
		texts = append(texts, one.Text)
	}
	slices.Sort(texts)
	if want := []string{"gone", "the editor's"}; !slices.Equal(texts, want) {
		t.Errorf("left the file: %q, want %q", texts, want)
	}
}
