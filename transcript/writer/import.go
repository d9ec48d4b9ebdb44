package writer

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/hermes-mcp/hermes-mcp/transcript/bundle"
	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
	"github.com/hermes-mcp/hermes-mcp/transcript/record"
)

// An Imported says what an import brought.
type Imported struct {
	Sessions, Messages int // new ones
	Read               int // lines of sessions and messages
	Forgotten          int // lines left out, since they were forgotten
	Bad                int // lines that could not be read
	Refused            int // sessions left out, since the archive has them as another user's or chat's; Problems name them
	Problems           []bundle.Problem
}

// Import takes a bundle in, all that can be read of it in one transaction. What
// the archive knows already gains from it only where the bundle is not redacted,
// and never changes hands, its title, or its words: of two texts that differ, what
// is there stays unless the other holds all of it and is not its unmasked form.
// open is called once for each try. revive also takes what was forgotten.
// Errors: bundle.ErrFormat.
func (w *Writer) Import(ctx context.Context, open func() (io.ReadCloser, error), revive bool) (Imported, error) {
	var done Imported
	err := w.sqlite.Update(ctx, true, func(t *engine.Tx) (err error) {
		f, err := open()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		r, err := bundle.NewReader(f)
		if err != nil {
			return err
		}
		i := importing{w: w, t: t, r: r, revive: revive, reading: newReading(false).withholding(), told: map[string]owner{}, refused: map[string]bool{}}
		i.reading.revive = revive
		if err := i.run(ctx); err != nil {
			return err
		}
		done = i.done
		done.Bad, done.Problems = r.Bad, append(i.done.Problems, r.Problems...)
		return nil
	})
	if err != nil {
		return Imported{}, fmt.Errorf("import: %w", err)
	}
	return done, nil
}

// An importing is one try of Import.
type importing struct {
	w       *Writer
	t       *engine.Tx
	r       *bundle.Reader
	revive  bool
	reading *reading
	told    map[string]owner // by session, as the bundle has it
	refused map[string]bool
	done    Imported
}

// An owner is whose a session is.
type owner struct{ user, chat string }

// refuses tells whether what the bundle has of a session must not come in, for
// the session is there as another's. s is nil at a message.
func (i *importing) refuses(line int, id string, s *record.Session) (bool, error) {
	if i.refused[id] {
		return true, nil
	}
	here, known := i.told[id]
	if known && s == nil {
		return false, nil
	}
	var its owner
	if s != nil {
		its = owner{s.User, s.Chat}
	}
	if !known {
		err := i.t.Row("SELECT user, chat FROM session WHERE name = ?", []any{id}, &here.user, &here.chat)
		if noRows(err) {
			here, err = its, nil
		}
		if err != nil {
			return false, err
		}
	}
	if here != its {
		i.refused[id] = true
		i.done.Refused++
		if len(i.done.Problems) < maxProblems {
			i.done.Problems = append(i.done.Problems, bundle.Problem{Line: line, Reason: "session " + id + " is archived here as another user's or chat's, and is left as it is"})
		}
		return true, nil
	}
	i.told[id] = its
	return false, nil
}

func (i *importing) run(ctx context.Context) error {
	in := newIntake("", "", i.w.mask, i.write)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		item, err := i.r.Next()
		if err == io.EOF {
			return i.end(in)
		}
		if err != nil {
			return err
		}
		i.done.Read++
		id := ""
		if item.Session != nil {
			id = item.Session.ID
		} else {
			id = item.Message.SessionID
		}
		refused, err := i.refuses(item.Line, id, item.Session)
		if err != nil {
			return err
		}
		if refused {
			continue
		}
		if item.Session != nil {
			if i.revive {
				err = unbury(i.t, item.Session.ID)
			}
			if err == nil {
				err = in.Session(*item.Session)
			}
		} else {
			err = in.Message(*item.Message)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", item.Line, err)
		}
		if len(in.now.drafts) >= batchMessages || in.bytes >= batchBytes {
			if err := in.flush(); err != nil {
				return err
			}
		}
	}
}

// end takes in what is left.
func (i *importing) end(in *intake) error {
	if err := in.flush(); err != nil {
		return err
	}
	s, err := newStore(i.t)
	if err != nil {
		return err
	}
	s.imports = true
	if err := s.releaseAll(i.reading); err != nil {
		return err
	}
	i.done.Sessions += s.newSessions
	return s.finish()
}

// write takes one batch into the transaction.
func (i *importing) write(b *batch) error {
	if err := prepareAll(b.drafts); err != nil {
		return err
	}
	s, err := newStore(i.t)
	if err != nil {
		return err
	}
	s.onlyNew, s.imports = i.r.Head.Redacted, true
	for _, one := range b.sessions {
		if s.graves[one.ID] {
			i.done.Forgotten++
		}
	}
	for _, d := range b.drafts {
		if s.graves[d.SessionID] {
			i.done.Forgotten++
		}
	}
	if err := s.write(b, i.reading); err != nil {
		return err
	}
	i.done.Sessions += s.newSessions
	i.done.Messages += s.newMessages
	i.done.Forgotten += s.buriedNow
	return s.finish()
}

// unbury lets a session be taken again.
func unbury(t *engine.Tx, name string) error {
	if err := t.Exec("DELETE FROM tombstone_message WHERE tombstone IN (SELECT id FROM tombstone WHERE name = ?)", name); err != nil {
		return err
	}
	return t.Exec("DELETE FROM tombstone WHERE name = ?", name)
}
