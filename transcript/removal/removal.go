// Package removal takes sessions out of the archive, with all that it knows of
// them.
//
// # Promises
//
// All of the sessions go, or none. A message that a session which stays repeats
// is not lost: it becomes that session's own. No number of what went is given to
// something else. What is buried is known again under every name. The bytes are not
// overwritten: that is package engine's.
package removal

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
	"github.com/hermes-mcp/hermes-mcp/transcript/record"
	"github.com/hermes-mcp/hermes-mcp/transcript/writer"
)

// ofSession clears, of every table that holds something about a session or its
// messages, what is there of one that goes. A table that is not here fails the
// test that walks the schema.
var ofSession = []string{
	"DELETE FROM message WHERE session = ?",
	"DELETE FROM member WHERE session = ?",
	"DELETE FROM mark WHERE session = ?",
	"DELETE FROM chunk WHERE session = ?",
	"DELETE FROM embedded WHERE session = ?",
	"DELETE FROM block WHERE session = ?",
	"DELETE FROM session_fts WHERE rowid = ?",
	"DELETE FROM session WHERE id = ?",
}

// A Removed says what left the archive.
type Removed struct {
	Sessions, Messages int
	Moved              int   // messages that stay, since another session repeats them
	Bytes              int64 // of text
	// Files are those that were known to hold the sessions, by path.
	Files []string
}

// Remove takes the sessions of those names out of the archive within t, and what
// only they hold: rows, index, frequencies and the cursors of their files. A
// message that a session which stays repeats becomes that session's own. Names
// that are not there are passed over. With bury no source may bring them back.
//
// The bytes are not overwritten: see [engine.DB.Scrub].
func Remove(t *engine.Tx, names []string, bury bool, at time.Time) (Removed, error) {
	c, err := writer.NewChange(t)
	if err != nil {
		return Removed{}, err
	}
	r := removal{Change: c, going: make(map[int64]record.Session), contexts: make(map[int64]bool), bury: bury, at: record.Millis(at)}
	if err := r.run(names); err != nil {
		return Removed{}, fmt.Errorf("remove sessions: %w", err)
	}
	return r.done, nil
}

// A removal is one run of Remove.
type removal struct {
	*writer.Change
	going    map[int64]record.Session // by row
	roots    []int64
	contexts map[int64]bool // that messages which go were said in
	bury     bool
	at       int64
	done     Removed
}

func (r *removal) run(names []string) error {
	for _, name := range names {
		if err := r.choose(name); err != nil {
			return err
		}
	}
	if err := r.keepNumbers(); err != nil {
		return err
	}
	rows := slices.Sorted(maps.Keys(r.going))
	for _, row := range rows {
		if err := r.settle(row); err != nil {
			return fmt.Errorf("session %s: %w", r.going[row].ID, err)
		}
	}
	for _, row := range rows {
		if err := r.clear(row); err != nil {
			return fmt.Errorf("session %s: %w", r.going[row].ID, err)
		}
	}
	if err := r.relink(); err != nil {
		return err
	}
	if err := r.forgetFiles(); err != nil {
		return err
	}
	if err := r.Finish(); err != nil {
		return err
	}
	return r.sweep()
}

// settle sees to what stays of a session: messages, and the memory that it was
// forgotten.
func (r *removal) settle(row int64) error {
	shares, err := r.shares(row)
	if err == nil && r.bury {
		err = r.entomb(row, shares)
	}
	if err != nil {
		return err
	}
	return r.handOver(shares)
}

// choose takes the session of that name, and buries it where it is to be.
func (r *removal) choose(name string) error {
	if r.bury {
		if err := r.Exec("INSERT INTO tombstone (name, at) VALUES (?, ?) ON CONFLICT DO NOTHING", name, r.at); err != nil {
			return err
		}
	}
	var s record.Session
	var row, root, text int64
	var header string
	err := r.Row("SELECT "+record.SessionColumns+", id, root, text, header FROM session WHERE name = ?", []any{name},
		append(record.SessionFields(&s), &row, &root, &text, &header)...)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, twice := r.going[row]; twice {
		return nil
	}
	r.going[row] = s
	r.roots = append(r.roots, root)
	r.done.Sessions++
	r.Uncount(header[:max(0, strings.LastIndexByte(header, '\n'))])
	return nil
}

// keepNumbers sees to it that no id of what goes is given to something else.
func (r *removal) keepNumbers() error {
	if err := r.Exec("UPDATE counter SET value = max(value, (SELECT coalesce(max(id), 0) FROM session)) WHERE name = 'session'"); err != nil {
		return err
	}
	return r.Exec("UPDATE counter SET value = max(value, (SELECT coalesce(max(id), 0) FROM block)) WHERE name = 'block'")
}

// A share is a message of a session that goes which one that stays repeats.
type share struct {
	message, session int64
	seq              int
}

// shares lists what of a session others repeat that stay.
func (r *removal) shares(row int64) (shares []share, err error) {
	st, err := r.Stmt("SELECT b.message, b.session, b.seq FROM member b JOIN message m ON m.id = b.message WHERE m.session = ? ORDER BY b.session, b.seq")
	if err != nil {
		return nil, err
	}
	rows, err := st.QueryContext(r.Ctx, row)
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		var h share
		if err = rows.Scan(&h.message, &h.session, &h.seq); err != nil {
			break
		}
		if _, goes := r.going[h.session]; !goes {
			shares = append(shares, h)
		}
	}
	return shares, firstOf(err, rows.Err(), rows.Close())
}

// handOver gives messages to the first of the sessions which stay.
func (r *removal) handOver(shares []share) error {
	moved := make(map[int64]bool)
	for _, h := range shares {
		if moved[h.message] {
			continue
		}
		moved[h.message] = true
		if err := r.Give(h.message, h.session, h.seq); err != nil {
			return err
		}
	}
	r.done.Moved += len(moved)
	return nil
}

// entomb notes how the messages of a session are known again that go with it.
func (r *removal) entomb(row int64, shares []share) error {
	s := r.going[row]
	var tombstone int64
	if err := r.Row("SELECT id FROM tombstone WHERE name = ?", []any{s.ID}, &tombstone); err != nil {
		return err
	}
	if err := r.BuryTitle(tombstone, s.Source(), s.Title); err != nil {
		return err
	}
	st, err := r.Stmt("SELECT id FROM (SELECT id, seq FROM message WHERE session = ?1 UNION ALL SELECT message, seq FROM member WHERE session = ?1) ORDER BY seq, id")
	if err != nil {
		return err
	}
	ids, err := engine.Column[int64](st.QueryContext(r.Ctx, row))
	if err != nil {
		return err
	}
	stays := make(map[int64]bool)
	for _, h := range shares {
		stays[h.message] = true
	}
	before := int64(0)
	for _, id := range ids {
		m, err := r.Load(id)
		if err != nil {
			return err
		}
		var key, owner int64
		if err := r.Row("SELECT key, session FROM message WHERE id = ?", []any{id}, &key, &owner); err != nil {
			return err
		}
		if _, goes := r.going[owner]; !goes || stays[id] {
			before = r.Sum(&m)
		} else if before, err = r.Bury(tombstone, key, s.Source(), &m, before); err != nil {
			return err
		}
	}
	return nil
}

// clear deletes a session and its own messages.
func (r *removal) clear(row int64) error {
	st, err := r.Stmt("SELECT id FROM message WHERE session = ?")
	if err != nil {
		return err
	}
	ids, err := engine.Column[int64](st.QueryContext(r.Ctx, row))
	if err != nil {
		return err
	}
	for _, id := range ids {
		m, err := r.Load(id)
		if err != nil {
			return err
		}
		var context int64
		if err := r.Row("SELECT context FROM message WHERE id = ?", []any{id}, &context); err != nil {
			return err
		}
		r.contexts[context] = true
		r.done.Messages++
		r.done.Bytes += record.TextSize(&m)
		r.Unindex(id, &m)
	}
	for _, query := range ofSession {
		if err := r.Exec(query, row); err != nil {
			return err
		}
	}
	return nil
}

// forgetFiles drops what is known of how far the files were read that hold what
// goes: sources keep titles and prompts in their cursors.
func (r *removal) forgetFiles() error {
	bySource := make(map[string][]record.Session)
	for _, s := range r.going {
		bySource[s.Source()] = append(bySource[s.Source()], s)
	}
	for source, all := range bySource {
		st, err := r.Stmt("SELECT path FROM file WHERE source = ?")
		if err != nil {
			return err
		}
		paths, err := engine.Column[string](st.QueryContext(r.Ctx, source))
		if err != nil {
			return err
		}
		for _, path := range paths {
			var state []byte
			var tally string
			if err := r.Row("SELECT state, tally FROM file WHERE source = ? AND path = ?", []any{source, path}, &state, &tally); err != nil {
				return err
			}
			known := tally
			if len(state) > 0 {
				unpacked, err := record.Unpack(state)
				if err != nil {
					return fmt.Errorf("file %s: %w", path, err)
				}
				known += string(unpacked)
			}
			if !slices.ContainsFunc(all, func(s record.Session) bool { return holds(s, path, known) }) {
				continue
			}
			r.done.Files = append(r.done.Files, path)
			if err := r.Exec("UPDATE file SET position = 0, state = x'', print = 0, problems = '', forgotten = max(forgotten, ?1), final = max(final, 1 - ?1) WHERE source = ?2 AND path = ?3",
				r.bury, source, path); err != nil {
				return err
			}
		}
	}
	slices.Sort(r.done.Files)
	return nil
}

// holds tells whether a file holds s, by its path and what is known of it.
func holds(s record.Session, path, known string) bool {
	_, bare, _ := record.CutID(s.ID)
	return path == s.SourcePath || bare != "" && (strings.Contains(path, bare) || strings.Contains(known, bare))
}

// sweep deletes what nothing refers to any more, and tells every process that
// holds the directory of the archive to read it anew.
func (r *removal) sweep() error {
	contexts, err := json.Marshal(slices.Collect(maps.Keys(r.contexts)))
	if err != nil {
		return err
	}
	if err := r.Exec("DELETE FROM context WHERE id IN (SELECT value FROM json_each(?)) AND id NOT IN (SELECT context FROM message)", string(contexts)); err != nil {
		return err
	}
	return r.Exec("UPDATE counter SET value = value + 1 WHERE name = 'forgotten'")
}
