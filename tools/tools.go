// Package tools is what a client may call: memory and session_search.
//
// A tool is one .go file with its arguments and handler, one .md with its
// description and one .schema.json, both embedded. Every word a client sees of
// a tool is fixed in the binary.
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
package tools

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// A code classes a failure.
type code string

const (
	codeInvalid    code = "invalid"
	codeNoMatch    code = "no_match"
	codeAmbiguous  code = "ambiguous"
	codeFull       code = "full"
	codeBlocked    code = "blocked"
	codeUnreadable code = "unreadable"
	codeReadOnly   code = "read_only"
	codeDisabled   code = "disabled"
	codeBusy       code = "busy"
	codeNotFound   code = "not_found"
	codeIO         code = "io"
)

// A failure is the least a failed call says.
type failure struct {
	Success bool   `json:"success"` // always false
	Code    code   `json:"code"`
	Error   string `json:"error"`
}

// define builds a tool out of its fixed texts.
func define(name, title, description string, schema []byte, hints mcp.ToolAnnotation, h server.ToolHandlerFunc) server.ServerTool {
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

// encode is the JSON of a result as a model reads it: no HTML escapes.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode a result: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// succeed is a success that says v.
func succeed(v any) (*mcp.CallToolResult, error) {
	text, err := encode(v)
	if err != nil {
		return nil, err
	}
	return mcp.NewToolResultStructured(json.RawMessage(text), string(text)), nil
}

// fail is a failure that says v, a failure or more.
func fail(v any) (*mcp.CallToolResult, error) {
	text, err := encode(v)
	if err != nil {
		return nil, err
	}
	return mcp.NewToolResultError(string(text)), nil
}
