package curator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hermes-mcp/hermes-mcp/summarizer"
)

func newQueue(t *testing.T) *Queue { return &Queue{Dir: filepath.Join(t.TempDir(), "queue")} }

func add(t *testing.T, q *Queue, jobs ...Job) {
	t.Helper()
	for _, j := range jobs {
		if err := q.Add(j); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAJobIsDoneOnceAndGone(t *testing.T) {
	q := newQueue(t)
	add(t, q, Job{Kind: FlushJob, Session: "claude-code:a"}, Job{Kind: FlushJob, Session: "claude-code:b"}, Job{Kind: ReviewJob, Session: "claude-code:a"}, Job{Kind: FlushJob, Session: "claude-code:a", Reason: "again"})
	var did []string
	for range 2 {
		if err := q.Work(t.Context(), func(_ context.Context, j Job) error {
			did = append(did, string(j.Kind)+" "+j.Session+" "+j.Reason)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(did)
	if want := []string{"flush claude-code:a again", "flush claude-code:b ", "review claude-code:a "}; !slices.Equal(did, want) {
		t.Errorf("%q", did)
	}
	if left, err := q.Jobs(); err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
}

func TestAJobThatFailsIsTriedLaterAndAtLastGivenUp(t *testing.T) {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	q := newQueue(t)
	q.Now = func() time.Time { return now }
	add(t, q, Job{Kind: FlushJob, Session: "s:1"})
	broken := errors.New("broken")
	tries := 0
	work := func() error {
		return q.Work(t.Context(), func(context.Context, Job) error { tries++; return broken })
	}
	if err := work(); !errors.Is(err, broken) || tries != 1 {
		t.Fatalf("%v after %d", err, tries)
	}
	if err := work(); err != nil || tries != 1 {
		t.Errorf("before it is due again: %v after %d", err, tries)
	}
	for range 20 {
		now = now.Add(2 * time.Hour)
		work() //nolint:errcheck // it is broken
	}
	if tries != mostAttempts {
		t.Errorf("tried %d times", tries)
	}
	if left, err := q.Jobs(); err != nil || len(left) != 1 || !left[0].GivenUp || left[0].Error != "broken" {
		t.Errorf("%+v, %v", left, err)
	}
	now = now.Add(keepGivenUp)
	if err := work(); err != nil {
		t.Error(err)
	}
	if left, err := q.Jobs(); err != nil || len(left) != 0 {
		t.Errorf("after a week: %+v, %v", left, err)
	}
}

func TestAnEndpointThatIsDownCostsNoAttempt(t *testing.T) {
	for _, why := range []error{summarizer.ErrDown, summarizer.ErrBudget} {
		q := newQueue(t)
		add(t, q, Job{Kind: FlushJob, Session: "s:1"})
		if err := q.Work(t.Context(), func(context.Context, Job) error { return fmt.Errorf("flush: %w", why) }); !errors.Is(err, why) {
			t.Error(err)
		}
		if left, err := q.Jobs(); err != nil || len(left) != 1 || left[0].Attempts != 0 || q.Waiting() {
			t.Errorf("%+v, %v", left, err)
		}
	}
}

func TestAJobTakenBackIsStopped(t *testing.T) {
	q := newQueue(t)
	add(t, q, Job{Kind: ReviewJob, Session: "s:1"})
	err := q.Work(t.Context(), func(ctx context.Context, j Job) error {
		if err := q.Cancel(j.Kind, j.Session); err != nil {
			t.Error(err)
		}
		<-ctx.Done()
		return ctx.Err()
	})
	left, listErr := q.Jobs()
	if err != nil || listErr != nil || len(left) != 0 {
		t.Errorf("%v; %v, %v", err, left, listErr)
	}
}

func TestAJobAddedWhileItIsDoneIsDoneOnceMore(t *testing.T) {
	q := newQueue(t)
	add(t, q, Job{Kind: FlushJob, Session: "s:1", Reason: "first"})
	var did []string
	if err := q.Work(t.Context(), func(_ context.Context, j Job) error {
		did = append(did, j.Reason)
		if len(did) == 1 {
			add(t, q, Job{Kind: FlushJob, Session: "s:1", Reason: "second"})
		}
		return nil
	}); err != nil || !slices.Equal(did, []string{"first", "second"}) {
		t.Errorf("%q, %v", did, err)
	}
}

func TestAJobAddedAtTheVeryEndOfAnotherIsNotTakenOutWithIt(t *testing.T) {
	q := newQueue(t)
	add(t, q, Job{Kind: FlushJob, Session: "a", Reason: "first"})
	path := q.path(FlushJob, "a")
	_, done, err := q.read(path)
	if err != nil {
		t.Fatal(err)
	}
	add(t, q, Job{Kind: FlushJob, Session: "a", Reason: "second"})
	if err := q.finish(path, done); err != nil {
		t.Fatal(err)
	}
	if jobs, err := q.Jobs(); err != nil || len(jobs) != 1 || jobs[0].Reason != "second" {
		t.Fatalf("left: %+v, %v", jobs, err)
	}
	_, done, err = q.read(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(q.finish(path, done), q.finish(path, done)); err != nil {
		t.Fatal(err)
	}
	if files, err := os.ReadDir(q.Dir); err != nil || len(files) != 0 {
		t.Errorf("left: %v, %v", files, err)
	}
}

func TestAWorkerThatIsStoppedLeavesItsJob(t *testing.T) {
	q := newQueue(t)
	add(t, q, Job{Kind: FlushJob, Session: "s:1"})
	ctx, stop := context.WithCancel(t.Context())
	if err := q.Work(ctx, func(ctx context.Context, _ Job) error { stop(); return ctx.Err() }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if left, err := q.Jobs(); err != nil || len(left) != 1 || left[0].Attempts != 0 {
		t.Errorf("%+v, %v", left, err)
	}
}

func TestOneWorksAtATimeAndNothingIsLeft(t *testing.T) {
	q := newQueue(t)
	var mu sync.Mutex
	busy, did := 0, map[string]int{}
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			mine := &Queue{Dir: q.Dir} // as another process would have it
			for i := range 5 {
				add(t, mine, Job{Kind: FlushJob, Session: fmt.Sprintf("s:%d-%d", n, i)})
				if err := mine.Work(t.Context(), func(_ context.Context, j Job) error {
					mu.Lock()
					busy++
					if busy > 1 {
						t.Error("two at once")
					}
					did[j.Session]++
					mu.Unlock()
					mu.Lock()
					busy--
					mu.Unlock()
					return nil
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if left, err := q.Jobs(); err != nil || len(left) != 0 || len(did) != 40 {
		t.Errorf("%v left, %v; %d done", left, err, len(did))
	}
}

func TestAFileThatIsNoJobIsToldAndDoesNoHarm(t *testing.T) {
	q := newQueue(t)
	add(t, q, Job{Kind: FlushJob, Session: "s:1"})
	if err := os.WriteFile(filepath.Join(q.Dir, "x.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	did := 0
	if err := q.Work(t.Context(), func(context.Context, Job) error { did++; return nil }); err == nil || did != 1 {
		t.Errorf("%v, %d", err, did)
	}
}
