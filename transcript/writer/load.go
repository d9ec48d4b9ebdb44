package writer

import (
	"context"
	"fmt"

	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
	"github.com/hermes-mcp/hermes-mcp/transcript/record"
)

// A load is written in one transaction: steps of as many files as it takes.
// Most files are small, and a transaction for each would cost more than what
// it writes.
type load struct {
	steps    []step
	messages int
	bytes    int
	prepared chan error // one value, when all messages are
}

const (
	loadSteps = 200 // files in one transaction at most
	// thoroughAfter is how many new messages make an ingest a backfill, after
	// which the index is merged at leisure.
	thoroughAfter = 2000
)

// A step is what is written of one file at a time: a batch and how far it
// reaches, or, at the end, that the file is done.
type step struct {
	batch   *batch // nil at the end
	reading *reading
	row     fileRow
	bytes   int64 // that the file is further on

	ends     bool
	wasGone  bool
	problems []record.Problem // all of the file's, at its end
	read     int64            // bytes of the file, at its end
}

// put adds a step and sends the load off when it is full.
func (g *ingest) put(ctx context.Context, s step) error {
	l := g.load
	if n := len(l.steps); s.batch == nil && n > 0 && l.steps[n-1].row.path == s.row.path && !l.steps[n-1].ends {
		last := &l.steps[n-1] // its row need not be saved twice
		s.batch, s.reading, s.bytes = last.batch, last.reading, last.bytes+s.bytes
		*last = s
	} else {
		l.steps = append(l.steps, s)
		if s.batch != nil {
			l.messages += len(s.batch.drafts)
			l.bytes += s.batch.bytes
		}
	}
	if l.messages < batchMessages && l.bytes < batchBytes && len(l.steps) < loadSteps {
		return nil
	}
	return g.send(ctx)
}

// prepare begins to prepare the messages of a load for writing.
func (l *load) prepare() {
	drafts := make([]*draft, 0, l.messages)
	for _, s := range l.steps {
		if s.batch != nil {
			drafts = append(drafts, s.batch.drafts...)
		}
	}
	l.prepared = make(chan error, 1)
	go func() { l.prepared <- prepareAll(drafts) }()
}

// send hands the load to the writer and begins another.
func (g *ingest) send(ctx context.Context) error {
	if len(g.load.steps) == 0 {
		return nil
	}
	g.load.prepare()
	select {
	case g.loads <- g.load:
		g.load = &load{}
		return nil
	case <-ctx.Done():
		<-g.load.prepared // nothing goes on when an ingest has returned
		return ctx.Err()
	}
}

// writeLoads writes what comes until there is no more. After the first error it
// stops the reading and only takes what still comes.
func (g *ingest) writeLoads(ctx context.Context, stop func()) (err error) {
	n := 0
	for l := range g.loads {
		unprepared := <-l.prepared
		if err != nil {
			continue
		}
		if err = unprepared; err == nil && n > 0 {
			err = g.to.tendBetween(ctx, n)
		}
		n++
		if err == nil {
			err = g.write(ctx, l)
		}
		if err != nil {
			stop()
		}
	}
	return err
}

// write writes one load and reports it.
func (g *ingest) write(ctx context.Context, l *load) error {
	var st *store
	var readings map[*reading]*reading // as they are when this is committed
	err := g.to.sqlite.Update(ctx, false, func(t *engine.Tx) (err error) {
		if st, err = newStore(t); err != nil {
			return err
		}
		readings = make(map[*reading]*reading)
		for _, s := range l.steps {
			if s.batch != nil {
				if readings[s.reading] == nil {
					readings[s.reading] = s.reading.clone()
				}
				if err := st.write(s.batch, readings[s.reading]); err != nil {
					return err
				}
				s.row.forgotten = s.row.forgotten || readings[s.reading].dropped
			}
			if err := s.withheld(st, readings); err != nil {
				return err
			}
			if err := s.row.save(t); err != nil {
				return err
			}
		}
		if err := st.finish(); err != nil {
			return err
		}
		for _, s := range l.steps { // after finish, which writes sessions as they were found
			if s.wasGone {
				if err := setGone(t, s.row.path, false); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for was, now := range readings {
		*was = *now
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.report.Sessions += st.newSessions
	g.report.Messages += st.newMessages
	for _, s := range l.steps {
		g.report.Bytes += max(0, s.read)
		g.report.Problems = append(g.report.Problems, s.problems...)
		g.progress.Path = s.row.path
		g.progress.BytesDone += s.bytes
		if s.ends {
			g.progress.FilesDone++
		}
	}
	g.notify()
	return nil
}

// withheld takes in what is still withheld when the file ends. Before, such a file
// is read from its beginning when reading it was stopped: a source tells of a
// session once.
func (s *step) withheld(st *store, readings map[*reading]*reading) error {
	read := readings[s.reading]
	if read == nil {
		if s.reading == nil || len(s.reading.withheld) == 0 {
			return nil
		}
		read = s.reading.clone()
		readings[s.reading] = read
	}
	if s.ends {
		return st.releaseAll(read)
	}
	if len(read.withheld) > 0 {
		s.row.position, s.row.state, s.row.print = 0, "", 0
	}
	return nil
}

// write takes one batch in, as part of the reading read.
func (s *store) write(b *batch, read *reading) error {
	if s.read != read {
		s.read, s.path = read, b.path
		clear(s.twins) // the file before may have added some
		clear(s.said)
	}
	for i := range b.sessions {
		if s.forgotten(b.sessions[i].ID) {
			continue
		}
		if err := s.announce(&b.sessions[i]); err != nil {
			return err
		}
	}
	revised := b.revised
	for i := 0; i <= len(b.drafts); i++ {
		for ; len(revised) > 0 && revised[0].after == i; revised = revised[1:] {
			if s.forgotten(revised[0].session) {
				continue
			}
			if err := s.revise(revised[0]); err != nil {
				return fmt.Errorf("session %s: %w", revised[0].session, err)
			}
		}
		if i == len(b.drafts) {
			break
		}
		if s.forgotten(b.drafts[i].SessionID) {
			continue
		}
		if err := s.add(b.drafts[i], b.drafts[i+1:]); err != nil {
			return fmt.Errorf("session %s: %w", b.drafts[i].SessionID, err)
		}
	}
	return nil
}
