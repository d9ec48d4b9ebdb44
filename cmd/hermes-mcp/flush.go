package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/caller"
	"github.com/hermes-mcp/hermes-mcp/curator"
	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/summarizer"
	"github.com/hermes-mcp/hermes-mcp/transcript"
	"github.com/hermes-mcp/hermes-mcp/transcript/source"
)

func (a *app) queue() *curator.Queue { return &curator.Queue{Dir: a.home.MCP("queue")} }

func (a *app) flushModel() *summarizer.Client  { return a.model(summarizer.FlushMemories) }
func (a *app) reviewModel() *summarizer.Client { return a.model(summarizer.BackgroundReview) }

// due puts a job for the session of an event into the queue.
func (a *app) due(kind curator.Kind, src string, e hookEvent) error {
	if a.config.Excluded(src) {
		return nil // what is not archived is not looked at
	}
	return a.queue().Add(curator.Job{Kind: kind, Session: src + ":" + e.Session, Path: e.Transcript, Dir: e.Dir, Reason: e.own})
}

// follow does what an event asks for after it was answered, and has what is due
// done by a process that nobody waits for.
func (a *app) follow(ctx context.Context, src string, e hookEvent) error {
	if e.Subagent != "" && e.Event != subagentStop {
		return nil
	}
	var err error
	if e.Event == userPromptSubmit { // the user goes on: a review can wait
		err = a.queue().Cancel(curator.ReviewJob, src+":"+e.Session)
	}
	if kind := a.job(e); kind != "" {
		err = errors.Join(err, a.due(kind, src, e))
	}
	// At the other events nothing was told that could be due.
	due := (e.Event == stop || e.Event == subagentStop || e.Event == preCompact || e.Event == sessionEnd || e.Event == sessionStart) && a.external.Due(ctx)
	if due || a.queue().Waiting() {
		err = errors.Join(err, a.detach())
	}
	return err
}

// detach starts a process of this program that works the queue off, without
// our standard handles, which an agent would wait for.
func (a *app) detach() error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("start the worker: %w", err)
	}
	worker := exec.Command(self, append([]string{workName}, a.serveArgs()[1:]...)...)
	worker.Dir = a.home.Path
	worker.SysProcAttr = apart()
	if err := worker.Start(); err != nil {
		return fmt.Errorf("start the worker: %w", err)
	}
	return worker.Process.Release()
}

const (
	workName = "work"
	// workTime bounds one worker; what is left is done by the next.
	workTime = 15 * time.Minute
	// lag is how long agents take to write down what their hook tells of.
	lag = time.Second
)

// workCommand is what detach starts. People have no need of it.
func (a *app) workCommand() *cobra.Command {
	return &cobra.Command{
		Use: workName, Short: "Finish the flushes and reviews that are due", Args: cobra.NoArgs, Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.begin(cmd, true, func(ctx context.Context) error {
				a.openLog(false)
				ctx, cancel := context.WithTimeout(ctx, workTime)
				defer cancel()
				return a.worker().run(ctx)
			})
		},
	}
}

// A worker does what is due, with an archive of its own that it closes: a
// server that has nothing to do holds none open.
type worker struct {
	*app
	archive *archive
}

func (a *app) worker() worker { return worker{a, &archive{path: a.archive.path, mask: a.archive.mask}} }

// run works the queue off, and tells the provider what hooks saw. What fails
// stands in the queue. A model that is slow does not hold up the provider.
func (a worker) run(ctx context.Context) error {
	var telling sync.WaitGroup
	var untold error
	telling.Go(func() { untold = a.external.Deliver(ctx, a) })
	err := a.queue().Work(ctx, a.do)
	telling.Wait()
	return errors.Join(err, untold, a.archive.close())
}

// Open opens the archive, for the relay.
func (a worker) Open(ctx context.Context) (*transcript.DB, error) { return a.archive.open(ctx) }

// do does one job.
func (a worker) do(ctx context.Context, j curator.Job) error {
	if wait := lag - time.Since(j.Added); wait > 0 {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := a.Bring(ctx, j.Session, j.Path); err != nil {
		return err
	}
	if j.Kind == curator.ArchiveJob {
		return nil
	}
	c, err := a.curator(ctx, j.Dir)
	if err != nil {
		return err
	}
	var out curator.Outcome
	switch j.Kind {
	case curator.FlushJob:
		out, err = c.Flush(ctx, j.Session)
	case curator.ReviewJob:
		out, err = c.Review(ctx, j.Session, false)
	case curator.SubagentJob:
		out, err = c.Vet(ctx, j.Session)
	default:
		return fmt.Errorf("job of kind %q is of another version", j.Kind)
	}
	if errors.Is(err, transcript.ErrNotFound) {
		err = nil // nothing was said in it, so that there is no transcript
	}
	a.log.Info().Str("job", string(j.Kind)).Str("session", j.Session).Int("prompts", out.Prompts).Bool("asked", out.Asked).
		Int("applied", len(out.Applied)).Int("staged", len(out.Staged)).Int("dropped", len(out.Dropped)).Bool("remind", out.Remind).Err(err).Msg("looked again")
	if err == nil && out.Remind {
		src, id, _ := strings.Cut(j.Session, ":")
		err = caller.Change(ctx, a.home.MCP("sessions"), src, id, func(r *caller.Report) { r.Remind = true })
	}
	return err
}

// Bring archives what is new of a session, and of its subagents, from the
// transcripts that the agent named.
func (a worker) Bring(ctx context.Context, session string, paths ...string) error {
	db, err := a.archive.open(ctx)
	if err != nil {
		return err
	}
	name, _, _ := strings.Cut(session, ":")
	for _, src := range source.All() {
		if src.Name() != name {
			continue
		}
		files, err := a.filesOf(ctx, src, paths)
		if err != nil || len(files) == 0 {
			return err
		}
		_, err = db.Refresh(ctx, src, files, nil)
		return err
	}
	return nil
}

// filesOf lists the files that may hold a session: those that the agent named
// with the folder of the session beside, else whatever the source has, of which
// only what is new is read.
func (a worker) filesOf(ctx context.Context, src transcript.Source, paths []string) ([]transcript.File, error) {
	var all []transcript.File
	for _, path := range paths {
		for _, at := range []string{path, strings.TrimSuffix(path, filepath.Ext(path))} {
			info, err := os.Stat(at)
			if at == "" || err != nil || info.IsDir() != (at != path) {
				continue // not written yet, or no folder beside it
			}
			files, err := src.FindIn(ctx, at)
			if err != nil {
				return nil, err
			}
			for _, f := range files {
				if !slices.ContainsFunc(all, func(o transcript.File) bool { return o.Path == f.Path }) {
					all = append(all, f)
				}
			}
		}
	}
	if len(all) == 0 {
		return src.Find(ctx, a.places())
	}
	return all, nil
}

// curator looks at sessions of this home, from the folder dir.
func (a worker) curator(ctx context.Context, dir string) (*curator.Curator, error) {
	db, err := a.archive.open(ctx)
	if err != nil {
		return nil, err
	}
	store, err := a.openStore(ctx, dir)
	if err != nil {
		return nil, err
	}
	return &curator.Curator{
		Archive: db, Store: store, FlushModel: a.flushModel(), ReviewModel: a.reviewModel(),
		Interval: a.config.NudgeInterval, MinTurns: a.config.FlushMinTurns, Approve: a.config.WriteApproval,
		Enabled: map[memstore.Target]bool{memstore.Memory: a.config.MemoryEnabled, memstore.User: a.config.UserEnabled},
	}, nil
}
