package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/caller"
	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/tools/wire"
	"github.com/hermes-mcp/hermes-mcp/transcript/plain"
)

// A memoryRun is what the subcommands of memory share.
type memoryRun struct {
	*app
	target string
	scope  string
	json   bool
	long   bool
}

func (a *app) memoryCommand() *cobra.Command {
	m := &memoryRun{app: a}
	c := &cobra.Command{Use: "memory", Short: "Show and edit what is remembered", Args: cobra.NoArgs}
	c.PersistentFlags().StringVar(&m.target, "target", "memory", "memory or user")
	c.PersistentFlags().StringVar(&m.scope, "scope", "", "project: what holds in this project only; session: in the session only")
	c.PersistentFlags().BoolVar(&m.json, "json", false, "print the result as JSON")
	list := m.sub("list", "Show the entries, of every target when none is named", cobra.NoArgs, func(ctx context.Context, _ []string) error {
		return m.list(ctx, !c.PersistentFlags().Changed("target") && m.scope == "")
	})
	list.Flags().BoolVar(&m.long, "long", false, "say of each entry who said it, since when and on what evidence")
	limit := 20
	history := m.sub("history", "Show the edits, newest first", cobra.NoArgs, func(ctx context.Context, _ []string) error {
		only := memstore.Target("")
		if c.PersistentFlags().Changed("target") {
			only = memstore.Target(m.target)
		}
		switch memstore.Scope(m.scope) {
		case memstore.ProjectOnly:
			only = memstore.Project
		case memstore.SessionOnly:
			only = memstore.SessionTarget(m.caller(ctx, originCLI).Session)
		}
		return m.history(ctx, limit, func(s *memstore.Store, ctx context.Context) ([]memstore.Edit, error) {
			return s.History(ctx, only, limit)
		})
	})
	find := m.sub("find [TEXT]", "Find entries that have left the memory, and the edit to restore", cobra.MaximumNArgs(1), func(ctx context.Context, args []string) error {
		return m.history(ctx, limit, func(s *memstore.Store, ctx context.Context) ([]memstore.Edit, error) {
			return s.Find(ctx, strings.Join(args, ""), limit)
		})
	})
	for _, sub := range []*cobra.Command{history, find} {
		sub.Flags().IntVar(&limit, "limit", limit, "how many, 0 for all")
	}
	c.AddCommand(
		m.writing("add TEXT", "Remember a fact", cobra.ExactArgs(1), func(args []string) memstore.Op {
			return memstore.Op{Action: memstore.Add, Content: args[0]}
		}),
		m.writing("replace OLD NEW", "Replace the entry that holds OLD", cobra.ExactArgs(2), func(args []string) memstore.Op {
			return memstore.Op{Action: memstore.Replace, OldText: args[0], Content: args[1]}
		}),
		m.sub("remove OLD", "Remove the entry that holds OLD", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
			return m.edit(ctx, map[string]string{"action": "remove", "old_text": args[0]})
		}),
		list, history, find,
		m.sub("undo [EDIT]", "Take back an edit, the last one when none is named", cobra.MaximumNArgs(1), func(ctx context.Context, args []string) error {
			return m.settle(ctx, (*memstore.Store).Undo, strings.Join(args, ""))
		}),
		m.importCommand(), m.exportCommand(),
		m.sub("pending", "Show the edits that wait for your decision", cobra.NoArgs, func(ctx context.Context, _ []string) error { return m.pending(ctx) }),
		m.sub("approve ID", "Make an edit that waits", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
			return m.settle(ctx, func(s *memstore.Store, ctx context.Context, _ memstore.Caller, id string) (memstore.Result, error) {
				return s.Approve(ctx, id)
			}, args[0])
		}),
		m.sub("reject ID", "Drop an edit that waits", cobra.ExactArgs(1), func(ctx context.Context, args []string) error { return m.reject(ctx, args[0]) }),
		m.sub("restore EDIT", "Put back what an edit removed, or what an editor lost", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
			return m.settle(ctx, (*memstore.Store).Restore, args[0])
		}),
	)
	return c
}

func (m *memoryRun) sub(use, short string, args cobra.PositionalArgs, do func(ctx context.Context, args []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: args,
		RunE: func(cmd *cobra.Command, args []string) error {
			return m.begin(cmd, false, func(ctx context.Context) error {
				if err := m.known(); err != nil {
					return err
				}
				for i, arg := range args { // or it would be kept as something else
					if !utf8.ValidString(arg) {
						return usage("argument %d is not UTF-8: %q; nothing was changed", i+1, arg)
					}
				}
				return do(ctx, args)
			})
		},
	}
}

// known refuses what names no memory.
func (m *memoryRun) known() error {
	switch memstore.Target(m.target) {
	case memstore.Memory, memstore.User:
	default:
		return usage("--target %q is neither memory nor user", m.target)
	}
	switch memstore.Scope(m.scope) {
	case "", memstore.Global, memstore.ProjectOnly, memstore.SessionOnly:
		return nil
	}
	return usage("--scope %q is none of global, project, session", m.scope)
}

// caller is who edits, for the journal.
func (m *memoryRun) caller(ctx context.Context, origin string) memstore.Caller {
	now := m.inChat(func(context.Context) caller.Current { return m.finder().Find() })(ctx)
	return memstore.Caller{Session: now.ID, Client: "hermes-mcp " + version(), Origin: origin}
}

// A memoryResult is what of the tool's result is shown to a person.
type memoryResult struct {
	Code    wire.Code `json:"code"` // of a failure
	Error   string    `json:"error"`
	Usage   string    `json:"usage"`
	Message string    `json:"message"`
	Masked  string    `json:"masked"`
	Cleaned []struct {
		Match string `json:"match"`
	} `json:"cleaned"`
	Removed  string   `json:"removed_entry"`
	Replaced string   `json:"replaced_entry"`
	Path     string   `json:"path"`
	Chars    int      `json:"chars"`
	Limit    int      `json:"limit"`
	Current  []string `json:"current_entries"` // of a failure
	Matches  []string `json:"matches"`
	Room     []struct {
		Entry string `json:"entry"`
		Frees int    `json:"frees"`
	} `json:"room"`
	Conflicts []struct {
		Entry   string `json:"entry"`
		Updated string `json:"updated_at"`
	} `json:"conflicts"`
	Entries []listed `json:"entries"`
	Lost    []listed `json:"lost"`
}

// A listed is an entry with what is known of it.
type listed struct {
	Text       string   `json:"text"`
	Source     string   `json:"source"`
	Confidence string   `json:"confidence"`
	Created    string   `json:"created_at"`
	Updated    string   `json:"updated_at"`
	Confirmed  string   `json:"confirmed_at"`
	Session    string   `json:"session_id"`
	Evidence   []string `json:"evidence"`
	Stale      bool     `json:"stale"`
	Restore    string   `json:"restore"` // of a lost one
}

// known says in one line what is known of the entry.
func (e listed) known() string {
	words := []string{e.Source}
	add := func(name, value string) {
		if value != "" {
			words = append(words, strings.TrimSpace(name+" "+value))
		}
	}
	add("", e.Confidence)
	add("since", e.Created)
	add("written", e.Updated)
	add("confirmed", e.Confirmed)
	if e.Stale {
		words = append(words, "not confirmed for long")
	}
	add("session", e.Session)
	add("evidence", strings.Join(e.Evidence, " "))
	return strings.Join(words, ", ")
}

// tool runs the memory tool as a person, whose edits wait for no approval.
// With --json it prints the result itself.
func (m *memoryRun) tool(ctx context.Context, args map[string]string) (memoryResult, error) {
	var r memoryResult
	if m.target != "" {
		args["target"] = m.target
	}
	if m.scope != "" {
		args["scope"] = m.scope
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return r, err
	}
	result, failed, err := m.runTool(ctx, "memory", raw, serving{origin: originCLI})
	if err != nil {
		return r, err
	}
	if m.json {
		fmt.Fprintf(m.out, "%s\n", result)
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return r, fmt.Errorf("result of the memory tool: %w", err)
	}
	if !failed {
		return r, nil
	}
	f := failure{code: codeFailed}
	if r.Code == wire.Invalid {
		f.code = codeUsage // what was asked for has no sense, whatever is there
	}
	if !m.json {
		r.list(m.err)
		f.err = errors.New(r.Error)
	}
	return r, f
}

// list shows the entries that a refusal names.
func (r memoryResult) list(to io.Writer) {
	for _, text := range append(r.Current, r.Matches...) {
		note := ""
		for _, one := range r.Room {
			if strings.HasPrefix(text, strings.TrimSuffix(one.Entry, "…")) {
				note = fmt.Sprintf(" (removing it frees %d)", one.Frees)
			}
		}
		fmt.Fprintf(to, "- %s%s\n", strings.ReplaceAll(text, "\n", "\n  "), note)
	}
}

func (m *memoryRun) edit(ctx context.Context, args map[string]string) error {
	r, err := m.tool(ctx, args)
	if err != nil || m.json {
		return err
	}
	switch {
	case r.Removed != "":
		fmt.Fprintf(m.out, "removed: %s\n", r.Removed)
	case r.Replaced != "":
		fmt.Fprintf(m.out, "replaced: %s\n", r.Replaced)
	case strings.Contains(r.Message, "nothing was written"):
		fmt.Fprintf(m.out, "there already; %s\n", r.Usage)
		return nil
	}
	fmt.Fprintf(m.out, "saved; %s\n", r.Usage)
	for _, c := range r.Cleaned {
		fmt.Fprintf(m.out, "taken out, for nobody would see it: %s\n", c.Match)
	}
	if r.Masked != "" {
		fmt.Fprintf(m.out, "masked in prompts, for it breaks the rule %s; add it again with --unscanned to show it\n", r.Masked)
	}
	for _, c := range r.Conflicts {
		fmt.Fprintf(m.out, "contradicts: %s (%.10s); both are kept: replace or remove one\n", c.Entry, c.Updated)
	}
	return nil
}

// list shows one target, or all that is seen from here when none was named.
func (m *memoryRun) list(ctx context.Context, all bool) error {
	if m.json {
		if all {
			m.target = "" // the tool then shows everything in one answer
		}
		_, err := m.tool(ctx, map[string]string{"action": "read"})
		return err
	}
	if !all {
		return m.listOne(ctx)
	}
	on := map[memstore.Target]bool{memstore.Memory: m.config.MemoryEnabled, memstore.User: m.config.UserEnabled}
	for _, t := range []memstore.Target{memstore.Memory, memstore.User} {
		if m.target = string(t); !on[t] {
			fmt.Fprintf(m.out, "%s: turned off in the configuration\n", t)
			continue
		}
		if err := m.listOne(ctx); err != nil {
			return err
		}
	}
	if m.target = string(memstore.Memory); !on[memstore.Memory] {
		return nil
	}
	if _, err := m.project(ctx, m.dir()); err == nil { // else it has nothing of its own
		m.scope = string(memstore.ProjectOnly)
		if err := m.listOne(ctx); err != nil {
			return err
		}
	}
	if m.caller(ctx, originCLI).Session == "" {
		return nil // no session, so nothing of its own
	}
	m.scope = string(memstore.SessionOnly)
	return m.listOne(ctx)
}

// listOne shows one target. What a session keeps for itself is left out when
// there is none.
func (m *memoryRun) listOne(ctx context.Context) error {
	r, err := m.tool(ctx, map[string]string{"action": "read"})
	if err != nil {
		return err
	}
	if m.scope == string(memstore.SessionOnly) && len(r.Entries)+len(r.Lost) == 0 {
		return nil
	}
	name := m.target
	if m.scope != "" {
		name = m.scope
	}
	fmt.Fprintf(m.out, "%s: %d of %d characters, %s\n", name, r.Chars, r.Limit, r.Path)
	for _, e := range r.Entries {
		fmt.Fprintf(m.out, "- %s\n", strings.ReplaceAll(e.Text, "\n", "\n  "))
		if m.long {
			fmt.Fprintf(m.out, "    %s\n", e.known())
		}
	}
	for _, e := range r.Lost {
		fmt.Fprintf(m.out, "left the file without an edit: %s (%s %s)\n", e.Text, m.pasteable("hermes-mcp memory restore"), e.Restore)
	}
	return nil
}

// settle undoes, restores or approves, and says what changed.
func (m *memoryRun) settle(ctx context.Context, do func(*memstore.Store, context.Context, memstore.Caller, string) (memstore.Result, error), id string) error {
	store, err := m.openStore(ctx, m.dir())
	if err != nil {
		return err
	}
	r, err := do(store, ctx, m.caller(ctx, originCLI), id)
	if errors.Is(err, memstore.ErrInvalid) {
		return failure{codeUsage, err}
	}
	if err != nil {
		return err
	}
	if m.json {
		return m.printJSON(map[string]any{
			"success": true, "target": r.State.Target, "edit": r.EditID, "chars": r.State.Chars, "limit": r.State.Limit, "entry_count": len(r.State.Entries),
		})
	}
	fmt.Fprintf(m.out, "done: %s now holds %s, %d of %d characters\n", r.State.Path, plain.Count(len(r.State.Entries), "entry"), r.State.Chars, r.State.Limit)
	return nil
}
