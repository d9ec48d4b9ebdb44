// Package writer puts what sources deliver into the archive.
//
// It owns the tables session, block, message, member, context, file and term
// and both indexes, as far as writing goes. A source reads in one goroutine,
// where messages are also joined; they are analysed and packed beside it, and one
// transaction at a time is written in another.
//
// # Promises
//
// Reading a file again adds nothing: identity is the agent's own message id,
// else a hash of what is said and how often it was said before in the reading.
// What a transaction stores and how far the file was read are saved together.
// The words that a session says all the time, by which a common word finds it, are
// counted while it comes in, and at upkeep once it has grown by half.
// Nothing is deleted or shortened: what is to go, package removal takes out by way
// of a [Change]. The index is merged between transactions, never inside one.
package writer

import (
	"encoding/json"
	"slices"

	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
	"github.com/hermes-mcp/hermes-mcp/transcript/record"
)

// A Writer writes to one archive. Safe for concurrent use by goroutines and
// processes.
type Writer struct {
	sqlite *engine.DB
	mask   func(string) string // nil stores texts as they are
}

// New returns the writer of the archive that sqlite has open.
func New(sqlite *engine.DB) *Writer { return &Writer{sqlite: sqlite} }

// Masking returns a writer of the same archive that passes every text through
// mask before it is stored; nil stores texts as they are.
func (w *Writer) Masking(mask func(string) string) *Writer { return &Writer{w.sqlite, mask} }

// maskMessage masks what m says, ran and thought. Arguments stay JSON.
func maskMessage(m *record.Message, mask func(string) string) {
	if mask == nil {
		return
	}
	m.Content, m.Reasoning = mask(m.Content), mask(m.Reasoning)
	m.Extra = record.ValidArgs(json.RawMessage(mask(string(m.Extra))))
	m.ToolCalls = slices.Clone(m.ToolCalls) // the caller's stay as they are
	for i := range m.ToolCalls {
		m.ToolCalls[i].Args = json.RawMessage(mask(string(m.ToolCalls[i].Args)))
	}
}
