package writer

import (
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
	"github.com/hermes-mcp/hermes-mcp/transcript/index"
	"github.com/hermes-mcp/hermes-mcp/transcript/record"
)

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
	sort.Slice(s.docs, func(i, j int) bool { return s.docs[i].id < s.docs[j].id })
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
	if err := s.countTerms(); err != nil {
		return err
	}
	for _, b := range s.blocks {
		if err := s.writeBlock(b); err != nil {
			return err
		}
	}
	return s.Exec("UPDATE counter SET value = ? WHERE name = 'rev'", s.rev)
}

// countTerms adds up the document frequencies, in one statement: there are many
// words. They are letters only, so that they need no escapes.
func (s *store) countTerms() error {
	counts := []byte{'{'}
	for _, w := range slices.Sorted(maps.Keys(s.df)) {
		if n := s.df[w]; n != 0 {
			counts = append(append(append(counts, '"'), w...), '"', ':')
			counts = append(strconv.AppendInt(counts, n, 10), ',')
		}
	}
	if len(counts) == 1 {
		return nil
	}
	counts[len(counts)-1] = '}'
	return s.Exec(`INSERT INTO term (term, df) SELECT key, value FROM json_each(?) WHERE true
		ON CONFLICT (term) DO UPDATE SET df = df + excluded.df`, string(counts))
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
	// The second condition lets SQLite use the index, which leaves out ''.
	st, err := s.Stmt("SELECT root FROM session WHERE parent = ? AND parent <> ''")
	if err != nil {
		return err
	}
	roots, err := engine.Column[int64](st.QueryContext(s.Ctx, r.ID))
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
	if len(r.heard) > 0 {
		if err := s.weigh(r, 1); err != nil {
			return err
		}
	}
	if header := record.TitleText(&r.Session) + "\n" + r.Preview; header != r.header {
		if err := s.indexHeader(r, header); err != nil {
			return err
		}
	}
	return s.Exec(`UPDATE session SET root = ?, parent = ?, relation = ?, title = ?, project = ?, dir = ?, branch = ?, model = ?,
		surface = ?, user = ?, version = ?, started = ?, ended = ?, active = ?, end_reason = ?, path = ?, gone = ?,
		messages = ?, text = ?, preview = ?, header = ?, keyed = ?, chat = ?, dense = ?, counted = ?, rev = ? WHERE id = ?`,
		r.root, r.ParentID, string(r.Relation), r.Title, r.Project, r.Dir, r.Branch, r.Model,
		r.Surface, r.User, r.Version, record.Millis(r.StartedAt), record.Millis(r.EndedAt), record.Millis(r.LastActive), r.EndReason, r.SourcePath, r.SourceGone,
		r.Messages, r.text, r.Preview, r.header, r.keyed, r.Chat, r.dense, r.counted, s.rev, r.id)
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
	_, words, size := analyse(record.TitleText(&r.Session))
	_, before, _ := analyse(r.header[:max(0, strings.LastIndexByte(r.header, '\n'))])
	s.count(words, before)
	r.header = header
	if err := s.indexAbout(r); err != nil {
		return err
	}
	return s.setSlot(r.id, id*index.BlockSlots, index.Slot{Header: true, Indexed: size > 0, Tokens: size}.Encode())
}
