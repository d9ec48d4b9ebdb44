package vector

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"

	"github.com/hermes-mcp/hermes-mcp/scanner"
)

// A Near is a chunk that is near to a question.
type Near struct {
	Message int64   // the first of the chunk
	Score   float64 // the cosine of the angle between them
}

const (
	// compared is how many candidates are read and compared in full.
	compared = 400
	// meanOf is how many vectors the mean is taken of.
	meanOf = 2000
)

// A directory is what is held in memory of one embedding's chunks.
type directory struct {
	embedding  int64
	dimensions int
	last       int64 // id
	mean       []float32
	ids        []int64
	messages   []int64
	sketches   []uint64 // words(dimensions) each
}

// Near asks e about text and returns the chunks nearest to it that admit lets
// pass, the nearest first. Secrets in text are masked before. Errors: those of
// e's Query, ErrNone.
func (s *Store) Near(ctx context.Context, e Embedder, text string, admit func(message int64) bool) ([]Near, error) {
	q, err := e.Query(ctx, scanner.Redact(text))
	if err != nil {
		return nil, err
	}
	id, dimensions, err := s.newest(ctx, e)
	if err != nil || id == 0 || dimensions != len(q) {
		return nil, err
	}
	if err := s.refresh(ctx, id, dimensions); err != nil {
		return nil, fmt.Errorf("read vectors: %w", err)
	}
	return s.compare(ctx, q, s.candidates(q, admit))
}

// refresh reads the chunks that were added since the last time. Those that were
// deleted stay in memory and lead nowhere.
func (s *Store) refresh(ctx context.Context, embedding int64, dimensions int) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := &s.dir
	if d.embedding != embedding {
		*d = directory{embedding: embedding, dimensions: dimensions}
	}
	if d.mean == nil {
		if d.mean, err = s.meanOf(ctx, embedding, dimensions); err != nil {
			return err
		}
	}
	rows, err := s.SQLite.Read.QueryContext(ctx, "SELECT id, message, vector FROM chunk WHERE id > ? AND embedding = ? AND length(vector) = ? ORDER BY id", d.last, embedding, dimensions)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	v := make([]float32, dimensions)
	for rows.Next() {
		var id, message int64
		var packed []byte
		if err := rows.Scan(&id, &message, &packed); err != nil {
			return err
		}
		unpack(v, packed)
		d.ids, d.messages, d.last = append(d.ids, id), append(d.messages, message), id
		d.sketches = sketch(d.sketches, v, d.mean)
	}
	return rows.Err()
}

// meanOf is the mean of the first vectors, nil when there are none yet.
func (s *Store) meanOf(ctx context.Context, embedding int64, dimensions int) (mean []float32, err error) {
	rows, err := s.SQLite.Read.QueryContext(ctx, "SELECT vector FROM chunk WHERE embedding = ? AND length(vector) = ? ORDER BY id LIMIT ?", embedding, dimensions, meanOf)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	mean, v, n := make([]float32, dimensions), make([]float32, dimensions), 0
	for rows.Next() {
		var packed []byte
		if err := rows.Scan(&packed); err != nil {
			return nil, err
		}
		unpack(v, packed)
		for i, x := range v {
			mean[i] += x
		}
		n++
	}
	for i := range mean {
		mean[i] /= float32(max(n, 1))
	}
	if n == 0 {
		return nil, rows.Err()
	}
	return mean, rows.Err()
}

// candidates returns the ids of the chunks that agree with q in most bits.
func (s *Store) candidates(q []float32, admit func(message int64) bool) []int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	d := &s.dir
	if d.dimensions != len(q) || len(d.ids) == 0 {
		return nil // another embedding was read meanwhile
	}
	bits := sketch(nil, q, d.mean)
	n := len(bits)
	distances, counts := make([]uint16, len(d.ids)), make([]int, n*64+2)
	for i := range d.ids {
		x := apart(bits, d.sketches[i*n:i*n+n])
		distances[i] = uint16(x)
		counts[x+1]++
	}
	for i := 1; i < len(counts); i++ {
		counts[i] += counts[i-1]
	}
	order := make([]int32, len(d.ids)) // by distance
	for i, x := range distances {
		order[counts[x]] = int32(i)
		counts[x]++
	}
	var out []int64
	for _, i := range order {
		if admit(d.messages[i]) {
			if out = append(out, d.ids[i]); len(out) == compared {
				break
			}
		}
	}
	return out
}

// compare reads the chunks with ids and returns them by how near they are.
func (s *Store) compare(ctx context.Context, q []float32, ids []int64) (out []Near, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	rows, err := s.SQLite.Read.QueryContext(ctx, "SELECT message, vector FROM chunk WHERE id IN (SELECT value FROM json_each(?))", string(list))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var n Near
		var packed []byte
		if err := rows.Scan(&n.Message, &packed); err != nil {
			return nil, err
		}
		n.Score = cosine(q, packed)
		out = append(out, n)
	}
	sort.Slice(out, func(i, j int) bool {
		return cmp.Or(cmp.Compare(out[j].Score, out[i].Score), cmp.Compare(out[j].Message, out[i].Message)) < 0
	})
	return out, rows.Err()
}
