package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/keeper"
	"github.com/hermes-mcp/hermes-mcp/transcript"
	"github.com/hermes-mcp/hermes-mcp/transcript/plain"
	"github.com/hermes-mcp/hermes-mcp/transcript/source"
)

// An ingest is one run of the command.
type ingest struct {
	only  string // a source's name
	watch bool
	json  bool
}

func (a *app) ingestCommand() *cobra.Command {
	var how ingest
	c := &cobra.Command{
		Use: "ingest [PATH...]", Short: "Archive the sessions of every agent on this machine, or those at PATH",
		Long: `Archives every session that agents keep on this machine, or the sessions at
PATH, files or folders, recognised by what is in them. What is archived
already is not read again. Nothing of the agents' files is changed.`,
		RunE: func(cmd *cobra.Command, paths []string) error {
			return a.begin(cmd, false, func(ctx context.Context) error { return a.ingest(ctx, paths, how) })
		},
	}
	c.Flags().StringVar(&how.only, "source", "", "only this source, such as claude-code")
	c.Flags().BoolVar(&how.watch, "watch", false, "go on until interrupted, archiving what changes")
	c.Flags().BoolVar(&how.json, "json", false, "print the report as JSON")
	return c
}

// A report is what ingest did, for --json too.
type report struct {
	Files      int       `json:"files"`
	Unchanged  int       `json:"unchanged"`
	Sessions   int       `json:"sessions"`
	Messages   int       `json:"messages"`
	Bytes      int64     `json:"bytes"`
	Unreadable []problem `json:"unreadable"` // whole files
	Skipped    []problem `json:"skipped"`    // lines of files that were read
	Seconds    float64   `json:"seconds"`
}

type problem struct {
	Path   string `json:"path"`
	Line   int    `json:"line,omitempty"`
	Reason string `json:"reason"`
}

func (r *report) add(one transcript.IngestReport) {
	r.Files += one.Files
	r.Unchanged += one.Unchanged
	r.Sessions += one.Sessions
	r.Messages += one.Messages
	r.Bytes += one.Bytes
	for _, p := range one.Problems {
		one := problem{p.Path, p.Line, p.Reason}
		if p.Line == 0 {
			r.Unreadable = append(r.Unreadable, one)
		} else {
			r.Skipped = append(r.Skipped, one)
		}
	}
}

func (a *app) ingest(ctx context.Context, paths []string, how ingest) error {
	work, err := a.toIngest(ctx, paths, how.only)
	if err != nil {
		return err
	}
	if err := a.makeHome(); err != nil {
		return err
	}
	a.openLog(false)
	held, release, err := a.ingestLock(ctx)
	if err != nil {
		return err
	}
	total, err := a.ingestAll(ctx, work, how.json)
	if err == nil {
		err = a.printReport(total, how.json)
	}
	if err == nil && held { // else a server embeds
		err = a.embed(ctx)
	}
	release()
	if ctx.Err() != nil {
		return failure{codePartly, errors.New("interrupted; what is archived stays, ingest again to go on")}
	}
	if err != nil {
		return err
	}
	if err := a.tellRoom(ctx); err != nil {
		return err
	}
	if how.watch && ctx.Err() == nil {
		return a.ingestOn(ctx)
	}
	if len(total.Unreadable) > 0 {
		return failure{codePartly, fmt.Errorf("%d of %s could not be read; the others are archived", len(total.Unreadable), plain.Count(total.Files, "file"))}
	}
	return nil
}

// toIngest finds the files at paths, or in the agents' own places.
func (a *app) toIngest(ctx context.Context, paths []string, only string) ([]keeper.Batch, error) {
	var names []string
	byName := map[string]transcript.Source{}
	for _, src := range source.All() {
		names = append(names, src.Name())
		if only == "" || only == src.Name() {
			byName[src.Name()] = src
		}
	}
	if only != "" {
		if err := knownSource(only); err != nil {
			return nil, err
		}
	}
	if len(paths) == 0 {
		return a.inPlaces(ctx, byName)
	}
	var work []keeper.Batch
	for _, path := range paths {
		absolute, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(absolute); err != nil {
			return nil, fmt.Errorf("ingest: %w", err) // it names the path
		}
		files, err := source.Recognise(ctx, absolute)
		if err != nil {
			return nil, err
		}
		files = slices.DeleteFunc(files, func(f transcript.File) bool { return byName[f.Source] == nil })
		if len(files) == 0 {
			return nil, fmt.Errorf("%s: no sessions recognised there; those are read of %s", path, strings.Join(names, ", "))
		}
		for name, src := range byName {
			of := slices.DeleteFunc(slices.Clone(files), func(f transcript.File) bool { return f.Source != name })
			if len(of) > 0 {
				work = append(work, keeper.Batch{Source: src, Files: of, Final: true}) // a person's choice: as it is, to its end
			}
		}
	}
	sort.SliceStable(work, func(i, j int) bool { return work[i].Source.Name() < work[j].Source.Name() })
	return work, nil
}

func (a *app) inPlaces(ctx context.Context, sources map[string]transcript.Source) ([]keeper.Batch, error) {
	if len(a.config.Exclude) > 0 {
		fmt.Fprintf(a.err, "hermes-mcp: left out, since sources.exclude (%s) says so: %s\n", a.config.Origins["sources.exclude"], strings.Join(a.config.Exclude, ", "))
	}
	var work []keeper.Batch
	for _, src := range source.All() {
		if sources[src.Name()] == nil || a.config.Excluded(src.Name()) {
			continue
		}
		files, err := src.Find(ctx, a.places())
		if err != nil {
			return nil, fmt.Errorf("find %s sessions: %w", src.Name(), err)
		}
		work = append(work, keeper.Batches(src, files)...)
	}
	return work, nil
}

// ingestLock waits for a server's own ingest to make room. A server keeps the
// lock for its life, so after a moment the work is done beside it: ingest is
// idempotent, and the archive knows how to serialise writers.
func (a *app) ingestLock(ctx context.Context) (held bool, release func(), err error) {
	lock := flock.New(a.home.MCP("ingest.lock"))
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	held, err = lock.TryLockContext(ctx, 50*time.Millisecond)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return false, nil, fmt.Errorf("ingest lock: %w", err)
	}
	return held, func() {
		if !held {
			return
		}
		if err := lock.Unlock(); err != nil {
			a.log.Warn().Err(err).Msg("ingest lock")
		}
	}, nil
}

func (a *app) ingestAll(ctx context.Context, work []keeper.Batch, quiet bool) (report, error) {
	total := report{Unreadable: []problem{}, Skipped: []problem{}}
	db, err := a.archive.open(ctx)
	if err != nil {
		return total, err
	}
	files, size := 0, int64(0)
	for _, w := range work {
		files += len(w.Files)
		size += sizeOf(w.Files)
	}
	var out io.Writer = a.err
	if s, ok := out.(screen); ok {
		out = s.to // a bar is drawn with terminal codes, and holds nothing that is kept
	}
	if quiet {
		out = io.Discard
	}
	defer keeper.Slack()()
	show := newProgress(out, isTerminal(a.err) && !quiet, files, size)
	start := time.Now()
	var errs []error
	for _, w := range work {
		one, err := db.Ingest(ctx, w.Source, w.Files, w.Final, show.update)
		total.add(one)
		show.done(len(w.Files), sizeOf(w.Files), one)
		if err != nil {
			errs = append(errs, fmt.Errorf("ingest %s: %w", w.Source.Name(), err))
			break
		}
	}
	show.end()
	total.Seconds = time.Since(start).Seconds()
	return total, errors.Join(errs...)
}

func sizeOf(files []transcript.File) (size int64) {
	for _, f := range files {
		size += f.Size
	}
	return size
}

func (a *app) printReport(r report, asJSON bool) error {
	if asJSON {
		return a.printJSON(r)
	}
	for _, p := range r.Unreadable {
		fmt.Fprintf(a.err, "not read: %s: %s\n", p.Path, p.Reason)
	}
	if n := len(r.Skipped); n > 0 {
		p := r.Skipped[0]
		fmt.Fprintf(a.err, "%s skipped, the first %s:%d: %s\n", plain.Count(n, "line"), p.Path, p.Line, p.Reason)
	}
	_, err := fmt.Fprintf(a.out, "%s (%d unchanged), %s, %s\n", plain.Count(r.Files, "file"), r.Unchanged, plain.Count(r.Sessions, "new session"), plain.Count(r.Messages, "new message"))
	return err
}

func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// ingestOn goes on as a server's background work would.
func (a *app) ingestOn(ctx context.Context) error {
	fmt.Fprintln(a.err, "watching; interrupt to end")
	a.keeper(0).Run(ctx)
	return nil
}
