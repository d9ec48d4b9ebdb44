package main

import (
	"context"
	"io"
	"slices"
	"testing"
)

// What a run generated is kept for the next, which asks the same of it; one that
// was broken off goes on.
func TestAGeneratedArchiveIsKept(t *testing.T) {
	ctx, keep := context.Background(), t.TempDir()
	classes := func(messages int) ([]queryClass, int64) {
		t.Helper()
		b, c, err := speedBed(ctx, keep, messages, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := b.close(); err != nil {
				t.Error(err)
			}
		}()
		a, err := b.weigh(ctx, messages)
		if err != nil {
			t.Fatal(err)
		}
		return queryClasses(c), a.TextBytes
	}
	first, size := classes(200)
	again, sameSize := classes(200)
	for i := range first {
		if first[i].name != again[i].name || !slices.Equal(first[i].queries, again[i].queries) {
			t.Errorf("%s: other queries the second time", first[i].name)
		}
	}
	if size == 0 || sameSize != size {
		t.Errorf("%d bytes, then %d", size, sameSize)
	}
	b, err := newBed(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.close(); err != nil {
			t.Error(err)
		}
	}()
	c := &corpus{language: newLanguage(7)}
	for _, to := range []int{120, 120} { // the second time after a break
		if err := b.slice(ctx, c, 0, to); err != nil {
			t.Fatal(err)
		}
	}
	if a, err := b.weigh(ctx, 120); err != nil || a.TextBytes == 0 || a.TextBytes >= size {
		t.Errorf("%+v, %v", a, err)
	}
	got, err := timeClass(ctx, b, b, first[1])
	if err != nil || got.P50 <= 0 || got.BaseP50 <= 0 || got.Growth <= 0 {
		t.Errorf("%+v, %v", got, err)
	}
}
