package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/health"
)

func (a *app) doctorCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "doctor", Short: "Check home, memory, archive, configuration and clients", Args: cobra.NoArgs,
		Long: "Checks everything and changes nothing. The exit code is 1 when a check fails.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.begin(cmd, true, func(ctx context.Context) error { return a.doctor(ctx, asJSON) })
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

func (a *app) doctor(ctx context.Context, asJSON bool) error {
	subject, err := a.subject(ctx, a.finder().Find())
	if err != nil {
		return err
	}
	checks := subject.Check(ctx)
	failed := 0
	for _, c := range checks {
		if c.Verdict == health.Bad {
			failed++
		}
		if !asJSON {
			fmt.Fprintf(a.out, "%-4s  %-8s  %s\n", c.Verdict, c.Name, c.Detail)
		}
	}
	if asJSON {
		if err := a.printJSON(map[string]any{"ok": failed == 0, "checks": checks}); err != nil {
			return err
		}
	}
	if failed > 0 {
		return failure{code: codeFailed}
	}
	return nil
}
