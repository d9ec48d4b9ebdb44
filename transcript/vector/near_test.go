package vector

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
)

// A given embedder answers with what it was told to.
type given struct{ v []float32 }

func (g given) Name() string                                     { return "given" }
func (g given) Query(context.Context, string) ([]float32, error) { return g.v, nil }
func (g given) Documents(context.Context, []string) ([][]float32, error) {
	return nil, fmt.Errorf("nothing is embedded here")
}

// many is a store of n vectors of so many numbers around a few topics, which are
// returned too.
func many(t testing.TB, n, dimensions int) (*Store, [][]float32, [][]float32) {
	t.Helper()
	steps, err := fs.Sub(os.DirFS(".."), "migration")
	if err != nil {
		t.Fatal(err)
	}
	db, err := engine.Open(context.Background(), filepath.Join(t.TempDir(), "a.db"), engine.Schema{Steps: steps, ApplicationID: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	r := rand.New(rand.NewPCG(3, 4))
	topics, all := make([][]float32, 200), make([][]float32, n)
	common := unit(r, dimensions) // real vectors all lean to one side
	for i := range topics {
		topics[i] = unit(r, dimensions)
		for j := range topics[i] {
			topics[i][j] += common[j]
		}
	}
	for i := range all {
		v, topic := unit(r, dimensions), topics[r.IntN(len(topics))]
		for j := range v {
			v[j] = 0.8*v[j] + topic[j]
		}
		all[i] = v
	}
	if err := db.Update(context.Background(), false, func(t *engine.Tx) error {
		if err := t.Exec("INSERT INTO embedding (id, name, dimensions) VALUES (1, ?, ?)", chunking+"given", dimensions); err != nil {
			return err
		}
		for i, v := range all {
			if err := t.Exec("INSERT INTO chunk (embedding, session, message, hash, vector) VALUES (1, ?, ?, ?, ?)", i/10, i+1, i, pack(v)); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return &Store{SQLite: db}, all, topics
}

func everything(int64) bool { return true }

func TestTheNearestAreFoundAmongMany(t *testing.T) {
	s, all, topics := many(t, 6_000, 256)
	found := 0
	for q := range 8 {
		question := topics[q]
		near, err := s.Near(t.Context(), given{question}, "x", everything)
		if err != nil || len(near) != compared {
			t.Fatalf("%d, %v", len(near), err)
		}
		exact := make([]Near, len(all))
		for i, v := range all {
			exact[i] = Near{int64(i + 1), cosine(question, pack(v))}
		}
		slices.SortFunc(exact, func(a, b Near) int { return int(1e9 * (b.Score - a.Score)) })
		for _, e := range exact[:20] {
			if slices.ContainsFunc(near[:100], func(n Near) bool { return n.Message == e.Message }) {
				found++
			}
		}
	}
	if found < 8*20*95/100 {
		t.Errorf("%d of %d", found, 8*20)
	}
}

func TestWhatIsNotAdmittedTakesNobodysPlace(t *testing.T) {
	s, _, topics := many(t, 2_000, 64)
	near, err := s.Near(t.Context(), given{topics[0]}, "x", func(m int64) bool { return m%100 == 7 })
	if err != nil || len(near) != 20 {
		t.Fatalf("%d, %v", len(near), err)
	}
	for _, n := range near {
		if n.Message%100 != 7 {
			t.Errorf("%d", n.Message)
		}
	}
}

func TestWhatIsAddedOrDeletedIsSeen(t *testing.T) {
	s, _, topics := many(t, 500, 64)
	q := given{topics[0]}
	if near, err := s.Near(t.Context(), q, "x", everything); err != nil || len(near) != compared {
		t.Fatalf("%d, %v", len(near), err)
	}
	if err := s.SQLite.Update(t.Context(), false, func(t *engine.Tx) error {
		if err := t.Exec("DELETE FROM chunk WHERE message <= 450"); err != nil {
			return err
		}
		return t.Exec("INSERT INTO chunk (embedding, session, message, hash, vector) VALUES (1, 1, 9999, 0, ?)", pack(topics[0]))
	}); err != nil {
		t.Fatal(err)
	}
	near, err := s.Near(t.Context(), q, "x", everything)
	if err != nil || len(near) == 0 || near[0].Message != 9999 {
		t.Fatalf("%v, %v", near, err)
	}
	for _, n := range near {
		if n.Message <= 450 {
			t.Errorf("%d is gone", n.Message)
		}
	}
}

// BenchmarkNear searches 100,000 vectors of 256 numbers.
func BenchmarkNear(b *testing.B) {
	s, _, topics := many(b, 100_000, 256)
	if _, err := s.Near(b.Context(), given{topics[0]}, "x", everything); err != nil {
		b.Fatal(err)
	}
	i := 0
	for b.Loop() {
		i++
		if _, err := s.Near(b.Context(), given{topics[i%len(topics)]}, "x", everything); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFirstNear reads 100,000 vectors of 256 numbers and searches them.
func BenchmarkFirstNear(b *testing.B) {
	s, _, topics := many(b, 100_000, 256)
	for b.Loop() {
		fresh := &Store{SQLite: s.SQLite}
		if _, err := fresh.Near(b.Context(), given{topics[0]}, "x", everything); err != nil {
			b.Fatal(err)
		}
	}
}
