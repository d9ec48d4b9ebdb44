package testbed

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDataIsFoundWhereTheVariableSays(t *testing.T) {
	real := filepath.Join(t.TempDir(), "real")
	if err := os.MkdirAll(filepath.Join(real, "recall"), 0o755); err != nil {
		t.Fatal(err)
	}
	want, err := filepath.EvalSymlinks(filepath.Join(real, "recall"))
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Skip("no links here:", err)
	}
	relative, err := filepath.Rel(Repository(t), link)
	if err != nil {
		t.Fatal(err)
	}
	for name, root := range map[string]string{"a folder": real, "a link to it": link, "a relative path": relative} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("HERMES_TESTDATA", root)
			if got := Path(t, "recall"); got != want {
				t.Errorf("found %s, want %s", got, want)
			}
		})
	}
}

func TestATestWithoutItsDataIsSkipped(t *testing.T) {
	t.Setenv("HERMES_TESTDATA", t.TempDir())
	skipped := false
	t.Run("absent", func(t *testing.T) {
		defer func() { skipped = t.Skipped() }()
		t.Errorf("went on with %s", Path(t, "absent"))
	})
	if !skipped {
		t.Error("not skipped")
	}
}
