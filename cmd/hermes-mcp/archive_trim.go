package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

func (a *app) trimCommand() *cobra.Command {
	var yes, gone, asJSON bool
	c := &cobra.Command{
		Use: "trim", Short: "Make room for archive.max_size, after a look at what would go", Args: cobra.NoArgs,
		Long: `Shows which sessions would have to go for the archive to fit archive.max_size,
those first that were last active longest ago. With --yes the archive is written
anew, and when it does not fit then, they are removed. Only
sessions go whose file is still there, so that they can be read again: they come
back when the agent adds to that file. --gone also takes those that are only here.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.begin(cmd, false, func(ctx context.Context) error { return a.trim(ctx, yes, gone, asJSON) })
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "remove, instead of showing what would go")
	c.Flags().BoolVar(&gone, "gone", false, "also sessions whose file is gone, for good")
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

// trimRounds is how often what a removal frees is estimated anew.
const trimRounds = 5

func (a *app) trim(ctx context.Context, yes, gone, asJSON bool) error {
	limit := a.config.ArchiveMaxSize
	if limit == 0 {
		return usage("archive.max_size is not set, so there is nothing to fit: set it in mcp/config.yaml, or say --archive-max-size 2GB")
	}
	if !a.archive.exists() {
		return errors.New("there is no archive yet")
	}
	db, err := a.archiveOf(a.user)(ctx)
	if err != nil {
		return err
	}
	before, err := db.FileSize(ctx)
	if err != nil {
		return err
	}
	if before > limit && yes {
		// Writing it anew may do. That another process reads only keeps the log long.
		if err := db.Scrub(ctx); err != nil && !errors.Is(err, transcript.ErrPinned) {
			return err
		}
	}
	var receipts []transcript.Receipt
	now, err := db.NetSize(ctx)
	for range trimRounds {
		if err != nil {
			return err
		}
		if now <= limit {
			break
		}
		what, err := db.Spare(ctx, now-limit, gone)
		if err != nil {
			return err
		}
		if !yes {
			if len(what.Sessions) == 0 {
				return a.cannotTrim(now, limit, gone)
			}
			return a.printPreview(what, "removed", "the same with --yes writes the archive anew, and removes as many of them as still need be", asJSON)
		}
		if len(what.Sessions) == 0 {
			break
		}
		r, err := a.erasure(db).Forget(ctx, what, false)
		if err != nil {
			return err
		}
		if receipts = append(receipts, r); !r.Done {
			break
		}
		if now, err = db.NetSize(ctx); err != nil {
			return err
		}
	}
	if len(receipts) == 0 && now <= limit {
		a.tellFits(before, now, limit, yes)
		return nil
	}
	if len(receipts) > 0 {
		if err := a.printReceipts(receipts, asJSON); err != nil {
			return err
		}
	}
	if now > limit {
		return a.cannotTrim(now, limit, gone)
	}
	return nil
}

// tellFits says that nothing has to go, now or once the archive is written anew.
func (a *app) tellFits(before, now, limit int64, yes bool) {
	if before > limit && !yes {
		fmt.Fprintf(a.err, "hermes-mcp: the archive takes %s; written anew it takes about %s and fits: the same with --yes does that, and removes nothing\n", size(before), size(now))
		return
	}
	fmt.Fprintf(a.err, "hermes-mcp: the archive takes %s and fits\n", size(now))
}

func (a *app) cannotTrim(now, limit int64, gone bool) error {
	more := "the rest are only here: --gone takes those too, for good"
	if gone {
		more = "nothing is left that could go"
	}
	return failure{codePartly, fmt.Errorf("the archive takes %s and may take %s; %s", size(now), size(limit), more)}
}

// tellRoom says when the archive has outgrown what it may take.
func (a *app) tellRoom(ctx context.Context) error {
	if a.config.ArchiveMaxSize == 0 {
		return nil
	}
	db, err := a.archive.open(ctx)
	if err != nil {
		return err
	}
	now, err := db.FileSize(ctx)
	if err == nil && now > a.config.ArchiveMaxSize {
		fmt.Fprintf(a.err, "hermes-mcp: the archive takes %s, over archive.max_size (%s); nothing is removed by itself: %s shows what could go\n", size(now), size(a.config.ArchiveMaxSize), a.pasteable("hermes-mcp archive trim"))
	}
	return err
}
