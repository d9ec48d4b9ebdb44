package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/hermes-mcp/hermes-mcp/curator/relay"
)

// askExternal is what the external memory has to say to an event: at a prompt
// what it recalls, fenced, and at the start of a session what it is, which joins
// the answer. With memory.inject off, hooks put nothing into a prompt.
func (a *app) askExternal(ctx context.Context, source string, e hookEvent, h *heard) (recalled string, err error) {
	if a.external.Guard == nil || a.config.Inject == "off" || !hears(source) {
		return "", nil
	}
	s := a.external.Session(source+":"+e.Session, e.Dir, a.user, false)
	switch {
	case h.asks:
		if recalled, err = a.external.Recall(ctx, s, e.Prompt); utf8.RuneCountInString(h.answer+recalled) > mostContext-200 {
			recalled = "" // what is cut by the agent would lose its fence
		}
	case h.begins:
		var block string
		if block, err = a.external.SystemBlock(ctx, s); block != "" && utf8.RuneCountInString(h.answer+block) < mostContext-200 {
			h.answer = strings.TrimLeft(h.answer+"\n"+line(block), "\n")
		}
	}
	return recalled, err
}

// tellExternal notes for the external memory what happened. It is told by a
// process that the agent does not wait for.
func (a *app) tellExternal(ctx context.Context, source string, e hookEvent, h heard) error {
	if a.external.Guard == nil || a.config.Excluded(source) {
		return nil // turns are taken from the archive
	}
	id := source + ":" + e.Session
	told := relay.Event{Session: id, Path: e.Transcript, Dir: e.Dir, Said: e.Said}
	switch e.Event {
	case stop:
		told.Kind = relay.Turn
	case sessionEnd:
		told.Kind = relay.End
	case preCompact:
		told.Kind = relay.Compress
	case subagentStop:
		told.Kind, told.Child, told.Aside = relay.Delegation, e.Subagent, e.SubagentTranscript
	case sessionStart:
		if from := h.before; h.begins && from != "" && (e.Source == "resume" || e.Source == "clear" || e.Source == "fork") {
			told.Kind, told.From, told.Reason = relay.Switch, from, e.Source
		}
	}
	err := a.external.Relay.Begin()
	if told.Kind != "" && (e.Subagent == "" || e.Event == subagentStop) {
		err = errors.Join(err, a.external.Relay.Put(ctx, told))
	}
	return err
}

// promptName tells prompts apart without keeping their words.
func promptName(prompt string) string {
	sum := sha256.Sum256([]byte(prompt))
	return hex.EncodeToString(sum[:8])
}

// forkedFrom is the session that a fork was made from: as the agent says, else
// as the copied lines of its transcript do, else the one that the same process
// reported before.
func (e hookEvent) forkedFrom(session, before string) string {
	source, _, _ := strings.Cut(session, ":")
	if e.Parent != "" {
		return source + ":" + e.Parent
	}
	f, err := os.Open(e.Transcript)
	if err != nil {
		return before
	}
	defer f.Close() //nolint:errcheck // only read
	head, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if m := forkOf.FindSubmatch(head); err == nil && m != nil {
		return source + ":" + string(m[1])
	}
	return before
}

var forkOf = regexp.MustCompile(`"forkedFrom":\{"sessionId":"([A-Za-z0-9_.-]+)"`)
