package transcript

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// talk is a text of its own, of n sentences.
func talk(i, n int) string {
	var b strings.Builder
	for j := range n {
		fmt.Fprintf(&b, "talk %d says %d about nothing. ", i, j)
	}
	return b.String()
}

// counts tells how many chunks of which models are stored.
func counts(t *testing.T, db *DB) map[string]int {
	t.Helper()
	rows, err := db.read.Query("SELECT e.name, count(c.id) FROM embedding e LEFT JOIN chunk c ON c.embedding = e.id GROUP BY e.id")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	out := map[string]int{}
	for rows.Next() {
		var name string
		var n int
		if err := rows.Scan(&name, &n); err != nil {
			t.Fatal(err)
		}
		out[name] = n
	}
	return out
}

// A stoppedEmbedder fails after some calls, as a killed process does.
type stoppedEmbedder struct {
	fakeEmbedder
	left atomic.Int64
}

var errStopped = errors.New("stopped")

func (e *stoppedEmbedder) Documents(ctx context.Context, texts []string) ([][]float32, error) {
	if e.left.Add(-1) < 0 {
		return nil, errStopped
	}
	return e.fakeEmbedder.Documents(ctx, texts)
}

func TestAFillThatIsStoppedGoesOnWhereItWas(t *testing.T) {
	db := openTest(t)
	e := &stoppedEmbedder{}
	e.left.Store(2)
	db.Embedder = e
	for i := range 40 {
		put(t, db, fmt.Sprintf("test:%d", i), talk(i, 200))
	}
	if err := db.Embed(context.Background(), nil); !errors.Is(err, errStopped) {
		t.Fatalf("%v", err)
	}
	c, err := db.VectorCoverage(context.Background())
	if err != nil || c.Embedded == 0 || c.Embedded == 40 || c.Pending != 40-c.Embedded {
		t.Fatalf("%+v, %v", c, err)
	}
	before := e.texts.Load()
	e.left.Store(1000)
	fill(t, db)
	c, err = db.VectorCoverage(context.Background())
	if err != nil || c.Embedded != 40 || int64(c.Chunks) != e.texts.Load() {
		t.Errorf("%+v of %d texts (%d before), %v", c, e.texts.Load(), before, err)
	}
	fill(t, db)
	if e.texts.Load() != int64(c.Chunks) {
		t.Error("what is embedded was embedded again")
	}
}

func TestWhatIsAddedIsEmbeddedAlone(t *testing.T) {
	db := openTest(t)
	e := &fakeEmbedder{}
	db.Embedder = e
	s := Session{ID: "test:a"}
	msgs := []Message{{SessionID: s.ID, UID: "1", Role: UserRole, Content: talk(0, 60)}}
	for i := range 3 {
		if err := db.Put(context.Background(), s, msgs); err != nil {
			t.Fatal(err)
		}
		fill(t, db)
		msgs = append(msgs, Message{SessionID: s.ID, UID: fmt.Sprint(i + 2), Role: UserRole, Content: talk(i+1, 60)})
	}
	c, err := db.VectorCoverage(context.Background())
	if err != nil || c.Pending != 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	if n := e.texts.Load(); n > int64(c.Chunks)+3 {
		t.Errorf("%d texts for %d chunks", n, c.Chunks)
	}
}

func TestOldVectorsStayUntilTheNewAreComplete(t *testing.T) {
	db := openTest(t)
	old := &fakeEmbedder{name: "old"}
	db.Embedder = old
	for i := range 30 {
		put(t, db, fmt.Sprintf("test:%d", i), talk(i, 200))
	}
	fill(t, db)
	whole := counts(t, db)["1;fakeold"]
	next := &stoppedEmbedder{fakeEmbedder: fakeEmbedder{name: "new"}}
	next.left.Store(1)
	db.Embedder = next
	if err := db.Embed(context.Background(), nil); !errors.Is(err, errStopped) {
		t.Fatalf("%v", err)
	}
	if n := counts(t, db); n["1;fakeold"] != whole || n["1;fakenew"] == 0 {
		t.Errorf("in the middle: %v", n)
	}
	next.left.Store(1000)
	fill(t, db)
	if n := counts(t, db); len(n) != 1 || n["1;fakenew"] != whole {
		t.Errorf("at the end: %v", n)
	}
	// The same name with vectors of another length is another model, too.
	db.Embedder = &fakeEmbedder{name: "new", size: 32}
	put(t, db, "test:more", "something new")
	fill(t, db)
	if a := search(t, db, "something new"); len(a.Hits) == 0 {
		t.Errorf("%+v", a)
	}
	if n := counts(t, db); len(n) != 1 || n["1;fakenew"] != whole+1 {
		t.Errorf("after the length changed: %v", n)
	}
}

func TestTwoWhoFillDoNotDouble(t *testing.T) {
	db := openTest(t)
	other, err := Open(context.Background(), db.sqlite.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for i := range 30 {
		put(t, db, fmt.Sprintf("test:%d", i), talk(i, 100))
	}
	db.Embedder, other.Embedder = &fakeEmbedder{}, &fakeEmbedder{}
	var both sync.WaitGroup
	for _, d := range []*DB{db, other} {
		both.Go(func() {
			if err := d.Embed(context.Background(), nil); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	var doubles int
	if err := db.read.QueryRow("SELECT count(*) - count(DISTINCT hash || ':' || session) FROM chunk").Scan(&doubles); err != nil || doubles != 0 {
		t.Errorf("%d, %v", doubles, err)
	}
}
