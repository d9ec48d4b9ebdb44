package memstore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// benchContent is a file as people have it: two thirds of the limit.
func benchContent() string {
	var entries []string
	for i := range 14 {
		entries = append(entries, fmt.Sprintf("fact %d: the service listens on port %d and keeps its data under /srv/app%d, backed up nightly", i, 8000+i, i))
	}
	return strings.Join(entries, "\n§\n")
}

// BenchmarkBare is what any program must do to replace a file durably.
func BenchmarkBare(b *testing.B) {
	dir := b.TempDir()
	path := filepath.Join(dir, "MEMORY.md")
	data := []byte(benchContent() + "\n§\na new fact that is not there yet")
	for b.Loop() {
		f, err := os.CreateTemp(dir, "t")
		if err != nil {
			b.Fatal(err)
		}
		f.Write(data)
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
		f.Close()
		if err := os.Rename(f.Name(), path); err != nil {
			b.Fatal(err)
		}
		d, err := os.Open(dir)
		if err != nil {
			b.Fatal(err)
		}
		if err := d.Sync(); err != nil {
			b.Fatal(err)
		}
		d.Close()
	}
}

// BenchmarkAdd is an add of ours onto the same bytes. Compare with Bare.
func BenchmarkAdd(b *testing.B) {
	home := b.TempDir()
	s, err := Open(home)
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(home, "memories", "MEMORY.md")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(benchContent()), 0o600); err != nil {
		b.Fatal(err)
	}
	n := 0
	for b.Loop() {
		n++
		add := Op{Action: Add, Content: fmt.Sprintf("a new fact that is not there yet: %d", n)}
		if _, err := s.Apply(context.Background(), Caller{Origin: "tool"}, Memory, add); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if _, err := s.Apply(context.Background(), Caller{}, Memory, Op{Action: Remove, OldText: add.Content}); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
