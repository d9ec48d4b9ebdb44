package durable

import (
	"os"
	"path/filepath"
)

// A Spare is an empty file without a name, made ahead of time for a [Stage] in
// its folder. Some file systems take as long to make a file as to sync one, and
// nobody has to wait for that. The zero value is none; it is what there is where
// the system has no files without a name. One goroutine uses it at a time.
type Spare struct {
	dir string
	f   *os.File
}

// Any tells whether there is one.
func (s Spare) Any() bool { return s.f != nil }

// Release gives the spare back to the disk.
func (s *Spare) Release() {
	if s.f != nil {
		s.f.Close() // nothing was written to it
		s.f = nil
	}
}

// named is the spare under the name path, or nil when it cannot be given that
// one. Either way the spare is used up.
func (s *Spare) named(path string) *os.File {
	if s.f == nil {
		return nil
	}
	if s.dir != filepath.Dir(path) || link(s.f, path) != nil {
		s.Release()
		return nil
	}
	f := s.f
	s.f = nil
	return f
}
