package writer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
	"github.com/hermes-mcp/hermes-mcp/transcript/record"
)

// Ingest reads files into the archive through their source, idempotently.
// One file's error is a Problem and does not stop the others; the error is
// the archive's own (disk full, closed, ctx). progress may be nil. final says that torn
// last lines are taken as they are (a one-time import, or a quiet file).
//
// Files of the source that are known, not among files, and not on disk any
// more are marked as gone; what was read from them stays.
func (w *Writer) Ingest(ctx context.Context, src record.Source, files []record.File, final bool, progress func(record.Progress)) (record.IngestReport, error) {
	g := ingest{to: w, src: src, final: final, tell: progress}
	g.report.Files = len(files)
	for _, f := range files {
		g.progress.Bytes += f.Size
	}
	g.progress.Files = len(files)
	err := g.run(ctx, files)
	if err != nil {
		err = fmt.Errorf("ingest %s: %w", src.Name(), err)
	}
	return g.report, err
}

// An ingest is one run of Ingest.
type ingest struct {
	to       *Writer
	src      record.Source
	final    bool
	tell     func(record.Progress)
	progress record.Progress
	report   record.IngestReport
}

func (g *ingest) run(ctx context.Context, files []record.File) error {
	known, err := g.to.files(ctx, g.src.Name())
	if err != nil {
		return err
	}
	if err := g.to.enlist(ctx, files, known); err != nil {
		return err
	}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		g.progress.Path = f.Path
		if err := g.file(ctx, f, known[f.Path]); err != nil {
			return err
		}
		delete(known, f.Path)
		g.progress.FilesDone++
		g.progress.BytesDone += f.Size
		g.notify()
	}
	if err := g.to.lose(ctx, known); err != nil {
		return err
	}
	if g.report.Messages > 0 {
		return g.to.Tend(ctx, g.report.Messages > batchMessages)
	}
	return nil
}

func (g *ingest) notify() {
	if g.tell != nil {
		g.progress.Messages = g.report.Messages
		g.tell(g.progress)
	}
}

// file reads what is new of one file.
func (g *ingest) file(ctx context.Context, f record.File, row fileRow) error {
	row.source, row.path = g.src.Name(), f.Path
	info, err := os.Stat(f.Path)
	if err != nil {
		g.report.Problems = append(g.report.Problems, record.Problem{Source: row.source, Path: f.Path, Reason: err.Error()})
		return nil
	}
	node := inode(info)
	same := row.size == f.Size && row.modified == f.Modified.UnixNano() && row.inode == node
	if same && !row.gone && (row.final || !g.final || database(f.Path) || row.position >= f.Size) {
		g.report.Unchanged++
		return nil
	}
	if changed, err := row.rewritten(f.Size); err != nil || changed {
		row.position, row.state, row.problems = 0, "", nil
	}
	wasGone := row.gone
	row.size, row.modified, row.inode, row.gone = unread, f.Modified.UnixNano(), node, false
	return g.read(ctx, f, row, wasGone)
}

// read runs the source in this goroutine and the writer in another.
func (g *ingest) read(ctx context.Context, f record.File, row fileRow, wasGone bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := &fileWriter{g: g, row: row, from: row.position, earlier: row.problems, reading: newReading(row.position > 0)}
	batches, written := make(chan *batch), make(chan error, 1)
	go func() {
		var err error
		for b := range batches {
			if err == nil {
				if err = w.write(ctx, b); err != nil {
					cancel()
				}
			}
		}
		written <- err
	}()
	in := newIntake(row.source, f.Path, g.to.mask, func(b *batch) error {
		select {
		case batches <- b:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	readErr := g.src.Read(ctx, f, record.Cursor{Offset: row.position, State: json.RawMessage(row.state)}, g.final, in)
	if readErr != nil {
		in.forgetUnmarked()
		if ctx.Err() == nil {
			in.Problem(0, readErr.Error())
		}
	}
	flushErr := in.flush()
	close(batches)
	if err := <-written; err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if flushErr != nil {
		return flushErr
	}
	g.report.Problems = append(g.report.Problems, in.problems...)
	g.report.Bytes += max(0, f.Size-min(w.from, f.Size))
	return w.done(ctx, f, in.problems, readErr == nil, wasGone)
}

// A fileWriter writes the batches of one file.
type fileWriter struct {
	g       *ingest
	row     fileRow
	from    int64            // where reading began
	earlier []record.Problem // of what was read before
	reading *reading
	batches int
}

func (w *fileWriter) write(ctx context.Context, b *batch) error {
	var st *store
	var read *reading
	row := w.row
	if b.marked {
		row.position, row.state, row.tally = b.cursor.Offset, string(b.cursor.State), b.tally
	}
	row.problems = mergeProblems(w.earlier, b.problems)
	err := w.g.to.sqlite.Update(ctx, false, func(t *engine.Tx) (err error) {
		read = w.reading.clone()
		if st, err = writeBatch(t, b, read); err != nil {
			return err
		}
		return row.save(t)
	})
	if err != nil {
		return err
	}
	w.reading, w.row = read, row
	w.g.report.Sessions += st.newSessions
	w.g.report.Messages += st.newMessages
	w.g.notify()
	w.batches++
	return w.g.to.tendBetween(ctx, w.batches)
}

// done records that the file was read to its end, so that it is not read again
// until it changes.
func (w *fileWriter) done(ctx context.Context, f record.File, problems []record.Problem, whole, wasGone bool) error {
	row := w.row
	row.problems = mergeProblems(w.earlier, problems)
	if whole {
		row.size, row.final = f.Size, w.g.final
		var err error
		if row.print, err = fingerprint(row.path, row.position); err != nil {
			row.print = 0
		}
	}
	return w.g.to.sqlite.Update(ctx, false, func(t *engine.Tx) error {
		if wasGone {
			if err := setGone(t, row.path, false); err != nil {
				return err
			}
		}
		return row.save(t)
	})
}

// writeBatch writes one batch in the transaction t.
func writeBatch(t *engine.Tx, b *batch, read *reading) (*store, error) {
	s, err := newStore(t, read, b.path)
	if err != nil {
		return nil, err
	}
	for i := range b.sessions {
		r, err := s.session(b.sessions[i].ID)
		if err != nil {
			return nil, err
		}
		r.changed = record.UnionSession(&r.Session, &b.sessions[i]) || r.changed
	}
	revised := b.revised
	for i := 0; i <= len(b.drafts); i++ {
		for ; len(revised) > 0 && revised[0].after == i; revised = revised[1:] {
			if err := s.revise(revised[0]); err != nil {
				return nil, fmt.Errorf("session %s: %w", revised[0].session, err)
			}
		}
		if i == len(b.drafts) {
			break
		}
		if err := s.add(b.drafts[i]); err != nil {
			return nil, fmt.Errorf("session %s: %w", b.drafts[i].SessionID, err)
		}
	}
	return s, s.finish()
}

// Put stores one session with its messages as a source would deliver them:
// again and again without doubling. Messages without a UID are told apart by
// what they say and how often, counted within msgs, so a session that grows by
// further Puts needs UIDs. It is durable when it returns.
func (w *Writer) Put(ctx context.Context, s record.Session, msgs []record.Message) error {
	var batches []*batch
	in := newIntake(s.Source(), s.SourcePath, w.mask, func(b *batch) error {
		batches = append(batches, b)
		return nil
	})
	err := in.Session(s)
	for i := 0; err == nil && i < len(msgs); i++ {
		m := msgs[i]
		if m.SessionID == "" {
			m.SessionID = s.ID
		}
		err = in.Message(m)
	}
	if err == nil {
		err = in.flush()
	}
	for i := 0; err == nil && i < len(batches); i++ {
		err = w.sqlite.Update(ctx, true, func(t *engine.Tx) error {
			_, err := writeBatch(t, batches[i], newReading(false))
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("put session %s: %w", s.ID, err)
	}
	return nil
}

// lose marks known files that are not on disk any more.
func (w *Writer) lose(ctx context.Context, known map[string]fileRow) error {
	var lost []fileRow
	for _, row := range known {
		if row.gone {
			continue
		}
		if _, err := os.Lstat(row.path); errors.Is(err, fs.ErrNotExist) {
			row.gone = true
			lost = append(lost, row)
		}
	}
	if len(lost) == 0 {
		return nil
	}
	return w.sqlite.Update(ctx, false, func(t *engine.Tx) error {
		for _, row := range lost {
			if err := setGone(t, row.path, true); err != nil {
				return err
			}
			if err := row.save(t); err != nil {
				return err
			}
		}
		return nil
	})
}

func setGone(t *engine.Tx, path string, gone bool) error {
	return t.Exec("UPDATE session SET gone = ?, rev = (SELECT value + 1 FROM counter WHERE name = 'rev') WHERE path = ? AND gone <> ?", gone, path, gone)
}
