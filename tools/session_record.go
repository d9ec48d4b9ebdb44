package tools

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/hermes-mcp/hermes-mcp/scanner"
	"github.com/hermes-mcp/hermes-mcp/tools/wire"
	"github.com/hermes-mcp/hermes-mcp/transcript"
)

//go:embed session_record.md
var recordDescription string

//go:embed session_record.schema.json
var recordSchema []byte

const (
	// maxOutcome is how long an outcome may be, in characters.
	maxOutcome = 600
	// maxUserText is how long one turn's user text may be, in characters.
	maxUserText = 100_000
)

// RecordOptions are what session_record needs beside its archive.
type RecordOptions struct {
	// Session is the session that is recorded for whoever calls: its id, and
	// whose it is.
	Session  func(ctx context.Context) transcript.Session
	ReadOnly bool // every call answers code read_only
}

// SessionRecord is the tool that archives turns which no file tells of. archive
// gives it as the caller sees it.
func SessionRecord(archive func(ctx context.Context) (*transcript.DB, error), o RecordOptions) server.ServerTool {
	r := &recorder{archive, o}
	return wire.Define("session_record", "Record a turn", recordDescription, recordSchema, mcp.ToolAnnotation{
		ReadOnlyHint:    mcp.ToBoolPtr(false),
		DestructiveHint: mcp.ToBoolPtr(false),
		IdempotentHint:  mcp.ToBoolPtr(true),
		OpenWorldHint:   mcp.ToBoolPtr(false),
	}, r.handle)
}

type recorder struct {
	archive func(ctx context.Context) (*transcript.DB, error)
	RecordOptions
}

// A recorded is the answer to a call that kept a turn, or had kept it before.
type recorded struct {
	Success   bool   `json:"success"`
	Done      bool   `json:"done"`
	SessionID string `json:"session_id"`
	Already   bool   `json:"already,omitempty"`
	Note      string `json:"note"`
}

// recordedID is an id of a session that this tool began.
var recordedID = regexp.MustCompile(`^` + transcript.Recorded + `:[A-Za-z0-9][A-Za-z0-9:._@+/-]{0,199}$`)

func (r *recorder) handle(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	a := wire.Parse(req)
	text := strings.TrimSpace(scanner.StripFences(a.Text("user_text", "user", "prompt")))
	outcome := strings.TrimSpace(scanner.StripFences(a.Text("outcome", "summary", "result")))
	s := r.Session(ctx)
	if id := strings.TrimSpace(a.Text("session_id")); id != "" {
		if !strings.Contains(id, ":") {
			id = transcript.Recorded + ":" + id
		}
		s.ID = id
	}
	switch n := utf8.RuneCountInString(outcome); {
	case a.Wrong != "":
	case r.ReadOnly:
		return wire.Fail(wire.Failure{Code: wire.ReadOnly, Error: "this server is read-only: nothing was recorded. Go on without it."})
	case text == "":
		a.Refuse("user_text is missing: give what the user wrote in this turn, word for word")
	case outcome == "":
		a.Refuse("outcome is missing: say in at most %d characters what came of the turn", maxOutcome)
	case n > maxOutcome:
		a.Refuse("outcome has %d characters, %d more than fit: say the same in at most %d", n, n-maxOutcome, maxOutcome)
	case utf8.RuneCountInString(text) > maxUserText:
		a.Refuse("user_text has %d characters and may have %d: leave out what was pasted", utf8.RuneCountInString(text), maxUserText)
	case !recordedID.MatchString(s.ID):
		a.Refuse("session_id must be what an earlier answer of this tool returned; leave it out in a new conversation")
	}
	if a.Wrong != "" {
		return wire.Fail(wire.Failure{Code: wire.Invalid, Error: a.Wrong + ". Nothing was recorded."})
	}
	return r.keep(ctx, s, text, outcome)
}

func (r *recorder) keep(ctx context.Context, s transcript.Session, text, outcome string) (*mcp.CallToolResult, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	// A write that has begun does not depend on whether the client still waits.
	write, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer cancel()
	db, err := r.archive(write)
	added := false
	if err == nil {
		added, err = db.Record(write, s, text, outcome)
	}
	switch {
	case errors.Is(err, transcript.ErrNotFound):
		return wire.Fail(wire.Failure{Code: wire.NotFound, Error: fmt.Sprintf("the session %q is not yours to add to. Nothing was recorded: leave session_id out.", s.ID)})
	case errors.Is(err, transcript.ErrForgotten):
		return wire.Fail(wire.Failure{Code: wire.Disabled, Error: "the user had this session forgotten, so nothing more of it is kept. Go on without recording."})
	case err != nil:
		return wire.Fail(wire.Failure{Code: wire.IO, Error: "the archive could not be written: " + err.Error() + ". Nothing was recorded; go on and tell the user."})
	}
	out := recorded{Success: true, Done: true, SessionID: s.ID, Already: !added, Note: "This is complete. Do not repeat it."}
	if out.Already {
		out.Note = "This turn was just recorded; nothing was changed. Do not repeat it."
	}
	return wire.Succeed(out)
}
