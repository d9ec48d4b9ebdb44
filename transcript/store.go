package transcript

import (
	"cmp"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
	"github.com/hermes-mcp/hermes-mcp/transcript/index"
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
	twins    map[int64]map[int64][]int64 // of sessions with both kinds of identity
	read     *reading
	path     string // of the file that is read

	newSessions, newMessages int
}

// A sessionRow is a session with what only the archive knows of it.
type sessionRow struct {
	Session
	id, root    int64
	text        int64
	keyed       int64
	header      string
	fresh       bool // not in the table yet
	changed     bool
	needPreview bool
}

// A doc is one row for the index; with terms "" it only leaves it.
type doc struct {
	id    int64
	terms string
	old   bool // a row with this id may be there
}

func newStore(t *engine.Tx, read *reading, path string) (*store, error) {
	s := &store{Tx: t, read: read, path: path, sessions: make(map[string]*sessionRow), blocks: make(map[int64]*block),
		df: make(map[string]int64), contexts: make(map[[3]string]int64), twins: make(map[int64]map[int64][]int64)}
	if err := s.Row("SELECT value + 1 FROM counter WHERE name = 'rev'", nil, &s.rev); err != nil {
		return nil, err
	}
	return s, nil
}

// session returns the row of id, a new one when there is none.
func (s *store) session(id string) (*sessionRow, error) {
	if r, ok := s.sessions[id]; ok {
		return r, nil
	}
	r := &sessionRow{}
	err := s.Row("SELECT "+sessionColumns+", id, root, text, keyed, header FROM session WHERE name = ?", []any{id},
		append(sessionFields(&r.Session), &r.id, &r.root, &r.text, &r.keyed, &r.header)...)
	switch {
	case noRows(err):
		if err := s.Row("SELECT coalesce(max(id), 0) + 1 FROM session", nil, &r.id); err != nil {
			return nil, err
		}
		// Written at once, since its id is taken; finish fills it.
		source, bare, _ := cutID(id)
		if err := s.Exec("INSERT INTO session (id, name, bare, source, root, rev) VALUES (?, ?, ?, ?, ?, ?)",
			r.id, id, bare, source, r.id, s.rev); err != nil {
			return nil, err
		}
		r.ID, r.root, r.fresh, r.changed, r.SourcePath = id, r.id, true, true, s.path
		s.newSessions++
	case err != nil:
		return nil, err
	}
	r.needPreview = r.Preview == ""
	s.sessions[id] = r
	return r, nil
}

// add stores one draft, or what it knows more than the archive.
func (s *store) add(d *draft) error {
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
		id, sess.id, sess.Messages, key, millis(d.At), string(d.Role), flagsOf(&d.Message), context, d.body); err != nil {
		return err
	}
	s.index(id, d.terms, d.words, nil, false)
	s.newMessages++
	s.read.reached(sess, sess.Messages)
	s.touch(sess, &d.Message)
	sess.text += textSize(&d.Message)
	return nil
}

// touch makes sess reflect a message that joined it.
func (s *store) touch(sess *sessionRow, m *Message) {
	sess.Messages++
	sess.changed = true
	sess.StartedAt = earliest(sess.StartedAt, m.At)
	sess.LastActive = latest(sess.LastActive, m.At)
	if sess.needPreview {
		if sess.Preview = preview(m); sess.Preview != "" {
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
	var m Message
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
	_, words, _ := analyse(indexText(&m))
	size := textSize(&m)
	// Piece by piece, since the archive may hold some of them.
	pieces, changed := d.pieces, false
	if pieces == nil {
		pieces = []Message{d.Message}
	}
	for i := range pieces {
		changed = union(&m, &pieces[i]) || changed
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
		millis(m.At), flagsOf(&m), context, merged.body, id); err != nil {
		return err
	}
	s.index(id, merged.terms, merged.words, words, true)
	if owner == sess.id {
		sess.text += textSize(&m) - size
		sess.changed = true
	} else if err := s.Exec("UPDATE session SET text = text + ? WHERE id = ?", textSize(&m)-size, owner); err != nil {
		return err
	}
	return s.setSlot(owner, id, slotOf(&m, merged.size))
}

// join makes a message of another session a member of sess, once, and returns
// its place there.
func (s *store) join(sess *sessionRow, id int64, m *Message) (seq int, err error) {
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
func (s *store) load(id int64, m *Message) (owner int64, err error) {
	var at, flags int64
	var role string
	var body []byte
	if err := s.Row(`SELECT m.session, m.seq, m.at, m.role, m.flags, coalesce(c.model, ''), coalesce(c.dir, ''), coalesce(c.branch, ''), m.body
		FROM message m LEFT JOIN context c ON c.id = m.context WHERE m.id = ?`, []any{id},
		&owner, &m.Seq, &at, &role, &flags, &m.Model, &m.Dir, &m.Branch, &body); err != nil {
		return 0, err
	}
	m.ID, m.At, m.Role = id, fromMillis(at), Role(role)
	setFlags(m, flags)
	return owner, decodeBody(body, m)
}

// context returns the row that holds where m was said.
func (s *store) context(m *Message) (int64, error) {
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

// finish writes sessions, blocks, index and frequencies.
func (s *store) finish() error {
	for _, r := range s.sessions {
		if err := s.link(r); err != nil {
			return err
		}
	}
	for _, r := range s.sessions {
		if err := s.finishSession(r); err != nil {
			return err
		}
	}
	// FTS5 writes out what it holds whenever ids go down, so they go up.
	slices.SortFunc(s.docs, func(a, b doc) int { return cmp.Compare(a.id, b.id) })
	for _, d := range s.docs {
		query, args := "INSERT INTO message_fts (rowid, text) VALUES (?, ?)", []any{d.id, d.terms}
		switch {
		case d.terms == "":
			query, args = "DELETE FROM message_fts WHERE rowid = ?", []any{d.id}
		case d.old:
			query = "INSERT OR REPLACE INTO message_fts (rowid, text) VALUES (?, ?)"
		}
		if err := s.Exec(query, args...); err != nil {
			return err
		}
	}
	for _, w := range slices.Sorted(maps.Keys(s.df)) {
		if n := s.df[w]; n != 0 {
			if err := s.Exec("INSERT INTO term (term, df) VALUES (?, ?) ON CONFLICT (term) DO UPDATE SET df = df + excluded.df", w, n); err != nil {
				return err
			}
		}
	}
	for _, b := range s.blocks {
		if err := s.writeBlock(b); err != nil {
			return err
		}
	}
	return s.Exec("UPDATE counter SET value = ? WHERE name = 'rev'", s.rev)
}

// link joins the lineages of r, its parent, and its children that came before
// it. A circle of parents is one lineage.
func (s *store) link(r *sessionRow) error {
	if !r.changed {
		return nil
	}
	if r.ParentID != "" && r.ParentID != r.ID {
		root, err := s.rootOf(r.ParentID)
		if err != nil {
			return err
		}
		if root != 0 {
			if err := s.moveRoot(r.root, root); err != nil {
				return err
			}
		}
	}
	if !r.fresh {
		return nil
	}
	st, err := s.Stmt("SELECT root FROM session WHERE parent = ?")
	if err != nil {
		return err
	}
	roots, err := column[int64](st.QueryContext(s.Ctx, r.ID))
	for i := 0; err == nil && i < len(roots); i++ {
		err = s.moveRoot(roots[i], r.root)
	}
	return err
}

// rootOf returns the root of a session's lineage, 0 when it is not known.
func (s *store) rootOf(name string) (root int64, err error) {
	if r, ok := s.sessions[name]; ok {
		return r.root, nil
	}
	err = s.Row("SELECT root FROM session WHERE name = ?", []any{name}, &root)
	if noRows(err) {
		err = nil
	}
	return root, err
}

func (s *store) moveRoot(from, to int64) error {
	if from == to {
		return nil
	}
	for _, r := range s.sessions {
		if r.root == from {
			r.root, r.changed = to, true
		}
	}
	return s.Exec("UPDATE session SET root = ?, rev = ? WHERE root = ?", to, s.rev, from)
}

// finishSession writes what changed of r, and its header to the index.
func (s *store) finishSession(r *sessionRow) error {
	if !r.changed {
		return nil
	}
	if header := titleText(&r.Session) + "\n" + r.Preview; header != r.header {
		if err := s.indexHeader(r, header); err != nil {
			return err
		}
	}
	return s.Exec(`UPDATE session SET root = ?, parent = ?, relation = ?, title = ?, project = ?, dir = ?, branch = ?, model = ?,
		surface = ?, user = ?, version = ?, started = ?, ended = ?, active = ?, end_reason = ?, path = ?, gone = ?,
		messages = ?, text = ?, preview = ?, header = ?, keyed = ?, rev = ? WHERE id = ?`,
		r.root, r.ParentID, string(r.Relation), r.Title, r.Project, r.Dir, r.Branch, r.Model,
		r.Surface, r.User, r.Version, millis(r.StartedAt), millis(r.EndedAt), millis(r.LastActive), r.EndReason, r.SourcePath, r.SourceGone,
		r.Messages, r.text, r.Preview, r.header, r.keyed, s.rev, r.id)
}

// indexHeader puts what says what the session is about into its own index, and
// the size of its title into slot 0 of its first block.
func (s *store) indexHeader(r *sessionRow, header string) error {
	first, err := s.block(r) // makes the first when there is none
	if err != nil {
		return err
	}
	id := first.id
	if err := s.Row("SELECT coalesce(min(id), ?) FROM block WHERE session = ?", []any{id, r.id}, &id); err != nil {
		return err
	}
	title, words, size := analyse(titleText(&r.Session))
	_, before, _ := analyse(r.header[:max(0, strings.LastIndexByte(r.header, '\n'))])
	s.count(words, before)
	r.header = header
	opening, _, _ := analyse(r.Preview)
	if err := s.Exec("INSERT OR REPLACE INTO session_fts (rowid, text) VALUES (?, ?)", r.id, title+" "+opening); err != nil {
		return err
	}
	return s.setSlot(r.id, id*index.BlockSlots, index.Slot{Header: true, Indexed: size > 0, Tokens: size}.Encode())
}

// column reads the first column of rows and closes them.
func column[T any](rows *sql.Rows, err error) ([]T, error) {
	if err != nil {
		return nil, err
	}
	var out []T
	for rows.Next() {
		var v T
		if err := rows.Scan(&v); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		out = append(out, v)
	}
	return out, errors.Join(rows.Err(), rows.Close())
}
