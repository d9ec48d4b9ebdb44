package resources

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/memstore"
)

//go:embed instructions.md
var instructionsText string

// Inject says how the snapshot reaches the prompt (memory.inject).
type Inject string

// The values of memory.inject.
const (
	InjectAuto         Inject = "auto"
	InjectInstructions Inject = "instructions"
	InjectHook         Inject = "hook"
	InjectOff          Inject = "off"
)

const (
	// claudeCut is where Claude Code cuts instructions, in bytes.
	claudeCut = 2048
	// claudeFill is up to where entries are put before that.
	claudeFill = 2000
)

// Instructions is what initialize and server/discover say: guidance and, as
// inject and the client ask for, the snapshot or a pointer to it. hooked says
// that our SessionStart hook is installed for this client. The same arguments
// always give the same bytes.
func Instructions(snap memstore.Snapshot, inject Inject, client string, hooked bool) string {
	client = strings.ToLower(client)
	claude := strings.HasPrefix(client, "claude-code") || client == "claude code"
	if inject == InjectAuto || inject == "" {
		switch {
		case strings.HasPrefix(client, "hermes"):
			inject = InjectOff // it puts the same files into the prompt itself
		case hooked:
			inject = InjectHook
		default:
			inject = InjectInstructions
		}
	}
	switch {
	case inject == InjectHook:
		return say("What is saved stands in the MEMORY block that this session began with; if you see none, call `memory` with action read once before you answer.")
	case inject != InjectInstructions:
		return say("`memory` with action read shows what is saved.")
	case claude:
		return short(snap)
	}
	return say("The block below is what was saved when this session began. It stays as it is; what you save meanwhile is in the tool's answers.") +
		"\n" + snap.String()
}

// say is the three sentences and where the memory is.
func say(where string) string { return strings.ReplaceAll(instructionsText, "{where}", where) }

// short is instructions that Claude Code does not cut: a pointer, then USER,
// the project's and MEMORY, whole entries while they fit.
func short(snap memstore.Snapshot) string {
	users, projects, memories := entries(snap.User), entries(snap.Project), entries(snap.Memory)
	if len(users)+len(projects)+len(memories) == 0 {
		return say("Nothing has been saved yet.")
	}
	var b strings.Builder
	b.WriteString(say("What was saved when this session began, as far as it fits here:"))
	left := add(&b, "USER PROFILE", users) + add(&b, "PROJECT MEMORY", projects) + add(&b, "MEMORY", memories)
	if left > 0 {
		fmt.Fprintf(&b, "%d more: `memory` read", left)
	}
	return b.String()
}

// add writes whole entries while they fit, and returns how many did not.
func add(b *strings.Builder, title string, all []string) (left int) {
	if len(all) == 0 {
		return 0
	}
	head := "\n" + title + "\n"
	for _, e := range all {
		piece := head + "- " + strings.ReplaceAll(e, "\n", "\n  ") + "\n"
		if b.Len()+len(piece) > claudeFill {
			left++
			continue
		}
		b.WriteString(piece)
		head = ""
	}
	return left
}

// entries are those of a rendered block, masked as it is.
func entries(block string) []string {
	if block == "" {
		return nil
	}
	// rule, title, rule, entries
	lines := strings.SplitN(block, "\n", 4)
	if len(lines) < 4 {
		return []string{block}
	}
	return strings.Split(lines[3], "\n§\n")
}
