package vector

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
)

const (
	// together is about how many texts are embedded before anything is written:
	// what a kill costs at most.
	together = 128
	// drop is how many rows of an old model are deleted in one transaction.
	drop = 2000
)

// errMoved is returned by a write when a session changed since it was read; it
// is due again.
var errMoved = errors.New("the session changed meanwhile")

// A pending is a session that is due.
type pending struct {
	id, rev int64
	chunks  []chunk
	vectors map[int64][]float32 // by hash, of the chunks that had none
}

// Fill embeds every session that has no vectors of e, or has changed since, the
// newest first, until none is left or ctx ends. Then it drops the vectors of
// other models. told is called after every write, and may be nil. Several
// processes may fill one archive; they only waste work. Errors: those of e's
// Documents; what was written until then stays.
func (s *Store) Fill(ctx context.Context, e Embedder, told func(sessions int)) error {
	done := 0
	embedding, dimensions, err := s.newest(ctx, e)
	if err != nil {
		return err
	}
	skip := map[int64]int64{} // what moved under our hands, by the rev it had
	for {
		due, err := s.due(ctx, embedding, skip)
		if err != nil || len(due) == 0 {
			if err == nil && embedding != 0 {
				err = s.dropOthers(ctx, embedding)
			}
			return err
		}
		got, err := s.embed(ctx, e, embedding, due)
		if err != nil {
			return err
		}
		if got != 0 && got != dimensions { // the first vectors, or of another length
			if embedding, err = s.enter(ctx, e, got); err != nil {
				return err
			}
			again := dimensions != 0
			dimensions = got
			if again {
				continue // kept vectors are of the old length
			}
		}
		if embedding == 0 { // nothing to embed in any of them, and no vector ever
			for _, p := range due {
				skip[p.id] = p.rev
			}
			continue
		}
		for _, p := range due {
			switch err := s.write(ctx, embedding, p); {
			case errors.Is(err, errMoved):
				skip[p.id] = p.rev
			case err != nil:
				return err
			default:
				done++
			}
		}
		s.mu.Lock()
		s.reach = reach{} // it has grown
		s.mu.Unlock()
		if told != nil {
			told(done)
		}
	}
}

// due returns the next sessions to embed, the newest first, with their chunks.
func (s *Store) due(ctx context.Context, embedding int64, skip map[int64]int64) (out []pending, err error) {
	rows, err := s.SQLite.Read.QueryContext(ctx, `SELECT s.id, s.rev FROM session s LEFT JOIN embedded e ON e.session = s.id AND e.embedding = ?
		WHERE s.messages > 0 AND (e.rev IS NULL OR e.rev < s.rev) ORDER BY s.active DESC, s.id DESC LIMIT ?`, embedding, together+len(skip))
	if err != nil {
		return nil, err
	}
	var all []pending
	for rows.Next() {
		var p pending
		if err := rows.Scan(&p.id, &p.rev); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		all = append(all, p)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	texts := 0
	for _, p := range all {
		if rev, seen := skip[p.id]; seen && rev == p.rev {
			continue
		}
		msgs, err := s.Messages(ctx, p.id)
		if err != nil {
			return nil, fmt.Errorf("read session %d: %w", p.id, err)
		}
		p.chunks = chunks(msgs)
		out = append(out, p)
		if texts += len(p.chunks); texts >= together {
			break
		}
	}
	return out, nil
}

// embed asks for the vectors that are not stored yet, and returns how many
// numbers they have, 0 when none was asked for.
func (s *Store) embed(ctx context.Context, e Embedder, embedding int64, due []pending) (dimensions int, err error) {
	var texts []string
	var where []*pending
	var hashes []int64
	for i := range due {
		p := &due[i]
		p.vectors = map[int64][]float32{}
		have, err := s.have(ctx, embedding, p.id)
		if err != nil {
			return 0, err
		}
		for _, c := range p.chunks {
			if _, known := have[c.hash]; !known {
				texts, where, hashes = append(texts, c.text), append(where, p), append(hashes, c.hash)
			}
		}
	}
	if len(texts) == 0 {
		return 0, nil
	}
	vectors, err := e.Documents(ctx, texts)
	if err != nil {
		return 0, err
	}
	if len(vectors) != len(texts) {
		return 0, fmt.Errorf("%d vectors for %d texts", len(vectors), len(texts))
	}
	for i, v := range vectors {
		switch {
		case v == nil:
		case len(v) > maxDimensions || dimensions != 0 && len(v) != dimensions:
			return 0, fmt.Errorf("a vector of %d numbers beside one of %d", len(v), dimensions)
		default:
			dimensions = len(v)
		}
		where[i].vectors[hashes[i]] = v
	}
	return dimensions, nil
}

// have returns the stored chunks of a session, ids by hash.
func (s *Store) have(ctx context.Context, embedding, session int64) (map[int64]int64, error) {
	if embedding == 0 {
		return nil, nil
	}
	rows, err := s.SQLite.Read.QueryContext(ctx, "SELECT hash, id FROM chunk WHERE session = ? AND embedding = ?", session, embedding)
	return byHash(rows, err)
}

func byHash(rows *sql.Rows, err error) (map[int64]int64, error) {
	if err != nil {
		return nil, err
	}
	out := map[int64]int64{}
	for rows.Next() {
		var hash, id int64
		if err := rows.Scan(&hash, &id); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		out[hash] = id
	}
	return out, errors.Join(rows.Err(), rows.Close())
}

// enter returns the row of e's vectors of that length, making it.
func (s *Store) enter(ctx context.Context, e Embedder, dimensions int) (id int64, err error) {
	err = s.SQLite.Update(ctx, false, func(t *engine.Tx) error {
		if err := t.Exec("INSERT OR IGNORE INTO embedding (name, dimensions) VALUES (?, ?)", nameOf(e), dimensions); err != nil {
			return err
		}
		return t.Row("SELECT id FROM embedding WHERE name = ? AND dimensions = ?", []any{nameOf(e), dimensions}, &id)
	})
	return id, err
}

// write stores the vectors of one session and that it has them.
func (s *Store) write(ctx context.Context, embedding int64, p pending) error {
	return s.SQLite.Update(ctx, false, func(t *engine.Tx) error {
		var rev int64
		err := t.Row("SELECT rev FROM session WHERE id = ?", []any{p.id}, &rev)
		if errors.Is(err, sql.ErrNoRows) || err == nil && rev != p.rev {
			return errMoved
		}
		if err != nil {
			return err
		}
		stmt, err := t.Stmt("SELECT hash, id FROM chunk WHERE session = ? AND embedding = ?")
		if err != nil {
			return err
		}
		have, err := byHash(stmt.QueryContext(t.Ctx, p.id, embedding))
		if err != nil {
			return err
		}
		for _, c := range p.chunks {
			if _, known := have[c.hash]; known {
				delete(have, c.hash)
				continue
			}
			v, made := p.vectors[c.hash]
			if !made {
				return errMoved
			}
			if err := t.Exec("INSERT INTO chunk (embedding, session, message, hash, vector) VALUES (?, ?, ?, ?, ?)",
				embedding, p.id, c.message, c.hash, pack(v)); err != nil {
				return err
			}
		}
		for _, id := range have { // of what is not said any more
			if err := t.Exec("DELETE FROM chunk WHERE id = ?", id); err != nil {
				return err
			}
		}
		return t.Exec("INSERT INTO embedded (session, embedding, rev) VALUES (?, ?, ?) ON CONFLICT (session, embedding) DO UPDATE SET rev = excluded.rev",
			p.id, embedding, p.rev)
	})
}

// dropOthers deletes the vectors of other models, a few at a time.
func (s *Store) dropOthers(ctx context.Context, embedding int64) error {
	for {
		var left int64
		if err := s.SQLite.Read.QueryRowContext(ctx, "SELECT count(*) FROM embedding WHERE id <> ?", embedding).Scan(&left); err != nil || left == 0 {
			return err
		}
		err := s.SQLite.Update(ctx, false, func(t *engine.Tx) error {
			if err := t.Exec("DELETE FROM chunk WHERE id IN (SELECT id FROM chunk WHERE embedding <> ? LIMIT ?)", embedding, drop); err != nil {
				return err
			}
			if err := t.Row("SELECT count(*) FROM (SELECT 1 FROM chunk WHERE embedding <> ? LIMIT 1)", []any{embedding}, &left); err != nil || left > 0 {
				return err
			}
			if err := t.Exec("DELETE FROM embedded WHERE embedding <> ?", embedding); err != nil {
				return err
			}
			return t.Exec("DELETE FROM embedding WHERE id <> ?", embedding)
		})
		if err != nil {
			return err
		}
	}
}
