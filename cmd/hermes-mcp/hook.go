package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/hermes-mcp/hermes-mcp/cmd/hermes-mcp/caller"
	"github.com/hermes-mcp/hermes-mcp/curator"
	"github.com/hermes-mcp/hermes-mcp/memstore"
)

//go:embed reminder.md
var reminder string

func (a *app) hookCommand() *cobra.Command {
	var source, event string
	c := &cobra.Command{
		Use: "hook", Short: "Answer a hook of an agent (JSON on standard input)",
		Long: `Takes any hook event of an agent as JSON on standard input. At the start of a
session it answers with the memory. A session that ends or is compacted is
flushed, and one in which nothing was saved for a while is reviewed, by a
process of its own that the agent does not wait for. It always ends with exit
code 0: what goes wrong is in mcp/logs.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a.hooking = true
			return a.begin(cmd, true, func(ctx context.Context) error { return a.hook(ctx, source, event) })
		},
	}
	c.Flags().StringVar(&source, "source", caller.ClaudeCode, "the agent whose hook it is")
	c.Flags().StringVar(&event, "event", "", "the event, for agents that do not name it in their JSON")
	return c
}

const (
	// once is how long the same start is answered only once: people have the
	// hook in several settings files.
	once = time.Minute
	// largestEvent bounds an event; a prompt may come with it.
	largestEvent = 16 << 20
	// mostContext is what Claude Code takes as context; more it puts into a file.
	mostContext = 10_000
)

func (a *app) hook(ctx context.Context, source, event string) error {
	if err := a.makeHome(); err != nil {
		return err
	}
	a.openLog(false)
	for _, p := range a.problems {
		a.log.Warn().Msg(p.String())
	}
	e, err := readEvent(a.in, event)
	if err != nil {
		return fmt.Errorf("event is not JSON: %w", err)
	}
	if e.Session == "" {
		return nil
	}
	if no := e.denial(); no != nil {
		a.log.Info().Str("tool", e.Tool).Str("session", e.Session).Str("subagent", e.Subagent).Msg("edit by a subagent denied")
		return a.printJSON(no)
	}
	var answer string
	if e.Subagent == "" && e.Event != preToolUse {
		answer, err = a.report(ctx, source, e)
	}
	a.log.Info().Str("event", e.own).Str("source", e.Source).Str("session", e.Session).Bool("answered", answer != "").Msg("hook")
	if out := e.told(source, answer); out != nil {
		err = errors.Join(err, a.printJSON(out))
	}
	return errors.Join(err, a.follow(source, e))
}

// report keeps what the event says of its session, and returns what to tell it.
func (a *app) report(ctx context.Context, source string, e hookEvent) (answer string, err error) {
	now := time.Now()
	agent := caller.AgentOf(os.Getpid())
	var failed error
	err = caller.Change(ctx, a.home.MCP("sessions"), source, e.Session, func(r *caller.Report) {
		r.Event, r.Dir, r.Transcript, r.Agent, r.At, r.Ended = e.Event, e.Dir, e.Transcript, agent, now, e.Event == sessionEnd
		switch e.Event {
		case userPromptSubmit:
			r.Prompts++
			if r.Remind {
				answer, r.Remind = reminder, false
			}
		case stop:
			if n := a.config.NudgeInterval; n > 0 && r.Prompts-r.Counted >= n {
				r.Counted = r.Prompts
				failed = a.due(curator.ReviewJob, source, e)
			}
		case sessionStart:
			if a.config.Inject == "off" || a.config.Inject == "instructions" || now.Sub(r.Answered[e.Source]) < once {
				return
			}
			if answer, failed = a.context(ctx, r.ID(), e, !r.Given.IsZero()); failed != nil {
				return
			}
			if r.Answered == nil {
				r.Answered = map[string]time.Time{}
			}
			r.Answered[e.Source] = now
			r.Given = now
		}
	})
	return answer, errors.Join(err, failed)
}

// context is what the session is told. given says that its context holds a
// snapshot already: a resumed session is told only what is newer than that.
func (a *app) context(ctx context.Context, session string, e hookEvent, given bool) (string, error) {
	dir := e.Dir
	if dir == "" {
		dir = a.dir()
	}
	store, err := a.openStore(ctx, dir)
	if err != nil {
		return "", err
	}
	var text string
	if e.Source == "resume" && given {
		text, err = news(ctx, store, session)
	} else {
		text, err = whole(ctx, store, session, e.Source)
	}
	if err != nil || text == "" {
		return "", err
	}
	if utf8.RuneCountInString(text) > mostContext-len(fenceOpen)-len(fenceClose) {
		text = "The memory is too long to be shown here. Call the tool memory with action read, for target memory and for target user, before you answer.\n"
	}
	return text, nil
}

// The fence marks our text in the agent's transcript, so that ingest knows it
// and memory never becomes history.
const (
	fenceOpen  = "<memory-context source=\"hermes-mcp\">\n"
	fenceClose = "</memory-context>"
)

// whole is the session's snapshot, taken anew where the context is new. The
// server of a session that starts may have taken it a moment before the hook.
func whole(ctx context.Context, store *memstore.Store, session, source string) (string, error) {
	snap, err := store.SessionSnapshot(ctx, session)
	if err != nil {
		return "", err
	}
	if source == "compact" || (source != "resume" && time.Since(snap.FrozenAt) > once) {
		if snap, err = store.RenewSnapshot(ctx, session); err != nil {
			return "", err
		}
	}
	return line(snap.String()), nil
}

// news is what changed since the session's snapshot, "" when nothing did.
func news(ctx context.Context, store *memstore.Store, session string) (string, error) {
	snap, err := store.SessionSnapshot(ctx, session)
	if err != nil {
		return "", err
	}
	changes, err := store.Overlay(ctx, snap)
	if err != nil || len(changes) == 0 {
		return "", err
	}
	var b strings.Builder
	b.WriteString("The memory changed since this session was shown it:\n")
	for _, c := range changes {
		for _, entry := range c.Removed {
			fmt.Fprintf(&b, "%s, no longer: %s\n", c.Target, entry)
		}
		for _, entry := range c.Added {
			fmt.Fprintf(&b, "%s, new: %s\n", c.Target, entry)
		}
	}
	return b.String(), nil
}

// line ends text with one newline.
func line(text string) string { return strings.TrimRight(text, "\n") + "\n" }
