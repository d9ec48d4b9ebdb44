package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/memstore/bridge"
)

func (m *memoryRun) importCommand() *cobra.Command {
	yes := false
	c := m.sub("import PATH", "Take over a CLAUDE.md, a memory folder of Claude Code, or an export", cobra.ExactArgs(1), nil)
	c.Long = `Shows what would be taken over from PATH, and what would not and why. With --yes it is done.

PATH is a CLAUDE.md or other Markdown, the folder in which Claude Code keeps
its memory of a project, JSON lines of the server "server-memory", a MEMORY.md
of another home, or what memory export wrote. Without --target and --scope each
fact goes where it belongs by what is known of it.`
	c.Flags().BoolVar(&yes, "yes", false, "do it")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		return m.begin(cmd, false, func(ctx context.Context) error {
			if err := m.known(); err != nil {
				return err
			}
			var force memstore.Target
			if cmd.Flags().Changed("target") {
				force = memstore.Target(m.target)
			}
			if m.scope == string(memstore.ProjectOnly) {
				force = memstore.Project
			}
			return m.bring(ctx, args[0], force, yes)
		})
	}
	return c
}

// An incoming is what an import does or would do to one target.
type incoming struct {
	Target    memstore.Target `json:"target"`
	Path      string          `json:"path"`
	Usage     string          `json:"usage"` // after it
	Entries   []string        `json:"entries"`
	Conflicts []string        `json:"conflicts,omitempty"`
}

// A leftOut is what an import does not take.
type leftOut struct {
	From string `json:"from"`
	Text string `json:"text"`
	Why  string `json:"why"`
}

// bring takes over another memory, or shows what that would do.
func (m *memoryRun) bring(ctx context.Context, path string, force memstore.Target, yes bool) error {
	items, skipped, err := bridge.Read(path)
	if err != nil {
		return err
	}
	store, err := m.openStore(ctx, m.dir())
	if err != nil {
		return err
	}
	by := m.caller(ctx, "import")
	plan, err := bridge.Fit(ctx, store, by, force, items)
	if err != nil {
		return err
	}
	targets := []incoming{}
	for _, t := range []memstore.Target{memstore.Memory, memstore.Project, memstore.User} {
		ops := plan.Take[t]
		if len(ops) == 0 {
			continue
		}
		st, odd := plan.After[t], plan.Odds[t]
		if yes {
			res, err := store.Apply(ctx, by, t, ops...)
			if err != nil {
				return fmt.Errorf("import into %s: %w", t, err)
			}
			st, odd = res.State, res.Conflicts
		}
		in := incoming{Target: t, Path: st.Path, Usage: st.Usage()}
		for _, op := range ops {
			in.Entries = append(in.Entries, op.Content)
		}
		for _, c := range odd {
			in.Conflicts = append(in.Conflicts, fmt.Sprintf("%q and %q", c.Entry.Shown, c.With))
		}
		targets = append(targets, in)
	}
	left := []leftOut{}
	for _, s := range append(skipped, plan.Skipped...) {
		left = append(left, leftOut(s))
	}
	if err := m.showImport(targets, len(plan.There), left, yes); err != nil {
		return err
	}
	if yes && len(plan.Skipped) > 0 {
		return failure{code: codePartly}
	}
	return nil
}

func (m *memoryRun) showImport(targets []incoming, there int, left []leftOut, done bool) error {
	if m.json {
		return m.printJSON(map[string]any{"success": true, "done": done, "targets": targets, "known": there, "left_out": left})
	}
	verb := "would be added to"
	if done {
		verb = "were added to"
	}
	for _, t := range targets {
		fmt.Fprintf(m.out, "%d entries %s %s, then %s, %s\n", len(t.Entries), verb, t.Target, t.Usage, t.Path)
		for _, text := range t.Entries {
			fmt.Fprintf(m.out, "  + %s\n", strings.ReplaceAll(text, "\n", "\n    "))
		}
		for _, c := range t.Conflicts {
			fmt.Fprintf(m.out, "  contradicts: %s\n", c)
		}
	}
	if there > 0 {
		fmt.Fprintf(m.out, "%d are known already\n", there)
	}
	for _, l := range left {
		text, _, more := strings.Cut(l.Text, "\n")
		if more {
			text += " …"
		}
		fmt.Fprintf(m.out, "left out: %s: %.160s (%s)\n", l.From, text, l.Why)
	}
	switch {
	case len(targets) == 0:
		fmt.Fprintln(m.out, "nothing to import")
	case !done:
		fmt.Fprintln(m.out, "nothing is changed yet; --yes does it")
	default:
		fmt.Fprintln(m.out, "done; memory undo takes this back, a target at a time")
	}
	return nil
}

func (m *memoryRun) exportCommand() *cobra.Command {
	format := "markdown"
	c := m.sub("export", "Print every entry, for people or other programs", cobra.NoArgs, func(ctx context.Context, _ []string) error { return m.export(ctx, format) })
	c.Flags().StringVar(&format, "format", format, "markdown, or json, which tells times and evidence too; memory import reads both back")
	return c
}

// export prints what is seen from here, as Markdown or JSON.
func (m *memoryRun) export(ctx context.Context, format string) error {
	if format != "markdown" && format != "json" {
		return usage("--format %q is neither markdown nor json", format)
	}
	store, err := m.openStore(ctx, m.dir())
	if err != nil {
		return err
	}
	targets := []memstore.Target{memstore.Memory, memstore.User}
	if store.Project != "" {
		targets = append(targets, memstore.Project)
	}
	var all []memstore.State
	for _, t := range targets {
		st, err := store.State(ctx, t)
		if err != nil {
			return err
		}
		if len(st.Entries) > 0 {
			all = append(all, st)
		}
	}
	raw := bridge.Markdown(all)
	if format == "json" || m.json {
		if raw, err = bridge.JSON(time.Now(), all); err != nil {
			return err
		}
	}
	_, err = m.out.Write(raw)
	return err
}
