package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/keeper"
	"github.com/hermes-mcp/hermes-mcp/transcript"
	"github.com/hermes-mcp/hermes-mcp/transcript/source"
)

// ingestReport says how fast agents' files become searchable. Seconds ends
// when all of it is; MB counts the bytes of source files read, in millions.
type ingestReport struct {
	ingestSet
	Sets       []ingestSet  `json:"sets"` // by source
	Sessions   int          `json:"sessions"`
	CPUS       float64      `json:"cpu_seconds"` // of all processors; what a busy machine does not blur
	BareCPUS   float64      `json:"bare_cpu_seconds"`
	RescanCPUS float64      `json:"rescan_cpu_seconds"`
	BareS      float64      `json:"bare_seconds"` // reading the files and decoding each JSON value in them, one after the other
	PeakRSS    float64      `json:"peak_rss_mb"`
	TextBytes  int64        `json:"text_bytes"`
	DBBytes    int64        `json:"db_bytes"`
	IndexBytes int64        `json:"index_bytes"`
	RescanS    float64      `json:"rescan_seconds"`
	Unreadable []unreadable `json:"unreadable"`
}

// An ingestSet is the files of one source, or all.
type ingestSet struct {
	Name     string  `json:"name"`
	Files    int     `json:"files"`
	Messages int     `json:"messages"`
	MB       float64 `json:"mb"`
	Seconds  float64 `json:"seconds"`
	MBps     float64 `json:"mb_per_s"`
	PerS     float64 `json:"messages_per_s"`
}

func newSet(name string, r transcript.IngestReport, took time.Duration) ingestSet {
	mb, seconds := float64(r.Bytes)/1e6, took.Seconds()
	return ingestSet{name, r.Files, r.Messages, mb, seconds, ratio(mb, seconds), ratio(float64(r.Messages), seconds)}
}

type unreadable struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

func ingestCommand(show func(report) error) *cobra.Command {
	var dir, generate, profile string
	c := &cobra.Command{
		Use:   "ingest",
		Short: "How fast a folder of agents' transcripts becomes searchable",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if (dir == "") == (generate == "") {
				return errors.New("one of --dir and --generate is needed")
			}
			if generate != "" {
				if dir, err = os.MkdirTemp("", "hermes-bench-made-"); err != nil {
					return err
				}
				defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
				if err := generateSessions(c.Context(), dir, generate); err != nil {
					return err
				}
			}
			path, err := filepath.Abs(dir)
			if err != nil {
				return err
			}
			b, err := newBed(c.Context(), "")
			if err != nil {
				return err
			}
			r, err := b.measureIngest(c.Context(), path, profile)
			if err = closing(b, err); err != nil {
				return err
			}
			return show(r)
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "folder of transcripts, of any agent")
	c.Flags().StringVar(&generate, "generate", "", "instead of a folder: one made file of so many bytes (2GB, 100MB), or so many made files (files=50000)")
	c.Flags().StringVar(&profile, "profile", "", "write a CPU profile of the ingest to this file")
	return c
}

func (b *bed) measureIngest(ctx context.Context, dir, profile string) (r ingestReport, err error) {
	r.Unreadable = []unreadable{}
	stop := func() error { return nil }
	if profile != "" {
		if stop, err = startProfile(profile); err != nil {
			return r, err
		}
	}
	start, cpu := time.Now(), cpuSeconds()
	rep, err := b.ingestAll(ctx, dir, func(name string, of transcript.IngestReport, took time.Duration) {
		r.Sets = append(r.Sets, newSet(name, of, took))
	})
	r.ingestSet, r.CPUS = newSet("all", rep, time.Since(start)), cpuSeconds()-cpu
	if err = errors.Join(err, stop()); err != nil {
		return r, err
	}
	r.Sessions = rep.Sessions
	for _, p := range rep.Problems {
		r.Unreadable = append(r.Unreadable, unreadable{p.Path, problemWords(p)})
	}
	r.PeakRSS = peakRSS()
	start, cpu = time.Now(), cpuSeconds()
	if _, err := b.ingestAll(ctx, dir, nil); err != nil {
		return r, err
	}
	r.RescanS, r.RescanCPUS = time.Since(start).Seconds(), cpuSeconds()-cpu
	start, cpu = time.Now(), cpuSeconds()
	if err := decodeAll(ctx, dir); err != nil {
		return r, err
	}
	r.BareS, r.BareCPUS = time.Since(start).Seconds(), cpuSeconds()-cpu
	sizes, err := b.sizes(ctx)
	r.TextBytes, r.DBBytes, r.IndexBytes = sizes.Text, sizes.DB, sizes.Index
	return r, err
}

func startProfile(path string) (stop func() error, err error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error { pprof.StopCPUProfile(); return f.Close() }, nil
}

// sizes measures the archive at rest: upkeep done, its log written back.
func (b *bed) sizes(ctx context.Context) (transcript.Sizes, error) {
	if err := b.db.Tend(ctx, true); err != nil {
		return transcript.Sizes{}, err
	}
	return b.db.Sizes(ctx)
}

func problemWords(p transcript.Problem) string {
	if p.Line > 0 {
		return fmt.Sprintf("line %d: %s", p.Line, p.Reason)
	}
	return p.Reason
}

// ingestAll ingests what is recognised below dir, and adds up what it did. each
// is told of every source, and may be nil.
func (b *bed) ingestAll(ctx context.Context, dir string, each func(string, transcript.IngestReport, time.Duration)) (transcript.IngestReport, error) {
	var all transcript.IngestReport
	defer keeper.Slack()()
	found, err := source.Recognise(ctx, dir)
	if err != nil {
		return all, err
	}
	for _, src := range source.All() {
		files := slices.DeleteFunc(slices.Clone(found), func(f transcript.File) bool { return f.Source != src.Name() })
		if len(files) == 0 {
			continue
		}
		start := time.Now()
		rep, err := b.db.Ingest(ctx, src, files, true, nil)
		if err != nil {
			return all, fmt.Errorf("ingest %s: %w", src.Name(), err)
		}
		if each != nil {
			each(src.Name(), rep, time.Since(start))
		}
		all.Files += rep.Files
		all.Sessions += rep.Sessions
		all.Messages += rep.Messages
		all.Bytes += rep.Bytes
		all.Problems = append(all.Problems, rep.Problems...)
	}
	return all, nil
}

func (r ingestReport) table(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "set\tfiles\tmessages\tMB\tseconds\tMB/s\tmessages/s\t\n")
	for _, s := range append(slices.Clone(r.Sets), r.ingestSet) {
		fmt.Fprintf(t, "%s\t%d\t%d\t%.1f\t%.2f\t%.1f\t%.0f\t\n", s.Name, s.Files, s.Messages, s.MB, s.Seconds, s.MBps, s.PerS)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, `all includes recognising the files, and took %.2f s of processor time
bare (the files read and their JSON decoded, nothing kept) %.2f s, %.2f s of processor time
rescan of all files unchanged %.2f s, %.2f s of processor time
%d sessions, %d unreadable; peak memory %.0f MB
text kept %.1f MB, database %.1f MB (%.2f x text), of that index %.1f MB (%.2f x text)
`, r.CPUS, r.BareS, r.BareCPUS, r.RescanS, r.RescanCPUS, r.Sessions, len(r.Unreadable), r.PeakRSS,
		float64(r.TextBytes)/1e6, float64(r.DBBytes)/1e6, ratio(float64(r.DBBytes), float64(r.TextBytes)),
		float64(r.IndexBytes)/1e6, ratio(float64(r.IndexBytes), float64(r.TextBytes)))
	for _, u := range r.Unreadable {
		if err == nil {
			_, err = fmt.Fprintf(w, "  unreadable: %s: %s\n", u.Path, u.Reason)
		}
	}
	return err
}
