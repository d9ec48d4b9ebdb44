package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/external"
	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/settings"
	"github.com/hermes-mcp/hermes-mcp/provider"
	"github.com/hermes-mcp/hermes-mcp/provider/outbox"
	"github.com/hermes-mcp/hermes-mcp/provider/roster"
)

// A providerRun is what the subcommands of provider share.
type providerRun struct {
	*app
	json, yes bool
}

func (a *app) providerCommand() *cobra.Command {
	p := &providerRun{app: a}
	c := &cobra.Command{Use: "provider", Short: "Set up, check and compare the one external memory", Args: cobra.NoArgs}
	c.PersistentFlags().BoolVar(&p.json, "json", false, "print as JSON")
	resend, drop := "", ""
	status := p.sub("status", "Show how it does, and what waits for it", cobra.NoArgs, true, func(ctx context.Context, _ []string) error { return p.status(ctx, resend, drop) })
	status.Flags().StringVar(&resend, "resend", "", "deliver again what is set aside under this ID")
	status.Flags().StringVar(&drop, "drop", "", "give up what is set aside under this ID")
	c.AddCommand(
		p.sub("list", "List the providers and their settings", cobra.NoArgs, true, func(context.Context, []string) error { return p.list() }),
		p.setupCommand(), status,
		p.sub("test [QUERY]", "Ask it all that changes nothing", cobra.MaximumNArgs(1), false, p.test),
		p.sub("diff", "Show what it and the built-in memory do not both say", cobra.NoArgs, false, func(ctx context.Context, _ []string) error { return p.diff(ctx) }),
		p.settling("push", "Make it say what the built-in memory says", p.push),
		p.settling("pull", "Take over what only it says into the built-in memory", p.pull),
	)
	return c
}

func (p *providerRun) sub(use, short string, args cobra.PositionalArgs, lenient bool, do func(ctx context.Context, args []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: args,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.begin(cmd, lenient, func(ctx context.Context) error { return do(ctx, args) })
		},
	}
}

// settling is a subcommand that shows what it would do, and does it with --yes.
func (p *providerRun) settling(use, short string, do func(ctx context.Context) error) *cobra.Command {
	c := p.sub(use, short, cobra.NoArgs, false, func(ctx context.Context, _ []string) error { return do(ctx) })
	c.Flags().BoolVar(&p.yes, "yes", false, "do it; without it, only what would be done is shown")
	return c
}

// one is an error where no provider is configured.
func (p *providerRun) one() error {
	if p.external.Guard == nil {
		return errors.New("no provider is configured: hermes-mcp provider list, then hermes-mcp provider setup NAME")
	}
	return p.makeHome()
}

func (p *providerRun) list() error {
	active := p.external.Guard.Name()
	if p.json {
		return p.printJSON(map[string]any{"active": cmp.Or(active, "none"), "providers": roster.All()})
	}
	for _, e := range roster.All() {
		mark := " "
		if e.Name == active {
			mark = "*"
		}
		fmt.Fprintf(p.out, "%s %-12s %s\n", mark, e.Name, e.Summary)
		for _, s := range e.Settings {
			note := ""
			switch {
			case s.Required:
				note = ", needed"
			case s.Default != "":
				note = ", " + s.Default + " when not set"
			}
			fmt.Fprintf(p.out, "    provider.%s.%s: %s%s\n", e.Name, s.Key, s.Meaning, note)
		}
	}
	if active == "" {
		fmt.Fprintln(p.out, "none is active; at most one can be")
	}
	return nil
}

func (p *providerRun) setupCommand() *cobra.Command {
	var set settings.Provider
	c := p.sub("setup NAME [-- PROGRAM ARG...]", "Name the one provider in the configuration", cobra.MinimumNArgs(1), true, nil)
	c.Long = `Shows what would be written into mcp/config.yaml. With --yes it is written; all
else in the file stays as it is, and the old file is kept beside. The name none
leaves the built-in memory alone. What waits for another provider stays on disk
until that one is named again.`
	c.Example = "  hermes-mcp provider setup holographic --yes\n  hermes-mcp provider setup exec --yes -- python3 /home/me/facts.py /home/me/facts.json"
	c.Flags().BoolVar(&p.yes, "yes", false, "write it")
	c.Flags().StringVar(&set.Holographic.Path, "path", "", "of holographic: the store, Hermes Agent's own when not given")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		return p.begin(cmd, true, func(context.Context) error {
			set.Name, set.Exec.Command = strings.ToLower(args[0]), args[1:]
			return p.setup(set)
		})
	}
	return c
}

func (p *providerRun) setup(set settings.Provider) error {
	switch {
	case set.Name != "exec" && len(set.Exec.Command) > 0:
		return usage("only exec runs a program")
	case set.Name != "holographic" && set.Holographic.Path != "":
		return usage("only holographic has a --path")
	case set.Name == "exec" && len(set.Exec.Command) == 0 && len(p.config.Provider.Exec.Command) == 0:
		return usage("exec needs a program: hermes-mcp provider setup exec -- PROGRAM ARG...")
	}
	want := p.config.Provider
	want.Name = set.Name
	if len(set.Exec.Command) > 0 {
		want.Exec.Command = set.Exec.Command
	}
	named, err := external.Open(want, p.home, p.err)
	if err != nil { // what would not be taken is not written
		return failure{codeUsage, err}
	}
	if active := p.external.Guard.Name(); active != "" && set.Name != "none" && set.Name != active {
		return usage("%s is active, and at most one is: hermes-mcp provider setup none --yes takes it out first", active)
	}
	if err := p.makeHome(); err != nil {
		return err
	}
	out, err := external.Setup(p.home.MCP("config.yaml"), set, !p.yes)
	if err != nil {
		return err
	}
	if p.yes && out.Changed && named.Guard != nil {
		if err := named.Guard.Renew(); err != nil {
			return err
		}
	}
	if p.json {
		return p.printJSON(map[string]any{"success": true, "done": p.yes, "changed": out.Changed, "path": out.Path, "provider": set.Name})
	}
	what := "provider.name is " + set.Name
	if len(set.Exec.Command) > 0 {
		what += ", and it runs " + strings.Join(set.Exec.Command, " ")
	}
	switch {
	case !out.Changed:
		fmt.Fprintf(p.out, "%s: unchanged\n", out.Path)
	case !p.yes:
		fmt.Fprintf(p.out, "%s: would be changed: %s\nnothing is changed yet; --yes does it\n", out.Path, what)
	default:
		fmt.Fprintf(p.out, "%s: %s\n", out.Path, what)
	}
	switch {
	case !p.yes:
	case set.Name != "none":
		fmt.Fprintln(p.out, p.pasteable("now: hermes-mcp provider test, then start your agent anew; hermes-mcp provider push tells it what is remembered already"))
	}
	return nil
}

// status shows how the provider does, and settles what is set aside.
func (p *providerRun) status(ctx context.Context, resend, drop string) error {
	if err := p.one(); err != nil {
		return err
	}
	if resend != "" && drop != "" {
		return usage("say either --resend or --drop")
	}
	if id := resend + drop; id != "" {
		err := p.external.Guard.Settle(ctx, id, resend != "")
		if errors.Is(err, outbox.ErrNotFound) {
			err = p.external.Relay.Settle(ctx, id, resend != "")
		}
		if errors.Is(err, outbox.ErrNotFound) {
			return fmt.Errorf("nothing is set aside under %q: provider status lists what is", id)
		}
		if err != nil {
			return err
		}
		if resend != "" {
			p.mirrored.Store(true) // somebody delivers it when this run ends
		}
	}
	h := p.external.Health(ctx)
	if p.json {
		return p.printJSON(h)
	}
	for _, line := range h.Lines() {
		fmt.Fprintln(p.out, line)
	}
	return nil
}

func (p *providerRun) test(ctx context.Context, args []string) error {
	if err := p.one(); err != nil {
		return err
	}
	steps, ok := p.external.Test(ctx, cmp.Or(strings.Join(args, ""), "what do you know about the user?"))
	if p.json {
		if err := p.printJSON(map[string]any{"success": ok, "provider": p.external.Guard.Name(), "steps": steps}); err != nil {
			return err
		}
	}
	for _, s := range steps {
		if !p.json {
			fmt.Fprintf(p.out, "%-20s %5.2f s  %s%s\n", s.What, s.Took, s.Found, s.Error)
		}
	}
	if !ok {
		return failure{code: codeFailed}
	}
	return nil
}

// unsupported says what cannot be compared.
func unsupported(err error) error {
	if errors.Is(err, provider.ErrUnsupported) {
		return fmt.Errorf("%w; a program does so by answering the op list", err)
	}
	return err
}
