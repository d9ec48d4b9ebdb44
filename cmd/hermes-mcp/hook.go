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
archived and flushed, and one in which nothing was saved for a while is
reviewed, by a process of its own that the agent does not wait for. It always
ends with exit code 0: what goes wrong is in mcp/logs.`,
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
	// samePrompt is for how long the same words are the same prompt, told by
	// another settings file.
	samePrompt = 5 * time.Second
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
	var h heard
	if e.Subagent == "" && e.Event != preToolUse {
		if h, err = a.report(ctx, source, e); errors.Is(err, caller.ErrUnsafeID) {
			return err
		}
	}
	recalled, failed := a.askExternal(ctx, source, e, &h)
	a.log.Info().Str("event", e.own).Str("source", e.Source).Str("session", e.Session).Bool("answered", h.answer != "").Bool("recalled", recalled != "").Msg("hook")
	if out := e.told(source, h.answer, recalled); out != nil {
		failed = errors.Join(failed, a.printJSON(out))
	}
	return errors.Join(err, failed, a.tellExternal(ctx, source, e, h), a.follow(ctx, source, e))
}

// A heard is what became of an event.
type heard struct {
	answer string // what to tell the session
	begins bool   // a session starts, and this is the first hook that says so
	before string // the session that the same agent reported last, when one starts
	asks   bool   // a prompt that the provider was not asked about yet
}

// report keeps what the event says of its session.
func (a *app) report(ctx context.Context, source string, e hookEvent) (h heard, err error) {
	now := time.Now()
	agent := caller.AgentOf(os.Getpid())
	if e.Event == sessionStart {
		h.before = caller.Before(a.home.MCP("sessions"), agent, source+":"+e.Session)
	}
	var failed error
	err = caller.Change(ctx, a.home.MCP("sessions"), source, e.Session, func(r *caller.Report) {
		r.Event, r.Dir, r.Transcript, r.Agent, r.At, r.Ended = e.Event, e.Dir, e.Transcript, agent, now, e.Event == sessionEnd
		switch e.Event {
		case userPromptSubmit:
			r.Prompts++
			if r.Remind {
				h.answer, r.Remind = reminder, false
			}
			if name := promptName(e.Prompt); r.Recalled != name || now.Sub(r.RecalledAt) > samePrompt {
				h.asks, r.Recalled, r.RecalledAt = true, name, now
			}
		case stop:
			if n := a.config.NudgeInterval; n > 0 && r.Prompts-r.Counted >= n {
				r.Counted = r.Prompts
				failed = a.due(curator.ReviewJob, source, e)
			}
		case sessionStart:
			failed = a.start(ctx, e, r, &h, now)
		}
	})
	return h, errors.Join(err, failed)
}

// start answers the start of a session, once for each kind of start.
func (a *app) start(ctx context.Context, e hookEvent, r *caller.Report, h *heard, now time.Time) (err error) {
	kind, tells := e.Source, a.config.Inject != "off" && a.config.Inject != "instructions"
	if !tells {
		kind = "untold " + kind
	}
	if now.Sub(r.Answered[kind]) < once {
		return nil
	}
	if tells {
		if h.answer, err = a.context(ctx, r.ID(), e, !r.Given.IsZero(), h.before); err != nil {
			return err
		}
		r.Given = now
	}
	if r.Answered == nil {
		r.Answered = map[string]time.Time{}
	}
	r.Answered[kind], h.begins = now, true
	return nil
}

// context is what the session is told. given says that its context holds a
// snapshot already: a resumed session is told only what is newer than that, and
// so is one that forks off another, whose context it has.
func (a *app) context(ctx context.Context, session string, e hookEvent, given bool, before string) (string, error) {
	dir := e.Dir
	if dir == "" {
		dir = a.dir()
	}
	store, err := a.openStore(ctx, dir)
	if err != nil {
		return "", err
	}
	if e.Source == "fork" && !given {
		_, err := store.InheritSnapshot(ctx, session, e.forkedFrom(session, before))
		given = err == nil // else everything is told: twice is better than never
	}
	var text string
	if (e.Source == "resume" || e.Source == "fork") && given {
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
