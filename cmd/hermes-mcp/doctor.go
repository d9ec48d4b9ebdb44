package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/clients"
	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/health"
)

func (a *app) doctorCommand() *cobra.Command {
	var asJSON, fix bool
	c := &cobra.Command{
		Use: "doctor", Short: "Check home, memory, archive, configuration and clients", Args: cobra.NoArgs,
		Long: `Checks everything, and starts what each client would start. Nothing is changed
without --fix, which mends what is safe to mend: rights on the folder of memory
and archive, and a client or a hook that starts a program which is gone or of another
version. The exit code is 1 when a check fails.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.begin(cmd, true, func(ctx context.Context) error { return a.doctor(ctx, asJSON, fix) })
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	c.Flags().BoolVar(&fix, "fix", false, "mend what is safe to mend, then check again")
	return c
}

func (a *app) doctor(ctx context.Context, asJSON, fix bool) error {
	subject, err := a.subject(ctx, a.user, a.finder().Find())
	if err != nil {
		return err
	}
	checks := subject.Check(ctx)
	var unmended error
	if fix {
		var tried int
		for _, c := range checks {
			if c.Mend != "" {
				tried++
				unmended = errors.Join(unmended, a.mend(ctx, c.Mend))
			}
		}
		if tried > 0 {
			checks = subject.Check(ctx)
		}
	}
	failed := 0
	for _, c := range checks {
		if c.Verdict == health.Bad {
			failed++
		}
		if !asJSON {
			fmt.Fprintf(a.out, "%-4s  %-8s  %s\n", c.Verdict, c.Name, a.pasteable(c.Detail))
		}
	}
	if asJSON {
		if err := a.printJSON(map[string]any{"ok": failed == 0, "checks": checks}); err != nil {
			return err
		}
	}
	if failed > 0 || unmended != nil {
		return failure{codeFailed, unmended}
	}
	return nil
}

// mend does what is safe to do about one check.
func (a *app) mend(ctx context.Context, m health.Mend) error {
	if m == health.Narrow {
		if err := os.Chmod(a.home.MCP(), 0o700); err != nil {
			return fmt.Errorf("narrow the rights: %w", err)
		}
		fmt.Fprintf(a.err, "hermes-mcp: mended: %s is yours alone\n", a.home.MCP())
		return nil
	}
	if m == health.MendHook {
		return a.mendHook()
	}
	client, err := clients.Find(string(m))
	if err != nil {
		return err
	}
	now, _, err := client.ServerIn(client.File(a.clientPlace()))
	if err != nil {
		return err
	}
	// The arguments are the person's; only the program is ours to name.
	if now.Command, err = clients.Program(a.userHome()); err != nil {
		return err
	}
	if _, err := clients.Settle(now.Command); err != nil {
		return err
	}
	client.Serve = nil // the arguments hold already what this client needs
	out, err := client.SetServer(client.File(a.clientPlace()), now, false)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.err, "hermes-mcp: mended: %s starts %s (before: %s)\n", client.Name, now, out.Backup)
	return nil
}

// mendHook has Claude Code's hook run this program.
func (a *app) mendHook() error {
	program, err := clients.Program(a.userHome())
	if err != nil {
		return err
	}
	if _, err := clients.Settle(program); err != nil {
		return err
	}
	out, err := clients.MoveHook(clients.ClaudeCodeSettings(a.clientPlace()), program)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.err, "hermes-mcp: mended: the hooks in %s run %s (before: %s)\n", out.Path, program, out.Backup)
	return nil
}
