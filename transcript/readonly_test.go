package transcript

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func finds(t *testing.T, db *DB, query string) bool {
	t.Helper()
	res, err := db.Search(t.Context(), Query{Text: query, Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	return len(res.Hits) > 0
}

func TestAnArchiveIsReadWithoutBeingWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.db")
	writing := func() *DB {
		t.Helper()
		db, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	reading := func() *DB {
		t.Helper()
		db, err := OpenReadOnly(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		return db
	}
	w := writing()
	put(t, w, "t:one", "the zeppelin leaks")
	beside := reading()
	if !finds(t, beside, "zeppelin") || beside.Stale() {
		t.Error("what another process has open and has just written is not read")
	}
	if err := errors.Join(beside.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}

	before := names(t, filepath.Dir(path))
	r := reading()
	if !finds(t, r, "zeppelin") || r.Stale() {
		t.Error("an archive that nobody has open is not read")
	}
	if err := r.Put(t.Context(), Session{ID: "t:two", StartedAt: day}, nil); !errors.Is(err, ErrReadOnly) {
		t.Errorf("written: %v", err)
	}
	if err := r.Tend(t.Context(), true); !errors.Is(err, ErrReadOnly) {
		t.Errorf("tended: %v", err)
	}
	if after := names(t, filepath.Dir(path)); !slices.Equal(before, after) {
		t.Errorf("reading made files: %v, before %v", after, before)
	}

	w = writing()
	put(t, w, "t:two", "the balloon floats")
	if !r.Stale() {
		t.Error("not stale after another process has written")
	}
	anew := reading()
	if !finds(t, anew, "balloon") {
		t.Error("opened anew, it does not hold what was written")
	}
	log, err := os.ReadFile(path + "-wal")
	if err := errors.Join(err, anew.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	if !r.Stale() {
		t.Error("not stale after the log was copied back")
	}

	if err := os.WriteFile(path+"-wal", log, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenReadOnly(t.Context(), path); !errors.Is(err, ErrReadOnly) {
		t.Errorf("a log that cannot be taken in is passed over: %v", err)
	}
}

func TestWhatIsNoArchiveIsNotRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.db")
	if err := os.WriteFile(path, []byte("no database at all, and long enough to be looked at"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenReadOnly(t.Context(), path); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenReadOnly(t.Context(), path); !errors.Is(err, ErrReadOnly) {
		t.Error(err)
	}
	if _, err := OpenReadOnly(t.Context(), path+".absent"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
