package writer

import (
	"context"
	"time"

	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
)

const (
	mergePages = 200             // one step of merging; the longest that a writer waits for it
	quietSteps = 4               // after a small ingest
	mergeTime  = 2 * time.Second // after a large one
	mergeEvery = 8               // loads of a large one
	mergeSteps = 24              // after so many loads, at most
	logPages   = 1000            // of the write-ahead log that may lie after a small ingest: each checkpoint waits for the disk
)

// Tend does the upkeep that no write does on the way: it counts what sessions
// that have grown say all the time, merges pieces of the index and copies the
// write-ahead log back, in small steps under the writer's lock. thorough goes on
// until little is left to do. It is called after an ingest; a process that only
// calls Put should call it when it is idle.
func (w *Writer) Tend(ctx context.Context, thorough bool) error {
	counting := denseLeast
	if thorough {
		counting = mergeTime
	}
	if err := w.countGrown(ctx, time.Now().Add(counting)); err != nil {
		return err
	}
	deadline := time.Now().Add(mergeTime)
	for step := 0; step < quietSteps || thorough && time.Now().Before(deadline); step++ {
		more, err := w.mergeIndex(ctx, mergePages)
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	if !thorough {
		if n, err := w.sqlite.Logged(ctx); err != nil || n < logPages {
			return err
		}
	}
	if err := w.sqlite.Checkpoint(ctx, "PASSIVE"); err != nil || !thorough {
		return err
	}
	return w.sqlite.Checkpoint(ctx, "TRUNCATE")
}

// tendBetween is the upkeep between the loads of a long ingest. It leaves gaps
// for others who write.
func (w *Writer) tendBetween(ctx context.Context, loads int) error {
	time.Sleep(engine.Gap)
	if loads%mergeEvery != 0 {
		return nil
	}
	for range mergeSteps {
		more, err := w.mergeIndex(ctx, mergePages)
		if err != nil || !more {
			return err
		}
		time.Sleep(engine.Gap)
	}
	return w.sqlite.Checkpoint(ctx, "PASSIVE")
}

// mergeIndex writes about so many pages of merged index and tells whether there
// may be more to merge. A search walks through every piece for each of its
// terms, so those of the titles, of which every write leaves one, are merged too.
func (w *Writer) mergeIndex(ctx context.Context, pages int) (more bool, err error) {
	for _, index := range []string{"message_fts", "session_fts"} {
		if more, err = w.mergeOne(ctx, index, pages); more || err != nil {
			break
		}
	}
	return more, err
}

func (w *Writer) mergeOne(ctx context.Context, index string, pages int) (more bool, err error) {
	err = w.sqlite.Update(ctx, false, func(t *engine.Tx) error {
		var before, after int64
		if err := t.Row("SELECT total_changes()", nil, &before); err != nil {
			return err
		}
		if err := t.Exec("INSERT INTO "+index+"("+index+", rank) VALUES ('merge', ?)", pages); err != nil {
			return err
		}
		err := t.Row("SELECT total_changes()", nil, &after)
		more = after-before >= 2
		return err
	})
	return more, err
}

// Condense merges each index into one piece, in small steps: what was deleted
// stands in the pieces until they are merged, for an index without text cannot
// look up what to take out.
func (w *Writer) Condense(ctx context.Context) error {
	for _, index := range []string{"message_fts", "session_fts"} {
		pages := -mergePages // the first call takes all pieces together
		for more := true; more; pages = 4 * mergePages {
			if err := ctx.Err(); err != nil {
				return err
			}
			var err error
			if more, err = w.mergeOne(ctx, index, pages); err != nil {
				return err
			}
		}
	}
	return nil
}
