package source

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// Claude reads the sessions of Claude Code: main and subagent files in both
// layouts, spilled tool output beside them, and the prompt history for
// sessions whose file was deleted.
type Claude struct{}

// Name implements [transcript.Source].
func (Claude) Name() string { return "claude-code" }

// claudeKind says what a file of Claude Code is, by its name and folder.
type claudeKind int

const (
	claudeMain     claudeKind = iota
	claudeAgent               // a subagent's own session
	claudeSideline            // a copy or a side job: counted, not read
	claudeHistory             // history.jsonl
)

// kindOf classifies by name and folder, never by what the lines claim:
// subagent lines carry their parent's session id.
func kindOf(path string) claudeKind {
	name := filepath.Base(path)
	switch {
	case strings.HasPrefix(name, "agent-acompact-"), strings.HasPrefix(name, "agent-aprompt_suggestion-"), strings.HasPrefix(name, "agent-aside_question-"):
		return claudeSideline
	case strings.HasPrefix(name, "agent-"):
		return claudeAgent
	case name == "journal.jsonl":
		return claudeSideline
	case name == "history.jsonl":
		return claudeHistory
	}
	return claudeMain
}

// Find lists what lies under the config folders: CLAUDE_CONFIG_DIR (a list is
// accepted), ~/.claude, ~/.config/claude, and the desktop app's folders.
func (c Claude) Find(ctx context.Context, p transcript.Places) ([]transcript.File, error) {
	var found []transcript.File
	seen := map[string]bool{}
	for _, root := range claudeRoots(p) {
		files, err := walk(ctx, c.Name(), filepath.Join(root, "projects"), func(path string) bool {
			return filepath.Ext(path) == ".jsonl"
		})
		if err != nil {
			return found, err
		}
		if f, ok := fileAt(c.Name(), filepath.Join(root, "history.jsonl")); ok {
			files = append(files, f)
		}
		for _, f := range files {
			if !seen[f.Path] {
				seen[f.Path] = true
				found = append(found, f)
			}
		}
	}
	return found, nil
}

func claudeRoots(p transcript.Places) []string {
	var roots []string
	if list := p.Env["CLAUDE_CONFIG_DIR"]; list != "" {
		if st, err := os.Stat(list); err == nil && st.IsDir() {
			roots = append(roots, list)
		} else {
			for _, part := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == os.PathListSeparator }) {
				roots = append(roots, strings.TrimSpace(part))
			}
		}
	}
	if p.Home == "" {
		return roots
	}
	roots = append(roots, filepath.Join(p.Home, ".claude"), filepath.Join(p.Home, ".config", "claude"))
	var apps []string
	switch p.GOOS {
	case "darwin":
		apps = append(apps, filepath.Join(p.Home, "Library", "Application Support", "Claude"))
	case "windows":
		if dir := p.Env["APPDATA"]; dir != "" {
			apps = append(apps, filepath.Join(dir, "Claude"))
		}
		if dir := p.Env["LOCALAPPDATA"]; dir != "" {
			packages, err := filepath.Glob(filepath.Join(dir, "Packages", "*Claude*", "LocalCache", "Roaming", "Claude"))
			if err == nil {
				apps = append(apps, packages...)
			}
		}
	default:
		apps = append(apps, filepath.Join(p.Home, ".config", "Claude"))
	}
	for _, app := range apps {
		roots = append(roots, coworkRoots(filepath.Join(app, "local-agent-mode-sessions"))...)
	}
	return roots
}

// coworkRoots returns the folders that hold a projects folder somewhere in the
// desktop app's own session tree.
func coworkRoots(root string) []string {
	var roots []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir
		}
		if !d.IsDir() {
			return nil
		}
		if d.Name() == "projects" {
			roots = append(roots, filepath.Dir(path))
			return fs.SkipDir
		}
		if d.Name() == "node_modules" || strings.Count(path[len(root):], string(filepath.Separator)) > 6 {
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		return nil
	}
	return roots
}

// FindIn lists the JSONL files at or below path whose lines are Claude Code's.
func (c Claude) FindIn(ctx context.Context, path string) ([]transcript.File, error) {
	return findIn(ctx, c, path)
}

func (Claude) recognises(ctx context.Context, f *sniff) bool {
	return f.is(".jsonl") && isClaude(f)
}

// isClaude recognises the format by the first values of a file.
func isClaude(f *sniff) bool {
	known, alien := 0, 0
	for _, v := range f.values(40) {
		var r struct {
			Type      string          `json:"type"`
			SessionID json.RawMessage `json:"sessionId"`
			UUID      string          `json:"uuid"`
			Leaf      string          `json:"leafUuid"`
			AgentID   string          `json:"agentId"`
			Key       string          `json:"key"`
			Display   *string         `json:"display"`
			Project   *string         `json:"project"`
			Payload   json.RawMessage `json:"payload"`
			Data      json.RawMessage `json:"data"`
			MessageID string          `json:"messageId"`
			Attach    json.RawMessage `json:"attachment"`
			Message   json.RawMessage `json:"message"`
		}
		if decode(v, &r) != nil || len(v) == 0 || v[0] != '{' {
			continue
		}
		var m struct {
			Content json.RawMessage `json:"content"`
			Parts   json.RawMessage `json:"parts"`
		}
		if len(r.Message) > 0 && r.Message[0] == '{' {
			if decode(r.Message, &m) != nil {
				continue
			}
		}
		switch {
		case len(r.Payload) > 0, len(m.Parts) > 0, strings.Contains(r.Type, "."), r.Type == "message", r.Type == "system" && r.UUID == "":
			alien++
		case r.Display != nil && r.Project != nil:
			known++
		case r.Type == "user" || r.Type == "assistant":
			if len(m.Content) > 0 {
				known++
			} else if len(r.Message) == 0 {
				alien++
			}
		case r.Type == "summary" && r.Leaf != "", r.Type == "file-history-snapshot" && r.MessageID != "",
			r.Type == "attachment" && len(r.Attach) > 0, (r.Type == "started" || r.Type == "result") && r.Key != "" && r.AgentID != "":
			known++
		case claudeTypes[r.Type] && len(r.SessionID) > 0:
			known++
		}
		if known+alien >= 8 {
			break
		}
	}
	return known > 0 && alien == 0
}

// claudeTypes are line types that together with a sessionId are Claude Code's.
var claudeTypes = map[string]bool{
	"system": true, "progress": true, "queue-operation": true, "custom-title": true, "ai-title": true,
	"agent-name": true, "last-prompt": true, "permission-mode": true, "mode": true, "pr-link": true,
	"worktree-state": true, "relocated": true, "bridge-session": true, "agent-setting": true,
	"agent-color": true, "tag": true, "frame-link": true,
}
