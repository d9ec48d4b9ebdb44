package writer

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hermes-mcp/hermes-mcp/transcript/analysis"
	"github.com/hermes-mcp/hermes-mcp/transcript/record"
)

const (
	preparers     = 2       // drafts prepared at once
	batchMessages = 500     // a transaction takes this many
	batchBytes    = 2 << 20 // or this much text, whichever is first
	maxProblems   = 20      // kept for one file
)

// A draft is a message on its way into the archive. It is prepared outside the
// transaction: analysed and packed.
type draft struct {
	record.Message
	pieces []record.Message // as delivered, when there were several
	sum    int64            // hash of role and content
	told   bool             // by another place, which says no less
	adopts bool             // takes the place of one without an id of its own
	nth    int              // how many equal ones came before it, in this reading
	body   []byte
	terms  string // as handed to the index, "" when not indexed
	words  []string
	size   int // tokens
}

// A batch is what one transaction writes.
type batch struct {
	path     string           // of the file
	sessions []record.Session // announced since the last batch
	drafts   []*draft
	revised  []revision
	cursor   record.Cursor
	tally    record.Tally
	marked   bool // cursor and tally are to be saved
	problems []record.Problem
	bytes    int // of text
}

// An intake gathers what a source delivers from one file into batches. It is
// the Sink and Reviser, and hands each full batch to deliver.
type intake struct {
	source, path string
	mask         func(string) string // nil takes texts as they are
	deliver      func(*batch) error

	now      *batch
	bytes    int
	known    map[string]int    // session id → index in now.sessions
	drafts   map[string]*draft // by uid, of this batch
	nth      map[nthKey]int
	problems []record.Problem
	whole    int // drafts of this batch that the last mark covers
}

type nthKey struct {
	session string
	sum     int64
}

func newIntake(source, path string, mask func(string) string, deliver func(*batch) error) *intake {
	in := &intake{source: source, path: path, mask: mask, deliver: deliver, nth: make(map[nthKey]int)}
	in.reset()
	return in
}

func (in *intake) reset() {
	in.now, in.bytes, in.whole = &batch{path: in.path}, 0, 0
	in.known, in.drafts = make(map[string]int), make(map[string]*draft)
}

// Session implements Sink.
func (in *intake) Session(s record.Session) error {
	if s.ID == "" {
		return fmt.Errorf("session without an id in %s", in.path)
	}
	if s.SourcePath == "" {
		s.SourcePath = in.path
	}
	if in.mask != nil {
		s.Title = in.mask(s.Title)
	}
	for _, t := range []*time.Time{&s.StartedAt, &s.EndedAt, &s.LastActive} {
		*t = record.FromMillis(record.Millis(*t))
	}
	if i, ok := in.known[s.ID]; ok {
		record.UnionSession(&in.now.sessions[i], &s)
		return nil
	}
	in.known[s.ID] = len(in.now.sessions)
	in.now.sessions = append(in.now.sessions, s)
	return nil
}

// Message implements Sink.
func (in *intake) Message(m record.Message) error {
	if m.SessionID == "" {
		return fmt.Errorf("message without a session in %s", in.path)
	}
	// First of all, so that a message is known again by what is stored of it.
	maskMessage(&m, in.mask)
	m.At = record.FromMillis(record.Millis(m.At))
	for i := range m.ToolCalls {
		m.ToolCalls[i].Args = record.ValidArgs(m.ToolCalls[i].Args)
	}
	in.bytes += int(record.TextSize(&m))
	if m.UID != "" {
		key := uidName(&m)
		if d, ok := in.drafts[key]; ok && d.SessionID == m.SessionID {
			if d.pieces == nil {
				d.pieces = []record.Message{d.Message}
			}
			d.pieces = append(d.pieces, m)
			record.Union(&d.Message, &m)
			return in.relieve()
		}
		d := &draft{Message: m}
		in.drafts[key] = d
		in.now.drafts = append(in.now.drafts, d)
		return in.relieve()
	}
	d := &draft{Message: m, sum: contentSum(&m)}
	k := nthKey{m.SessionID, d.sum}
	d.nth = in.nth[k]
	in.nth[k]++
	in.now.drafts = append(in.now.drafts, d)
	return in.relieve()
}

// relieve delivers before a mark when a source marks too seldom for the memory,
// and for others who write: a document is marked once, at its end.
func (in *intake) relieve() error {
	if in.bytes < 2*batchBytes && len(in.now.drafts) < 2*batchMessages {
		return nil
	}
	return in.flush()
}

// Problem implements Sink.
func (in *intake) Problem(line int, reason string) {
	if len(in.problems) < maxProblems {
		in.problems = append(in.problems, record.Problem{Source: in.source, Path: in.path, Line: line, Reason: reason})
	}
}

// Mark implements Sink.
func (in *intake) Mark(c record.Cursor, tally record.Tally) error {
	// The source goes on counting in what it gave us, while this is written.
	tally.Types, tally.Sessions = maps.Clone(tally.Types), slices.Clone(tally.Sessions)
	in.now.cursor, in.now.tally, in.now.marked = c, tally, true
	in.whole = len(in.now.drafts)
	if len(in.now.drafts) < batchMessages && in.bytes < batchBytes {
		return nil
	}
	return in.flush()
}

// forgetUnmarked drops what was delivered since the last mark, when reading
// ended badly: it will be read again from there.
func (in *intake) forgetUnmarked() {
	in.now.drafts = in.now.drafts[:in.whole]
	in.now.revised = slices.DeleteFunc(in.now.revised, func(r revision) bool { return r.after > in.whole })
}

// Compact implements Reviser.
func (in *intake) Compact(sessionID string) error {
	in.now.revised = append(in.now.revised, revision{after: len(in.now.drafts), session: sessionID, bit: record.FlagCompacted})
	return nil
}

// Rewind implements Reviser.
func (in *intake) Rewind(sessionID, uid string) error {
	in.now.revised = append(in.now.revised, revision{after: len(in.now.drafts), session: sessionID, uid: uid, bit: record.FlagOffPath})
	return nil
}

// flush delivers what was gathered.
func (in *intake) flush() error {
	b := in.now
	if len(b.drafts)+len(b.sessions)+len(b.revised) == 0 && !b.marked {
		return nil
	}
	b.problems, b.bytes = in.problems, in.bytes
	in.reset()
	return in.deliver(b)
}

// prepareAll prepares drafts for writing, several at once when there are many.
func prepareAll(drafts []*draft) error {
	const piece = 16
	var next atomic.Int64
	errs := make([]error, min(preparers, (len(drafts)+piece-1)/piece))
	var at sync.WaitGroup
	for i := range errs {
		at.Go(func() {
			for errs[i] == nil {
				from := int(next.Add(piece)) - piece
				if from >= len(drafts) {
					return
				}
				for _, d := range drafts[from:min(from+piece, len(drafts))] {
					if err := d.prepare(); err != nil {
						errs[i] = fmt.Errorf("message %s of %s: %w", d.UID, d.SessionID, err)
						return
					}
				}
			}
		})
	}
	at.Wait()
	return errors.Join(errs...)
}

// prepare does the work on a message that needs no database.
func (d *draft) prepare() (err error) {
	if d.sum == 0 {
		d.sum = contentSum(&d.Message)
	}
	if d.body, err = record.EncodeBody(&d.Message); err != nil {
		return err
	}
	d.terms, d.words, d.size = analyse(record.IndexText(&d.Message))
	return nil
}

// analyse returns the terms of a text for the index, the distinct words among
// them for spelling, and the number of terms.
func analyse(text string) (terms string, words []string, size int) {
	if text == "" {
		return "", nil, 0
	}
	buf := tokenBuffers.Get().(*[]analysis.Token)
	defer tokenBuffers.Put(buf)
	tokens := analysis.AppendTokens((*buf)[:0], text)
	defer clear(tokens) // it must not hold their words
	*buf = tokens[:0]
	words = make([]string, 0, len(tokens)/2)
	for _, t := range tokens {
		if n := len(t.Text); n >= 3 && n <= maxWord && analysis.Plain(t.Text) {
			words = append(words, t.Text)
		}
	}
	slices.Sort(words)
	return string(analysis.Join(make([]byte, 0, len(text)), tokens)), slices.Compact(words), len(tokens)
}

var tokenBuffers = sync.Pool{New: func() any { return new([]analysis.Token) }}

// maxWord is the longest word, in letters, that spelling is compared with.
const maxWord = 24

// uidName is the identity of a message with an agent's id.
func uidName(m *record.Message) string {
	if m.Global {
		source, _, _ := record.CutID(m.SessionID)
		return source + "\x00\x00" + m.UID
	}
	return m.SessionID + "\x00" + m.UID
}

// keyOf hashes an identity to the number that stands for it in the archive.
func keyOf(parts ...string) int64 {
	var b []byte
	for _, p := range parts {
		b = append(append(b, p...), 0)
	}
	sum := sha256.Sum256(b)
	return int64(binary.LittleEndian.Uint64(sum[:8]) >> 1)
}

// contentSum hashes what a message says, for messages without an id.
func contentSum(m *record.Message) int64 {
	parts := []string{string(m.Role), m.Content}
	for _, c := range m.ToolCalls {
		parts = append(parts, c.ID, c.Name, string(c.Args))
	}
	return keyOf(append(parts, m.ToolCallID)...)
}

// hashedKey is the identity of the nth equal message of a session.
func hashedKey(session string, sum int64, nth int) int64 {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], uint64(sum))
	binary.LittleEndian.PutUint64(b[8:], uint64(nth))
	return keyOf(session, "#", string(b[:]))
}
