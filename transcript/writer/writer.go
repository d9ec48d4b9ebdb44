// Package writer puts what sources deliver into the archive.
//
// It owns the tables session, block, message, member, context, file and term
// and both indexes, as far as writing goes. A source reads in one goroutine,
// where messages are also joined, analysed and packed; one transaction at a time
// is written in another.
//
// # Promises
//
// Reading a file again adds nothing: identity is the agent's own message id,
// else a hash of what is said and how often it was said before in the reading.
// What a transaction stores and how far the file was read are saved together.
// Nothing is deleted or shortened. The index is merged between transactions,
// never inside one.
package writer

import "github.com/hermes-mcp/hermes-mcp/transcript/engine"

// A Writer writes to one archive. Safe for concurrent use by goroutines and
// processes.
type Writer struct{ sqlite *engine.DB }

// New returns the writer of the archive that sqlite has open.
func New(sqlite *engine.DB) *Writer { return &Writer{sqlite} }
