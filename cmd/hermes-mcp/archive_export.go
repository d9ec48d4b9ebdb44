package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/scanner"
	"github.com/hermes-mcp/hermes-mcp/transcript"
	"github.com/hermes-mcp/hermes-mcp/transcript/plain"
)

func (a *app) exportCommand() *cobra.Command {
	var which selection
	var format, out string
	c := &cobra.Command{
		Use: "export", Short: "Write sessions as JSON, one object a line", Args: cobra.NoArgs,
		Long: `Writes sessions with their lineage and every message, tool calls, exit codes and
times included, one JSON object a line: a whole archive, or what the filters
leave. Secrets are masked unless redact.output is off. archive import makes an
equal archive of it, in which agents' files are read anew and nothing of them comes
twice. How far a session was flushed, reviewed or told a provider is not exported.`,
		Example: "  hermes-mcp archive export --out sessions.jsonl\n  hermes-mcp archive export --project shop --since 30d --redact-output off > shop.jsonl",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.begin(cmd, false, func(ctx context.Context) error {
				if format != "jsonl" {
					return usage("--format %q is not jsonl, the only one", format)
				}
				return a.export(ctx, which, out)
			})
		},
	}
	which.bind(c)
	c.Flags().StringVar(&format, "format", "jsonl", "jsonl")
	c.Flags().StringVar(&out, "out", "", "file to write, which must not be there yet; standard output without it")
	return c
}

func (a *app) export(ctx context.Context, which selection, path string) error {
	choice, err := a.choice(ctx, which)
	if err != nil {
		return err
	}
	if !a.archive.exists() {
		return errors.New("there is no archive yet; hermes-mcp ingest makes one")
	}
	db, err := a.archiveOf(a.user)(ctx)
	if err != nil {
		return err
	}
	what, err := db.Choose(ctx, choice)
	if errors.Is(err, transcript.ErrNotFound) {
		return fmt.Errorf("%w: hermes-mcp sessions lists the recent ones", err)
	}
	if err != nil {
		return err
	}
	var mask func(string) string
	if a.config.RedactOutput {
		mask = scanner.Redact
	}
	if path == "" {
		w := bufio.NewWriterSize(a.out, 1<<16)
		_, err := db.Export(ctx, w, what, mask)
		return errors.Join(err, w.Flush())
	}
	if path, err = filepath.Abs(path); err != nil {
		return err
	}
	messages := 0
	err = writeNew(path, func(w io.Writer) (err error) {
		messages, err = db.Export(ctx, w, what, mask)
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(a.err, "%s: %s, %s\n", path, plain.Count(len(what.Sessions), "session"), plain.Count(messages, "message"))
	if err := db.NoteExport(ctx, path); err != nil {
		return fmt.Errorf("the export is written, but a later receipt will not name it: %w", err)
	}
	return nil
}

// writeNew writes a file that is not there yet, whole or not at all, for its
// owner alone.
func writeNew(path string, write func(w io.Writer) error) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s is there already, and is left as it is: name another file", path)
	}
	if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no folder %s: make it first, or name another", filepath.Dir(path))
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".part-*")
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	err = write(w)
	if err == nil {
		err = errors.Join(w.Flush(), f.Sync())
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

func (a *app) importCommand() *cobra.Command {
	var revive, asJSON bool
	c := &cobra.Command{
		Use: "import FILE", Short: "Take the sessions of an export into the archive", Args: cobra.ExactArgs(1),
		Long: `Takes in what archive export wrote, here or on another machine. What is archived
already is not doubled, keeps its words and title, and gains nothing from an
export with masked secrets. A session that is archived as another user's or chat's
is left as it is. That and a line that cannot be read are named and cost nothing
else: the exit code is then 3.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.begin(cmd, false, func(ctx context.Context) error { return a.importFile(ctx, args[0], revive, asJSON) })
		},
	}
	c.Flags().BoolVar(&revive, "revive", false, "also take sessions that were forgotten")
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

// An importReport is what archive import did, for --json too.
type importReport struct {
	Sessions  int              `json:"sessions"`
	Messages  int              `json:"messages"`
	Lines     int              `json:"lines"`
	Forgotten int              `json:"forgotten"`
	Bad       int              `json:"bad"`
	Refused   int              `json:"refused"`
	Problems  []transcriptLine `json:"problems"`
}

type transcriptLine struct {
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

func (a *app) importFile(ctx context.Context, path string, revive, asJSON bool) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return usage("%s is no file that archive export wrote", path)
	}
	if err := a.makeHome(); err != nil {
		return err
	}
	db, err := a.archive.open(ctx)
	if err != nil {
		return err
	}
	done, err := db.Import(ctx, func() (io.ReadCloser, error) { return os.Open(path) }, revive)
	if errors.Is(err, transcript.ErrFormat) {
		return fmt.Errorf("%s: %w; hermes-mcp ingest reads the files of agents, hermes-mcp archive restore a backup", path, err)
	}
	if err != nil {
		return fmt.Errorf("%w; nothing was taken in", err)
	}
	r := importReport{done.Sessions, done.Messages, done.Read, done.Forgotten, done.Bad, done.Refused, []transcriptLine{}}
	for _, p := range done.Problems {
		r.Problems = append(r.Problems, transcriptLine(p))
	}
	if asJSON {
		if err := a.printJSON(r); err != nil {
			return err
		}
	} else {
		for _, p := range r.Problems {
			fmt.Fprintf(a.err, "%s:%d: %s\n", path, p.Line, p.Reason)
		}
		fmt.Fprintf(a.out, "%s, %s, of %s\n", plain.Count(r.Sessions, "new session"), plain.Count(r.Messages, "new message"), plain.Count(r.Lines, "line"))
		if r.Forgotten > 0 {
			fmt.Fprintf(a.out, "left out, as of forgotten sessions: %s (--revive takes those too)\n", plain.Count(r.Forgotten, "line"))
		}
	}
	switch {
	case r.Refused > 0:
		return failure{codePartly, fmt.Errorf("%s of another's left out, and %s that could not be read; the others are archived", plain.Count(r.Refused, "session"), plain.Count(r.Bad, "line"))}
	case r.Bad > 0:
		return failure{codePartly, fmt.Errorf("%s could not be read; the others are archived", plain.Count(r.Bad, "line"))}
	}
	return nil
}
