package source

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// Aider reads the chat histories that Aider keeps in the folders it works in.
type Aider struct{}

// Name implements [transcript.Source].
func (Aider) Name() string { return "aider" }

const aiderFile = ".aider.chat.history.md"

// Find lists the history that AIDER_CHAT_HISTORY_FILE names and that of the
// home folder; those of other folders are found where a person points.
func (a Aider) Find(_ context.Context, p transcript.Places) ([]transcript.File, error) {
	var found []transcript.File
	paths := []string{p.Env["AIDER_CHAT_HISTORY_FILE"]}
	if p.Home != "" {
		paths = append(paths, filepath.Join(p.Home, aiderFile))
	}
	for _, path := range paths {
		if path == "" {
			continue
		}
		if f, ok := fileAt(a.Name(), path); ok {
			found = append(found, f)
		}
	}
	return found, nil
}

// FindIn lists the histories at or below path.
func (a Aider) FindIn(ctx context.Context, path string) ([]transcript.File, error) {
	return findIn(ctx, a, path)
}

func (Aider) recognises(ctx context.Context, f *sniff) bool {
	return filepath.Base(f.path) == aiderFile || f.is(".md") && aiderStart.Match(f.bytes())
}

var (
	aiderStart = regexp.MustCompile(`(?m)^# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*$`)
	aiderModel = regexp.MustCompile(`^> (?:Model|Main model): (\S+)`)
	aiderEdit  = regexp.MustCompile(`^> (Applied edit to|Creating empty file|Deleted file) (.+?)\s*$`)
)

// Read implements [transcript.Source].
func (a Aider) Read(ctx context.Context, f transcript.File, _ transcript.Cursor, final bool, sink transcript.Sink) error {
	raw, err := readDocument(f.Path)
	if err != nil {
		return fmt.Errorf("read aider history: %w", err)
	}
	if !final {
		raw = raw[:bytes.LastIndexByte(raw, '\n')+1]
	}
	r := aiderReader{sink: sink, path: f.Path}
	count := 0
	for line := range strings.SplitSeq(clean(string(raw)), "\n") {
		if err := ctx.Err(); err != nil {
			return err
		}
		count++
		if err := r.line(strings.TrimRight(line, "\r ")); err != nil {
			return fmt.Errorf("read aider history: %w", err)
		}
	}
	if err := r.flush(); err != nil {
		return fmt.Errorf("read aider history: %w", err)
	}
	return sink.Mark(transcript.Cursor{Offset: max(1, int64(len(raw)))}, transcript.Tally{Lines: count, Objects: count})
}

// aiderReader gathers lines of one speaker. A session is told by when it began
// and its first line, so that a copy of the file holds the same ones; two that
// agree in both are told by their order.
type aiderReader struct {
	sink   transcript.Sink
	path   string
	t      *thread
	start  string // of a session of which no line was read yet
	begun  map[string]int
	role   transcript.Role
	lines  []string
	fenced bool
	model  string
	at     time.Time
}

func (r *aiderReader) line(line string) error {
	if !r.fenced {
		if m := aiderStart.FindStringSubmatch(line); m != nil {
			err := r.flush()
			r.start, r.t, r.role, r.fenced = m[1], nil, "", false
			return err
		}
	}
	if r.start != "" && line != "" {
		r.begin(line)
	}
	if r.t == nil {
		return nil
	}
	role := transcript.Assistant
	text := line
	switch {
	case r.fenced:
	case strings.HasPrefix(line, "#### "):
		role, text = transcript.UserRole, strings.TrimPrefix(strings.TrimSpace(line[5:]), "<blank>")
	case line == "####":
		role, text = transcript.UserRole, ""
	case strings.HasPrefix(line, "> ") || line == ">":
		role, text = transcript.Tool, strings.TrimSpace(strings.TrimPrefix(line, ">"))
		if m := aiderModel.FindStringSubmatch(line); m != nil {
			r.model = m[1]
		}
	}
	if strings.HasPrefix(line, "```") && role == transcript.Assistant {
		r.fenced = !r.fenced
	}
	if role != r.role && (line != "" || r.role == transcript.UserRole) {
		if err := r.flush(); err != nil {
			return err
		}
		r.role = role
	}
	r.lines = append(r.lines, text)
	if m := aiderEdit.FindStringSubmatch(line); m != nil && role == transcript.Tool {
		return r.edited(m[1], m[2])
	}
	return nil
}

// begin begins a session with its first line.
func (r *aiderReader) begin(line string) {
	at := r.start
	id := fmt.Sprintf("%s-%x", strings.NewReplacer(" ", "T", ":", "").Replace(at), hashOf(line)>>32)
	if r.begun == nil {
		r.begun = map[string]int{}
	}
	if r.begun[id]++; r.begun[id] > 1 {
		id += fmt.Sprintf("-%d", r.begun[id])
	}
	if t, err := time.ParseInLocation("2006-01-02 15:04:05", at, time.Local); err == nil {
		r.at = t.UTC()
	}
	r.start, r.model = "", ""
	r.t = newThread(r.sink, transcript.Session{ID: Aider{}.Name() + ":" + id, Dir: filepath.Dir(r.path), StartedAt: r.at, Surface: "cli", SourcePath: r.path})
}

// edited delivers an edit that aider reports as the call that it was.
func (r *aiderReader) edited(what, path string) error {
	name := map[string]string{"Applied edit to": "edit_file", "Creating empty file": "create_file", "Deleted file": "delete_file"}[what]
	return r.t.send(transcript.Message{UID: r.uid(), Role: transcript.Assistant, Model: r.model, At: r.at, ToolCalls: []transcript.ToolCall{{Name: name, Args: extra(nil, "path", path)}}})
}

// uid makes an id for the next message from its place: the file is only ever
// added to, and a message that was still growing keeps it.
func (r *aiderReader) uid() string { return "n" + strconv.Itoa(r.t.count) }

func (r *aiderReader) flush() error {
	text := strings.TrimSpace(strings.Join(r.lines, "\n"))
	role := r.role
	r.lines = nil
	if text == "" || r.t == nil || role == "" {
		return nil
	}
	m := transcript.Message{UID: r.uid(), Role: role, Content: text, At: r.at}
	switch {
	case role == transcript.Assistant:
		m.Model = r.model
	case role == transcript.Tool:
		m.ToolName = "aider"
	case strings.HasPrefix(text, "/") && !strings.ContainsAny(text, " \n"):
		m.Kind = "command"
	}
	return r.t.send(m)
}
