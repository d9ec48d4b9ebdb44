// Package provider is the fourth layer of memory: one external memory, plugged
// in beside the built-in one, recalled for one turn and never stored.
//
// # The life of a provider
//
// A [Provider] has five methods; whatever more it can do are interfaces of one
// method, asserted where they are used. These are the events of its life, as
// Hermes Agent has them (its names in brackets):
//
//   - Start (initialize): once a process, before anything else, with the
//     session that needed it. It may connect and fail; it is tried again later.
//   - [SystemBlocker] (system_prompt_block): fixed words for the prompt, such as
//     what the provider is; never what it recalls.
//   - Recall (prefetch): what it knows about the user's own words, before the
//     answer to them.
//   - SyncTurn (sync_turn): a finished turn, in order, after the answer.
//   - [Prefetcher] (queue_prefetch): a hint, after a turn, of what the next
//     recall will be about.
//   - [Tooler] (get_tool_schemas, handle_tool_call): tools of its own.
//   - [Mirror] (on_memory_write): an edit of the built-in memory that is on disk.
//   - [PreCompressor] (on_pre_compress): messages that are about to leave the
//     context.
//   - [Delegator] (on_delegation): a subagent's task and result, told to its
//     parent's session.
//   - [SessionEnder] (on_session_end), then [SessionSwitcher]
//     (on_session_switch): a conversation ended; another goes on in its place.
//     The end of the old one is always delivered before the switch.
//   - Close (shutdown): once, after the last call has returned.
//
// The built-in memory always stands beside it and does not depend on it. At
// most one provider is active: it is one value, held by one [Guard].
//
// # The guard
//
// Nothing but the [Guard] calls a provider. It skips what is trivial, gives
// every call a deadline, takes secrets and recalled text out of what leaves,
// scans and fences what comes in, pauses a provider that fails, and delivers
// what must not be lost from a queue on disk (package outbox) in the order it
// happened. Failures are never silent: they stand in [Health], and the first
// of a row is said once in so many words ([Guard.Notice]).
//
// # What is never done
//
// Recalled text is never written anywhere. Nothing is delivered twice unless
// the provider says that repeating it is harmless ([Repeater]): where a
// delivery was cut off, so that it is not known whether it arrived, it is shown
// as unknown. Sessions that are not a user's own (subagents, cron, flush) write
// nothing.
package provider

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/hermes-mcp/hermes-mcp/memstore"
)

// A Provider is one external memory.
//
// All methods but Name are called after Start succeeded, and by several
// goroutines at once: a recall does not wait for a delivery. All obey ctx: they
// return soon after it is done, leaving nothing running.
//
// Errors of the methods that deliver say what is known: ErrNotTaken and
// ErrRejected that nothing was stored; any other error, that of an ended ctx
// included, leaves it open.
type Provider interface {
	// Name is the provider's name in the configuration.
	Name() string
	// Start makes the provider ready for s. It is called again after it failed.
	Start(ctx context.Context, s Session) error
	// Recall returns what is known about query, best first; nothing is fine.
	Recall(ctx context.Context, s Session, query string) ([]Memory, error)
	// SyncTurn stores a finished turn. Turns of a session come in order.
	SyncTurn(ctx context.Context, t Turn) error
	// Close ends the provider. It is called once, also when Start failed.
	Close() error
}

// Errors of a delivery and of a recall. A provider wraps them with its own
// words; any other error means that the outcome is not known.
var (
	// ErrNotTaken: nothing was stored, and trying again later may help: the
	// provider could not be reached, or said that it is busy.
	ErrNotTaken = errors.New("not taken")
	// ErrRejected: nothing was stored, and trying again will not help.
	ErrRejected = errors.New("rejected")
)

// A Session is the conversation that a call belongs to.
type Session struct {
	ID      string `json:"id"`                // "<source>:<agent's id>"
	Parent  string `json:"parent,omitempty"`  // the session it came from
	Context string `json:"context,omitempty"` // "" or primary; subagent, cron and flush only read
	Source  string `json:"source,omitempty"`  // the agent, such as claude-code
	Profile string `json:"profile,omitempty"`
	User    string `json:"user,omitempty"` // where an agent serves several
	Dir     string `json:"dir,omitempty"`  // its folder
	Title   string `json:"title,omitempty"`
}

// Writes tells whether the session may write to a provider.
func (s Session) Writes() bool { return s.Context == "" || s.Context == "primary" }

// A Memory is one thing recalled.
type Memory struct {
	Text  string    `json:"text"`
	At    time.Time `json:"at,omitzero"`     // when it was learnt or last confirmed
	Label string    `json:"label,omitempty"` // what kind it is, in a word or two
}

// A Turn is what the user said and what came of it.
type Turn struct {
	ID        string    `json:"id"` // the same for the same turn, whoever reports it
	Session   Session   `json:"session"`
	User      string    `json:"user"`
	Assistant string    `json:"assistant"`
	At        time.Time `json:"at,omitzero"`
}

// A Write is an edit of the built-in memory that is on disk.
type Write struct {
	ID      string          `json:"id"` // the edit's, with the number of the change in it
	Session Session         `json:"session"`
	Target  memstore.Target `json:"target"`
	Action  memstore.Action `json:"action"`
	Old     string          `json:"old,omitempty"`      // the entry before: replace, remove
	OldHash string          `json:"old_hash,omitempty"` // its memstore.Entry.Hash
	New     string          `json:"new,omitempty"`      // the entry now: add, replace
	NewHash string          `json:"new_hash,omitempty"`
	At      time.Time       `json:"at,omitzero"`
}

// A Switch says that a conversation goes on under another session.
type Switch struct {
	ID     string  `json:"id,omitempty"` // of the event, which is told once; "" is told each time
	From   Session `json:"from"`
	To     Session `json:"to"`
	Reason string  `json:"reason"`          // resume, branch, reset, clear, undo, compression
	Reset  bool    `json:"reset,omitempty"` // a new conversation, which inherits nothing
}

// A Delegation is a task that a subagent has finished.
type Delegation struct {
	ID      string  `json:"id"`
	Session Session `json:"session"` // the parent's
	Child   string  `json:"child"`   // the subagent's session
	Task    string  `json:"task"`
	Result  string  `json:"result"`
}

// A Compression is text that is about to leave a session's context.
type Compression struct {
	ID           string  `json:"id"`
	Session      Session `json:"session"`
	Conversation string  `json:"conversation"`
}

// A Tool is one of the provider's own tools.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // a JSON schema of an object
	ReadOnly    bool            // it changes nothing, so that read-only callers may have it
	// Handle answers a call. The result is JSON, an object with "error" when
	// the call was wrong; a Go error means that the provider failed.
	Handle func(ctx context.Context, arguments json.RawMessage) (json.RawMessage, error)
}

// A Fact is one thing that a provider holds, as far as it can be compared with
// the built-in memory.
type Fact struct {
	ID     string
	Text   string
	Entry  string          // the hash of the entry it was mirrored from, "" when it was not
	Target memstore.Target // where it belongs in the built-in memory, "" when it says nothing
	At     time.Time
}

// A SystemBlocker has fixed words for the prompt.
type SystemBlocker interface {
	SystemBlock(ctx context.Context) (string, error)
}

// A Prefetcher can prepare the next recall.
type Prefetcher interface {
	Prefetch(ctx context.Context, s Session, query string) error
}

// A Mirror takes edits of the built-in memory. It keeps NewHash with what it
// stores, so that both sides can be compared later.
type Mirror interface {
	MirrorWrite(ctx context.Context, w Write) error
}

// A PreCompressor wants what is about to leave the context.
type PreCompressor interface {
	PreCompress(ctx context.Context, c Compression) error
}

// A Delegator wants what subagents did.
type Delegator interface {
	Delegated(ctx context.Context, d Delegation) error
}

// A SessionEnder does something when a conversation is over.
type SessionEnder interface {
	EndSession(ctx context.Context, s Session) error
}

// A SessionSwitcher keeps something for a session that must follow it. The old
// session has been ended before, except where the same conversation goes on
// (reason compression or undo).
type SessionSwitcher interface {
	SwitchSession(ctx context.Context, s Switch) error
}

// A Tooler has tools of its own.
type Tooler interface {
	Tools(ctx context.Context) ([]Tool, error)
}

// A Lister can say all that it holds.
type Lister interface {
	List(ctx context.Context) ([]Fact, error)
}

// A Kind is what is delivered.
type Kind string

// What is delivered through the outbox.
const (
	KindTurn       Kind = "turn"
	KindWrite      Kind = "write"
	KindEnd        Kind = "end"
	KindSwitch     Kind = "switch"
	KindDelegation Kind = "delegation"
	KindCompress   Kind = "compress"
)

// A Repeater can take some deliveries twice without harm, for example because
// it knows their ids.
type Repeater interface {
	Repeatable(k Kind) bool
}
