package curator

import (
	"slices"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/scanner"
	"github.com/hermes-mcp/hermes-mcp/summarizer"
	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// A verdict is what becomes of a proposal.
type verdict int

const (
	apply verdict = iota
	stage
	drop
)

// A matter is all that a verdict depends on.
type matter struct {
	why      summarizer.Occasion
	proposal summarizer.Proposal
	evidence []transcript.Message // that the proposal names
	state    memstore.State       // of its target
	enabled  bool
	approve  bool
}

// judge decides over one proposal, and says why it is not simply applied.
func judge(k matter) (verdict, string) {
	if !k.enabled {
		return drop, "this target is turned off"
	}
	op := k.proposal.Op
	var entry memstore.Entry
	if op.Action != memstore.Add {
		var n int
		if entry, n = find(k.state, op.OldText); n != 1 {
			return drop, "old_text fits no entry, or several"
		}
	} else if slices.ContainsFunc(k.state.Entries, func(e memstore.Entry) bool { return e.Text == op.Content }) {
		return drop, "it is in the memory already"
	}
	if why := unsupported(k, entry); why != "" {
		return stage, why
	}
	if op.Action != memstore.Add {
		if k.why == summarizer.Review {
			return stage, "a review only suggests to change what is there"
		}
		if newest(k.evidence).Before(entry.UpdatedAt) {
			return stage, "the entry is newer than what the session says"
		}
	}
	if k.approve {
		return stage, "edits by a model wait for a person here"
	}
	return apply, ""
}

// unsupported says what the evidence lacks, "" when a person's own words carry
// the proposal.
func unsupported(k matter, entry memstore.Entry) string {
	var own strings.Builder
	people := 0
	for _, m := range k.evidence {
		if !Human(m) {
			continue
		}
		people++
		if len(scanner.Scan(m.Content, scanner.Context)) > 0 {
			return "a prompt that it rests on holds what looks like orders to a model"
		}
		own.WriteString(ownWords(m.Content) + "\n")
	}
	switch {
	case people == 0:
		return "no prompt of a person is among its evidence"
	case k.proposal.Op.Action == memstore.Remove && !summarizer.Supported(entry.Text, own.String()):
		return "the prompts that it rests on do not speak of that entry"
	case k.proposal.Op.Action != memstore.Remove && !summarizer.Supported(k.proposal.Op.Content, own.String()):
		return "the prompts that it rests on do not say it in the user's own words"
	}
	return ""
}

// find returns the entry that text means and how many it could mean, as the
// store matches: an equal one before those that hold it.
func find(st memstore.State, text string) (entry memstore.Entry, n int) {
	for _, e := range st.Entries {
		if e.Text == text || e.Shown == text {
			return e, 1
		}
		if strings.Contains(e.Text, text) {
			entry = e
			n++
		}
	}
	return entry, n
}
