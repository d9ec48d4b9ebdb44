package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/scanner"
)

// scannerReport counts the scanner's verdicts in the strict scope.
type scannerReport struct {
	Sets  []scannerSet `json:"sets"`
	PerKB float64      `json:"us_per_kb"`
}

type scannerSet struct {
	File    string `json:"file"`
	Side    string `json:"side"`
	N       int    `json:"n"`
	Refused int    `json:"refused"`
	Cleaned int    `json:"cleaned"`
	Clean   int    `json:"clean"`
}

func scannerCommand(show func(report) error) *cobra.Command {
	var attack, benign []string
	c := &cobra.Command{
		Use:   "scanner",
		Short: "What the scanner refuses, cleans and lets through",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if len(attack)+len(benign) == 0 {
				return fmt.Errorf("name at least one set with --attack or --benign")
			}
			r, err := measureScanner(attack, benign)
			if err != nil {
				return err
			}
			return show(r)
		},
	}
	c.Flags().StringArrayVar(&attack, "attack", nil, "JSON lines with a field text that should be refused; may be repeated")
	c.Flags().StringArrayVar(&benign, "benign", nil, "JSON lines with a field text that should pass; may be repeated")
	return c
}

func measureScanner(attack, benign []string) (scannerReport, error) {
	var r scannerReport
	var spent time.Duration
	var bytes int
	for _, side := range []struct {
		name  string
		files []string
	}{{"attack", attack}, {"benign", benign}} {
		for _, file := range side.files {
			texts, err := readTexts(file)
			if err != nil {
				return r, err
			}
			set := scannerSet{File: filepath.Base(file), Side: side.name, N: len(texts)}
			for _, text := range texts {
				start := time.Now()
				v := scanner.Inspect(text, scanner.Strict)
				spent += time.Since(start)
				bytes += len(text)
				switch {
				case v.Refused():
					set.Refused++
				case len(v.Removed) > 0:
					set.Cleaned++
				default:
					set.Clean++
				}
			}
			r.Sets = append(r.Sets, set)
		}
	}
	r.PerKB = ratio(us(spent), float64(bytes)/1024)
	return r, nil
}

func readTexts(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var texts []string
	dec := json.NewDecoder(bufio.NewReader(f))
	for {
		var line struct {
			Text string `json:"text"`
		}
		err := dec.Decode(&line)
		if err == io.EOF {
			return texts, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s, object %d: %w", path, len(texts)+1, err)
		}
		texts = append(texts, line.Text)
	}
}

func (r scannerReport) table(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "set\tside\tn\trefused\tcleaned\tclean\trefused %\t")
	for _, s := range r.Sets {
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%d\t%.2f\t\n", s.File, s.Side, s.N, s.Refused, s.Cleaned, s.Clean, 100*ratio(float64(s.Refused), float64(s.N)))
	}
	fmt.Fprintf(t, "µs per KB\t\t\t\t\t%.1f\t\t\n", r.PerKB)
	return t.Flush()
}
