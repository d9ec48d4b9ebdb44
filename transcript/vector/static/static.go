// Package static makes vectors of texts with a static embedding model from a
// folder: a table of one vector a token, whose mean is the vector of a text. No
// network, no other program, some ten microseconds a sentence.
//
// The folder is what model2vec saves (the potion models, for example):
// model.safetensors with the table and tokenizer.json. The tokenizers that such
// models have are understood, WordPiece and Unigram; one that is not understood
// is an error when the folder is opened, never a wrong vector later.
//
// The table is not held in memory: rows are read where they lie.
package static

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/hermes-mcp/hermes-mcp/transcript/vector"
)

// A Model is an open folder. Safe for concurrent use. Close it when it is not
// needed any more.
type Model struct {
	name    string
	table   table
	tokens  *tokenizer
	use     int // numbers of a vector that are used
	weights []float32
	mapping []int64
	file    io.Closer
}

const (
	maxTokens    = 512 // of a text; what follows is not looked at, as in model2vec
	maxTokenizer = 256 << 20
	// printed is how much of the table goes into the model's name.
	printed = 64 << 10
)

// Open opens the model in dir. dimensions is how many numbers of each vector are
// used, for models that can be cut; 0 is all.
func Open(dir string, dimensions int) (_ *Model, err error) {
	path := filepath.Join(dir, "tokenizer.json")
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%s is no model2vec folder: %w", dir, err)
	}
	if info.Size() > maxTokenizer {
		return nil, fmt.Errorf("%s: %d bytes are too many", path, info.Size())
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	tokens, err := readTokenizer(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	path = filepath.Join(dir, "model.safetensors")
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s is no model2vec folder: %w", dir, err)
	}
	m := &Model{tokens: tokens, file: file}
	if info, err = file.Stat(); err == nil {
		err = m.read(file, info.Size(), dimensions)
	}
	if err == nil {
		m.name, err = fingerprint(raw, file, m.use)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	return m, nil
}

// read finds the tensors and checks that they fit each other.
func (m *Model) read(file io.ReaderAt, size int64, dimensions int) error {
	all, err := readSafetensors(file, size)
	if err != nil {
		return err
	}
	t, ok := all["embeddings"]
	if !ok {
		t, ok = all["embedding.weight"] // as sentence-transformers names it
	}
	if !ok {
		return errors.New(`there is no tensor "embeddings" in it`)
	}
	if m.table, err = t.table(file); err != nil {
		return err
	}
	if t, ok := all["mapping"]; ok {
		if m.mapping, err = t.integers(file); err != nil {
			return fmt.Errorf("mapping: %w", err)
		}
		for _, row := range m.mapping {
			if row < 0 || row >= int64(m.table.rows) {
				return fmt.Errorf("mapping: row %d of %d", row, m.table.rows)
			}
		}
	}
	if t, ok := all["weights"]; ok {
		if m.weights, err = t.floats(file); err != nil {
			return fmt.Errorf("weights: %w", err)
		}
	}
	for what, n := range map[string]int{"rows": m.rows(), "weights": len(m.weights)} {
		if n <= m.tokens.last && (what == "rows" || n > 0) {
			return fmt.Errorf("%d %s, but tokenizer.json has a token %d", n, what, m.tokens.last)
		}
	}
	m.use = m.table.columns
	if dimensions > 0 {
		if dimensions > m.use {
			return fmt.Errorf("its vectors have %d numbers, not %d", m.use, dimensions)
		}
		m.use = dimensions
	}
	return nil
}

// rows is how many tokens have a vector.
func (m *Model) rows() int {
	if m.mapping != nil {
		return len(m.mapping)
	}
	return m.table.rows
}

// fingerprint tells one model from another without reading all of it.
func fingerprint(tokenizer []byte, file io.ReaderAt, use int) (string, error) {
	h := sha256.New()
	h.Write(tokenizer)
	head := make([]byte, printed)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	h.Write(head[:n])
	return fmt.Sprintf("model2vec:%x/%d", h.Sum(nil)[:8], use), nil
}

// Name implements vector.Embedder: it changes with what is in the folder.
func (m *Model) Name() string { return m.name }

// Close closes the model's file.
func (m *Model) Close() error { return m.file.Close() }

// Query implements vector.Embedder. Errors: vector.ErrNone.
func (m *Model) Query(_ context.Context, text string) ([]float32, error) {
	v, err := m.vector(text)
	if err == nil && v == nil {
		err = vector.ErrNone
	}
	return v, err
}

// Documents implements vector.Embedder.
func (m *Model) Documents(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var err error
		if out[i], err = m.vector(t); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// vector is the mean of the vectors of a text's tokens, its length one; nil
// when no token is known.
func (m *Model) vector(text string) ([]float32, error) {
	ids := m.tokens.encode(text)
	ids = ids[:min(len(ids), maxTokens)]
	sum, row := make([]float64, m.use), make([]float32, m.table.columns)
	for _, id := range ids {
		at := int64(id)
		if m.mapping != nil {
			at = m.mapping[id]
		}
		if err := m.table.row(at, row); err != nil {
			return nil, fmt.Errorf("read the vector of token %d: %w", id, err)
		}
		w := 1.0
		if m.weights != nil {
			w = float64(m.weights[id])
		}
		for i := range sum {
			sum[i] += w * float64(row[i])
		}
	}
	norm := 0.0
	for _, x := range sum {
		norm += x * x
	}
	if norm == 0 || math.IsNaN(norm) || math.IsInf(norm, 0) {
		return nil, nil
	}
	norm = 1 / math.Sqrt(norm)
	out := make([]float32, m.use)
	for i, x := range sum {
		out[i] = float32(x * norm)
	}
	return out, nil
}
