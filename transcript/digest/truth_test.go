package digest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/testbed"
	"github.com/hermes-mcp/hermes-mcp/transcript"
	"github.com/hermes-mcp/hermes-mcp/transcript/digest"
	"github.com/hermes-mcp/hermes-mcp/transcript/source"
)

type truth struct {
	File, Session string
	Through       int
	Subagents     bool // those whose lines stand in the file count too
	Commands      []struct {
		Command string
		Exit    *int
	}
	Files  []struct{ Path, Action string }
	Errors []struct{ Seen, By []string }
}

// fixed tells whether one of the errors that a person read is p, mended as p says.
func (w truth) fixed(p digest.Problem) bool {
	holds := func(text string, words []string) bool {
		return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
	}
	for _, e := range w.Errors {
		if holds(p.Error, e.Seen) && holds(p.Fix, e.By) {
			return true
		}
	}
	return false
}

// gathered keeps a session's messages in the order of their arrival, joined by
// their ids.
type gathered struct {
	bySession map[string][]transcript.Message
	at        map[string]int
	parents   map[string]string // of subagents
	n         int64
}

func (g *gathered) Session(s transcript.Session) error {
	if s.Relation == transcript.Subagent {
		g.parents[s.ID] = s.ParentID
	}
	return nil
}
func (g *gathered) Problem(int, string)                            {}
func (g *gathered) Mark(transcript.Cursor, transcript.Tally) error { return nil }
func (g *gathered) Message(m transcript.Message) error {
	key := m.SessionID + "\x00" + m.UID
	if i, ok := g.at[key]; ok {
		have := &g.bySession[m.SessionID][i]
		if !strings.Contains(have.Content, m.Content) {
			have.Content += "\n\n" + m.Content
		}
	next:
		for _, c := range m.ToolCalls {
			for _, h := range have.ToolCalls {
				if h.ID == c.ID {
					continue next
				}
			}
			have.ToolCalls = append(have.ToolCalls, c)
		}
		if have.ExitCode == nil {
			have.ExitCode = m.ExitCode
		}
		return nil
	}
	g.n++
	m.ID = g.n
	g.at[key] = len(g.bySession[m.SessionID])
	g.bySession[m.SessionID] = append(g.bySession[m.SessionID], m)
	return nil
}

func messagesOf(t *testing.T, root string, want truth) []transcript.Message {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(want.File))
	if want.Through > 0 {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.SplitAfter(raw, []byte("\n"))
		path = filepath.Join(t.TempDir(), filepath.Base(path))
		if err := os.WriteFile(path, bytes.Join(lines[:want.Through], nil), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := path
	if strings.Contains(want.File, "/session/") {
		at = filepath.Dir(filepath.Dir(filepath.Dir(path))) // OpenCode's folders
	}
	files, err := source.Recognise(context.Background(), at)
	if err != nil {
		t.Fatal(err)
	}
	g := &gathered{bySession: map[string][]transcript.Message{}, at: map[string]int{}, parents: map[string]string{}}
	for _, f := range files {
		if at == path || f.Path == path {
			i := slices.IndexFunc(source.All(), func(s transcript.Source) bool { return s.Name() == f.Source })
			if err := source.All()[i].Read(context.Background(), f, transcript.Cursor{}, true, g); err != nil {
				t.Fatal(err)
			}
		}
	}
	var all []transcript.Message
	for id, msgs := range g.bySession {
		if strings.HasSuffix(id, ":"+want.Session) || want.Subagents && strings.HasSuffix(g.parents[id], ":"+want.Session) {
			all = append(all, msgs...)
		}
	}
	if len(all) > 0 {
		slices.SortFunc(all, func(a, b transcript.Message) int { return int(a.ID - b.ID) })
		return all
	}
	t.Fatalf("%s: session %s is not there", want.File, want.Session)
	return nil
}

// brief makes texts comparable: one line, so much of it.
func brief(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 90 {
		s = string(r[:90])
	}
	return s
}

// TestExtractionAgreesWithWhatWasReadByHand compares commands and files with
// the truth in testdata: at least 98 of 100 are right, and 98 of 100 are found.
// Of errors that are told with what mended them, four of five are right.
func TestExtractionAgreesWithWhatWasReadByHand(t *testing.T) {
	root := testbed.Path(t, "transcripts")
	raw, err := os.ReadFile(filepath.Join("testdata", "extraction.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []truth
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	var commands, files, fixes score
	for _, want := range all {
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(want.File))); err != nil {
			t.Skipf("no test data: %v", err)
		}
		f := digest.Extract(messagesOf(t, root, want))
		left := map[string]int{}
		for _, c := range want.Commands {
			left[brief(c.Command)]++
		}
		for _, c := range f.Commands {
			for range max(c.Times, 1) {
				commands.note(t, want.File, brief(c.Command), left)
			}
		}
		commands.missed(t, want.File, left)
		left = map[string]int{}
		for _, x := range want.Files {
			left[x.Action+" "+x.Path]++
		}
		for _, x := range f.Files {
			if x.Via == "" {
				files.note(t, want.File, x.Action+" "+x.Path, left)
			}
		}
		files.missed(t, want.File, left)
		for _, p := range f.Errors {
			switch {
			case p.Fix == "":
			case want.fixed(p):
				fixes.right++
			default:
				fixes.wrong++
				t.Logf("%s: not in the truth: %q mended by %q", want.File, p.Error, p.Fix)
			}
		}
	}
	commands.check(t, "commands")
	files.check(t, "files")
	t.Logf("errors with their fix: %d right, %d wrong", fixes.right, fixes.wrong)
	if fixes.right < 8 || 5*fixes.right < 4*(fixes.right+fixes.wrong) {
		t.Errorf("errors with their fix: %d right, %d wrong", fixes.right, fixes.wrong)
	}
}

type score struct{ right, wrong, lost int }

func (s *score) note(t *testing.T, file, what string, left map[string]int) {
	if left[what] > 0 {
		left[what]--
		s.right++
		return
	}
	s.wrong++
	t.Logf("%s: not in the truth: %s", file, what)
}

func (s *score) missed(t *testing.T, file string, left map[string]int) {
	for what, n := range left {
		if n > 0 {
			s.lost += n
			t.Logf("%s: not found (%d): %s", file, n, what)
		}
	}
}

func (s *score) check(t *testing.T, what string) {
	t.Helper()
	precision, recall := float64(s.right)/float64(s.right+s.wrong), float64(s.right)/float64(s.right+s.lost)
	t.Logf("%s: precision %.3f, recall %.3f of %d", what, precision, recall, s.right+s.lost)
	if precision < .98 || recall < .98 {
		t.Errorf("%s: precision %.3f, recall %.3f", what, precision, recall)
	}
}
