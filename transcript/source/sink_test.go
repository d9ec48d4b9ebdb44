package source

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// A collector keeps what a source delivers, merging pieces of a message as the
// archive does.
type collector struct {
	sessions map[string]*transcript.Session
	order    []string // session ids as first announced
	msgs     []*transcript.Message
	byUID    map[string]*transcript.Message
	global   map[string]string // uid: the session that has it
	problems []string
	cursor   transcript.Cursor
	tally    transcript.Tally
	marks    int
}

func newCollector() *collector {
	return &collector{sessions: map[string]*transcript.Session{}, byUID: map[string]*transcript.Message{}, global: map[string]string{}}
}

func (c *collector) Session(s transcript.Session) error {
	have := c.sessions[s.ID]
	if have == nil {
		have = &transcript.Session{ID: s.ID}
		c.sessions[s.ID] = have
		c.order = append(c.order, s.ID)
	}
	set(&have.ParentID, s.ParentID)
	set(&have.Title, s.Title)
	set(&have.Project, s.Project)
	set(&have.Dir, s.Dir)
	set(&have.Branch, s.Branch)
	set(&have.Model, s.Model)
	set(&have.Surface, s.Surface)
	set(&have.Version, s.Version)
	set(&have.EndReason, s.EndReason)
	set(&have.User, s.User)
	set(&have.Chat, s.Chat)
	set(&have.Relation, s.Relation)
	if !s.StartedAt.IsZero() {
		have.StartedAt = s.StartedAt
	}
	if !s.EndedAt.IsZero() {
		have.EndedAt = s.EndedAt
	}
	return nil
}

func set[T comparable](to *T, v T) {
	var zero T
	if v != zero {
		*to = v
	}
}

func (c *collector) Message(m transcript.Message) error {
	if c.sessions[m.SessionID] == nil {
		panic("message before its session: " + m.SessionID)
	}
	if m.UID == "" {
		panic("message without id: " + m.Content)
	}
	if m.Global {
		if owner, ok := c.global[m.UID]; ok && owner != m.SessionID {
			return nil
		}
		c.global[m.UID] = m.SessionID
	}
	key := m.SessionID + "\x00" + m.UID
	have := c.byUID[key]
	if have == nil {
		m := m
		c.byUID[key] = &m
		c.msgs = append(c.msgs, &m)
		return nil
	}
	if !strings.Contains(have.Content, m.Content) {
		have.Content = join(have.Content, m.Content)
	}
	if !strings.Contains(have.Reasoning, m.Reasoning) {
		have.Reasoning = join(have.Reasoning, m.Reasoning)
	}
next:
	for _, call := range m.ToolCalls {
		for _, h := range have.ToolCalls {
			if h.ID == call.ID {
				continue next
			}
		}
		have.ToolCalls = append(have.ToolCalls, call)
	}
	return nil
}

func (c *collector) Problem(line int, reason string) { c.problems = append(c.problems, reason) }

func (c *collector) Mark(at transcript.Cursor, t transcript.Tally) error {
	c.cursor, c.tally = at, t
	c.marks++
	return nil
}

func (c *collector) Compact(session string) error {
	for _, m := range c.msgs {
		if m.SessionID == session {
			m.Compacted = true
		}
	}
	return nil
}

func (c *collector) Rewind(session, uid string) error {
	on := false
	for _, m := range c.msgs {
		on = on || m.SessionID == session && m.UID == uid
		if on && m.SessionID == session {
			m.OffPath = true
		}
	}
	return nil
}

// of returns the messages of one session, "<role> <kind>: <content>" each.
func (c *collector) of(session string) []string {
	var out []string
	for _, m := range c.msgs {
		if m.SessionID == session {
			out = append(out, say(m))
		}
	}
	return out
}

func say(m *transcript.Message) string {
	s := string(m.Role)
	if m.Kind != "" {
		s += "/" + m.Kind
	}
	s += ": " + m.Content
	for _, t := range m.ToolCalls {
		s += " [" + t.Name + " " + string(t.Args) + "]"
	}
	return s
}

// read reads a whole file through src, from the beginning.
func read(t *testing.T, src transcript.Source, path string) *collector {
	t.Helper()
	c := newCollector()
	readInto(t, src, path, c, true)
	return c
}

// readInto goes on reading where the collector's cursor stands.
func readInto(t *testing.T, src transcript.Source, path string, c *collector, final bool) {
	t.Helper()
	if err := src.Read(context.Background(), transcript.File{Source: src.Name(), Path: path}, c.cursor, final, c); err != nil {
		t.Fatalf("read %s: %v", path, err)
	}
}

// write makes a file of the lines in a new folder.
func write(t *testing.T, name string, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), filepath.FromSlash(name))
	writeAt(t, path, strings.Join(lines, "\n")+"\n")
	return path
}

func writeAt(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: got %d\n%s\nwant %d\n%s", what, len(got), strings.Join(got, "\n"), len(want), strings.Join(want, "\n"))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("%s %d:\n got %q\nwant %q", what, i, got[i], want[i])
		}
	}
}
