package source

import (
	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// A thread delivers one session: it is announced before its first message, or
// when announce is called.
type thread struct {
	sink      transcript.Sink
	s         transcript.Session
	n         numberer          // of messages without an id
	waiting   map[string]string // calls, for their results
	announced bool
	count     int
}

func newThread(sink transcript.Sink, s transcript.Session) *thread {
	s.Title = clean(s.Title)
	if s.Project == "" {
		s.Project = gitRoot(s.Dir)
	}
	return &thread{sink: sink, s: s, n: numberer{}, waiting: map[string]string{}}
}

func (t *thread) announce() error {
	if t.announced {
		return nil
	}
	t.announced = true
	return t.sink.Session(t.s)
}

// send makes a message fit to be kept and delivers it. One that says nothing
// and is no result is passed over.
func (t *thread) send(m transcript.Message) error {
	m.Content, m.Reasoning = clean(m.Content), clean(m.Reasoning)
	if m.Content == "" && m.Reasoning == "" && len(m.ToolCalls) == 0 && (m.Role != transcript.Tool || m.ExitCode == nil && !m.IsError) {
		return nil
	}
	if err := t.announce(); err != nil {
		return err
	}
	unfence(&m)
	m.SessionID = t.s.ID
	if m.Dir == "" {
		m.Dir = t.s.Dir
	}
	if m.Branch == "" {
		m.Branch = t.s.Branch
	}
	if m.UID == "" {
		parts := []string{string(m.Role), m.Content, m.ToolCallID}
		for _, c := range m.ToolCalls {
			parts = append(parts, c.Name, string(c.Args))
		}
		m.UID = t.n.id(parts...)
	}
	m.Global = isGlobalID(m.UID)
	for _, c := range m.ToolCalls {
		noteCall(t.waiting, c)
	}
	if m.Role == transcript.Tool {
		name, own := callOf(t.waiting, m.ToolCallID)
		m.ToolName = first(m.ToolName, name)
		m.OwnTrace = m.OwnTrace || own || isOwnTool(m.ToolName)
	}
	t.count++
	return t.sink.Message(m)
}

// done marks a document as read.
func done(sink transcript.Sink, size int64, messages int) error {
	return sink.Mark(transcript.Cursor{Offset: max(size, 1)}, transcript.Tally{Lines: 1, Objects: 1, Types: map[string]int{"message": messages}})
}
