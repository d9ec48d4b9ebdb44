package durable

import (
	"os"
	"path/filepath"
	"testing"
)

func spare(t *testing.T, dir string) Spare {
	t.Helper()
	s := NewSpare(dir)
	if !s.Any() {
		t.Skip("no files without a name here")
	}
	t.Cleanup(s.Release)
	return s
}

func TestASpareIsUnseenUntilItIsTheStagedFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	put(t, path, "a")
	was, s := load(t, path), spare(t, dir)
	made, err := s.f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
		t.Errorf("the folder holds %v, %v", names, err)
	}
	n, err := Stage(path, "1", []byte("new"), was.Info, s)
	if err != nil || !Staged(path, "1") {
		t.Fatal(err)
	}
	if _, done, err := n.Replace(was); !done || err != nil {
		t.Fatal(done, err)
	}
	now := load(t, path)
	if string(now.Bytes) != "new" || now.Info.Mode().Perm() != 0o640 || !os.SameFile(now.Info, made) {
		t.Errorf("%q, %v, the spare: %v", now.Bytes, now.Info.Mode(), os.SameFile(now.Info, made))
	}
}

func TestASpareThatDoesNotFitIsDoneWithout(t *testing.T) {
	for name, unfit := range map[string]func(t *testing.T, path string) Spare{
		"none": func(*testing.T, string) Spare { return Spare{} },
		"of another folder": func(t *testing.T, _ string) Spare {
			s := spare(t, t.TempDir())
			if err := s.f.Chmod(0o644); err != nil { // to be known by
				t.Fatal(err)
			}
			return s
		},
		"closed": func(t *testing.T, path string) Spare {
			s := spare(t, filepath.Dir(path))
			s.f.Close()
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			n, err := Stage(path, "1", []byte("new"), nil, unfit(t, path))
			if err != nil {
				t.Fatal(err)
			}
			if _, done, err := n.Replace(File{}); !done || err != nil {
				t.Fatal(done, err)
			}
			if now := load(t, path); string(now.Bytes) != "new" || now.Info.Mode().Perm() != 0o600 {
				t.Errorf("%q, %v", now.Bytes, now.Info.Mode())
			}
		})
	}
}

func TestASpareTakesNoNameThatIsThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	put(t, temporary(path, "1")+suffix, "another's")
	if _, err := Stage(path, "1", []byte("new"), nil, spare(t, filepath.Dir(path))); err == nil {
		t.Error("staged over it")
	}
}
