package writer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

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
	return w.run(ctx, &ingest{to: w, src: src, final: final, whole: true, tell: progress}, files)
}

// Refresh is Ingest for files that are known to have changed: nothing is looked
// at and nothing said of the source's other files, so that it costs the same
// however many there are. A torn last line waits.
func (w *Writer) Refresh(ctx context.Context, src record.Source, files []record.File, progress func(record.Progress)) (record.IngestReport, error) {
	return w.run(ctx, &ingest{to: w, src: src, tell: progress}, files)
}

func (w *Writer) run(ctx context.Context, g *ingest, files []record.File) (record.IngestReport, error) {
	g.report.Files = len(files)
	for _, f := range files {
		g.progress.Bytes += f.Size
	}
	g.progress.Files = len(files)
	err := g.run(ctx, files)
	if err != nil {
		err = fmt.Errorf("ingest %s: %w", g.src.Name(), err)
	}
	return g.report, err
}

// An ingest is one run of Ingest. One goroutine reads file after file and
// gathers what it finds into loads, which are prepared while it reads on;
// another writes them. There are at most three loads: one is filled, one waits,
// one is written.
type ingest struct {
	to    *Writer
	src   record.Source
	final bool
	whole bool // files are all that the source has
	tell  func(record.Progress)

	load  *load
	loads chan *load

	mu       sync.Mutex // of what both goroutines tell
	progress record.Progress
	report   record.IngestReport
}

func (g *ingest) run(ctx context.Context, files []record.File) error {
	var paths []string
	for i := 0; !g.whole && i < len(files); i++ {
		paths = append(paths, files[i].Path)
	}
	if !g.whole && len(paths) == 0 {
		return nil
	}
	known, err := g.to.files(ctx, g.src.Name(), paths...)
	if err != nil {
		return err
	}
	if err := g.to.enlist(ctx, files, known); err != nil {
		return err
	}
	if err := g.readAndWrite(ctx, files, known); err != nil {
		return err
	}
	if g.whole {
		if err := g.to.lose(ctx, known); err != nil {
			return err
		}
	}
	if g.report.Messages > 0 {
		return g.to.Tend(ctx, g.report.Messages > thoroughAfter)
	}
	return nil
}

// readAndWrite returns when everything that could be read is written. The files
// that it came to are taken out of known.
func (g *ingest) readAndWrite(ctx context.Context, files []record.File, known map[string]fileRow) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	g.load, g.loads = &load{}, make(chan *load, 1)
	written := make(chan error, 1)
	go func() { written <- g.writeLoads(ctx, cancel) }()
	var err error
	for _, f := range files {
		if err = ctx.Err(); err != nil {
			break
		}
		if err = g.file(ctx, f, known[f.Path]); err != nil {
			break
		}
		delete(known, f.Path)
	}
	if err == nil {
		err = g.send(ctx)
	}
	close(g.loads)
	// What the writer says comes first: it is why reading was stopped.
	if failed := <-written; failed != nil {
		return failed
	}
	return err
}

// passed counts a file of which nothing is to be written.
func (g *ingest) passed(f record.File, unchanged int, problems ...record.Problem) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.report.Unchanged += unchanged
	g.report.Problems = append(g.report.Problems, problems...)
	g.progress.Path = f.Path
	g.progress.FilesDone++
	g.progress.BytesDone += f.Size
	g.notify()
}

// notify is called with mu held, so that progress is told by one at a time.
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
		g.passed(f, 0, record.Problem{Source: row.source, Path: f.Path, Reason: err.Error()})
		return nil
	}
	node := inode(info)
	same := row.size == f.Size && row.modified == f.Modified.UnixNano() && row.inode == node
	if same && !row.gone && (row.final || !g.final || database(f.Path) || row.position >= f.Size) {
		g.passed(f, 1)
		return nil
	}
	if changed, err := row.rewritten(f.Size); err != nil || changed {
		row.position, row.problems = 0, nil
	} else if row.position > 0 {
		if err := row.recall(ctx, g.to); err != nil {
			return err
		}
	}
	wasGone := row.gone
	row.size, row.modified, row.inode, row.gone = unread, f.Modified.UnixNano(), node, false
	return g.read(ctx, f, row, wasGone)
}

// read runs the source over one file and puts what it delivers into loads.
func (g *ingest) read(ctx context.Context, f record.File, row fileRow, wasGone bool) error {
	from, told, earlier := min(row.position, f.Size), int64(0), row.problems
	reading := newReading(row.position > 0).withholding()
	in := newIntake(row.source, f.Path, g.to.mask, func(b *batch) error {
		if b.marked {
			row.position, row.state, row.tally = b.cursor.Offset, string(b.cursor.State), b.tally
		}
		row.problems = mergeProblems(earlier, b.problems)
		ahead := max(told, min(row.position, f.Size))
		s := step{batch: b, reading: reading, row: row, bytes: ahead - told}
		told = ahead
		return g.put(ctx, s)
	})
	err := g.src.Read(ctx, f, record.Cursor{Offset: row.position, State: json.RawMessage(row.state)}, g.final, in)
	whole := err == nil
	if !whole {
		in.forgetUnmarked()
		if ctx.Err() == nil {
			in.Problem(0, err.Error())
		}
	}
	flushErr := in.flush()
	if err := ctx.Err(); err != nil {
		return err
	}
	if flushErr != nil {
		return flushErr
	}
	row.problems = mergeProblems(earlier, in.problems)
	if whole { // it is not read again until it changes
		row.size, row.final = f.Size, g.final
		if row.print, err = fingerprint(row.path, row.position); err != nil {
			row.print = 0
		}
	}
	return g.put(ctx, step{row: row, reading: reading, bytes: f.Size - told, ends: true, wasGone: wasGone,
		problems: in.problems, read: f.Size - from})
}

// Put stores one session with its messages as a source would deliver them:
// again and again without doubling. Messages without a UID are told apart by
// what they say and how often, counted within msgs, so a session that grows by
// further Puts needs UIDs. It is durable when it returns. Errors: ErrForgotten.
func (w *Writer) Put(ctx context.Context, s record.Session, msgs []record.Message) (err error) {
	var batches []*batch
	id := s.ID
	in := newIntake(s.Source(), s.SourcePath, w.mask, func(b *batch) error {
		batches = append(batches, b)
		return prepareAll(b.drafts)
	})
	err = in.Session(s)
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
			s, err := newStore(t)
			if err == nil && s.graves[id] {
				err = ErrForgotten
			}
			if err == nil {
				err = s.write(batches[i], newReading(false))
			}
			if err == nil {
				err = s.finish()
			}
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
			if err := t.Exec("UPDATE file SET gone = 1 WHERE source = ? AND path = ?", row.source, row.path); err != nil {
				return err
			}
		}
		return nil
	})
}

func setGone(t *engine.Tx, path string, gone bool) error {
	return t.Exec("UPDATE session SET gone = ?, rev = (SELECT value + 1 FROM counter WHERE name = 'rev') WHERE path = ? AND gone <> ?", gone, path, gone)
}
