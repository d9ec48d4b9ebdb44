// Package wire takes the arguments of a tool call and carries its result.
//
// # Results
//
// A success carries structuredContent and the same JSON as text. A failure has
// isError and JSON text only: success false, a code, an error that says what
// is wrong, what the state is and what to call next. A Go error out of a
// handler means a bug of ours, or that the caller is gone.
//
// # Arguments
//
// Nothing is required by a schema and clients send what they like, so
// arguments are taken as meant where that is safe: numbers for strings,
// strings for numbers, other names for the same thing. A number out of range
// is moved into it and the answer says so.
package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// A code classes a failure.
type Code string

// What a failure may be.
const (
	Invalid    Code = "invalid"
	NoMatch    Code = "no_match"
	Ambiguous  Code = "ambiguous"
	Full       Code = "full"
	Blocked    Code = "blocked"
	Unreadable Code = "unreadable"
	ReadOnly   Code = "read_only"
	Disabled   Code = "disabled"
	Busy       Code = "busy"
	NotFound   Code = "not_found"
	IO         Code = "io"
)

// A Failure is the least a failed call says.
type Failure struct {
	Success bool   `json:"success"` // always false
	Code    Code   `json:"code"`
	Error   string `json:"error"`
}

// Define builds a tool out of its fixed texts.
func Define(name, title, description string, schema []byte, hints mcp.ToolAnnotation, h server.ToolHandlerFunc) server.ServerTool {
	hints.Title = title
	return server.ServerTool{
		Tool: mcp.Tool{
			Name:           name,
			Description:    description,
			RawInputSchema: schema,
			Annotations:    hints,
		},
		Handler: h,
	}
}

// Encode is the JSON of a result as a model reads it: no HTML escapes.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode a result: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Succeed is a success that says v.
func Succeed(v any) (*mcp.CallToolResult, error) {
	text, err := Encode(v)
	if err != nil {
		return nil, err
	}
	return mcp.NewToolResultStructured(json.RawMessage(text), string(text)), nil
}

// Fail is a failure that says v, a Failure or more.
func Fail(v any) (*mcp.CallToolResult, error) {
	text, err := Encode(v)
	if err != nil {
		return nil, err
	}
	return mcp.NewToolResultError(string(text)), nil
}

// Sentence ends s as a sentence does.
func Sentence(s string) string {
	if strings.HasSuffix(s, ".") || strings.HasSuffix(s, "。") || s == "" {
		return s
	}
	return s + "."
}

// Stamp is t as RFC 3339 in UTC, "" when not known.
func Stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
