package curator

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/hermes-mcp/hermes-mcp/memstore/durable"
	"github.com/hermes-mcp/hermes-mcp/summarizer"
)

// A Kind is what a job is about.
type Kind string

const (
	FlushJob    Kind = "flush"
	ReviewJob   Kind = "review"
	SubagentJob Kind = "subagent" // look for edits that a subagent made
	ArchiveJob  Kind = "archive"  // only archive what was said
)

// A Job is something that is due for a session.
type Job struct {
	Kind    Kind   `json:"kind"`
	Session string `json:"session"` // "<source>:<id>"
	// Path is the transcript that the agent named, Dir its folder; "" when unknown.
	Path   string    `json:"path,omitempty"`
	Dir    string    `json:"dir,omitempty"`
	Reason string    `json:"reason,omitempty"` // the hook event, for people
	Added  time.Time `json:"added"`
	Due    time.Time `json:"due"` // not before
	// Of earlier tries.
	Attempts int    `json:"attempts,omitempty"`
	Error    string `json:"error,omitempty"`
	GivenUp  bool   `json:"given_up,omitempty"`
}

// A Queue keeps jobs in a folder, one file each, until they are done. A job is
// on the disk when Add returns. At most one process works at a time. Safe for
// concurrent use.
type Queue struct {
	Dir string
	Now func() time.Time // time.Now when nil
}

const (
	mostAttempts = 5
	// keepGivenUp is how long a job that was given up can be seen.
	keepGivenUp = 7 * 24 * time.Hour
	// watchEvery is how often a worker looks whether its job was taken back.
	watchEvery = 200 * time.Millisecond
	// mostRounds bounds how often one run does the same job.
	mostRounds = 5
)

func (q *Queue) now() time.Time {
	if q.Now != nil {
		return q.Now()
	}
	return time.Now()
}

// path is the file of a job: there is at most one of a kind for a session.
func (q *Queue) path(kind Kind, session string) string {
	sum := sha256.Sum256([]byte(session))
	return filepath.Join(q.Dir, string(kind)+"-"+hex.EncodeToString(sum[:8])+".json")
}

// Add puts a job into the queue, durably. One of the same kind and session is
// replaced, also while it is worked on: it is then done once more.
func (q *Queue) Add(j Job) error {
	now := q.now()
	if j.Added.IsZero() {
		j.Added = now
	}
	if j.Due.IsZero() {
		j.Due = now
	}
	raw, err := json.Marshal(j)
	if err == nil {
		err = durable.MakeFolder(q.Dir, true)
	}
	if err == nil {
		err = durable.WriteFile(q.path(j.Kind, j.Session), raw)
	}
	if err != nil {
		return fmt.Errorf("queue a %s: %w", j.Kind, err)
	}
	return nil
}

// Cancel takes a job back; one that is being worked on is stopped.
func (q *Queue) Cancel(kind Kind, session string) error {
	if err := os.Remove(q.path(kind, session)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cancel a %s: %w", kind, err)
	}
	return nil
}

// Jobs lists what is in the queue, the first due first. Files that are no jobs
// are told in the error beside the others.
func (q *Queue) Jobs() ([]Job, error) {
	files, err := os.ReadDir(q.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("queue: %w", err)
	}
	var all []Job
	var bad error
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".json") {
			continue
		}
		j, _, err := q.read(filepath.Join(q.Dir, f.Name()))
		switch {
		case errors.Is(err, fs.ErrNotExist): // done just now
		case err != nil:
			bad = errors.Join(bad, err)
		default:
			all = append(all, j)
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].Due.Before(all[j].Due) })
	return all, bad
}

func (q *Queue) read(path string) (Job, []byte, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return Job{}, nil, err
	}
	var j Job
	if err := json.Unmarshal(raw, &j); err != nil || q.path(j.Kind, j.Session) != path {
		return Job{}, nil, fmt.Errorf("queue: %s is no job", path)
	}
	return j, raw, nil
}

// Waiting tells whether a job is due now.
func (q *Queue) Waiting() bool {
	all, err := q.Jobs()
	return err == nil && slices.ContainsFunc(all, q.isDue) // what cannot be read is told by Work
}

func (q *Queue) isDue(j Job) bool { return !j.GivenUp && !j.Due.After(q.now()) }

// Work does what is due, one job after another, until nothing is or ctx is
// done. While another process works it returns at once: that one finishes what
// is there. A job whose do fails is tried again later, a few times. The error
// joins those of the jobs.
func (q *Queue) Work(ctx context.Context, do func(ctx context.Context, j Job) error) error {
	if _, err := os.Stat(q.Dir); err != nil {
		return nil // nothing was ever queued
	}
	var failed error
	rounds := map[string]int{}
	for ctx.Err() == nil {
		lock := flock.New(q.Dir + ".lock")
		held, err := lock.TryLock()
		if err != nil || !held {
			return errors.Join(failed, err)
		}
		for worked := true; worked && ctx.Err() == nil; {
			worked, err = q.next(ctx, do, rounds)
			failed = errors.Join(failed, err)
		}
		failed = errors.Join(failed, lock.Unlock())
		// One that was added after the last look, by somebody who found the lock
		// taken, is ours.
		if !q.Waiting() || len(rounds) > 0 && slices.Max(slices.Collect(maps.Values(rounds))) >= mostRounds {
			break
		}
	}
	return failed
}

// next does the first job that is due. rounds counts how often each was done in
// this run, for a full disk may keep one from being put off.
func (q *Queue) next(ctx context.Context, do func(context.Context, Job) error, rounds map[string]int) (worked bool, err error) {
	all, err := q.Jobs()
	for _, j := range all {
		if j.GivenUp && q.now().Sub(j.Due) > keepGivenUp {
			err = errors.Join(err, q.Cancel(j.Kind, j.Session))
		}
		path := q.path(j.Kind, j.Session)
		if !q.isDue(j) || rounds[path] >= mostRounds {
			continue
		}
		rounds[path]++
		return true, errors.Join(err, q.one(ctx, j, do))
	}
	return false, err
}

// one does a job, unless it is taken back meanwhile.
func (q *Queue) one(ctx context.Context, j Job, do func(context.Context, Job) error) error {
	path := q.path(j.Kind, j.Session)
	_, before, err := q.read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		q.watch(working, path, stop)
	}()
	err = do(working, j)
	stop()
	<-watched
	now, statErr := os.ReadFile(path)
	switch {
	case errors.Is(statErr, fs.ErrNotExist):
		return nil // taken back
	case statErr != nil:
		return errors.Join(err, fmt.Errorf("queue: %w", statErr))
	case !bytes.Equal(now, before):
		return err // added again meanwhile: it is due once more
	case err == nil:
		return q.finish(path, before)
	case ctx.Err() != nil:
		return ctx.Err() // we are stopped: left for whoever comes next
	}
	return errors.Join(err, q.Add(q.later(j, err)))
}

// finish takes the job at path, which reads as done and was, out of the queue. It
// is looked at once more under a name that nobody else uses: one may have been
// added between the last look and now.
func (q *Queue) finish(path string, done []byte) error {
	aside := path + ".done"
	err := os.Rename(path, aside)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // taken back
	}
	if err == nil {
		var was []byte
		if was, err = os.ReadFile(aside); err == nil && !bytes.Equal(was, done) {
			err = putBack(aside, path)
		} else {
			err = errors.Join(err, os.Remove(aside))
		}
	}
	if err != nil {
		return fmt.Errorf("queue: a job that is done: %w", err)
	}
	return nil
}

// putBack gives a file its name back, unless a newer one has that: then it goes.
func putBack(aside, path string) error {
	err := os.Link(aside, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return os.Remove(aside)
	}
	return os.Rename(aside, path) // some disks have no second names for a file
}

// watch stops the work when the job is taken back.
func (q *Queue) watch(ctx context.Context, path string, stop func()) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
				stop()
				return
			}
		}
	}
}

// later is j after a failure: when to try again, or never.
func (q *Queue) later(j Job, err error) Job {
	j.Error = err.Error()
	wait := time.Minute << min(j.Attempts, 6)
	switch {
	case errors.Is(err, summarizer.ErrDown):
		wait = 5 * time.Minute
	case errors.Is(err, summarizer.ErrBudget):
		wait = time.Hour
	default:
		j.Attempts++
	}
	j.Due = q.now().Add(wait)
	j.GivenUp = j.Attempts >= mostAttempts
	return j
}
