package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/keeper"
	"github.com/hermes-mcp/hermes-mcp/transcript"
	"github.com/hermes-mcp/hermes-mcp/transcript/source"
)

// A soak is an archive in use: agents append to their files, the keeper
// archives what they say, clients search, and another process appends to the
// archive itself, as session_record does.
type soak struct {
	messages int           // generated, there before
	files    int           // that are appended to
	rate     int           // lines a second, over all files
	readers  int           // searching without end, with a pause between two searches
	pause    time.Duration // of a reader
	length   time.Duration // of each half: idle, live
}

// soakReport says what the live half cost. Times are in milliseconds.
type soakReport struct {
	Messages    int     `json:"messages"`
	Files       int     `json:"files"`
	Rate        int     `json:"lines_per_s"`
	Lines       int     `json:"lines"` // written
	Missing     int     `json:"missing"`
	Doubled     int     `json:"doubled"`
	IdleP95     float64 `json:"idle_p95_ms"`
	LiveP95     float64 `json:"live_p95_ms"`
	Searches    int     `json:"searches"` // in the live half
	LagP50      float64 `json:"lag_p50_ms"`
	LagWorst    float64 `json:"lag_worst_ms"` // from a line's write until a search finds it
	Probes      int     `json:"probes"`
	AppendP95   float64 `json:"append_p95_ms"`
	AppendWorst float64 `json:"append_worst_ms"` // of another process, durable
	Appends     int     `json:"appends"`
}

func soakCommand(show func(report) error, stderr io.Writer) *cobra.Command {
	var s soak
	c := &cobra.Command{
		Use:   "soak",
		Short: "What searches and appends cost while agents write and their files are archived",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if s.messages < sessionLength || s.files < 1 || s.rate < 1 || s.readers < 1 || s.length < time.Second {
				return fmt.Errorf("--messages is at least %d, --files, --rate and --readers at least 1, --length 1s", sessionLength)
			}
			r, err := s.run(c.Context(), stderr)
			if err != nil {
				return err
			}
			return show(r)
		},
	}
	c.Flags().IntVar(&s.messages, "messages", 20_000, "messages in the archive before")
	c.Flags().IntVar(&s.files, "files", 20, "files that are appended to")
	c.Flags().IntVar(&s.rate, "rate", 200, "lines a second, over all files")
	c.Flags().IntVar(&s.readers, "readers", 4, "readers that search")
	c.Flags().DurationVar(&s.pause, "pause", 25*time.Millisecond, "between two searches of a reader")
	c.Flags().DurationVar(&s.length, "length", 20*time.Second, "of each half")
	return c
}

func (s soak) run(ctx context.Context, stderr io.Writer) (soakReport, error) {
	r := soakReport{Messages: s.messages, Files: s.files, Rate: s.rate}
	b, err := newBed(ctx, "")
	if err != nil {
		return r, err
	}
	c, err := b.fill(ctx, s.messages, stderr)
	if err == nil {
		err = s.halves(ctx, b, c, &r)
	}
	return r, closing(b, err)
}

// halves runs the idle half, then the live one.
func (s soak) halves(ctx context.Context, b *bed, c *corpus, r *soakReport) error {
	queries := searchesFor(c)
	idle, err := s.search(ctx, b, queries, time.After(s.length))
	if err != nil {
		return err
	}
	r.IdleP95 = ms(percentile(idle, 95))
	before, err := archived(ctx, b.db)
	if err != nil {
		return err
	}

	live := &liveHalf{soak: s, bed: b, corpus: c, end: make(chan struct{})}
	stopKeeper, err := live.keep(ctx)
	if err != nil {
		return err
	}
	defer stopKeeper()
	var work sync.WaitGroup
	errs := make([]error, 4)
	work.Go(func() { errs[0] = live.write(ctx) })
	work.Go(func() { errs[1] = live.probe(ctx) })
	work.Go(func() { errs[2] = live.record(ctx) })
	var took []time.Duration
	took, errs[3] = s.search(ctx, b, queries, time.After(s.length))
	close(live.end)
	work.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	r.LiveP95, r.Searches = ms(percentile(took, 95)), len(took)
	r.LagP50, r.LagWorst, r.Probes = ms(percentile(live.lags, 50)), ms(percentile(live.lags, 100)), len(live.lags)
	r.AppendP95, r.AppendWorst, r.Appends = ms(percentile(live.appends, 95)), ms(percentile(live.appends, 100)), len(live.appends)
	r.Lines = live.lines
	want := before + live.lines + recordedMessages*len(live.appends)
	now, err := live.await(ctx, want)
	r.Missing, r.Doubled = max(0, want-now), max(0, now-want)
	return err
}

// searchesFor mixes queries of every class.
func searchesFor(c *corpus) []string {
	var all []string
	for _, class := range queryClasses(c) {
		all = append(all, class.queries...)
	}
	c.rnd.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// search has all readers search until end, and returns how long it took them.
func (s soak) search(ctx context.Context, b *bed, queries []string, end <-chan time.Time) ([]time.Duration, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	took := make([][]time.Duration, s.readers)
	errs := make([]error, s.readers)
	var readers sync.WaitGroup
	for i := range s.readers {
		readers.Go(func() {
			for n := i * len(queries) / s.readers; ctx.Err() == nil; n++ {
				start := time.Now()
				_, err := b.search(ctx, queries[n%len(queries)], 5)
				if ctx.Err() != nil {
					return
				}
				if err != nil {
					errs[i] = err
					return
				}
				took[i] = append(took[i], time.Since(start))
				wait(ctx, s.pause)
			}
		})
	}
	select {
	case <-end:
	case <-ctx.Done():
	}
	cancel()
	readers.Wait()
	return slices.Concat(took...), errors.Join(errs...)
}

// wait returns after d, or when ctx is done.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// archived counts the messages in the archive.
func archived(ctx context.Context, db *transcript.DB) (int, error) {
	coverage, err := db.Coverage(ctx)
	n := 0
	for _, c := range coverage {
		n += c.Messages
	}
	return n, err
}

// keep runs a keeper as a server does, until stop is called.
func (l *liveHalf) keep(ctx context.Context) (stop func(), err error) {
	l.home = filepath.Join(l.bed.home, "user")
	if err := os.MkdirAll(l.folder(), 0o700); err != nil {
		return nil, err
	}
	mcp := filepath.Join(l.bed.home, "mcp")
	k := &keeper.Keeper{
		Open: func(ctx context.Context) (*transcript.DB, error) {
			return transcript.Open(ctx, filepath.Join(mcp, "archive.db"))
		},
		Sources:  source.All(),
		Places:   transcript.Places{Home: l.home, HermesHome: l.bed.home, GOOS: "linux"},
		Excluded: func(string) bool { return false },
		Folder:   mcp, Log: zerolog.Nop(),
	}
	if err := l.open(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var owner sync.WaitGroup
	owner.Go(func() { k.Run(ctx) })
	return func() { cancel(); owner.Wait() }, nil
}

func (r soakReport) table(w io.Writer) error {
	_, err := fmt.Fprintf(w, `%d messages before; %d lines written to %d files at %d a second; %d missing, %d doubled
search p95: idle %.2f ms, live %.2f ms (%.2f x), %d searches
until found: p50 %.0f ms, worst %.0f ms of %d probes
append by another process: p95 %.1f ms, worst %.1f ms of %d
`, r.Messages, r.Lines, r.Files, r.Rate, r.Missing, r.Doubled, r.IdleP95, r.LiveP95, ratio(r.LiveP95, r.IdleP95), r.Searches,
		r.LagP50, r.LagWorst, r.Probes, r.AppendP95, r.AppendWorst, r.Appends)
	return err
}
