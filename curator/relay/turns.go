package relay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/hermes-mcp/hermes-mcp/curator"
	"github.com/hermes-mcp/hermes-mcp/provider"
	"github.com/hermes-mcp/hermes-mcp/scanner"
	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// tell works one event off.
func (r *Relay) tell(ctx context.Context, archive Archive, e Event) error {
	if wait := r.Lag - r.now().Sub(e.At); wait > 0 {
		select {
		case <-time.After(min(wait, r.Lag)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := archive.Bring(ctx, e.Session, e.Path, e.Aside); err != nil {
		return err
	}
	db, err := archive.Open(ctx)
	if err != nil {
		return err
	}
	switch e.Kind {
	case Turn:
		_, _, err = r.turns(ctx, db, e.Session, e)
	case End:
		var s provider.Session
		var end string
		if s, end, err = r.turns(ctx, db, e.Session, e); err == nil {
			err = r.Guard.SessionEnded(ctx, s, end)
		}
	case Switch:
		err = r.goesOn(ctx, db, e)
	case Compress:
		err = r.compress(ctx, db, e)
	case Delegation:
		err = r.delegated(ctx, db, e)
	default:
		err = fmt.Errorf("an event %q is of another version", e.Kind)
	}
	return err
}

// goesOn tells that one session takes the place of another.
func (r *Relay) goesOn(ctx context.Context, db *transcript.DB, e Event) error {
	from, end, err := r.turns(ctx, db, e.From, Event{Kind: End, Session: e.From, At: e.At})
	if err != nil {
		return err
	}
	to, _, err := r.session(ctx, db, e.Session, e.Dir)
	if err != nil {
		return err
	}
	return r.Guard.SessionSwitched(ctx, provider.Switch{ID: e.ID, From: from, To: to, Reason: e.Reason, Reset: e.Reason == "clear"}, end)
}

// session is a session as the provider knows it; archived says whether the
// archive has it, for one in which nothing was said has no transcript.
func (r *Relay) session(ctx context.Context, db *transcript.DB, id, dir string) (s provider.Session, archived bool, err error) {
	source, _, _ := strings.Cut(id, ":")
	s = provider.Session{ID: id, Source: source, Dir: dir, Profile: r.Profile}
	known, err := db.Session(ctx, id)
	if errors.Is(err, transcript.ErrNotFound) {
		return s, false, nil
	}
	if err != nil {
		return s, false, err
	}
	s.Parent, s.User, s.Title = known.ParentID, known.User, known.Title
	if known.Dir != "" {
		s.Dir = known.Dir
	}
	switch {
	case known.Relation == transcript.Subagent || known.Relation == transcript.Delegate:
		s.Context = "subagent"
	case known.Surface == "cron":
		s.Context = "cron"
	}
	return s, true, nil
}

// turns hands the guard every finished turn of a session that was not told yet,
// and returns the session and a name for where it stands now.
func (r *Relay) turns(ctx context.Context, db *transcript.DB, id string, e Event) (s provider.Session, stands string, err error) {
	s, archived, err := r.session(ctx, db, id, e.Dir)
	if err != nil || !archived {
		return s, id + "@0", err
	}
	told, err := db.Mark(ctx, id, transcript.Synced)
	if err != nil {
		return s, "", err
	}
	msgs, err := after(ctx, db, id, told)
	if err != nil {
		return s, "", err
	}
	since, err := r.since()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, "", err
	}
	var last int64
	for _, t := range finished(msgs, id, e) {
		if t.prompt <= told || !t.ended.IsZero() && t.ended.Before(since.Add(-justNow)) && !(t.newest && e.Said != "") {
			continue
		}
		err := r.Guard.TurnEnded(ctx, provider.Turn{ID: id + "/" + t.uid, Session: s, User: t.user, Assistant: t.answer, At: t.at})
		if err != nil {
			return s, "", err
		}
		last = t.last
	}
	if last > told {
		if err := db.SetMark(ctx, id, transcript.Synced, last); err != nil {
			return s, "", err
		}
		told = last
	}
	return s, fmt.Sprintf("%s@%d", id, told), nil
}

// after are the messages of a session from the one that was told last on.
func after(ctx context.Context, db *transcript.DB, id string, told int64) ([]transcript.Message, error) {
	if told > 0 {
		msgs, _, _, err := db.Messages(ctx, id, transcript.Window{Around: told, After: 1 << 20})
		if !errors.Is(err, transcript.ErrNotFound) {
			return msgs, err
		}
	}
	msgs, _, _, err := db.Messages(ctx, id, transcript.Window{})
	return msgs, err
}

// justNow is how long before the provider was first named a turn may have ended
// to be told all the same: the hook that tells of it may be the first to come.
const justNow = 5 * time.Minute

// A turn is a prompt and what was answered.
type turn struct {
	uid          string
	prompt, last int64 // the archive's ids of the prompt, and of the last message
	at, ended    time.Time
	user, answer string
	newest       bool // the one that the event is about
}

// finished are the turns of a session's own messages that were over when e
// happened. The last needs an answer, unless the session is over.
func finished(msgs []transcript.Message, id string, e Event) []turn {
	var all []turn
	for _, m := range msgs {
		switch {
		case m.SessionID != id:
		case curator.Human(m):
			t := turn{uid: m.UID, prompt: m.ID, last: m.ID, at: m.At, ended: m.At, user: m.Content}
			if t.uid == "" {
				t.uid = fmt.Sprint(m.ID)
			}
			all = append(all, t)
		case len(all) == 0:
		default:
			t := &all[len(all)-1]
			t.last = max(t.last, m.ID)
			if m.At.After(t.ended) {
				t.ended = m.At
			}
			t.answer = join(t.answer, said(m))
		}
	}
	// What was asked after the event is told with the next one.
	all = slices.DeleteFunc(all, func(t turn) bool { return t.at.After(e.At) })
	if len(all) == 0 {
		return nil
	}
	newest := &all[len(all)-1]
	newest.newest = true
	if last := strings.TrimSpace(e.Said); !strings.Contains(newest.answer, last) {
		newest.answer = join(newest.answer, last)
	}
	if newest.answer == "" && e.Kind != End {
		return all[:len(all)-1]
	}
	return all
}

// said is what an agent says in a message.
func said(m transcript.Message) string {
	if m.Role != transcript.Assistant || m.Kind != "" || m.OwnTrace || m.Rewound || m.OffPath {
		return ""
	}
	return strings.TrimSpace(scanner.StripFences(m.Content))
}

func join(text, more string) string {
	if text == "" || more == "" {
		return text + more
	}
	return text + "\n\n" + more
}

// compress hands over what was said since the last compaction.
func (r *Relay) compress(ctx context.Context, db *transcript.DB, e Event) error {
	s, archived, err := r.session(ctx, db, e.Session, e.Dir)
	if err != nil || !archived {
		return err
	}
	msgs, _, _, err := db.Messages(ctx, s.ID, transcript.Window{})
	if err != nil {
		return err
	}
	text := ""
	for _, m := range msgs {
		switch {
		case m.Compacted || m.At.After(e.At):
		case curator.Human(m):
			text = join(text, "user: "+strings.TrimSpace(scanner.StripFences(m.Content)))
		case said(m) != "":
			text = join(text, "assistant: "+said(m))
		}
	}
	if text == "" {
		return nil
	}
	return r.Guard.Compressing(ctx, provider.Compression{ID: e.ID, Session: s, Conversation: text})
}

// delegated tells the parent's session what its subagent was asked and said.
func (r *Relay) delegated(ctx context.Context, db *transcript.DB, e Event) error {
	s, archived, err := r.session(ctx, db, e.Session, e.Dir)
	if err != nil || !archived {
		return err
	}
	d := provider.Delegation{ID: e.ID, Session: s, Child: e.Child, Result: strings.TrimSpace(e.Said)}
	child, err := r.child(ctx, db, e)
	if err != nil {
		return err
	}
	if child != "" {
		d.Child = child
		msgs, _, _, err := db.Messages(ctx, child, transcript.Window{})
		if err != nil {
			return err
		}
		for _, m := range msgs {
			if m.Role == transcript.UserRole && d.Task == "" && m.SessionID == child {
				d.Task = strings.TrimSpace(scanner.StripFences(m.Content))
			}
			if text := said(m); text != "" && e.Said == "" {
				d.Result = text
			}
		}
	}
	if d.Task == "" && d.Result == "" {
		return nil
	}
	return r.Guard.Delegated(ctx, d)
}

// child finds the session of the subagent that e tells of, "" when the archive
// has none.
func (r *Relay) child(ctx context.Context, db *transcript.DB, e Event) (string, error) {
	related, err := db.Lineage(ctx, e.Session)
	if err != nil {
		return "", err
	}
	for _, id := range related {
		s, err := db.Session(ctx, id)
		if errors.Is(err, transcript.ErrNotFound) {
			continue
		}
		if err != nil {
			return "", err
		}
		if e.Aside != "" && s.SourcePath == e.Aside || e.Child != "" && strings.HasSuffix(id, e.Child) {
			return id, nil
		}
	}
	return "", nil
}
