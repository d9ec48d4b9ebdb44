package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/erasure"
	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/transcript"
	"github.com/hermes-mcp/hermes-mcp/transcript/date"
	"github.com/hermes-mcp/hermes-mcp/transcript/plain"
)

func (a *app) archiveCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "archive", Short: "Keep, move and forget archived sessions",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(a.exportCommand(), a.importCommand(), a.backupCommand(), a.restoreCommand(), a.forgetCommand(), a.trimCommand())
	return c
}

// A selection is what forget and export have in common: which sessions.
type selection struct {
	sessions, sources             []string
	project, since, before, query string
	lineage                       bool
	blank                         func() error // refuses a filter that was given without a value
}

func (s *selection) bind(c *cobra.Command) {
	c.Flags().StringSliceVar(&s.sessions, "session", nil, "these sessions, by id or a unique beginning of it")
	c.Flags().StringSliceVar(&s.sources, "source", nil, "only these sources")
	c.Flags().StringVar(&s.project, "project", "", "only this project: a path, a name, or current")
	c.Flags().StringVar(&s.since, "since", "", "only sessions that began then or later: a date, or 7d")
	c.Flags().StringVar(&s.before, "before", "", "only sessions last active before: a date, or 7d")
	c.Flags().StringVar(&s.query, "query", "", "only sessions in which this text stands as written, upper and lower case alike")
	s.blank = func() error { return refuseBlank(c, "session", "source", "project", "since", "before", "query") }
	c.Flags().BoolVar(&s.lineage, "lineage", false, "with each session its whole lineage: forks, resumed copies, what was compacted")
}

// refuseBlank refuses flags that were given with nothing in them: a variable of
// a script that is not set must not widen what is forgotten.
func refuseBlank(c *cobra.Command, names ...string) error {
	for _, name := range names {
		f := c.Flags().Lookup(name)
		if text := strings.Trim(f.Value.String(), "[]\" ,"); f.Changed && strings.TrimSpace(text) == "" {
			return usage("--%s is empty: leave it out, or give it a value", name)
		}
	}
	return nil
}

// choice is what the flags name.
func (a *app) choice(ctx context.Context, s selection) (transcript.Choice, error) {
	if err := s.blank(); err != nil {
		return transcript.Choice{}, err
	}
	c := transcript.Choice{Sessions: s.sessions, Sources: s.sources, Project: s.project, Text: strings.TrimSpace(s.query), Lineage: s.lineage}
	for _, name := range s.sources {
		if err := knownSource(name); err != nil {
			return c, err
		}
	}
	var err error
	if c.Since, err = pointInTime("--since", s.since); err != nil {
		return c, err
	}
	if c.Before, err = pointInTime("--before", s.before); err != nil {
		return c, err
	}
	if s.project == "current" {
		p, err := a.project(ctx, a.dir())
		if err != nil {
			return c, err
		}
		c.Project = p.Root
	}
	return c, nil
}

func pointInTime(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, ok := date.Parse(text, time.Now(), false)
	if !ok {
		return t, usage("%s %q is no time: say a date such as 2026-03-01, or an age such as 7d", flag, text)
	}
	return t, nil
}

// A forgetting is one run of archive forget.
type forgetting struct {
	selection
	yes, json, receipts bool
}

func (a *app) forgetCommand() *cobra.Command {
	var how forgetting
	c := &cobra.Command{
		Use: "forget", Short: "Forget sessions for good, after a look at what would go", Args: cobra.NoArgs,
		Long: `Shows which sessions would be forgotten, and with --yes forgets them: they
leave the archive, its index and log, every copy of it below mcp, and are not
read again from the agents' files. Subagents go with their session. The receipt
says where something of them still stands outside the archive.

The exit code is 3 when something could not be cleaned yet, for example since
another process is reading; the same command without a filter finishes it.`,
		Example: "  hermes-mcp archive forget --project shop --before 2026-01-01\n  hermes-mcp archive forget --query 'correct horse battery' --yes",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.begin(cmd, false, func(ctx context.Context) error { return a.forget(ctx, how) })
		},
	}
	how.bind(c)
	c.Flags().BoolVar(&how.yes, "yes", false, "forget, instead of showing what would go")
	c.Flags().BoolVar(&how.json, "json", false, "print as JSON")
	c.Flags().BoolVar(&how.receipts, "receipts", false, "list what was forgotten before")
	return c
}

func (a *app) forget(ctx context.Context, how forgetting) error {
	choice, err := a.choice(ctx, how.selection)
	if err != nil {
		return err
	}
	if !a.archive.exists() {
		return errors.New("there is no archive yet, so there is nothing to forget")
	}
	db, err := a.archiveOf(a.user)(ctx)
	if err != nil {
		return err
	}
	e := a.erasure(db)
	switch {
	case how.receipts:
		all, err := db.Receipts(ctx)
		if err != nil {
			return err
		}
		return a.printReceipts(all, how.json)
	case choice.Everything() && how.yes:
		left, err := e.Finish(ctx)
		if err != nil {
			return err
		}
		if len(left) == 0 {
			return usage("say which sessions: --session, --project, --source, --since, --before or --query")
		}
		return a.printReceipts(left, how.json)
	case choice.Everything():
		return usage("say which sessions: --session, --project, --source, --since, --before or --query")
	}
	what, err := db.Choose(ctx, choice)
	if errors.Is(err, transcript.ErrNotFound) {
		return fmt.Errorf("%w: hermes-mcp sessions lists the recent ones", err)
	}
	if err != nil {
		return err
	}
	if !how.yes {
		return a.printPreview(what, "forgotten", "the same with --yes forgets them for good", how.json)
	}
	// What an earlier run left is finished on the way.
	receipts, err := e.Finish(ctx)
	if err != nil {
		return err
	}
	if len(what.Sessions) > 0 {
		r, err := e.Forget(ctx, what, true)
		if err != nil {
			return err
		}
		receipts = append(receipts, r)
	}
	return a.printReceipts(receipts, how.json)
}

// erasure takes things out of this home.
func (a *app) erasure(db *transcript.DB) erasure.Erasure {
	return erasure.Erasure{DB: db, Path: a.archive.path, Folder: a.home.MCP(), Queue: a.queue(), Stores: a.stores}
}

// stores lists the curated memories of everybody and of every project here.
func (a *app) stores(context.Context) ([]*memstore.Store, error) {
	home, err := a.storeOf("", "")
	if err != nil {
		return nil, err
	}
	all := []*memstore.Store{home}
	for folder, of := range map[string]func(name string) (*memstore.Store, error){
		"users":    func(name string) (*memstore.Store, error) { return a.storeOf(name, "") },
		"projects": func(name string) (*memstore.Store, error) { return a.storeOf("", name) },
	} {
		entries, err := os.ReadDir(a.home.MCP(folder))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, entry := range entries {
			s, err := of(entry.Name())
			if err != nil {
				return nil, err
			}
			all = append(all, s)
		}
	}
	return all, nil
}

// mostShown bounds the sessions that a preview lists for a person.
const mostShown = 50

// A preview is what would be forgotten.
type preview struct {
	Preview  bool        `json:"preview"`
	Sessions []previewed `json:"sessions"`
	Messages int         `json:"messages"`
	Shared   int         `json:"kept_by_others"`
	Bytes    int64       `json:"bytes"`
	First    time.Time   `json:"first,omitzero"`
	Last     time.Time   `json:"last,omitzero"`
	Stays    []previewed `json:"related_that_stay"`
}

type previewed struct {
	Session    string              `json:"session_id"`
	Title      string              `json:"title,omitempty"`
	Project    string              `json:"project,omitempty"`
	Relation   transcript.Relation `json:"relation,omitempty"`
	LastActive time.Time           `json:"last_active,omitzero"`
	Messages   int                 `json:"messages"`
	OnlyHere   bool                `json:"only_here"` // the agent's file is gone
}

// printPreview shows what would become what, and how.
func (a *app) printPreview(what transcript.Chosen, become, how string, asJSON bool) error {
	filter := plain.Filter{Redact: a.config.RedactOutput}
	list := func(all []transcript.Session) []previewed {
		out := []previewed{}
		for _, s := range all {
			title := s.Title
			if title == "" {
				title = s.Preview
			}
			out = append(out, previewed{s.ID, filter.Line(title, 80), filter.Line(s.Project, 80), s.Relation, s.LastActive, s.Messages, s.SourceGone})
		}
		return out
	}
	p := preview{Preview: true, Sessions: list(what.Sessions), Messages: what.Messages, Shared: what.Shared, Bytes: what.Bytes,
		First: what.First, Last: what.Last, Stays: list(what.Related)}
	if asJSON {
		return a.printJSON(p)
	}
	if len(p.Sessions) == 0 {
		fmt.Fprintf(a.out, "no session fits; nothing would be %s\n", become)
		return nil
	}
	gone := 0
	for i, s := range p.Sessions {
		if s.OnlyHere {
			gone++
		}
		if i < mostShown {
			fmt.Fprintf(a.out, "  %s  %s  %s  %s\n", s.Session, day(s.LastActive), plain.Count(s.Messages, "message"), s.Title)
		}
	}
	if n := len(p.Sessions) - mostShown; n > 0 {
		fmt.Fprintf(a.out, "  and %d more\n", n)
	}
	fmt.Fprintf(a.out, "would be %s: %s, %s, %s of text, %s to %s\n", become, plain.Count(len(p.Sessions), "session"), plain.Count(p.Messages, "message"), size(p.Bytes), day(p.First), day(p.Last))
	if gone > 0 {
		fmt.Fprintf(a.out, "only here, for the agent's own file is gone: %d of them\n", gone)
	}
	if p.Shared > 0 {
		fmt.Fprintf(a.out, "not to go: %s that other sessions repeat\n", plain.Count(p.Shared, "message"))
	}
	for _, s := range p.Stays {
		fmt.Fprintf(a.out, "related, and stays: %s (%s); --lineage takes it too\n", s.Session, cmp.Or(string(s.Relation), "origin"))
	}
	fmt.Fprintf(a.out, "nothing was changed; %s\n", how)
	return nil
}

func (a *app) printReceipts(all []transcript.Receipt, asJSON bool) error {
	left := 0
	for _, r := range all {
		if !r.Done {
			left++
		}
	}
	if asJSON {
		if all == nil {
			all = []transcript.Receipt{}
		}
		if err := a.printJSON(map[string]any{"receipts": all}); err != nil {
			return err
		}
	} else {
		for _, r := range all {
			a.printReceipt(r)
		}
		if len(all) == 0 {
			fmt.Fprintln(a.out, "no session fits; nothing was forgotten")
		}
	}
	if left > 0 {
		return failure{codePartly, errors.New("the sessions are out of the archive, but something of them is left on the disk: when nothing is in the way any more, hermes-mcp archive forget --yes finishes it")}
	}
	return nil
}

func (a *app) printReceipt(r transcript.Receipt) {
	verb := "forgotten"
	if r.Room {
		verb = "removed for room"
	}
	fmt.Fprintf(a.out, "receipt %d, %s: %s: %s, %s, %s of text, %s to %s\n", r.ID, r.At.Local().Format(time.DateTime), verb,
		plain.Count(len(r.Sessions), "session"), plain.Count(r.Messages, "message"), size(r.Bytes), day(r.First), day(r.Last))
	for i, s := range r.Sessions {
		if i == mostShown {
			fmt.Fprintf(a.out, "  and %d more\n", len(r.Sessions)-mostShown)
			break
		}
		fmt.Fprintf(a.out, "  %s\n", s)
	}
	if r.Moved > 0 {
		fmt.Fprintf(a.out, "not gone: %s that other sessions repeat\n", plain.Count(r.Moved, "message"))
	}
	if r.Notes > 0 {
		fmt.Fprintf(a.out, "%s of the memory, kept for these sessions alone, went with them\n", plain.Count(r.Notes, "entry"))
	}
	for _, o := range r.Outside {
		fmt.Fprintf(a.out, "still stands in: %s (%s)\n", o.Where, standing[o.Kind])
	}
	if len(r.Outside) == 0 {
		fmt.Fprintln(a.out, "stands nowhere else that is known")
	}
	for _, l := range r.Left {
		fmt.Fprintf(a.out, "not cleaned yet: %s\n", l)
	}
}

// standing says what kind of place it is.
var standing = map[string]string{
	"source": "the agent's own file", "database": "the agent's own database", "export": "an export", "memory": "curated memory: hermes-mcp memory list --long",
}

func day(t time.Time) string {
	if t.IsZero() {
		return "no date"
	}
	return t.Local().Format(time.DateOnly)
}

// size is a number of bytes for people.
func size(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%d bytes", n)
}
