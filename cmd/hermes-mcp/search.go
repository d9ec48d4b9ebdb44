package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/tools/sessions"
	"github.com/hermes-mcp/hermes-mcp/tools/wire"
	"github.com/hermes-mcp/hermes-mcp/transcript"
	"github.com/hermes-mcp/hermes-mcp/transcript/source"
)

// A lookup is what search, sessions and show share: they all run the tool
// session_search, so that a person sees what a model is told.
type lookup struct {
	*app
	args map[string]any
	json bool
}

func (a *app) searchCommand() *cobra.Command {
	l := &lookup{app: a, args: map[string]any{}}
	c := &cobra.Command{
		Use: "search QUERY...", Short: "Search every archived session",
		Args: cobra.MinimumNArgs(1),
		RunE: l.run(func(words []string) error {
			l.args["query"] = strings.Join(words, " ")
			return nil
		}),
	}
	l.filters(c)
	l.text(c, "sort", "newest or oldest first, instead of the best")
	l.text(c, "detail", "index, adaptive or full")
	l.text(c, "role", "only messages of these roles, separated by commas")
	return c
}

func (a *app) sessionsCommand() *cobra.Command {
	l := &lookup{app: a, args: map[string]any{}}
	c := &cobra.Command{Use: "sessions", Short: "List the sessions last active", Args: cobra.NoArgs, RunE: l.run(nil)}
	l.filters(c)
	return c
}

func (a *app) showCommand() *cobra.Command {
	l := &lookup{app: a, args: map[string]any{}}
	c := &cobra.Command{
		Use: "show SESSION [MESSAGE]", Short: "Show a session, or the messages around one",
		Args: cobra.RangeArgs(1, 2),
		RunE: l.run(func(args []string) error {
			l.args["session_id"] = args[0]
			if len(args) == 2 {
				l.args["around_message_id"] = args[1]
			}
			return nil
		}),
	}
	c.Flags().BoolVar(&l.json, "json", false, "print the tool's result")
	l.text(c, "window", "messages before and after MESSAGE, 1 to 20")
	return c
}

func (l *lookup) filters(c *cobra.Command) {
	c.Flags().BoolVar(&l.json, "json", false, "print the tool's result")
	l.text(c, "limit", "sessions to return, 1 to 10")
	l.text(c, "source", "only these sources, separated by commas")
	l.text(c, "project", "only this project: a path, a name, or current")
	l.text(c, "since", "only after: 2026-01-31, yesterday, or an age such as 12h, 7d, 2w")
	l.text(c, "until", "only before, as since; a day is included")
}

// argNames are the flags whose argument of the tool has another name.
var argNames = map[string]string{"role": "role_filter"}

func (l *lookup) text(c *cobra.Command, flag, meaning string) {
	c.Flags().String(flag, "", meaning)
}

func (l *lookup) run(take func(args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if take != nil {
			if err := take(args); err != nil {
				return err
			}
		}
		for _, flag := range []string{"sort", "detail", "role", "limit", "source", "project", "since", "until", "window"} {
			f := cmd.Flags().Lookup(flag)
			if f == nil || !f.Changed {
				continue
			}
			name := flag
			if other, ok := argNames[flag]; ok {
				name = other
			}
			l.args[name] = f.Value.String()
			if flag == "source" {
				for name := range strings.SplitSeq(f.Value.String(), ",") {
					if err := knownSource(strings.TrimSpace(name)); err != nil {
						return err
					}
				}
			}
			if flag == "limit" || flag == "window" {
				l.args[name] = json.Number(f.Value.String())
			}
		}
		return l.begin(cmd, false, l.show)
	}
}

// knownSource tells a mistyped source from one without sessions.
func knownSource(name string) error {
	if known := sourceNames(); !slices.Contains(known, name) {
		return usage("no source %q; known are %s", name, strings.Join(known, ", "))
	}
	return nil
}

// sourceNames are the names that a session's source can have.
func sourceNames() []string {
	var known []string
	for _, src := range source.All() {
		known = append(known, src.Name())
	}
	return append(known, transcript.Recorded)
}

func (l *lookup) show(ctx context.Context) error {
	raw, err := json.Marshal(l.args)
	if err != nil {
		return usage("--limit and --window are whole numbers")
	}
	result, failed, err := l.runTool(ctx, "session_search", raw, serving{origin: originCLI})
	if err != nil {
		return err
	}
	var found envelope
	if err := json.Unmarshal(result, &found); err != nil {
		return fmt.Errorf("result of session_search: %w", err)
	}
	if l.json {
		fmt.Fprintf(l.out, "%s\n", result)
		if failed {
			return failure{code: found.exit()}
		}
		return nil
	}
	if failed && found.Code == string(wire.NotFound) {
		return errors.New(l.notThere(found.Error))
	}
	if failed {
		return failure{found.exit(), errors.New(found.Error)}
	}
	l.print(found)
	return nil
}

// notThere says to a person what the tool, which knows no commands, says of a
// session or message that is not there.
func (l *lookup) notThere(said string) string {
	id := l.args["session_id"]
	if strings.HasPrefix(said, "message ") {
		return l.pasteable(fmt.Sprintf("message %v is not in session %q: hermes-mcp show %v prints its messages with their numbers", l.args["around_message_id"], id, id))
	}
	return l.pasteable(fmt.Sprintf("there is no session %q in the archive: hermes-mcp sessions lists the recent ones, hermes-mcp search QUERY finds others", id))
}

// An envelope is what of the tool's result is shown to a person.
type envelope struct {
	Error    string          `json:"error"`
	Code     string          `json:"code"`
	Mode     string          `json:"mode"`
	Pending  string          `json:"pending"`
	Note     string          `json:"note"`
	Adjusted []string        `json:"adjusted"`
	Next     json.RawMessage `json:"next"`
	Results  []struct {
		SessionID  string `json:"session_id"`
		Title      string `json:"title"`
		Project    string `json:"project"`
		When       string `json:"when"`
		LastActive string `json:"last_active"`
		Preview    string `json:"preview"`
		Snippet    string `json:"snippet"`
		Flagged    string `json:"flagged"`
		MessageID  any    `json:"match_message_id"`
		MatchedIn  struct {
			SessionID string `json:"session_id"`
		} `json:"matched_in"`
	} `json:"results"`
	Messages []struct {
		ID      any    `json:"id"`
		Role    string `json:"role"`
		Content string `json:"content"`
		When    string `json:"when"`
		Flagged string `json:"flagged"`
	} `json:"messages"`
	Before int `json:"messages_before"`
	After  int `json:"messages_after"`
}

// exit is the exit code of a failed one.
func (e envelope) exit() int {
	if e.Code == string(wire.Invalid) {
		return codeUsage
	}
	return codeFailed
}

func (l *lookup) print(found envelope) {
	if found.Pending != "" {
		fmt.Fprintln(l.err, l.pasteable(found.Pending))
	}
	if note := strings.TrimSpace(strings.TrimPrefix(found.Note, sessions.History)); note != "" {
		fmt.Fprintln(l.err, l.pasteable(note))
	}
	for _, a := range found.Adjusted {
		fmt.Fprintln(l.err, a)
	}
	for _, r := range found.Results {
		when := r.When
		if when == "" {
			when = r.LastActive
		}
		fmt.Fprintln(l.out, strings.TrimSpace(r.SessionID+"  "+when+"  "+r.Title))
		if r.Project != "" {
			fmt.Fprintf(l.out, "  in %s\n", r.Project)
		}
		text := r.Snippet
		if text == "" {
			text = r.Preview
		}
		if text != "" {
			fmt.Fprintf(l.out, "  %s\n", strings.Join(strings.Fields(text), " "))
		}
		if r.Flagged != "" {
			fmt.Fprintf(l.out, "  flagged: %s\n", r.Flagged)
		}
		if r.MessageID != nil {
			fmt.Fprintf(l.out, "  %s %s %v\n", l.pasteable("hermes-mcp show"), cmp.Or(r.MatchedIn.SessionID, r.SessionID), r.MessageID)
		}
	}
	for _, m := range found.Messages {
		fmt.Fprintf(l.out, "[%v] %s %s\n%s\n", m.ID, m.Role, m.When, m.Content)
		if m.Flagged != "" {
			fmt.Fprintf(l.out, "[flagged: %s]\n", m.Flagged)
		}
		fmt.Fprintln(l.out)
	}
	if found.Before+found.After > 0 {
		fmt.Fprintf(l.out, "%d messages before, %d after\n", found.Before, found.After)
	}
	if len(found.Next) > 0 {
		fmt.Fprintf(l.err, "there is more: %s %s\n", l.pasteable("hermes-mcp call session_search"), shellWord(string(found.Next), "any"))
	}
	if len(found.Results)+len(found.Messages) == 0 {
		fmt.Fprintln(l.out, "nothing found")
	}
}
