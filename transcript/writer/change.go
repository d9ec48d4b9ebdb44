package writer

import (
	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
	"github.com/hermes-mcp/hermes-mcp/transcript/record"
)

// A Change is one write transaction for what takes out of the archive or hands
// on what is there. It keeps index, frequencies and slots true; the rows are the
// caller's. Nothing of it counts before Finish.
type Change struct {
	*engine.Tx
	to *store
}

// NewChange begins a change within t.
func NewChange(t *engine.Tx) (*Change, error) {
	s, err := newStore(t)
	if err != nil {
		return nil, err
	}
	s.read = newReading(false)
	return &Change{t, s}, nil
}

// Load reads message id.
func (c *Change) Load(id int64) (m record.Message, err error) {
	_, err = c.to.load(id, &m)
	return m, err
}

// Bury notes how m, with that key in the archive, is known again should it come
// under another session's name, before being the sum of the message in front of
// it, or 0. It returns m's own sum.
func (c *Change) Bury(tombstone, key int64, source string, m *record.Message, before int64) (sum int64, err error) {
	sum = contentSum(m)
	for _, one := range []int64{key, echoOf(source, m, sum, before)} {
		if err := c.bury(tombstone, one); err != nil {
			return 0, err
		}
	}
	return sum, nil
}

// Sum is what m says, as Bury returns it.
func (c *Change) Sum(m *record.Message) int64 { return contentSum(m) }

// BuryTitle notes the title of a session that goes.
func (c *Change) BuryTitle(tombstone int64, source, title string) error {
	if title == "" {
		return nil
	}
	return c.bury(tombstone, titleKey(source, title))
}

func (c *Change) bury(tombstone, key int64) error {
	return c.Exec("INSERT OR IGNORE INTO tombstone_message (key, tombstone) VALUES (?, ?)", key, tombstone)
}

// Uncount takes the words of an indexed text that goes out of the frequencies.
func (c *Change) Uncount(text string) {
	_, words, _ := analyse(text)
	c.to.count(nil, words)
}

// Unindex takes message id, which is m, out of the index.
func (c *Change) Unindex(id int64, m *record.Message) {
	_, words, _ := analyse(record.IndexText(m))
	c.to.index(id, "", nil, words, true)
}

// Give makes a message that session repeats at seq its own, under an id that is
// its own too.
func (c *Change) Give(id, session int64, seq int) error {
	var name string
	if err := c.Row("SELECT name FROM session WHERE id = ?", []any{session}, &name); err != nil {
		return err
	}
	heir, err := c.to.session(name)
	if err != nil {
		return err
	}
	var m record.Message
	if _, err := c.to.load(id, &m); err != nil {
		return err
	}
	d := &draft{Message: m}
	if err := d.prepare(); err != nil {
		return err
	}
	to, err := c.to.takeID(heir, slotOf(&m, d.size))
	if err != nil {
		return err
	}
	for _, step := range []struct {
		query string
		args  []any
	}{
		{"UPDATE message SET id = ?, session = ?, seq = ? WHERE id = ?", []any{to, session, seq, id}},
		{"DELETE FROM member WHERE message = ? AND session = ?", []any{id, session}},
		{"UPDATE member SET message = ? WHERE message = ?", []any{to, id}},
		{"UPDATE chunk SET message = ? WHERE session = ? AND message = ?", []any{to, session, id}},
		{"UPDATE mark SET message = ? WHERE session = ? AND message = ?", []any{to, session, id}},
	} {
		if err := c.Exec(step.query, step.args...); err != nil {
			return err
		}
	}
	c.to.docs = append(c.to.docs, doc{id: id})
	if d.terms != "" {
		c.to.docs = append(c.to.docs, doc{id: to, terms: d.terms})
	}
	heir.text += record.TextSize(&m)
	heir.changed = true
	return nil
}

// Reroot puts a session into the lineage of root.
func (c *Change) Reroot(session, root int64) error {
	for _, open := range c.to.sessions {
		if open.id == session {
			open.root = root
		}
	}
	return c.Exec("UPDATE session SET root = ?, rev = ? WHERE id = ?", root, c.to.rev, session)
}

// Finish writes what was changed, and drops words that stand nowhere any more.
func (c *Change) Finish() error {
	if err := c.to.finish(); err != nil {
		return err
	}
	for word, n := range c.to.df {
		if n < 0 {
			if err := c.Exec("DELETE FROM term WHERE term = ? AND df <= 0", word); err != nil {
				return err
			}
		}
	}
	return nil
}
