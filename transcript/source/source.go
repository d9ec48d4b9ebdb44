// Package source knows where agents keep their sessions, and turns one file or
// database of theirs into the archive's sessions and messages: one file an
// agent's format (claude*.go, hermes*.go, codex*.go, ...).
//
// # What every source keeps to
//
// Lines end at byte '\n' and nothing else; there is no limit of a line's
// length below [MaxLine], and one bad line costs one line, which is counted
// and reported, never passed over in silence. A line may hold two values, or a
// torn one followed by a whole one; both are taken. A last line without '\n'
// is left for the next time unless the read is final, and never moves the
// cursor. Text is decoded lossily: what is not UTF-8 becomes U+FFFD. A number
// where a text is expected is taken as it is written, and so is what stands in a
// database's column of another type: one odd row costs one row.
//
// Identity is the agent's own id of a message. Where an agent has none, the
// source makes one from role, text and how many equal ones came before, so
// that reading a file again, or a copy of it, gives the same messages.
//
// Images become a placeholder with type and size, signatures and encrypted
// reasoning are dropped; all other text that the agent kept is delivered.
// Text that hermes-mcp itself put into a session is marked as own trace.
//
// # What is never done
//
// No source writes, creates or locks an agent's file, follows a symlink out of
// the folder it looks through, or reads the environment: [transcript.Places]
// says where to look. Databases are opened read-only.
package source

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// All returns every source, in the order in which a file that a person named
// is offered to them.
func All() []transcript.Source {
	return []transcript.Source{Claude{}, Codex{}, Cursor{}, Copilot{}, VSCode{}, Gemini{}, OpenCode{}, ChatGPT{}, ClaudeAI{}, Qwen{}, Kimi{}, Pi{}, Droid{}, Cline{}, Goose{}, Crush{}, Zed{}, Aider{}, Continue{}, Amp{},
		Grok(), Windsurf(), Antigravity(), Hermes{}, Gptme()}
}

// Recognise lists the files at or below path with the source that reads each:
// the first in the order of All that knows it. Every file is looked at once.
func Recognise(ctx context.Context, path string) ([]transcript.File, error) {
	all, err := walk(ctx, "", path, func(string) bool { return true })
	if err != nil {
		return nil, fmt.Errorf("look for sessions: %w", err)
	}
	var found []transcript.File
	var stored []transcript.File // parts of OpenCode's folders, which no source knows alone
	for _, f := range all {
		if err := ctx.Err(); err != nil {
			return found, err
		}
		s := &sniff{path: f.Path}
		f.Source = ""
		for _, src := range All() {
			if r, ok := src.(recogniser); ok && r.recognises(ctx, s) {
				f.Source = src.Name()
				break
			}
		}
		switch {
		case f.Source != "":
			found = append(found, f)
		case s.is(".json"):
			stored = append(stored, f)
		}
	}
	withDatabases(found)
	found = append(withoutExports(ctx, found), sessionsOf(OpenCode{}.Name(), stored)...)
	return found, nil
}

// A numberer makes ids for messages that have none of their own.
type numberer map[uint64]int

// id returns an id that depends on the parts and on how many equal ones it
// was asked for before.
func (n numberer) id(parts ...string) string {
	h := hashOf(parts...)
	n[h]++
	return "h" + strconv.FormatUint(h, 16) + "." + strconv.Itoa(n[h])
}

// hashOf returns a hash of the parts that does not depend on the process.
func hashOf(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		h.Write([]byte(p)) // never fails
		h.Write([]byte{0})
	}
	return h.Sum64()
}

// isGlobalID tells whether an id has so much chance in it that it cannot come
// up twice by accident: a real UUID, or a long token such as msg_01….
func isGlobalID(id string) bool {
	body := id
	if i := strings.LastIndexByte(id, '_'); i >= 0 {
		body = id[i+1:]
	}
	body = strings.ReplaceAll(body, "-", "")
	if len(body) < 20 || len(id) > 200 {
		return false
	}
	var seen [256]bool
	distinct, digits := 0, 0
	for i := range len(body) {
		c := body[i]
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		default:
			return false
		}
		if !seen[c] {
			seen[c] = true
			distinct++
		}
	}
	return distinct >= 8 && digits >= 3
}

// state decodes a cursor's state into v. A state that does not decode is as
// good as none: the file is then read from its beginning.
func state(c transcript.Cursor, v any) bool {
	return c.Offset > 0 && len(c.State) > 0 && json.Unmarshal(c.State, v) == nil
}
