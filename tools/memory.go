package tools

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/scanner"
	"github.com/hermes-mcp/hermes-mcp/tools/wire"
)

//go:embed memory.md
var memoryDescription string

//go:embed memory.schema.json
var memorySchema []byte

// MemoryOptions are what the memory tool needs beside its store.
type MemoryOptions struct {
	Caller   func(ctx context.Context) memstore.Caller // who calls now; nil means unknown
	ReadOnly bool                                      // every edit answers code read_only
	Why      string                                    // it does, as that is no wish of whoever started the server; may be ""
	Approval bool                                      // edits are kept for a person's decision instead of made
	Person   bool                                      // who calls is a person at a terminal: refusals say what to do in their words
	Enabled  map[memstore.Target]bool                  // nil means both; a disabled one answers code disabled
	// Snapshot returns the caller's frozen snapshot; read says what changed
	// since. May be nil.
	Snapshot func(ctx context.Context) (memstore.Snapshot, error)
}

// readOnly is the answer to an edit where none is made.
func (o MemoryOptions) readOnly() wire.Failure {
	f := wire.Failure{Code: wire.ReadOnly, Error: cmp.Or(o.Why, "this server is read-only") + ": nothing was saved. Reading works."}
	if !o.Person {
		f.Error += " Tell the user if the fact matters."
	}
	return f
}

// writeTime bounds an edit that has begun: the store waits 10 s for a lock,
// and disks may be slow.
const writeTime = time.Minute

// Memory is the tool that edits the curated memory.
func Memory(store *memstore.Store, o MemoryOptions) server.ServerTool {
	m := &memory{store: store, MemoryOptions: o, streaks: newStreaks()}
	t := wire.Define("memory", "Memory", memoryDescription, memorySchema, mcp.ToolAnnotation{
		ReadOnlyHint:    mcp.ToBoolPtr(false),
		DestructiveHint: mcp.ToBoolPtr(true), // replace and remove
		IdempotentHint:  mcp.ToBoolPtr(false),
		OpenWorldHint:   mcp.ToBoolPtr(false),
	}, m.handle)
	// Clients that load tools on demand must have this one in view from the
	// start: it tells the model to look.
	t.Tool.Meta = &mcp.Meta{AdditionalFields: map[string]any{"anthropic/alwaysLoad": true}}
	return t
}

type memory struct {
	store *memstore.Store
	MemoryOptions
	streaks *streaks
}

// An edited is the answer to an edit that succeeded. It is short and final:
// entries that are shown again make models repeat the call.
type edited struct {
	Success    bool            `json:"success"`
	Done       bool            `json:"done"`
	Target     memstore.Target `json:"target"`
	Message    string          `json:"message"`
	Scope      memstore.Scope  `json:"scope,omitempty"` // when not global
	Usage      string          `json:"usage"`
	Chars      int             `json:"chars"`
	Limit      int             `json:"limit"`
	EntryCount int             `json:"entry_count"`
	// Old texts: one string, or for operations a map from the operation's
	// number, from 1.
	ReplacedEntry any       `json:"replaced_entry,omitempty"`
	RemovedEntry  any       `json:"removed_entry,omitempty"`
	Cleaned       []finding `json:"cleaned,omitempty"`
	Masked        string    `json:"masked,omitempty"` // the rule for which what was written is kept from prompts
	// Entries that do not go together with what was written, which is told and
	// not decided.
	Conflicts []conflict `json:"conflicts,omitempty"`
	Since     string     `json:"since_snapshot,omitempty"`
	Note      string     `json:"note"`
}

// A conflict is an entry that contradicts what was written.
type conflict struct {
	Entry     string `json:"entry"`
	UpdatedAt string `json:"updated_at,omitempty"`
	Kind      string `json:"kind"` // negated, changed
}

// A staged is the answer to an edit that waits for a person's yes.
type staged struct {
	Success   bool            `json:"success"`
	Staged    bool            `json:"staged"`
	Done      bool            `json:"done"`
	PendingID string          `json:"pending_id"`
	Target    memstore.Target `json:"target"`
	Message   string          `json:"message"`
}

// A finding is what the scanner saw.
type finding struct {
	Rule   string `json:"rule"`
	Match  string `json:"match"`
	Offset int    `json:"offset"` // of the content as given, in bytes
}

func findings(all []scanner.Finding) []finding {
	var out []finding
	for _, f := range all {
		out = append(out, finding{f.Rule, f.Match, f.Offset})
	}
	return out
}

func (m *memory) handle(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var by memstore.Caller
	if m.Caller != nil {
		by = m.Caller(ctx)
	}
	if by.Origin == "" {
		by.Origin = "tool"
	}
	streak := m.streaks.of(callerKey(ctx, by))

	a := wire.Parse(req)
	call := parseEdit(a)
	switch {
	case a.Wrong != "":
		return wire.Fail(wire.Failure{Code: wire.Invalid, Error: strings.TrimSpace(a.Wrong + ". Nothing was changed. " + call.strange)})
	case call.scope == memstore.SessionOnly && by.Session == "":
		return wire.Fail(wire.Failure{Code: wire.Invalid, Error: "the session is not known here, so nothing can be kept for it: use scope global or project. Nothing was changed."})
	case call.read && call.everything:
		return m.readAll(ctx, own(by))
	case m.disabled(call.target):
		return wire.Fail(wire.Failure{Code: wire.Disabled, Error: fmt.Sprintf("the target %s is turned off in the configuration of this server. Go on without it.", call.target)})
	case call.read:
		return m.read(ctx, call.file(by))
	case m.ReadOnly:
		return wire.Fail(m.readOnly())
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	// A write that has begun does not depend on whether the client still waits.
	write, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer cancel()
	if m.Approval {
		return m.propose(write, by, call, streak)
	}
	began := m.began(write)
	res, err := m.store.Apply(write, by, call.target, call.ops...)
	if err != nil {
		return m.refused(call, res.State, err, streak)
	}
	streak.reset()
	done := m.accepted(call, res)
	if began != nil {
		if elsewhere, err := m.store.Overlay(write, *began, call.file(by)); err == nil { // else the answer does without
			done.Since = since(append(elsewhere, m.store.OverlayOf(*began, res.State)))
		}
	}
	return wire.Succeed(done)
}

// propose keeps an edit for a person's decision.
func (m *memory) propose(ctx context.Context, by memstore.Caller, call edit, s *streak) (*mcp.CallToolResult, error) {
	p, err := m.store.Propose(ctx, by, call.target, call.ops...)
	if err != nil {
		// The state is for the answer only; when it cannot be read either, the
		// error at hand says more.
		st, _ := m.store.State(ctx, call.file(by))
		return m.refused(call, st, err, s)
	}
	s.reset()
	return wire.Succeed(staged{Success: true, Staged: true, Done: true, PendingID: p.ID, Target: call.target,
		Message: "Kept for the user's approval, not saved yet (hermes-mcp memory approve " + p.ID + "). Do not repeat it."})
}

func (m *memory) disabled(t memstore.Target) bool { return m.Enabled != nil && !m.Enabled[t] }

// callerKey names the session whose failures are counted together.
func callerKey(ctx context.Context, by memstore.Caller) string {
	if by.Session != "" {
		return by.Session
	}
	if s := server.ClientSessionFromContext(ctx); s != nil {
		return s.SessionID()
	}
	return ""
}

// accepted is the answer to an edit that is on disk.
func (m *memory) accepted(call edit, res memstore.Result) edited {
	st := res.State
	out := edited{
		Success: true, Done: true, Target: call.target,
		Usage: st.Usage(), Chars: st.Chars, Limit: st.Limit, EntryCount: len(st.Entries),
		Cleaned: findings(res.Cleaned),
		Note:    "This is complete. Do not repeat it.",
	}
	if call.scope != memstore.Global {
		out.Scope = call.scope
	}
	replaced, removed := map[string]string{}, map[string]string{}
	var did []string
	for _, c := range res.Changes {
		n := strconv.Itoa(c.Op + 1)
		switch {
		case c.Duplicate:
			did = append(did, "is there already, nothing was written")
		case c.Action == memstore.Add:
			did = append(did, "added")
		case c.Action == memstore.Replace:
			did = append(did, "replaced")
			replaced[n] = old(c)
		case c.Action == memstore.Remove:
			did = append(did, "removed")
			removed[n] = old(c)
		}
	}
	if call.batch {
		out.Message = fmt.Sprintf("%s applied: %s.", operations(len(did)), strings.Join(did, "; "))
		if len(replaced) > 0 {
			out.ReplacedEntry = replaced
		}
		if len(removed) > 0 {
			out.RemovedEntry = removed
		}
	} else {
		out.Message = "Entry " + strings.Join(did, "; ") + "."
		for _, text := range replaced {
			out.ReplacedEntry = text
		}
		for _, text := range removed {
			out.RemovedEntry = text
		}
	}
	if len(res.Cleaned) > 0 {
		out.Message += " Invisible characters were taken out first, see cleaned."
	}
	if out.Masked = keptBack(res); out.Masked != "" {
		out.Message += " It reads like an attack (" + out.Masked + "), so prompts show a mask in its place; a person can lift that with hermes-mcp memory add --unscanned."
	}
	for _, c := range res.Conflicts {
		out.Conflicts = append(out.Conflicts, conflict{c.Entry.Shown, wire.Stamp(c.Entry.UpdatedAt), string(c.Kind)})
	}
	if len(out.Conflicts) > 0 {
		out.Note += " It contradicts the entries in conflicts: if they are no longer true, replace or remove them; if you do not know, ask the user."
	}
	if call.strange != "" {
		out.Note += " " + call.strange
	}
	if st.NearlyFull() {
		out.Note += " It is nearly full: when you next save here, shorten or merge entries in the same call."
	}
	return out
}

// operations counts them in words.
func operations(n int) string {
	if n == 1 {
		return "1 operation"
	}
	return strconv.Itoa(n) + " operations"
}

// keptBack is the rule for which something just written will not be shown, where
// the configuration lets it in.
func keptBack(res memstore.Result) string {
	for _, e := range res.State.Entries {
		if e.Blocked != "" && slices.ContainsFunc(res.Changes, func(c memstore.Change) bool { return c.New == e.Text }) {
			return e.Blocked
		}
	}
	return ""
}

// began is the snapshot of the caller's session, nil when it is not known. It
// is taken before the first edit: a client that has read nothing yet must not
// find its own edit in what its session began with.
func (m *memory) began(ctx context.Context) *memstore.Snapshot {
	if m.Snapshot == nil {
		return nil
	}
	snap, err := m.Snapshot(ctx)
	if err != nil {
		return nil
	}
	return &snap
}

// since says in a few words how far the block in the caller's context is
// behind.
func since(all []memstore.Overlay) string {
	added, removed := 0, 0
	for _, o := range all {
		added, removed = added+len(o.Added), removed+len(o.Removed)
	}
	if added+removed == 0 {
		return ""
	}
	return fmt.Sprintf("%d added, %d removed since the block in your context", added, removed)
}

// old is the text that an edit took away, so that nothing is lost unseen. One
// that must not enter a prompt is named by its rule only; the history has it.
func old(c memstore.Change) string {
	if found := scanner.Scan(c.Old, scanner.Strict); len(found) > 0 {
		return "[BLOCKED: " + found[0].Rule + "]"
	}
	return c.Old
}

// refused is the answer to an edit that was not made.
func (m *memory) refused(call edit, st memstore.State, err error, s *streak) (*mcp.CallToolResult, error) {
	out := refusal{Failure: wire.Failure{Code: wire.IO}, Target: call.target}
	var op *memstore.OpError
	if !errors.As(err, &op) {
		op = &memstore.OpError{Err: err, Op: -1, Reason: err.Error()}
	}
	out.explain(call, st, op)
	if m.Person {
		out.forPerson(op)
	}
	if out.counts(op) && s.fail() {
		out.Done = true
		out.Error += " This is the fourth failure in a row: stop trying, nothing was saved. Go on with your answer to the user."
	}
	return wire.Fail(out)
}
