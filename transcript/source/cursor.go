package source

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// Cursor reads the conversations of the Cursor editor: its databases of every
// era, the agent transcripts it exports, and the stores of its command line.
type Cursor struct{}

// Name implements [transcript.Source].
func (Cursor) Name() string { return "cursor" }

func cursorID(own string) string { return Cursor{}.Name() + ":" + own }

// Find lists the databases under Cursor's user folders and what lies under
// CURSOR_CONFIG_DIR or ~/.cursor. An exported transcript is left out where a
// database holds the same conversation with its tool results.
func (c Cursor) Find(ctx context.Context, p transcript.Places) ([]transcript.File, error) {
	var found []transcript.File
	for _, user := range userFolders(p, "Cursor", ".cursor-server") {
		if f, ok := databaseAt(c.Name(), filepath.Join(user, "globalStorage", "state.vscdb")); ok {
			found = append(found, f)
		}
		more, err := filepath.Glob(filepath.Join(globSafe(user), "workspaceStorage", "*", "state.vscdb"))
		if err != nil {
			return nil, fmt.Errorf("look for workspaces: %w", err)
		}
		for _, path := range more {
			if f, ok := databaseAt(c.Name(), path); ok {
				found = append(found, f)
			}
		}
	}
	root := p.Env["CURSOR_CONFIG_DIR"]
	if root == "" && p.Home != "" {
		root = filepath.Join(p.Home, ".cursor")
	}
	if root == "" {
		return found, nil
	}
	for _, dir := range []string{"projects", "chats"} {
		files, err := walk(ctx, c.Name(), filepath.Join(root, dir), func(path string) bool {
			return dir == "chats" && filepath.Base(path) == "store.db" || dir == "projects" && isAgentTranscript(path)
		})
		if err != nil {
			return found, err
		}
		found = append(found, files...)
	}
	return withoutExports(ctx, found), nil
}

// isAgentTranscript tells by the folder whether a file is one of the exports.
func isAgentTranscript(path string) bool {
	ext := filepath.Ext(path)
	return (ext == ".jsonl" || ext == ".txt") && strings.Contains(filepath.ToSlash(path), "/agent-transcripts/")
}

// userFolders returns where an editor of the VS Code family keeps its user's
// data, on this system and on a remote one.
func userFolders(p transcript.Places, name, server string) []string {
	var out []string
	if p.Home == "" {
		return nil
	}
	switch p.GOOS {
	case "darwin":
		out = append(out, filepath.Join(p.Home, "Library", "Application Support", name, "User"))
	case "windows":
		dir := p.Env["APPDATA"]
		if dir == "" {
			dir = filepath.Join(p.Home, "AppData", "Roaming")
		}
		out = append(out, filepath.Join(dir, name, "User"))
	default:
		dir := p.Env["XDG_CONFIG_HOME"]
		if dir == "" {
			dir = filepath.Join(p.Home, ".config")
		}
		out = append(out, filepath.Join(dir, name, "User"))
	}
	if server != "" {
		out = append(out, filepath.Join(p.Home, server, "data", "User"))
	}
	return out
}

// withoutExports leaves out transcripts whose conversation stands in one of
// the databases.
func withoutExports(ctx context.Context, files []transcript.File) []transcript.File {
	held := map[string]bool{}
	for _, f := range files {
		if filepath.Ext(f.Path) != ".vscdb" {
			continue
		}
		db, err := openDatabase(ctx, f.Path)
		if err != nil {
			continue
		}
		err = db.rowsOf(ctx, func(scan func(...any) error) error {
			var id string
			err := scan(&id)
			held[id] = true
			return err
		}, `SELECT DISTINCT substr(key, 10, instr(substr(key, 10), ':') - 1) FROM cursorDiskKV WHERE key >= 'bubbleId:' AND key < 'bubbleId;'`)
		if closing := db.Close(); err != nil || closing != nil {
			continue
		}
	}
	kept := files[:0]
	for _, f := range files {
		name := filepath.Base(f.Path)
		if !isAgentTranscript(f.Path) || !held[strings.TrimSuffix(name, filepath.Ext(name))] {
			kept = append(kept, f)
		}
	}
	return kept
}

// FindIn lists Cursor's databases and transcripts at or below path.
func (c Cursor) FindIn(ctx context.Context, path string) ([]transcript.File, error) {
	files, err := findIn(ctx, c, path)
	return withoutExports(ctx, files), err
}

func (Cursor) recognises(ctx context.Context, f *sniff) bool {
	switch {
	case f.is(".vscdb"):
		return f.holds(ctx, "cursorDiskKV", "key", "value") || f.holds(ctx, "ItemTable", "key", "value") && holdsCursorItems(ctx, f.path)
	case isDatabase(f.path):
		return f.holds(ctx, "blobs", "id", "data") && f.holds(ctx, "meta", "key", "value")
	case f.is(".jsonl"):
		return isCursorLog(f)
	}
	return isAgentTranscript(f.path)
}

// isCursorLog recognises an agent transcript: lines of role and message, with
// nothing of an envelope around them.
func isCursorLog(f *sniff) bool {
	known := 0
	for _, v := range f.values(10) {
		var r struct {
			Role    string `json:"role"`
			Message struct {
				Content rawJSON `json:"content"`
			} `json:"message"`
			Type   string  `json:"type"`
			UUID   string  `json:"uuid"`
			ID     rawJSON `json:"id"`
			Status string  `json:"status"`
			Error  rawJSON `json:"error"`
		}
		if decode(v, &r) != nil {
			continue
		}
		switch {
		case r.UUID != "" || len(r.ID) > 0:
			return false
		case r.Role != "" && len(r.Message.Content) > 0 && r.Type == "":
			known++
		case r.Role == "" && (r.Type == "turn_ended" || r.Type == "error" && str(r.Error) != ""):
			known++
		default:
			return false
		}
	}
	return known > 0
}

// Read implements [transcript.Source].
func (c Cursor) Read(ctx context.Context, f transcript.File, from transcript.Cursor, final bool, sink transcript.Sink) error {
	var err error
	switch {
	case filepath.Ext(f.Path) == ".vscdb":
		err = readCursorDB(ctx, f.Path, from, sink)
	case isDatabase(f.Path):
		err = readCursorStore(ctx, f.Path, sink)
	case filepath.Ext(f.Path) == ".txt":
		err = readCursorText(ctx, f, sink)
	default:
		err = readCursorLog(ctx, f, final, sink)
	}
	if err != nil {
		return fmt.Errorf("read cursor conversations: %w", err)
	}
	return nil
}

// workspaceFolder returns the folder that workspace.json beside a database
// names, or "".
func workspaceFolder(dir string) string {
	raw, err := os.ReadFile(filepath.Join(dir, "workspace.json"))
	if err != nil {
		return ""
	}
	var w struct {
		Folder    string `json:"folder"`
		Workspace string `json:"workspace"`
	}
	if decode(raw, &w) != nil {
		return ""
	}
	return filePath(first(w.Folder, w.Workspace))
}

// filePath returns the path of a file: URI, or s itself.
func filePath(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "file" {
		return s
	}
	if p := u.Path; len(p) > 2 && p[0] == '/' && p[2] == ':' {
		return filepath.FromSlash(p[1:]) // /C:/…
	}
	return u.Path
}
