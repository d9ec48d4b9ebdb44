package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
)

// memoryReport compares a memory add, journal included, with the least that a
// durable replacement of the same file costs.
type memoryReport struct {
	Writes int     `json:"writes"`
	Add    float64 `json:"add_p50_us"`
	Bare   float64 `json:"bare_p50_us"`
	Ratio  float64 `json:"ratio"` // the median over the blocks
}

func memoryCommand(show func(report) error) *cobra.Command {
	var writes int
	c := &cobra.Command{
		Use:   "memory",
		Short: "What a memory add costs beside a bare temp+fsync+rename+fsync of the same bytes",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if writes < 1 {
				return fmt.Errorf("--writes is at least 1, not %d", writes)
			}
			b, err := newBed(c.Context(), "")
			if err != nil {
				return err
			}
			r, err := b.measureMemory(c.Context(), writes)
			if err = closing(b, err); err != nil {
				return err
			}
			return show(r)
		},
	}
	c.Flags().IntVar(&writes, "writes", 300, "adds to measure")
	return c
}

const (
	// roomOfEntries is how many entries the measured file holds: about what the
	// default limit allows.
	roomOfEntries = 24
	// block is how many adds, then as many bare writes, come in a row. The first
	// of each is not counted: it pays for what the others left to the disk.
	block = 12
)

// measureMemory adds and writes barely in turns of a block, so that both meet
// the same machine. A full room is emptied outside the clock.
func (b *bed) measureMemory(ctx context.Context, writes int) (memoryReport, error) {
	var adds, bares []time.Duration
	var ratios []float64
	dir := filepath.Join(b.home, "bare")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return memoryReport{}, err
	}
	memory := filepath.Join(b.home, "memories", "MEMORY.md")
	for i := 0; i < writes || i%roomOfEntries != 0; i += block {
		var add, bare []time.Duration
		var files [][]byte
		for j := range block {
			var answer struct {
				Success bool `json:"success"`
			}
			request, err := ask("memory", map[string]any{"action": "add", "content": benchFact(i + j)})
			if err != nil {
				return memoryReport{}, err
			}
			start := time.Now()
			got, err := b.answer(ctx, request)
			add = append(add, time.Since(start))
			if err == nil {
				err = understand("memory", got, &answer)
			}
			if err != nil {
				return memoryReport{}, err
			}
			raw, err := os.ReadFile(memory)
			if err != nil {
				return memoryReport{}, err
			}
			files = append(files, raw)
		}
		for _, raw := range files {
			start := time.Now()
			err := bareWrite(filepath.Join(dir, "MEMORY.md"), raw)
			bare = append(bare, time.Since(start))
			if err != nil {
				return memoryReport{}, err
			}
		}
		add, bare = add[1:], bare[1:]
		ratios = append(ratios, ratio(us(percentile(add, 50)), us(percentile(bare, 50))))
		adds, bares = append(adds, add...), append(bares, bare...)
		if (i+block)%roomOfEntries == 0 {
			if err := b.empty(ctx, i+block-1); err != nil {
				return memoryReport{}, err
			}
		}
	}
	slices.Sort(ratios)
	return memoryReport{
		Writes: len(adds), Add: us(percentile(adds, 50)), Bare: us(percentile(bares, 50)), Ratio: ratios[len(ratios)/2],
	}, nil
}

// benchFact is the i-th entry, of the usual length.
func benchFact(i int) string {
	return fmt.Sprintf("The build of service %d runs with make on Debian 12 and needs PostgreSQL 16 beside it.", i)
}

// empty removes the entries up to the last-th in one batch.
func (b *bed) empty(ctx context.Context, last int) error {
	var ops []map[string]any
	for i := last - roomOfEntries + 1; i <= last; i++ {
		ops = append(ops, map[string]any{"action": "remove", "old_text": benchFact(i)})
	}
	var answer struct {
		Success bool `json:"success"`
	}
	return b.call(ctx, "memory", map[string]any{"operations": ops}, &answer)
}

// bareWrite replaces path by raw, durably, and does nothing else.
func bareWrite(path string, raw []byte) error {
	temp := path + ".tmp"
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	err = dir.Sync()
	if cerr := dir.Close(); err == nil {
		err = cerr
	}
	return err
}

func (r memoryReport) table(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%d adds: p50 %.0f µs; bare temp+fsync+rename+fsync of the same bytes: p50 %.0f µs; ratio %.2f\n",
		r.Writes, r.Add, r.Bare, r.Ratio)
	return err
}
