package digest

import (
	"encoding/json"
	"path"
	"regexp"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
	"github.com/hermes-mcp/hermes-mcp/transcript/digest/shell"
)

// commandChars and errorChars are how long a command and an error may get.
const (
	commandChars = 400
	errorChars   = 240
	lineChars    = 240
)

// Extract returns what a session did.
func Extract(msgs []transcript.Message) Facts {
	x := extractor{results: map[string]*transcript.Message{}, byID: map[int64]*transcript.Message{}, ran: map[string]int{}, touched: map[string]int{}}
	for i := range msgs {
		m := &msgs[i]
		x.byID[m.ID] = m
		if m.Role == transcript.Tool && m.ToolCallID != "" {
			x.results[m.ToolCallID] = m
		}
		x.calls += len(m.ToolCalls)
	}
	for i := range msgs {
		x.message(&msgs[i])
	}
	x.facts.Files = order(x.facts.Files)
	x.facts.Errors = x.problems()
	x.facts.Decisions = decisions(msgs)
	x.facts.URLs = urls(msgs)
	x.facts.Open = open(msgs)
	return x.facts
}

type extractor struct {
	results map[string]*transcript.Message // by call
	byID    map[int64]*transcript.Message
	calls   int // tool calls in the session
	facts   Facts
	ran     map[string]int // a command's place in facts.Commands
	touched map[string]int // a file's place in facts.Files, by action and path
	steps   []step
}

// A step is one call and how it ended, for finding what fixed what.
type step struct {
	msg     int64
	do      string // what kind of thing it was: "go test", "edit /w/a.go"
	say     string // how to name it as a fix
	failed  bool
	refused bool // it was never carried out
	result  *transcript.Message
	changes bool // it wrote a file
	file    string
	alters  bool // it is a command that does more than look
	looks   bool // it is a command that only looks
}

func (x *extractor) message(m *transcript.Message) {
	if m.OwnTrace {
		return
	}
	for _, c := range m.ToolCalls {
		x.call(m, c)
	}
	switch {
	case m.Role == transcript.UserRole && m.Kind == "" && strings.HasPrefix(m.Content, "!"):
		x.command(m, strings.TrimSpace(m.Content[1:]), nil)
	case x.calls == 0 && spoken(m):
		for _, c := range fencedCommands(m.Content) {
			x.command(m, c, nil)
		}
	}
}

// call reads one tool call with its result.
func (x *extractor) call(m *transcript.Message, c transcript.ToolCall) {
	r := x.results[c.ID]
	if c.ID == "" {
		r = nil
	}
	failed := r != nil && (r.IsError || r.ExitCode != nil && *r.ExitCode != 0)
	a := readArgs(c.Args)
	kind, dir := kindOf(c.Name), a.text("workdir", "cwd", "working_directory", "workingDirectory")
	if dir == "" {
		dir = m.Dir
	}
	st := step{msg: m.ID, result: r, failed: failed || looksFailed(r), refused: refused(r)}
	switch kind {
	case shellTool:
		cmd := a.command()
		if cmd == "" {
			x.script(m, c, r)
			return
		}
		if patch, ok := shellPatch(cmd); ok {
			st.do, st.say, st.changes = "patch", x.patch(m, patch, failed, dir), true
			break
		}
		if st.refused {
			return // it never ran
		}
		x.command(m, cmd, r)
		st.do, st.say = shell.Program(cmd), cmd
		st.looks = shell.Looks(cmd)
		st.alters = !st.looks
		for _, f := range shell.Files(cmd) {
			if !failed {
				x.file(m, f.Path, f.Action, dir, "shell")
			}
			st.changes = st.changes || f.Action != Read
		}
	case patchTool:
		st.do, st.say, st.changes = "patch", x.patch(m, a.patch(c.Args), failed, dir), true
	case readTool, editTool, createTool, deleteTool:
		action := map[toolKind]string{readTool: Read, editTool: Edit, createTool: Write, deleteTool: Delete}[kind]
		switch a.text("command") { // of tools that do all of it
		case "view", "read":
			action = Read
		case "create", "write":
			action = Write
		}
		paths := a.paths()
		for _, p := range paths {
			if !failed {
				x.file(m, p, action, dir, "")
			}
		}
		if len(paths) > 0 {
			st.do, st.say, st.changes, st.file = action+" "+paths[0], action+" "+paths[0], action != Read, paths[0]
		}
	default:
		st.do, st.say = c.Name, c.Name
	}
	x.steps = append(x.steps, st)
}

// script notes the commands that a script for the agent's own tools runs, for
// agents whose shell is called from code.
func (x *extractor) script(m *transcript.Message, c transcript.ToolCall, r *transcript.Message) {
	var code string
	if json.Unmarshal(c.Args, &code) != nil || refused(r) {
		return
	}
	for _, found := range scripted.FindAllStringSubmatch(code, -1) {
		var cmd string
		if json.Unmarshal([]byte(`"`+found[1]+`"`), &cmd) == nil {
			x.command(m, cmd, r)
		}
	}
}

var scripted = regexp.MustCompile(`\bexec_command\(\s*\{[^{}]*?\b(?:cmd|command)"?\s*:\s*"((?:[^"\\]|\\.)*)"`)

// command notes one that was run.
func (x *extractor) command(m *transcript.Message, cmd string, r *transcript.Message) {
	cmd = cut(cmd, commandChars)
	if cmd == "" {
		return
	}
	c := Command{Command: cmd, MessageID: id(*m)}
	if r != nil {
		c.Exit = r.ExitCode
		if c.Exit == nil {
			c.Exit = toldExit(r.Content)
		}
	}
	if i, ok := x.ran[cmd]; ok {
		have := &x.facts.Commands[i]
		have.Times = max(have.Times, 1) + 1
		have.Exit, have.MessageID = c.Exit, c.MessageID
		return
	}
	x.ran[cmd] = len(x.facts.Commands)
	x.facts.Commands = append(x.facts.Commands, c)
}

// file notes what was done to one. The path is relative to dir.
func (x *extractor) file(m *transcript.Message, p, action, dir, via string) {
	p = strings.TrimPrefix(p, "file://")
	if p == "" || len(p) > 1024 || strings.ContainsAny(p, "\n*?") || strings.HasSuffix(p, "/") {
		return
	}
	key := strings.ReplaceAll(p, `\`, "/")
	if !path.IsAbs(key) && !hasDrive(key) && dir != "" {
		key = path.Join(strings.ReplaceAll(dir, `\`, "/"), key)
	}
	key = action + " " + key
	i, ok := x.touched[key]
	if !ok {
		x.touched[key] = len(x.facts.Files)
		x.facts.Files = append(x.facts.Files, File{Path: p, Action: action, Via: via, MessageID: id(*m)})
	} else if via == "" {
		x.facts.Files[i].Via = "" // a tool did it as well
	}
}

func hasDrive(p string) bool { return len(p) > 2 && p[1] == ':' && p[2] == '/' }

var patchFile = regexp.MustCompile(`(?m)^\*\*\* (Add|Update|Delete) File: (.+?)\s*$|^\*\*\* Move to: (.+?)\s*$|^\+\+\+ b/(\S+)`)

// patch notes the files of a patch in either of two forms, and names it by its
// first.
func (x *extractor) patch(m *transcript.Message, text string, failed bool, dir string) string {
	name := "patch"
	for i, f := range patchFile.FindAllStringSubmatch(text, -1) {
		p, action := f[4], Edit
		switch {
		case f[1] != "":
			p, action = f[2], map[string]string{"Add": Write, "Update": Edit, "Delete": Delete}[f[1]]
		case f[3] != "":
			p, action = f[3], Write
		}
		if i == 0 {
			name += " " + p
		}
		if !failed {
			x.file(m, p, action, dir, "")
		}
	}
	return name
}

// order puts changed files before read ones.
func order(files []File) []File {
	var changed, read []File
	for _, f := range files {
		if f.Action == Read {
			read = append(read, f)
		} else {
			changed = append(changed, f)
		}
	}
	return append(changed, read...)
}

// toolArgs are the arguments of a call, under whatever names agents give them.
type toolArgs map[string]json.RawMessage

func readArgs(raw json.RawMessage) toolArgs {
	var a toolArgs
	if json.Unmarshal(raw, &a) != nil {
		return nil
	}
	return a
}

// text returns the first of the keys that holds a string.
func (a toolArgs) text(keys ...string) string {
	for _, k := range keys {
		var s string
		if raw, ok := a[k]; ok && json.Unmarshal(raw, &s) == nil && s != "" {
			return s
		}
	}
	return ""
}

// command returns the command line of a call to a shell.
func (a toolArgs) command() string {
	if s := a.text("command", "cmd", "CommandLine", "commandLine", "command_line", "script", "code"); s != "" {
		return strings.TrimSpace(s)
	}
	var words []string
	for _, k := range []string{"command", "cmd", "argv"} {
		if json.Unmarshal(a[k], &words) == nil && len(words) > 0 {
			break
		}
	}
	if n := len(words); n >= 3 && (words[n-2] == "-lc" || words[n-2] == "-c") {
		return strings.TrimSpace(words[n-1])
	}
	return strings.Join(words, " ")
}

var pathKeys = []string{"file_path", "filePath", "path", "target_file", "targetFile", "notebook_path", "filename", "file", "uri",
	"AbsolutePath", "TargetFile", "relative_workspace_path", "absolute_path", "filepath", "new_path"}

// paths returns the files that a call names.
func (a toolArgs) paths() []string {
	if p := a.text(pathKeys...); p != "" {
		return []string{p}
	}
	var list []string
	for _, k := range []string{"paths", "file_paths", "files", "filePaths"} {
		if json.Unmarshal(a[k], &list) == nil && len(list) > 0 {
			return list
		}
	}
	return nil
}

// patch returns the text of a patch.
func (a toolArgs) patch(raw json.RawMessage) string {
	if s := a.text("patch", "input", "patchText", "diff", "content"); s != "" {
		return s
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return ""
}
