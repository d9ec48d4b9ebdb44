package source

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// VSCode reads the chats of VS Code and its kin: session documents, the logs
// of changes that replaced them, and the extension's own event logs.
type VSCode struct{}

// Name implements [transcript.Source].
func (VSCode) Name() string { return "vscode-chat" }

func vscodeID(own string) string { return VSCode{}.Name() + ":" + own }

// Find lists the chats of every editor of the family. Of several files of one
// session the fullest form is taken: the log of changes, then the document,
// then the extension's log.
func (v VSCode) Find(ctx context.Context, p transcript.Places) ([]transcript.File, error) {
	var found []transcript.File
	for _, host := range []struct{ name, server string }{{"Code", ".vscode-server"}, {"Code - Insiders", ".vscode-server-insiders"},
		{"VSCodium", ".vscodium-server"}, {"Cursor", ".cursor-server"}, {"Windsurf", ".windsurf-server"}} {
		for _, user := range userFolders(p, host.name, host.server) {
			for _, dir := range []string{"workspaceStorage", "globalStorage"} {
				files, err := walk(ctx, v.Name(), filepath.Join(user, dir), func(path string) bool {
					in := filepath.Base(filepath.Dir(path))
					ext := filepath.Ext(path)
					return (ext == ".json" || ext == ".jsonl") && (in == "chatSessions" || in == "emptyWindowChatSessions") || ext == ".jsonl" && in == "transcripts"
				})
				if err != nil {
					return found, err
				}
				found = append(found, files...)
			}
		}
	}
	return fullest(found), nil
}

// fullest keeps one file of each session in a folder of storage.
func fullest(files []transcript.File) []transcript.File {
	rank := func(path string) int {
		switch {
		case filepath.Base(filepath.Dir(path)) == "transcripts":
			return 1
		case filepath.Ext(path) == ".json":
			return 2
		}
		return 3
	}
	stem := func(path string) string { return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)) }
	best := map[string]int{}
	for _, f := range files {
		best[stem(f.Path)] = max(best[stem(f.Path)], rank(f.Path))
	}
	kept := files[:0]
	for _, f := range files {
		if rank(f.Path) == best[stem(f.Path)] {
			kept = append(kept, f)
		}
	}
	return kept
}

// FindIn lists the chats at or below path.
func (v VSCode) FindIn(ctx context.Context, path string) ([]transcript.File, error) {
	return findIn(ctx, v, path)
}

func (VSCode) recognises(ctx context.Context, f *sniff) bool {
	switch {
	case f.is(".json"):
		return f.keys()["requests"] && bytes.Contains(f.bytes(), []byte(`"requestId"`))
	case f.is(".jsonl"):
		return isChatLog(f) || isCopilot(f) == copilotVSCode
	}
	return false
}

// isChatLog recognises a log of changes by its first line, the whole state.
func isChatLog(f *sniff) bool {
	vals := f.values(1)
	if len(vals) == 0 {
		return false
	}
	var c struct {
		Kind *int `json:"kind"`
		V    struct {
			Requests  rawJSON `json:"requests"`
			SessionID string  `json:"sessionId"`
		} `json:"v"`
	}
	return decode(vals[0], &c) == nil && c.Kind != nil && *c.Kind == 0 && (len(c.V.Requests) > 0 || c.V.SessionID != "")
}

// Read implements [transcript.Source].
func (v VSCode) Read(ctx context.Context, f transcript.File, from transcript.Cursor, final bool, sink transcript.Sink) error {
	var err error
	switch {
	case filepath.Ext(f.Path) == ".json":
		err = readChatDocument(ctx, f.Path, sink)
	case isChatLog(&sniff{path: f.Path}):
		err = readChatLog(ctx, f, final, sink)
	default:
		dir := workspaceFolder(filepath.Dir(filepath.Dir(filepath.Dir(f.Path))))
		err = readCopilot(ctx, v.Name(), f, from, final, sink, transcript.Session{Dir: dir, Project: gitRoot(dir)})
	}
	if err != nil {
		return fmt.Errorf("read vs code chat: %w", err)
	}
	return nil
}

func readChatDocument(ctx context.Context, path string, sink transcript.Sink) error {
	raw, err := readDocument(path)
	if err != nil {
		return err
	}
	var c chat
	if err := decode(raw, &c); err != nil {
		sink.Problem(0, "not valid JSON: "+err.Error())
		return nil
	}
	size := int64(len(raw)) // so that raw is not kept meanwhile
	n, err := c.deliver(ctx, path, sink)
	if err != nil {
		return err
	}
	return sink.Mark(transcript.Cursor{Offset: size}, transcript.Tally{Lines: 1, Objects: 1, Types: map[string]int{"message": n}})
}

// chatLog replays a log of changes. It is read whole each time.
type chatLog struct {
	*pass
	state any
}

func readChatLog(ctx context.Context, f transcript.File, final bool, sink transcript.Sink) error {
	var r chatLog
	var err error
	if r.pass, err = openPass(ctx, f, transcript.Cursor{}, final, sink, nil); err != nil {
		return err
	}
	r.final = true // what stands at the end so far is delivered at each read
	r.in.hold = !final
	return r.run(&r, nil)
}

func (r *chatLog) flush() error { return nil }

// value applies one change: 0 the whole state, 1 set, 2 push after cutting to
// a length, 3 delete.
func (r *chatLog) value(v []byte) error {
	var c struct {
		Kind int     `json:"kind"`
		K    []any   `json:"k"`
		V    rawJSON `json:"v"`
		I    *int    `json:"i"`
	}
	if decode(v, &c) != nil {
		return nil
	}
	r.in.count(fmt.Sprintf("kind %d", c.Kind), "")
	var val any
	if len(c.V) > 0 && decode(c.V, &val) != nil {
		return nil
	}
	if c.Kind == 0 && len(c.K) == 0 {
		r.state = val
		return nil
	}
	r.state = change(r.state, c.K, c.Kind, val, c.I)
	return nil
}

// maxGap is how far beyond its end a list may be set.
const maxGap = 1 << 16

// change returns state with the change made at path; a path that leads nowhere
// changes nothing.
func change(state any, path []any, kind int, val any, cut *int) any {
	if len(path) == 0 {
		switch kind {
		case 2:
			list, _ := state.([]any)
			if cut != nil && *cut >= 0 && *cut < len(list) {
				list = list[:*cut:*cut]
			}
			more, _ := val.([]any)
			return append(list, more...)
		case 3:
			return nil
		}
		return val
	}
	switch at := path[0].(type) {
	case string:
		object, ok := state.(map[string]any)
		if !ok {
			if state != nil {
				return state
			}
			object = map[string]any{}
		}
		if kind == 3 && len(path) == 1 {
			delete(object, at)
			return object
		}
		object[at] = change(object[at], path[1:], kind, val, cut)
		return object
	case float64:
		list, ok := state.([]any)
		i := int(at)
		if !ok && state != nil || i < 0 || i > len(list)+maxGap {
			return state
		}
		if kind == 3 && len(path) == 1 {
			if i < len(list) {
				list = append(list[:i:i], list[i+1:]...)
			}
			return list
		}
		for len(list) <= i {
			list = append(list, nil)
		}
		list[i] = change(list[i], path[1:], kind, val, cut)
		return list
	}
	return state
}

func (r *chatLog) end() error {
	raw, err := marshal(r.state)
	if err != nil {
		return err
	}
	r.state = nil // it may be large
	var c chat
	if decode(raw, &c) != nil {
		return nil
	}
	_, err = c.deliver(r.ctx, r.path, r.sink)
	return err
}
