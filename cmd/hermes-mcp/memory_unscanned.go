package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/scanner"
)

// writing is an add or a replace. With --unscanned a person keeps a text that
// the scanner refuses. There is no other way: no setting, tool or import lets
// such a text into a prompt.
func (m *memoryRun) writing(use, short string, args cobra.PositionalArgs, op func(args []string) memstore.Op) *cobra.Command {
	unscanned := false
	c := m.sub(use, short, args, func(ctx context.Context, args []string) error {
		o := op(args)
		found := scanner.Scan(o.Content, scanner.Strict)
		if unscanned && len(found) > 0 {
			return m.vouch(ctx, o, found)
		}
		err := m.edit(ctx, map[string]string{
			"action": string(o.Action), "content": o.Content, "old_text": o.OldText,
			"source": string(memstore.UserExplicit), "confidence": string(memstore.Confirmed),
		})
		if err != nil && len(found) > 0 && !m.json && isTerminal(m.in) {
			err = fmt.Errorf("%w (to keep it all the same, add --unscanned)", err)
		}
		return err
	})
	c.Flags().BoolVar(&unscanned, "unscanned", false, "keep it though the scanner refuses it; asks for a yes on the terminal")
	return c
}

// vouch makes op once the person at the terminal has read why it is refused and
// has typed yes.
func (m *memoryRun) vouch(ctx context.Context, op memstore.Op, found []scanner.Finding) error {
	if !isTerminal(m.in) {
		return usage("--unscanned is for a person at a terminal, who is asked for a yes; the scanner refuses this text by the rule %s", found[0].Rule)
	}
	// Quoted, so that what is invisible is seen before it is agreed to.
	fmt.Fprintf(m.err, "%q\n", op.Content)
	for _, f := range found {
		fmt.Fprintf(m.err, "  %s: %q at byte %d\n", f.Rule, f.Match, f.Offset)
	}
	fmt.Fprint(m.err, "The scanner refuses this. Kept all the same, it stands in every later prompt. Type yes to keep it: ")
	answer, err := bufio.NewReader(m.in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the answer: %w", err)
	}
	if strings.TrimSpace(answer) != "yes" {
		return errors.New("not kept, for the answer was not yes; nothing was changed")
	}
	if err := m.makeHome(); err != nil {
		return err
	}
	op.Source, op.Confidence, op.Scope, op.Unscanned = memstore.UserExplicit, memstore.Confirmed, memstore.Scope(m.scope), true
	return m.settle(ctx, func(s *memstore.Store, ctx context.Context, by memstore.Caller, _ string) (memstore.Result, error) {
		return s.Apply(ctx, by, memstore.Target(m.target), op)
	}, "")
}
