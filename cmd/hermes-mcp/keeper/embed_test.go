package keeper

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rs/zerolog"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// A lame embedder fails at first.
type lame struct{ calls atomic.Int64 }

func (*lame) Name() string                                     { return "lame" }
func (*lame) Query(context.Context, string) ([]float32, error) { return []float32{1, 0}, nil }
func (l *lame) Documents(_ context.Context, texts []string) ([][]float32, error) {
	if l.calls.Add(1) == 1 {
		return nil, errors.New("not yet")
	}
	out := make([][]float32, len(texts))
	for i := range out {
		out[i] = []float32{1, 0}
	}
	return out, nil
}

func TestWhatIsArchivedIsEmbeddedWhileItRuns(t *testing.T) {
	const id = "aaaaaaaa-1111-4111-8111-111111111111"
	home := t.TempDir()
	file := filepath.Join(home, ".claude", "projects", "-w", id+".jsonl")
	write(t, file, say(id, 1, "where is the zeppelin"))
	log := make(lines, 100)
	k := ofHome(t, home, zerolog.New(log))
	var e lame
	open := k.Open
	k.Open = func(ctx context.Context) (*transcript.DB, error) {
		db, err := open(ctx)
		if err == nil {
			db.Embedder = &e
		}
		return db, err
	}
	k.Meaning = true
	ctx, stop := context.WithCancel(t.Context())
	var owner sync.WaitGroup
	owner.Go(func() { k.Run(ctx) })
	log.await(t, "not yet") // an embedder that fails stops nothing
	write(t, file, say(id, 2, "over the lake"))
	log.await(t, `"message":"embedded"`)
	stop()
	owner.Wait()

	db, err := k.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, err := db.VectorCoverage(t.Context())
	if err != nil || c.Embedded != 1 || c.Chunks != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// A mute embedder never works, and says when it is asked.
type mute struct{ asked chan struct{} }

func (mute) Name() string                                     { return "mute" }
func (mute) Query(context.Context, string) ([]float32, error) { return []float32{1, 0}, nil }
func (m mute) Documents(context.Context, []string) ([][]float32, error) {
	m.asked <- struct{}{}
	return nil, errors.New("never")
}

func TestTheSameFailureIsLoggedOnce(t *testing.T) {
	const id = "aaaaaaaa-1111-4111-8111-111111111111"
	home := t.TempDir()
	file := filepath.Join(home, ".claude", "projects", "-w", id+".jsonl")
	write(t, file, say(id, 1, "where is the zeppelin"))
	log := make(lines, 100)
	k := ofHome(t, home, zerolog.New(log))
	e := mute{make(chan struct{})}
	open := k.Open
	k.Open = func(ctx context.Context) (*transcript.DB, error) {
		db, err := open(ctx)
		if err == nil {
			db.Embedder = e
		}
		return db, err
	}
	k.Meaning = true
	ctx, stop := context.WithCancel(t.Context())
	var owner sync.WaitGroup
	owner.Go(func() { k.Run(ctx) })
	for n := range 3 { // when it is asked again, what came before is logged
		<-e.asked
		write(t, file, say(id, n+2, "over the lake"))
	}
	<-e.asked
	stop()
	owner.Wait()
	close(log)
	said := 0
	for line := range log {
		said += strings.Count(line, "never")
	}
	if said != 1 {
		t.Errorf("logged %d times", said)
	}
}
