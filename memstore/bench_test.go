package memstore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// benchContent is a file as people have it: two thirds of the limit.
func benchContent() string {
	var entries []string
	for i := range 14 {
		entries = append(entries, fmt.Sprintf("fact %d: the service listens on port %d and keeps its data under /srv/app%d, backed up nightly", i, 8000+i, i))
	}
	return strings.Join(entries, "\n§\n")
}

// median reports the median, since a sync that meets somebody else's takes ten
// times as long.
func median(b *testing.B, name string, all []time.Duration) {
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2].Nanoseconds())/1e3, name)
}

// writeBare is what any program must do to replace a file durably.
func writeBare(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "t")
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return err
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func BenchmarkBare(b *testing.B) {
	path := filepath.Join(b.TempDir(), "MEMORY.md")
	data := []byte(benchContent() + "\n§\na new fact that is not there yet")
	var all []time.Duration
	for b.Loop() {
		start := time.Now()
		if err := writeBare(path, data); err != nil {
			b.Fatal(err)
		}
		all = append(all, time.Since(start))
	}
	median(b, "p50-µs", all)
}

// BenchmarkAdd is an add onto the same bytes, journal and all. The two are
// measured each by itself: a bare write leaves the file system work that the
// next write of anybody pays for.
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
	ctx := context.Background()
	var all []time.Duration
	for b.Loop() {
		add := Op{Action: Add, Content: fmt.Sprintf("a new fact that is not there yet: %d", len(all))}
		start := time.Now()
		if _, err := s.Apply(ctx, Caller{Origin: "tool"}, Memory, add); err != nil {
			b.Fatal(err)
		}
		all = append(all, time.Since(start))
		if _, err := s.Apply(ctx, Caller{}, Memory, Op{Action: Remove, OldText: add.Content}); err != nil {
			b.Fatal(err)
		}
	}
	median(b, "p50-µs", all)
}
