package memstore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// unnamed counts the files without a name that we hold open below dir.
func unnamed(t *testing.T, dir string) (n int) {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	for _, fd := range all {
		to, _ := os.Readlink(filepath.Join("/proc/self/fd", fd.Name())) // gone by now: not ours
		if strings.HasPrefix(to, dir) && strings.HasPrefix(filepath.Base(to), "#") {
			n++
		}
	}
	return n
}

func TestASpareIsMadeForTheNextEditAndGivenBackInTheEnd(t *testing.T) {
	s := open(t, "")
	edit := func(i int) {
		t.Helper()
		if _, err := s.Apply(context.Background(), Caller{}, Memory, Op{Action: Add, Content: fmt.Sprint("fact ", i)}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 5 {
		edit(i)
	}
	dir := filepath.Dir(path(s))
	if n := unnamed(t, dir); n == 0 {
		t.Skip("no files without a name here")
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 2 { // and the lock
		t.Errorf("the folder holds %v, %v", names, err)
	}
	if err := s.Close(context.Background()); err != nil || unnamed(t, s.home) != 0 {
		t.Errorf("%d are left, %v", unnamed(t, s.home), err)
	}
}
