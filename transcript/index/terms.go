package index

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript/analysis"
)

const (
	maxEndings = 10   // words that a prefix stands for
	probeRows  = 1000 // counted before a frequency is estimated
	minSimilar = 4    // letters of a word that may be a typo
	maxSimilar = 3    // words that one may stand for
)

// frequencies finds out how common each term is, what a prefix may go on to,
// and what an unknown word may have been meant to be.
func (s *search) frequencies(ctx context.Context) error {
	for i := range s.plan.terms {
		t := &s.plan.terms[i]
		var err error
		switch {
		case len(t.Tokens) > 1:
			continue // after its words
		case t.Prefix && len(t.Tokens) == 1 && analysis.Plain(t.Tokens[0]):
			err = s.endings(ctx, t)
		case len(t.Tokens) == 1 && !t.Prefix && analysis.Plain(t.Tokens[0]) && len(t.Tokens[0]) >= 3:
			err = s.word(ctx, t)
		case t.Prefix && s.dir.corpus.Turns > smallArchive:
			// Only reading the whole list would tell. It is taken as common,
			// and cut off like a common word.
			t.df, t.dear = float64(s.dir.corpus.Turns)/20, true
		default:
			if err = s.probe(ctx, t); err == nil && t.df == 0 {
				err = s.beginning(ctx, t)
			}
		}
		if err != nil {
			return err
		}
	}
	for i := range s.plan.terms {
		if t := &s.plan.terms[i]; len(t.Tokens) > 1 {
			t.df = s.rarestOf(t)
		}
	}
	return nil
}

// sequenceShare is how often words that follow each other in a query do so in
// the messages that hold the rarest of them, roughly.
const sequenceShare = 0.3

// rarestOf estimates how common a sequence is.
func (s *search) rarestOf(t *term) float64 {
	least := float64(s.dir.corpus.Turns)
	for _, q := range t.derived {
		least = min(least, s.plan.terms[q.term].df)
	}
	return max(1, least*sequenceShare)
}

// word looks a word up, or words spelled like it.
func (s *search) word(ctx context.Context, t *term) error {
	found, err := s.vocabulary(ctx, "SELECT term, df FROM term WHERE term = ?", t.Tokens[0])
	if err != nil {
		return err
	}
	if len(found) > 0 && found[0].df > 0 {
		t.df = found[0].df
		return nil
	}
	if len(t.Tokens[0]) < minSimilar || t.Kind != analysis.Word {
		return nil
	}
	forms, err := json.Marshal(analysis.Misspellings(t.Text))
	if err != nil {
		return err
	}
	found, err = s.vocabulary(ctx, "SELECT term, df FROM term WHERE term IN (SELECT value FROM json_each(?)) AND df > 0 ORDER BY df DESC LIMIT ?",
		string(forms), maxSimilar)
	if err != nil || len(found) == 0 {
		return err
	}
	s.found.Similar = append(s.found.Similar, t.Text)
	t.similar = true
	t.setWords(found)
	return nil
}

// endings replaces a prefix by the words that begin with it.
func (s *search) endings(ctx context.Context, t *term) error {
	prefix := t.Tokens[0]
	found, err := s.vocabulary(ctx, "SELECT term, df FROM term WHERE term >= ? AND term < ? AND df > 0 ORDER BY df DESC LIMIT ?",
		prefix, prefix+"{", maxEndings)
	if err == nil && len(found) == 0 {
		return s.probe(ctx, t) // words with digits are not in the vocabulary
	}
	t.setWords(found)
	return err
}

type entry struct {
	word string
	df   float64
}

func (t *term) setWords(found []entry) {
	t.phrases, t.df = nil, 0
	for _, e := range found {
		t.phrases = append(t.phrases, `"`+e.word+`"`)
		t.df += e.df
	}
}

func (s *search) vocabulary(ctx context.Context, query string, args ...any) (out []entry, err error) {
	rows, err := s.x.read.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var e entry
		if err := rows.Scan(&e.word, &e.df); err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, rows.Err()
}

// leastStem is how long the beginning of a number, hash or id must be to be
// looked for as one.
const leastStem = 6

// beginning takes a term with digits that is nowhere, such as the first characters
// of a commit, as the beginning of one.
func (s *search) beginning(ctx context.Context, t *term) error {
	if len(t.Tokens) != 1 || t.Prefix || len(t.Tokens[0]) < leastStem || !strings.ContainsAny(t.Tokens[0], "0123456789") {
		return nil
	}
	t.Prefix = true
	t.phrases = []string{phrase(t.Term)}
	return s.probe(ctx, t)
}

// probe counts a term that is not in the vocabulary: exactly when it is rare,
// by how dense the newest matches stand when it is not.
func (s *search) probe(ctx context.Context, t *term) error {
	var n, oldest int64
	err := s.x.read.Row(ctx, `SELECT count(*), coalesce(min(rowid), 0) FROM
		(SELECT rowid FROM message_fts WHERE message_fts MATCH ? ORDER BY rowid DESC LIMIT ?)`, []any{t.phrases[0], probeRows}, &n, &oldest)
	if err != nil {
		return err
	}
	t.df = float64(n)
	if last := int64(len(s.dir.blocks)) * BlockSlots; n == probeRows && oldest < last {
		t.df *= float64(last) / float64(last-oldest)
	}
	return nil
}
