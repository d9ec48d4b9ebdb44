package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/transcript"
	"github.com/hermes-mcp/hermes-mcp/transcript/source"
)

// ingestReport says how fast agents' files become searchable. Seconds ends
// when all of it is; MB counts the bytes of source files read, in millions.
type ingestReport struct {
	Files      int          `json:"files"`
	Sessions   int          `json:"sessions"`
	Messages   int          `json:"messages"`
	MB         float64      `json:"mb"`
	Seconds    float64      `json:"seconds"`
	MBps       float64      `json:"mb_per_s"`
	PerS       float64      `json:"messages_per_s"`
	PeakRSS    float64      `json:"peak_rss_mb"`
	TextBytes  int64        `json:"text_bytes"`
	DBBytes    int64        `json:"db_bytes"`
	IndexBytes int64        `json:"index_bytes"`
	RescanS    float64      `json:"rescan_seconds"`
	Unreadable []unreadable `json:"unreadable"`
}

type unreadable struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

func ingestCommand(show func(report) error) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "ingest",
		Short: "How fast a folder of agents' transcripts becomes searchable",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			path, err := filepath.Abs(dir)
			if err != nil {
				return err
			}
			b, err := newBed(c.Context(), "")
			if err != nil {
				return err
			}
			r, err := b.measureIngest(c.Context(), path)
			if err = closing(b, err); err != nil {
				return err
			}
			return show(r)
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "folder of transcripts, of any agent")
	_ = c.MarkFlagRequired("dir") // the flag exists: it was defined above
	return c
}

func (b *bed) measureIngest(ctx context.Context, dir string) (ingestReport, error) {
	r := ingestReport{Unreadable: []unreadable{}}
	start := time.Now()
	rep, err := b.ingestAll(ctx, dir)
	if err != nil {
		return r, err
	}
	r.Seconds = time.Since(start).Seconds()
	r.Files, r.Sessions, r.Messages, r.MB = rep.Files, rep.Sessions, rep.Messages, float64(rep.Bytes)/1e6
	for _, p := range rep.Problems {
		r.Unreadable = append(r.Unreadable, unreadable{p.Path, problemWords(p)})
	}
	r.MBps, r.PerS = ratio(r.MB, r.Seconds), ratio(float64(r.Messages), r.Seconds)
	r.PeakRSS = peakRSS()
	start = time.Now()
	if _, err := b.ingestAll(ctx, dir); err != nil {
		return r, err
	}
	r.RescanS = time.Since(start).Seconds()
	sizes, err := b.sizes(ctx)
	r.TextBytes, r.DBBytes, r.IndexBytes = sizes.Text, sizes.DB, sizes.Index
	return r, err
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

// ingestAll ingests what every source recognises below dir, and adds up what
// it did.
func (b *bed) ingestAll(ctx context.Context, dir string) (transcript.IngestReport, error) {
	var all transcript.IngestReport
	for _, src := range source.All() {
		files, err := src.FindIn(ctx, dir)
		if err != nil {
			return all, fmt.Errorf("look for %s files: %w", src.Name(), err)
		}
		if len(files) == 0 {
			continue
		}
		rep, err := b.db.Ingest(ctx, src, files, true, nil)
		if err != nil {
			return all, fmt.Errorf("ingest %s: %w", src.Name(), err)
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
	_, err := fmt.Fprintf(w, `files %d, sessions %d, messages %d, unreadable %d
read %.1f MB in %.2f s: %.1f MB/s, %.0f messages/s; rescan of all files unchanged %.2f s; peak memory %.0f MB
text kept %.1f MB, database %.1f MB (%.2f x text), of that index %.1f MB (%.2f x text)
`, r.Files, r.Sessions, r.Messages, len(r.Unreadable), r.MB, r.Seconds, r.MBps, r.PerS, r.RescanS, r.PeakRSS,
		float64(r.TextBytes)/1e6, float64(r.DBBytes)/1e6, ratio(float64(r.DBBytes), float64(r.TextBytes)),
		float64(r.IndexBytes)/1e6, ratio(float64(r.IndexBytes), float64(r.TextBytes)))
	for _, u := range r.Unreadable {
		if err == nil {
			_, err = fmt.Fprintf(w, "  unreadable: %s: %s\n", u.Path, u.Reason)
		}
	}
	return err
}
