package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/curator"
	"github.com/hermes-mcp/hermes-mcp/transcript"
)

func (a *app) reviewCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "review SESSION", Short: "Have the auxiliary model look for what a session should have saved", Args: cobra.ExactArgs(1),
		Long: `Sends what user and assistant said in a session to the model of
auxiliary.background_review, and judges the edits that it proposes: what the
user's own words support is applied, the rest waits (memory pending).`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.begin(cmd, false, func(ctx context.Context) error { return a.review(ctx, args[0], asJSON) })
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

func (a *app) review(ctx context.Context, session string, asJSON bool) error {
	if a.reviewModel() == nil {
		return errors.New("no model is named for a review: set auxiliary.background_review.model and .base_url or .provider in " + a.home.MCP("config.yaml"))
	}
	if !a.archive.exists() {
		return errors.New("nothing is archived yet: hermes-mcp ingest")
	}
	w := worker{a, &a.archive}
	c, err := w.curator(ctx, a.dir())
	if err != nil {
		return err
	}
	s, err := c.Archive.Session(ctx, session)
	if errors.Is(err, transcript.ErrNotFound) {
		return fmt.Errorf("there is no session %q in the archive: hermes-mcp sessions lists them", session)
	}
	if err != nil {
		return err
	}
	out, err := c.Review(ctx, s.ID, true)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(out)
	}
	for _, part := range []struct {
		what string
		all  []curator.Judged
	}{{"saved", out.Applied}, {"waits", out.Staged}, {"dropped", out.Dropped}} {
		for _, j := range part.all {
			fmt.Fprintf(a.out, "%-8s %s %s: %s%s\n", part.what, j.Op.Action, j.Target, cmp.Or(j.Op.Content, j.Op.OldText), because(j))
		}
	}
	for _, n := range out.Notes {
		fmt.Fprintf(a.out, "%-8s %s\n", "ignored", n)
	}
	if len(out.Applied)+len(out.Staged)+len(out.Dropped)+len(out.Notes) == 0 {
		fmt.Fprintln(a.out, "nothing to save")
	}
	return nil
}

// because says why an edit was not simply made, and where it waits.
func because(j curator.Judged) string {
	text := ""
	if j.Why != "" {
		text = " (" + j.Why + ")"
	}
	if j.Pending != "" {
		text += ", memory approve " + j.Pending
	}
	return text
}
