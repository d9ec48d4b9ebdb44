package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/memstore/conflict"
)

// pairFiles are our own sets, seen from the root of the repository: the one that
// the rules were made on, and those that were written before anybody had seen
// what the rules make of them.
var pairFiles = []string{
	filepath.Join("memstore", "conflict", "testdata", "pairs.tsv"),
	filepath.Join("memstore", "conflict", "testdata", "heldout.tsv"),
}

// conflictsReport tells how well contradictions are told from what goes
// together.
type conflictsReport struct {
	Sets []conflictSet `json:"sets"`
}

// A conflictSet is the pairs of one file in one language.
type conflictSet struct {
	File           string  `json:"file"`
	Name           string  `json:"name"`
	Pairs          int     `json:"pairs"`
	Contradictions int     `json:"contradictions"`
	Named          int     `json:"named"` // pairs that were called contradictions
	Right          int     `json:"right"` // of those, that are
	Precision      float64 `json:"precision"`
	Recall         float64 `json:"recall"`
}

func conflictsCommand(show func(report) error) *cobra.Command {
	var files []string
	c := &cobra.Command{
		Use:   "conflicts",
		Short: "How many contradictions among entries are named, and how many of those named are",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			var r conflictsReport
			for _, file := range files {
				sets, err := measureConflicts(file)
				if err != nil {
					return err
				}
				r.Sets = append(r.Sets, sets...)
			}
			return show(r)
		},
	}
	c.Flags().StringArrayVar(&files, "pairs", pairFiles, "a file; lines of yes or no, a tab, the older entry, a tab, the newer one")
	return c
}

func measureConflicts(file string) (sets []conflictSet, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("pairs: %w; run it at the root of the repository or give --pairs", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	all, chinese, other := conflictSet{Name: "all"}, conflictSet{Name: "chinese"}, conflictSet{Name: "english"}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		said := strings.Split(lines.Text(), "\t")
		if len(said) != 3 || said[0] != "yes" && said[0] != "no" {
			continue // a comment
		}
		is := said[0] == "yes"
		named := conflict.Read(said[1]).Contradicts(conflict.Read(said[2])) != ""
		all.count(is, named)
		if strings.ContainsFunc(said[1], func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
			chinese.count(is, named)
		} else {
			other.count(is, named)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("pairs: %w", err)
	}
	for _, s := range []conflictSet{other, chinese, all} {
		s.Precision, s.Recall = ratio(float64(s.Right), float64(s.Named)), ratio(float64(s.Right), float64(s.Contradictions))
		s.File = file
		sets = append(sets, s)
	}
	return sets, nil
}

func (s *conflictSet) count(is, named bool) {
	s.Pairs++
	if is {
		s.Contradictions++
	}
	if named {
		s.Named++
	}
	if is && named {
		s.Right++
	}
}

func (r conflictsReport) table(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "set\tpairs\tn\tcontradictions\tnamed\tright\tprecision\trecall\t")
	for _, s := range r.Sets {
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%d\t%.3f\t%.3f\t\n", strings.TrimSuffix(filepath.Base(s.File), ".tsv"), s.Name, s.Pairs, s.Contradictions, s.Named, s.Right, s.Precision, s.Recall)
	}
	return t.Flush()
}
