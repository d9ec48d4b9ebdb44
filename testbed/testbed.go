// Package testbed finds the data that tests are run against and that is no part
// of this repository: real transcripts, sets of questions, of attacks and of
// honest texts, answers of other programs. It is for tests alone; no program
// imports it.
//
// The data lies in the folder that HERMES_TESTDATA names, taken from the
// repository's own folder when it is relative, else in ../shared/data beside the
// repository. A test whose data is not there is skipped and says where it was
// looked for.
package testbed

import (
	"os"
	"path/filepath"
	"testing"
)

// Path returns where the file or folder that elem name below the data lies: whole
// and with its links resolved, as the sources name the files that they find. The
// test is skipped where there is none.
func Path(t testing.TB, elem ...string) string {
	t.Helper()
	root := os.Getenv("HERMES_TESTDATA")
	if root == "" {
		root = filepath.Join("..", "shared", "data")
	}
	if !filepath.IsAbs(root) {
		root = filepath.Join(Repository(t), root)
	}
	path, err := filepath.EvalSymlinks(filepath.Join(append([]string{root}, elem...)...))
	if err != nil {
		t.Skipf("no sample data (HERMES_TESTDATA names its folder): %v", err)
	}
	return path
}

// Repository returns the folder with go.mod above the test.
func Repository(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
}
