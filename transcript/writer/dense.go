package writer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/hermes-mcp/hermes-mcp/transcript/analysis"
	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
	"github.com/hermes-mcp/hermes-mcp/transcript/index"
	"github.com/hermes-mcp/hermes-mcp/transcript/rank"
	"github.com/hermes-mcp/hermes-mcp/transcript/record"
)

// The words that a session says all the time stand in its row of the index beside
// title and first prompt. A session that comes in one transaction is counted on
// the way, one that has grown by half since, at upkeep.
const (
	denseFrom   = 16                    // messages of a session, fewer are not counted; as in the schema
	denseTimes  = 8                     // messages that hold a word, at least
	denseShare  = 0.2                   // of those counted
	denseBeyond = 3                     // times its share of the archive
	denseWords  = 12                    // kept, at most
	denseSample = 64                    // messages counted at upkeep, at most
	denseAtOnce = 2000                  // messages of new sessions counted in one transaction, at most
	denseRecent = 64                    // sessions that tell how long one is
	denseLeast  = 50 * time.Millisecond // of upkeep after a small ingest
)

// speaks tells whether what a role says counts: what tools print does not.
func speaks(r record.Role) bool { return r == record.UserRole || r == record.Assistant }

// listen keeps the words of a message that joins r for weighing, where r is new.
func (s *store) listen(r *sessionRow, d *draft) {
	if r.fresh && speaks(d.Role) && s.heard < denseAtOnce {
		s.heard++
		r.heard = append(r.heard, d.words)
	}
}

// weigh finds the words that r says all the time among those heard of one message
// in step.
func (s *store) weigh(r *sessionRow, step int) error {
	heard := r.heard
	r.heard = nil
	if r.Messages < denseFrom {
		return nil
	}
	r.dense, r.counted = "", r.Messages
	n := make(map[string]int)
	for _, words := range heard {
		for _, w := range words {
			n[w]++
		}
	}
	var often []string
	for w, times := range n {
		if times >= denseTimes && float64(times) >= denseShare*float64(len(heard)) && !analysis.Stop(w) {
			often = append(often, w)
		}
	}
	if len(often) == 0 {
		return nil
	}
	df, err := s.background(often)
	if err != nil {
		return err
	}
	turns := s.turns + analysis.BackgroundTurns
	weight := make(map[string]float64)
	often = slices.DeleteFunc(often, func(w string) bool {
		others := max(0, df[w]-float64(n[w]*step)) + analysis.Background(w)
		weight[w] = float64(n[w]) * rank.IDF(turns, min(others, turns))
		return float64(n[w])/float64(len(heard)) < denseBeyond*others/turns
	})
	slices.SortFunc(often, func(a, b string) int { return cmp.Or(cmp.Compare(weight[b], weight[a]), strings.Compare(a, b)) })
	often = often[:min(denseWords, len(often))]
	slices.Sort(often)
	r.dense = strings.Join(often, " ")
	return nil
}

// background returns in how many rows of the index words stand, those of this
// transaction included, and sees to s.turns.
func (s *store) background(words []string) (map[string]float64, error) {
	if err := s.estimateTurns(); err != nil {
		return nil, err
	}
	list, err := json.Marshal(words)
	if err != nil {
		return nil, err
	}
	df := make(map[string]float64, len(words))
	for _, w := range words {
		df[w] = float64(s.df[w])
	}
	st, err := s.Stmt("SELECT term, df FROM term WHERE term IN (SELECT value FROM json_each(?))")
	if err != nil {
		return nil, err
	}
	rows, err := st.QueryContext(s.Ctx, string(list))
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		var w string
		var n float64
		if err = rows.Scan(&w, &n); err != nil {
			break
		}
		df[w] += n
	}
	return df, errors.Join(err, rows.Err(), rows.Close())
}

// estimateTurns sees to s.turns: counting every message would take too long.
func (s *store) estimateTurns() error {
	if s.turns > 0 {
		return nil
	}
	var last int64
	if err := s.Row("SELECT coalesce(max(id), 0) FROM session", nil, &last); err != nil {
		return err
	}
	for _, r := range s.sessions {
		if r.fresh { // its messages are not in the table yet
			last = min(last, r.id-1)
		}
	}
	var mean float64
	err := s.Row("SELECT coalesce(avg(messages), 0) FROM session WHERE id BETWEEN ? AND ?", []any{last - denseRecent, last}, &mean)
	s.turns = mean * float64(last)
	return err
}

// indexAbout puts what r is about into the index of sessions.
func (s *store) indexAbout(r *sessionRow) error {
	title, _, _ := analyse(record.TitleText(&r.Session))
	opening, _, _ := analyse(r.Preview)
	terms := title + " " + opening
	for w := range strings.FieldsSeq(r.dense) {
		terms += " " + index.DenseMark + w
	}
	return s.Exec("INSERT OR REPLACE INTO session_fts (rowid, text) VALUES (?, ?)", r.id, terms)
}

// countGrown counts what sessions say all the time that have grown since they
// were counted, one in each transaction, until the deadline.
func (w *Writer) countGrown(ctx context.Context, deadline time.Time) error {
	for more := true; more; more = more && time.Now().Before(deadline) {
		if err := w.sqlite.Update(ctx, false, func(t *engine.Tx) (err error) {
			more, err = countOne(t)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

func countOne(t *engine.Tx) (more bool, err error) {
	var name string
	err = t.Row("SELECT name FROM session INDEXED BY session_uncounted WHERE messages >= 16 AND 2 * messages >= 3 * counted AND id > 0 ORDER BY id DESC LIMIT 1", nil, &name)
	if noRows(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	s, err := newStore(t)
	if err != nil {
		return false, err
	}
	r, err := s.lookup(name)
	if err != nil {
		return false, err
	}
	was := r.dense
	step, err := s.hear(r)
	if err != nil {
		return false, err
	}
	if err := s.weigh(r, step); err != nil {
		return false, err
	}
	if r.dense != was {
		if err := s.indexAbout(r); err != nil {
			return false, err
		}
	}
	return true, t.Exec("UPDATE session SET dense = ?, counted = ? WHERE id = ?", r.dense, r.counted, r.id)
}

// hear reads the words of r's messages: of all, or of one in step, which are
// enough.
func (s *store) hear(r *sessionRow) (step int, err error) {
	st, err := s.Stmt("SELECT id FROM message WHERE session = ? AND role IN (?, ?) ORDER BY seq")
	if err != nil {
		return 0, err
	}
	ids, err := engine.Column[int64](st.QueryContext(s.Ctx, r.id, string(record.UserRole), string(record.Assistant)))
	if err != nil {
		return 0, err
	}
	step = 1 + len(ids)/denseSample
	for i := 0; i < len(ids); i += step {
		var m record.Message
		if _, err := s.load(ids[i], &m); err != nil {
			continue // a check of the archive names what cannot be read; upkeep goes on
		}
		_, words, _ := analyse(record.IndexText(&m))
		r.heard = append(r.heard, words)
	}
	return step, nil
}
