package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

// speedReport says how long session_search takes, by kind of query, in an
// archive of generated text, and how that grows from a smaller one.
type speedReport struct {
	speedArchive
	Base    *speedArchive `json:"base,omitempty"` // asked in turns with it
	Classes []speedClass  `json:"classes"`
}

// A speedArchive is what was asked.
type speedArchive struct {
	Messages   int   `json:"messages"`
	TextBytes  int64 `json:"text_bytes"`
	DBBytes    int64 `json:"db_bytes"`
	IndexBytes int64 `json:"index_bytes"`
}

type speedClass struct {
	Name string  `json:"name"`
	P50  float64 `json:"p50_ms"`
	P95  float64 `json:"p95_ms"`
	CPU  float64 `json:"cpu_ms"` // a query, user and system, on average
	Hits float64 `json:"hits"`   // sessions returned, on average
	// Of the base, and how many times as long this one takes.
	BaseP50 float64 `json:"base_p50_ms,omitempty"`
	BaseCPU float64 `json:"base_cpu_ms,omitempty"`
	Growth  float64 `json:"growth_p50,omitempty"`
}

// baseMessages is the archive that a larger one is compared with.
const baseMessages = 100_000

func speedCommand(show func(report) error, stderr io.Writer) *cobra.Command {
	var messages int
	var how speedRun
	c := &cobra.Command{
		Use:   "speed",
		Short: "How long session_search takes in a generated archive",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if messages < sessionLength {
				return fmt.Errorf("--messages is at least %d, not %d", sessionLength, messages)
			}
			r, err := how.measure(c.Context(), messages, stderr)
			if err != nil {
				return err
			}
			return show(r)
		},
	}
	c.Flags().IntVar(&messages, "messages", baseMessages, fmt.Sprintf("messages to generate; more than %d are compared with as many", baseMessages))
	c.Flags().StringVar(&how.keep, "keep", "", "folder that keeps what is generated for the next run; temporary when empty")
	c.Flags().StringVar(&how.class, "class", "", "ask only the queries of this class, such as phrase")
	c.Flags().StringVar(&how.profile, "profile", "", "write a CPU profile of the queries to this file")
	return c
}

// A speedRun is what is asked of which archive.
type speedRun struct {
	keep, class, profile string
}

func (how speedRun) measure(ctx context.Context, messages int, stderr io.Writer) (r speedReport, err error) {
	b, samples, err := speedBed(ctx, how.keep, messages, stderr)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	var base *bed
	if messages > baseMessages {
		if base, samples, err = speedBed(ctx, how.keep, baseMessages, stderr); err != nil {
			return r, err
		}
		defer func() { err = errors.Join(err, base.close()) }()
	}
	if how.profile != "" {
		var stop func() error
		if stop, err = startProfile(how.profile); err != nil {
			return r, err
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	for _, class := range queryClasses(samples) {
		if how.class != "" && class.name != how.class {
			continue
		}
		got, err := timeClass(ctx, b, base, class)
		if err != nil {
			return r, err
		}
		r.Classes = append(r.Classes, got)
	}
	if len(r.Classes) == 0 {
		return r, fmt.Errorf("--class %q is no class of queries", how.class)
	}
	if r.speedArchive, err = b.weigh(ctx, messages); err != nil || base == nil {
		return r, err
	}
	weighed, err := base.weigh(ctx, baseMessages)
	r.Base = &weighed
	return r, err
}

func (b *bed) weigh(ctx context.Context, messages int) (speedArchive, error) {
	sizes, err := b.sizes(ctx)
	return speedArchive{messages, sizes.Text, sizes.DB, sizes.Index}, err
}

// A timing is what the queries of one class took in one archive.
type timing struct {
	took []time.Duration
	cpu  time.Duration
	hits int
}

func (t *timing) ask(ctx context.Context, b *bed, query string) error {
	start, cpu := time.Now(), cpuTime()
	found, err := b.search(ctx, query, 5)
	if err != nil {
		return fmt.Errorf("search %q: %w", query, err)
	}
	t.took = append(t.took, time.Since(start))
	t.cpu += cpuTime() - cpu
	t.hits += len(found)
	return nil
}

// timeClass asks every query of a class once, after one that is not counted, in
// turns with base when there is one, so that both meet the same machine.
func timeClass(ctx context.Context, b, base *bed, class queryClass) (speedClass, error) {
	var own, other timing
	for i, q := range append(class.queries[:1:1], class.queries...) {
		if base != nil {
			if err := other.ask(ctx, base, q); err != nil {
				return speedClass{}, err
			}
		}
		if err := own.ask(ctx, b, q); err != nil {
			return speedClass{}, err
		}
		if i == 0 {
			own, other = timing{}, timing{}
		}
	}
	n := len(class.queries)
	out := speedClass{
		Name: class.name, P50: ms(percentile(own.took, 50)), P95: ms(percentile(own.took, 95)),
		CPU: ms(own.cpu / time.Duration(n)), Hits: ratio(float64(own.hits), float64(n)),
		BaseP50: ms(percentile(other.took, 50)), BaseCPU: ms(other.cpu / time.Duration(n)),
	}
	out.Growth = ratio(out.P50, out.BaseP50)
	return out, nil
}

func (r speedReport) table(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "%d messages\tp50 ms\tp95 ms\tcpu ms\tsessions found\t", r.Messages)
	if r.Base != nil {
		fmt.Fprintf(t, "p50 ms of %d\tcpu ms\tgrowth of p50\t", r.Base.Messages)
	}
	fmt.Fprintln(t)
	for _, c := range r.Classes {
		fmt.Fprintf(t, "%s\t%.2f\t%.2f\t%.2f\t%.1f\t", c.Name, c.P50, c.P95, c.CPU, c.Hits)
		if r.Base != nil {
			fmt.Fprintf(t, "%.2f\t%.2f\t%.2f x\t", c.BaseP50, c.BaseCPU, c.Growth)
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	archives := []speedArchive{r.speedArchive}
	if r.Base != nil {
		archives = append(archives, *r.Base)
	}
	for _, a := range archives {
		if _, err := fmt.Fprintf(w, "%d messages: text %.1f MB, database %.2f x text, index %.2f x text\n", a.Messages, float64(a.TextBytes)/1e6,
			ratio(float64(a.DBBytes), float64(a.TextBytes)), ratio(float64(a.IndexBytes), float64(a.TextBytes))); err != nil {
			return err
		}
	}
	return nil
}
