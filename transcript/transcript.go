// Package transcript keeps every session whole, and finds things in them.
//
// It is the archive: one SQLite database that holds what every agent on the
// machine said and ran. It knows nothing of agents; a [Source] (see
// transcript/source) turns one agent's files into sessions and messages.
//
// # Promises
//
// Ingest is idempotent: identity is the agent's own message id, else a hash,
// and offsets are saved in the transaction of the rows. Nothing archived is
// deleted or shortened because a file vanished, shrank or changed. Memory that
// was recalled into a session, and results of our own tools, are stored but
// never indexed. Readers never wait for writers.
package transcript

import (
	"errors"

	"github.com/hermes-mcp/hermes-mcp/transcript/record"
)

// What a session and a message are is said by package record; these are its
// types under the names by which the other rooms know them.
type (
	Role     = record.Role
	Relation = record.Relation
	Session  = record.Session
	ToolCall = record.ToolCall
	Message  = record.Message
)

// Who speaks, and how a session came out of its parent.
const (
	UserRole  = record.UserRole
	Assistant = record.Assistant
	Tool      = record.Tool
	System    = record.System
	Summary   = record.Summary

	Resume     = record.Resume
	Fork       = record.Fork
	Subagent   = record.Subagent
	Compaction = record.Compaction
	Branch     = record.Branch
	Delegate   = record.Delegate
	Reset      = record.Reset
)

// What a source is and delivers, and what an ingest tells.
type (
	Places       = record.Places
	File         = record.File
	Cursor       = record.Cursor
	Tally        = record.Tally
	Source       = record.Source
	Sink         = record.Sink
	Reviser      = record.Reviser
	Progress     = record.Progress
	Problem      = record.Problem
	IngestReport = record.IngestReport
)

var (
	// ErrNotFound is returned when no session or message has the id.
	ErrNotFound = errors.New("not found")
	// ErrAmbiguous is returned when a bare id or prefix fits several sessions.
	ErrAmbiguous = errors.New("ambiguous session id")
)
