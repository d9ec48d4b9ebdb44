package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// speedReport says how long session_search takes, by kind of query, in an
// archive of generated text.
type speedReport struct {
	Messages   int          `json:"messages"`
	TextBytes  int64        `json:"text_bytes"`
	DBBytes    int64        `json:"db_bytes"`
	IndexBytes int64        `json:"index_bytes"`
	Classes    []speedClass `json:"classes"`
}

type speedClass struct {
	Name string  `json:"name"`
	P50  float64 `json:"p50_ms"`
	P95  float64 `json:"p95_ms"`
	Hits float64 `json:"hits"` // sessions returned, on average
}

// queriesPerClass is how many different queries each class asks.
const queriesPerClass = 40

func speedCommand(show func(report) error, stderr io.Writer) *cobra.Command {
	var messages int
	var home string
	c := &cobra.Command{
		Use:   "speed",
		Short: "How long session_search takes in a generated archive",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if messages < sessionLength {
				return fmt.Errorf("--messages is at least %d, not %d", sessionLength, messages)
			}
			r, err := measureSpeed(c.Context(), home, messages, stderr)
			if err != nil {
				return err
			}
			return show(r)
		},
	}
	c.Flags().IntVar(&messages, "messages", 100_000, "messages to generate")
	c.Flags().StringVar(&home, "home", "", "home to make, or one that an earlier run made with as many messages; temporary when empty")
	return c
}

func measureSpeed(ctx context.Context, home string, messages int, stderr io.Writer) (speedReport, error) {
	r := speedReport{Messages: messages}
	if home != "" {
		if err := os.MkdirAll(home, 0o700); err != nil {
			return r, err
		}
	}
	b, err := newBed(ctx, home)
	if err != nil {
		return r, err
	}
	samples, err := b.fill(ctx, messages, stderr)
	if err == nil {
		for _, class := range queryClasses(samples) {
			var got speedClass
			if got, err = b.timeClass(ctx, class); err != nil {
				break
			}
			r.Classes = append(r.Classes, got)
		}
	}
	if err == nil {
		var sizes transcript.Sizes
		sizes, err = b.sizes(ctx)
		r.TextBytes, r.DBBytes, r.IndexBytes = sizes.Text, sizes.DB, sizes.Index
	}
	return r, closing(b, err)
}

// A sampleFile keeps what a generated home can be asked about.
type sampleFile struct {
	Messages int
	Prose    []string
	Foreign  []string
}

// fill generates and ingests messages, unless an earlier run did.
func (b *bed) fill(ctx context.Context, messages int, stderr io.Writer) (*corpus, error) {
	const seed = 7
	c := &corpus{language: newLanguage(seed)}
	kept := filepath.Join(b.home, "bench-samples.json")
	if raw, err := os.ReadFile(kept); err == nil {
		var s sampleFile
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, fmt.Errorf("%s: %w", kept, err)
		}
		if s.Messages != messages {
			return nil, fmt.Errorf("%s holds %d generated messages, not %d; name another --home", b.home, s.Messages, messages)
		}
		c.prose, c.foreign = s.Prose, s.Foreign
		return c, nil
	}
	dir, err := os.MkdirTemp("", "hermes-bench-corpus-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := c.write(dir, messages); err != nil {
		return nil, err
	}
	fmt.Fprintf(stderr, "hermes-bench: ingesting %d generated messages\n", messages)
	rep, err := b.ingestAll(ctx, dir, nil)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(stderr, "hermes-bench: %d messages in %d sessions\n", rep.Messages, rep.Sessions)
	raw, err := json.Marshal(sampleFile{messages, c.prose, c.foreign})
	if err != nil {
		return nil, err
	}
	return c, os.WriteFile(kept, raw, 0o600)
}

// A queryClass is a kind of query with its queries.
type queryClass struct {
	name    string
	queries []string
}

// queryClasses draws the queries of every class, afresh from what was said.
func queryClasses(c *corpus) []queryClass {
	text := func() []string { return strings.Fields(strings.ReplaceAll(c.prose[c.rnd.IntN(len(c.prose))], ".", "")) }
	foreign := func(n int) string {
		run := []rune(strings.NewReplacer("，", "", "。", "").Replace(c.foreign[c.rnd.IntN(len(c.foreign))]))
		i := c.rnd.IntN(len(run) - n)
		return string(run[i : i+n])
	}
	common := func() string { return c.between(5, 60) }
	middle := func() string { return c.between(200, 4_000) }
	long := func(from, to, letters int) string {
		for {
			if w := c.between(from, to); len(w) >= letters {
				return w
			}
		}
	}
	kinds := []struct {
		name string
		draw func() string
	}{
		{"rare word", func() string { return c.between(20_000, vocabulary) }},
		{"common word", common},
		{"two words", func() string { return middle() + " " + middle() }},
		{"or of three common", func() string { return common() + " OR " + common() + " OR " + common() }},
		{"prefix", func() string { return long(200, 4_000, 5)[:3+c.rnd.IntN(3)] + "*" }},
		{"phrase", func() string {
			w := text()
			i := c.rnd.IntN(len(w) - 1)
			return `"` + w[i] + " " + w[i+1] + `"`
		}},
		{"question", func() string {
			w := text()
			q := "how did we"
			for range 5 {
				q += " " + w[c.rnd.IntN(len(w))]
			}
			return q + "?"
		}},
		{"identifier", func() string { return c.identifiers[c.rnd.IntN(len(c.identifiers))] }},
		{"chinese 1", func() string { return foreign(1) }},
		{"chinese 2", func() string { return foreign(2) }},
		{"chinese 4", func() string { return foreign(4) }},
		{"typo", func() string {
			w := []byte(long(4_000, 20_000, 5))
			i := 1 + c.rnd.IntN(len(w)-2)
			w[i], w[i+1] = w[i+1], w[i]
			return string(w)
		}},
	}
	classes := make([]queryClass, 0, len(kinds))
	for _, k := range kinds {
		class := queryClass{name: k.name}
		for range queriesPerClass {
			class.queries = append(class.queries, k.draw())
		}
		classes = append(classes, class)
	}
	return classes
}

// timeClass asks every query of a class once, after one that is not counted.
func (b *bed) timeClass(ctx context.Context, class queryClass) (speedClass, error) {
	var took []time.Duration
	hits := 0
	for i, q := range append(class.queries[:1:1], class.queries...) {
		start := time.Now()
		found, err := b.search(ctx, q, 5)
		if err != nil {
			return speedClass{}, fmt.Errorf("search %q: %w", q, err)
		}
		if i > 0 {
			took = append(took, time.Since(start))
			hits += len(found)
		}
	}
	return speedClass{class.name, ms(percentile(took, 50)), ms(percentile(took, 95)), ratio(float64(hits), float64(len(class.queries)))}, nil
}

func (r speedReport) table(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "%d messages\tp50 ms\tp95 ms\tsessions found\t\n", r.Messages)
	for _, c := range r.Classes {
		fmt.Fprintf(t, "%s\t%.2f\t%.2f\t%.1f\t\n", c.Name, c.P50, c.P95, c.Hits)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "text %.1f MB, database %.2f x text, index %.2f x text\n", float64(r.TextBytes)/1e6,
		ratio(float64(r.DBBytes), float64(r.TextBytes)), ratio(float64(r.IndexBytes), float64(r.TextBytes)))
	return err
}
