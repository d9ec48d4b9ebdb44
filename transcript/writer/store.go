package writer

import (
	"database/sql"
	"errors"

	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
	"github.com/hermes-mcp/hermes-mcp/transcript/record"
)

// A store is one write transaction's view of what it changes. Everything is
// written by finish, once a session and once a block.
type store struct {
	*engine.Tx
	rev      int64
	sessions map[string]*sessionRow
	blocks   map[int64]*block // by session, the one that is being filled
	lastID   int64            // highest block id, 0 until known
	docs     []doc
	df       map[string]int64
	contexts map[[3]string]int64
	said     map[int64]map[int64][]said  // of sessions that are kept in two places
	twins    map[int64]map[int64][]int64 // of sessions with both kinds of identity
	read     *reading
	path     string          // of the file that is read
	graves   map[string]bool // names of forgotten sessions
	onlyNew  bool            // what is known already stays as it is
	imports  bool            // what is known already keeps its words
	heard    int             // messages whose words are kept for weighing
	turns    float64         // in the archive, roughly; 0 until asked for

	newSessions, newMessages int
	buriedNow                int // messages left out, since they were forgotten
}

// A sessionRow is a session with what only the archive knows of it.
type sessionRow struct {
	record.Session
	id, root    int64
	text        int64
	keyed       int64
	header      string
	dense       string // see dense.go
	counted     int
	heard       [][]string // the words of each message, of a session that is new
	fresh       bool       // not in the table yet
	changed     bool
	needPreview bool
}

// A doc is one row for the index; with terms "" it only leaves it.
type doc struct {
	id    int64
	terms string
	old   bool // a row with this id may be there
}

func newStore(t *engine.Tx) (*store, error) {
	s := &store{Tx: t, sessions: make(map[string]*sessionRow), blocks: make(map[int64]*block),
		df: make(map[string]int64), contexts: make(map[[3]string]int64), twins: make(map[int64]map[int64][]int64), said: make(map[int64]map[int64][]said)}
	if err := s.Row("SELECT value + 1 FROM counter WHERE name = 'rev'", nil, &s.rev); err != nil {
		return nil, err
	}
	var err error
	s.graves, err = gravesOf(t)
	return s, err
}

// lookup returns the row of id, nil when there is none.
func (s *store) lookup(id string) (*sessionRow, error) {
	if r, ok := s.sessions[id]; ok {
		return r, nil
	}
	r := &sessionRow{}
	err := s.Row("SELECT "+record.SessionColumns+", id, root, text, keyed, header, dense, counted FROM session WHERE name = ?", []any{id},
		append(record.SessionFields(&r.Session), &r.id, &r.root, &r.text, &r.keyed, &r.header, &r.dense, &r.counted)...)
	if noRows(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r.needPreview = r.Preview == ""
	s.sessions[id] = r
	return r, nil
}

// session returns the row of id, a new one when there is none.
func (s *store) session(id string) (*sessionRow, error) {
	r, err := s.lookup(id)
	if r != nil || err != nil {
		return r, err
	}
	r = &sessionRow{fresh: true, changed: true, needPreview: true}
	if err := s.Row("SELECT max(value, (SELECT coalesce(max(id), 0) FROM session)) + 1 FROM counter WHERE name = 'session'", nil, &r.id); err != nil {
		return nil, err
	}
	// Written at once, since its id is taken; finish fills it.
	source, bare, _ := record.CutID(id)
	if err := s.Exec("INSERT INTO session (id, name, bare, source, root, rev) VALUES (?, ?, ?, ?, ?, ?)",
		r.id, id, bare, source, r.id, s.rev); err != nil {
		return nil, err
	}
	r.ID, r.root, r.SourcePath = id, r.id, s.path
	s.newSessions++
	s.sessions[id] = r
	s.release(r)
	return r, nil
}

// add stores one draft, or what it knows more than the archive. rest are those
// behind it.
func (s *store) add(d *draft, rest []*draft) error {
	if gone, err := s.gone(d, rest); err != nil || gone {
		return err
	}
	sess, err := s.session(d.SessionID)
	if err != nil {
		return err
	}
	s.read.begin(sess)
	key, id, err := s.identify(sess, d)
	if err != nil {
		return err
	}
	if bit := keyedBit(&d.Message); sess.keyed&bit == 0 {
		sess.keyed, sess.changed = sess.keyed|bit, true
	}
	if id != 0 && (s.onlyNew || d.told) {
		return s.known(sess, id)
	}
	if id != 0 {
		return s.merge(sess, id, d)
	}
	id, err = s.takeID(sess, slotOf(&d.Message, d.size))
	if err != nil {
		return err
	}
	context, err := s.context(&d.Message)
	if err != nil {
		return err
	}
	if err := s.Exec("INSERT INTO message (id, session, seq, key, at, role, flags, context, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		id, sess.id, sess.Messages, key, record.Millis(d.At), string(d.Role), record.FlagsOf(&d.Message), context, d.body); err != nil {
		return err
	}
	s.index(id, d.terms, d.words, nil, false)
	s.listen(sess, d)
	s.newMessages++
	s.read.reached(sess, sess.Messages)
	s.touch(sess, &d.Message)
	sess.text += record.TextSize(&d.Message)
	return nil
}

// touch makes sess reflect a message that joined it.
func (s *store) touch(sess *sessionRow, m *record.Message) {
	sess.Messages++
	sess.changed = true
	sess.StartedAt = record.Earliest(sess.StartedAt, m.At)
	sess.LastActive = record.Latest(sess.LastActive, m.At)
	if sess.needPreview {
		if sess.Preview = record.PreviewOf(m); sess.Preview != "" {
			sess.needPreview = false
		}
	}
}

// index queues a row for the index.
func (s *store) index(id int64, terms string, words, before []string, old bool) {
	if terms != "" || old {
		s.docs = append(s.docs, doc{id, terms, old})
	}
	s.count(words, before)
}

// count keeps the document frequencies true when words take the place of those
// before.
func (s *store) count(words, before []string) {
	for _, w := range words {
		s.df[w]++
	}
	for _, w := range before {
		s.df[w]--
	}
}

// merge joins a draft with the message that the archive holds under its
// identity, and makes it a member of sess.
func (s *store) merge(sess *sessionRow, id int64, d *draft) error {
	var m record.Message
	owner, err := s.load(id, &m)
	if err != nil {
		return err
	}
	if owner != sess.id {
		if m.Seq, err = s.join(sess, id, &m); err != nil {
			return err
		}
	}
	s.read.reached(sess, m.Seq)
	if d.adopts {
		m.UID, m.Global = d.UID, d.Global
	}
	_, words, _ := analyse(record.IndexText(&m))
	size := record.TextSize(&m)
	if d.adopts && len(d.ToolCalls) > 0 {
		m.ToolCalls = nil // the same, without their ids
	}
	// Piece by piece, since the archive may hold some of them.
	pieces, changed := d.pieces, d.adopts
	if pieces == nil {
		pieces = []record.Message{d.Message}
	}
	for i := range pieces {
		if s.imports {
			more := settle(&m, pieces[i])
			changed = record.Union(&m, &more) || changed
			continue
		}
		changed = record.Union(&m, &pieces[i]) || changed
	}
	if !changed {
		return nil
	}
	m.SessionID = d.SessionID
	merged := &draft{Message: m}
	if err := merged.prepare(); err != nil {
		return err
	}
	context, err := s.context(&m)
	if err != nil {
		return err
	}
	if err := s.Exec("UPDATE message SET at = ?, flags = ?, context = ?, body = ? WHERE id = ?",
		record.Millis(m.At), record.FlagsOf(&m), context, merged.body, id); err != nil {
		return err
	}
	s.index(id, merged.terms, merged.words, words, true)
	if owner == sess.id {
		sess.text += record.TextSize(&m) - size
		sess.changed = true
	} else if err := s.Exec("UPDATE session SET text = text + ? WHERE id = ?", record.TextSize(&m)-size, owner); err != nil {
		return err
	}
	return s.setSlot(owner, id, slotOf(&m, merged.size))
}

// known makes a message that the archive holds a member of sess, and changes
// nothing about it.
func (s *store) known(sess *sessionRow, id int64) error {
	var m record.Message
	owner, err := s.load(id, &m)
	if err != nil || owner == sess.id {
		return err
	}
	_, err = s.join(sess, id, &m)
	return err
}

// join makes a message of another session a member of sess, once, and returns
// its place there.
func (s *store) join(sess *sessionRow, id int64, m *record.Message) (seq int, err error) {
	err = s.Row("SELECT seq FROM member WHERE message = ? AND session = ?", []any{id, sess.id}, &seq)
	if !noRows(err) {
		return seq, err
	}
	seq = sess.Messages
	if err := s.Exec("INSERT INTO member (session, seq, message) VALUES (?, ?, ?)", sess.id, seq, id); err != nil {
		return 0, err
	}
	s.touch(sess, m)
	return seq, nil
}

// load reads message id and returns the row of the session that owns it.
func (s *store) load(id int64, m *record.Message) (owner int64, err error) {
	var at, flags int64
	var role string
	var body []byte
	if err := s.Row(`SELECT m.session, m.seq, m.at, m.role, m.flags, coalesce(c.model, ''), coalesce(c.dir, ''), coalesce(c.branch, ''), m.body
		FROM message m LEFT JOIN context c ON c.id = m.context WHERE m.id = ?`, []any{id},
		&owner, &m.Seq, &at, &role, &flags, &m.Model, &m.Dir, &m.Branch, &body); err != nil {
		return 0, err
	}
	m.ID, m.At, m.Role = id, record.FromMillis(at), record.Role(role)
	record.SetFlags(m, flags)
	return owner, record.DecodeBody(body, m)
}

// context returns the row that holds where m was said.
func (s *store) context(m *record.Message) (int64, error) {
	k := [3]string{m.Model, m.Dir, m.Branch}
	if k == ([3]string{}) {
		return 0, nil
	}
	if id, ok := s.contexts[k]; ok {
		return id, nil
	}
	if err := s.Exec("INSERT INTO context (model, dir, branch) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", k[0], k[1], k[2]); err != nil {
		return 0, err
	}
	var id int64
	err := s.Row("SELECT id FROM context WHERE model = ? AND dir = ? AND branch = ?", []any{k[0], k[1], k[2]}, &id)
	s.contexts[k] = id
	return id, err
}

// noRows tells whether err only says that a query found nothing.
func noRows(err error) bool { return errors.Is(err, sql.ErrNoRows) }
