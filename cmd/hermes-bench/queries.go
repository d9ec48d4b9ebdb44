package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// queriesReport says how often session_search puts a right session first, and
// among the first five, over a table of queries about real transcripts.
type queriesReport struct {
	Queries int                    `json:"queries"`
	Asked   int                    `json:"asked"` // those whose right sessions could be archived
	Hit1    float64                `json:"hit@1"`
	Hit5    float64                `json:"hit@5"`
	Empty   int                    `json:"empty"`
	Kinds   map[string]kindOfQuery `json:"by_kind"`
	Missed  []missedQuery          `json:"missed"`
}

type kindOfQuery struct {
	Queries int     `json:"queries"`
	Hit1    float64 `json:"hit@1"`
	Hit5    float64 `json:"hit@5"`
}

// A missedQuery did not have a right session first.
type missedQuery struct {
	Query string   `json:"query"`
	Kind  string   `json:"kind"`
	Rank  int      `json:"rank"` // of the first right session, 0 when it is not among the first ten
	Want  []string `json:"want"`
	First string   `json:"first"`
}

// A tableQuery is one row of the table. A session "<source>:@<path>" means any
// session that was read from a file whose path ends so.
type tableQuery struct {
	Query    string   `json:"query"`
	Kind     string   `json:"kind"`
	Sessions []string `json:"sessions"`
}

func queriesCommand(show func(report) error) *cobra.Command {
	var dir, table string
	c := &cobra.Command{
		Use:   "queries",
		Short: "How often session_search finds the right one of real transcripts first",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			raw, err := os.ReadFile(table)
			if err != nil {
				return err
			}
			var qs []tableQuery
			if err := json.Unmarshal(raw, &qs); err != nil {
				return fmt.Errorf("%s is not a table of queries: %w", table, err)
			}
			path, err := filepath.Abs(dir)
			if err != nil {
				return err
			}
			b, err := newBed(c.Context(), "")
			if err != nil {
				return err
			}
			r, err := b.askTable(c.Context(), path, qs)
			if err = closing(b, err); err != nil {
				return err
			}
			return show(r)
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "folder of transcripts")
	c.Flags().StringVar(&table, "table", "tools/sessions/testdata/queries.json", "the queries with their right sessions")
	_ = c.MarkFlagRequired("dir") // the flag exists: it was defined above
	return c
}

func (b *bed) askTable(ctx context.Context, dir string, qs []tableQuery) (queriesReport, error) {
	r := queriesReport{Queries: len(qs), Kinds: map[string]kindOfQuery{}, Missed: []missedQuery{}}
	if _, err := b.ingestAll(ctx, dir, nil); err != nil {
		return r, err
	}
	var hit1, hit5 int
	for _, q := range qs {
		known := b.archived(ctx, q.Sessions)
		if len(known) == 0 {
			continue
		}
		r.Asked++
		found, err := b.search(ctx, q.Query, 10)
		if err != nil {
			return r, fmt.Errorf("search %q: %w", q.Query, err)
		}
		if len(found) == 0 {
			r.Empty++
		}
		rank := 1 + slices.IndexFunc(found, func(id string) bool {
			return slices.ContainsFunc(known, func(want string) bool { return b.same(ctx, id, want) })
		})
		kind := r.Kinds[q.Kind]
		kind.Queries++
		if rank == 1 {
			hit1++
			kind.Hit1++
		} else {
			r.Missed = append(r.Missed, missedQuery{q.Query, q.Kind, rank, q.Sessions, first(found)})
		}
		if rank >= 1 && rank <= 5 {
			hit5++
			kind.Hit5++
		}
		r.Kinds[q.Kind] = kind
	}
	for name, k := range r.Kinds {
		r.Kinds[name] = kindOfQuery{k.Queries, ratio(k.Hit1, float64(k.Queries)), ratio(k.Hit5, float64(k.Queries))}
	}
	r.Hit1, r.Hit5 = ratio(float64(hit1), float64(r.Asked)), ratio(float64(hit5), float64(r.Asked))
	return r, nil
}

// archived returns those of the wanted sessions that the archive can hold at all.
func (b *bed) archived(ctx context.Context, want []string) []string {
	var known []string
	for _, id := range want {
		if _, _, byPath := strings.Cut(id, ":@"); byPath {
			known = append(known, id)
		} else if _, err := b.db.Session(ctx, id); err == nil {
			known = append(known, id)
		}
	}
	return known
}

// same tells whether the found session is the wanted one, a subagent of it, or
// the one that it was a subagent of.
func (b *bed) same(ctx context.Context, found, want string) bool {
	if found == want {
		return true
	}
	s, err := b.db.Session(ctx, found)
	if err != nil {
		return false
	}
	if _, path, byPath := strings.Cut(want, ":@"); byPath {
		return strings.HasSuffix(filepath.ToSlash(s.SourcePath), path)
	}
	if s.Relation == transcript.Subagent && s.ParentID == want {
		return true
	}
	w, err := b.db.Session(ctx, want)
	return err == nil && w.Relation == transcript.Subagent && w.ParentID == s.ID
}

func first(ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	return ids[0]
}

func (r queriesReport) table(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "kind\tqueries\thit@1\thit@5\t\n")
	names := make([]string, 0, len(r.Kinds))
	for name := range r.Kinds {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		k := r.Kinds[name]
		fmt.Fprintf(t, "%s\t%d\t%.3f\t%.3f\t\n", name, k.Queries, k.Hit1, k.Hit5)
	}
	fmt.Fprintf(t, "all\t%d\t%.3f\t%.3f\t\n", r.Asked, r.Hit1, r.Hit5)
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%d of %d queries asked, %d answers empty\n", r.Asked, r.Queries, r.Empty)
	for _, m := range r.Missed {
		if err == nil {
			_, err = fmt.Fprintf(w, "  rank %d: %s %q: first %s, want %s\n", m.Rank, m.Kind, m.Query, m.First, strings.Join(m.Want, " "))
		}
	}
	return err
}
