package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// errNoMessage is returned for a message that is in no session of the lineage.
var errNoMessage = errors.New("no such message")

// pageLoad is how many messages are taken from the archive at once when
// reading onward: more than any budget can show.
const pageLoad = 60

// A page is the answer of scroll and read: one piece of one session, in order.
type page struct {
	Success        bool   `json:"success"`
	Mode           mode   `json:"mode"`
	Session        about  `json:"session"`
	Warning        string `json:"warning,omitempty"`
	Messages       []view `json:"messages"`
	MessagesBefore int    `json:"messages_before"`
	MessagesAfter  int    `json:"messages_after"`
	// Previous holds the arguments of the call that shows what stands before.
	Previous map[string]any `json:"previous,omitempty"`
	tail
}

// A strip is a run of consecutive messages of a session, with how many stand
// before and after it.
type strip struct {
	session       transcript.Session
	msgs          []transcript.Message
	before, after int
	anchor        int // index of the message asked for; 0 when none was
	warning       string
}

// page shows messages around one (scroll), from one onward or up to one (scroll
// with an offset), or from the start or the end (read).
func (s *search) page(ctx context.Context, db *transcript.DB, k ask, end tail) (any, error) {
	st, err := s.strip(ctx, db, k)
	if err != nil {
		return nil, err
	}
	p := &page{Success: true, Mode: k.mode, Session: s.about(st.session), Warning: st.warning, Messages: []view{}, tail: end}
	// The most that next can take, the numbers and the hint are set aside first.
	p.add(cutHint)
	p.Next = k.goOn(st.session.ID, messageID(1<<62), maxOffset)
	p.Previous = p.Next
	p.Count, p.MessagesBefore, p.MessagesAfter = maxOffset, maxOffset, maxOffset
	f := &fitter{search: s, ask: k, st: st, page: p, left: k.detail.budget() - cost(p)}
	p.Next, p.Previous = nil, nil
	switch {
	case k.back():
		f.backward()
	case k.mode == scroll && !k.onward:
		f.around()
	default:
		f.forward()
	}
	f.finish()
	if !f.cut {
		p.Note = end.Note
	}
	return p, nil
}

// cutHint says how to read the rest of a message.
const cutHint = "A message that is cut goes on with session_id, around_message_id and offset set to its next_offset"

// strip loads what the page may show.
func (s *search) strip(ctx context.Context, db *transcript.DB, k ask) (strip, error) {
	t, err := db.Session(ctx, k.session)
	if err != nil {
		return strip{}, fmt.Errorf("session %s: %w", k.session, err)
	}
	w := transcript.Window{Around: k.around, Before: k.window, After: k.window + 1}
	switch {
	case k.mode == read:
		w = transcript.Window{From: k.offset, After: pageLoad}
	case k.back():
		w.Before, w.After = pageLoad, 0
	case k.onward:
		w.Before, w.After = 0, pageLoad
	}
	st := strip{session: t}
	st.msgs, st.before, st.after, err = db.Messages(ctx, t.ID, w)
	if errors.Is(err, transcript.ErrNotFound) && k.mode == scroll {
		st, err = s.elsewhere(ctx, db, t, w)
	}
	if err != nil {
		return strip{}, fmt.Errorf("messages of %s: %w", t.ID, err)
	}
	if k.back() { // what was asked for is the message after the page
		st.msgs, st.after = st.msgs[:len(st.msgs)-1], st.after+1
	} else if k.mode == scroll {
		st.anchor = max(0, slices.IndexFunc(st.msgs, func(m transcript.Message) bool { return m.ID == k.around }))
	}
	return st, nil
}

// elsewhere looks for the message in the other sessions of the lineage: a
// result may name the parent while the message is in a continuation.
func (s *search) elsewhere(ctx context.Context, db *transcript.DB, t transcript.Session, w transcript.Window) (strip, error) {
	ids, err := db.Lineage(ctx, t.ID)
	if err != nil {
		return strip{}, err
	}
	for _, id := range ids {
		if id == t.ID {
			continue
		}
		msgs, before, after, err := db.Messages(ctx, id, w)
		if errors.Is(err, transcript.ErrNotFound) {
			continue
		}
		if err != nil {
			return strip{}, err
		}
		other, err := db.Session(ctx, id)
		if err != nil {
			return strip{}, err
		}
		return strip{session: other, msgs: msgs, before: before, after: after,
			warning: "the message is in " + id + ", a session related to the one that was named"}, nil
	}
	return strip{}, errNoMessage
}

// A fitter puts messages on a page while they fit.
type fitter struct {
	*search
	ask  ask
	st   strip
	page *page
	left int // characters
	from int // index in st.msgs of the first that is shown
	to   int // index after the last that is shown or passed over
	cut  bool
}

// caps is how many characters of content a message may have that was not
// itself asked for.
func (k ask) caps(r transcript.Role) int {
	switch {
	case k.detail == index && r == transcript.Tool:
		return 120
	case k.detail == index:
		return 300
	case k.detail == full && r == transcript.Tool:
		return 1500
	case k.detail == full:
		return 6000
	case r == transcript.Tool:
		return 500
	}
	return 2500
}

// least is the smallest piece of content worth showing.
const least = 80

// try views message i within room characters of content and what is left of
// the budget. ok is false when it does not fit.
func (f *fitter) try(i, offset, room int, match bool) (v view, ok bool) {
	m := f.st.msgs[i]
	text := f.content(m)
	for {
		v = f.message(m, text, offset, room)
		v.Match = match
		c := cost(v) + 1
		if c <= f.left {
			f.left -= c
			f.cut = f.cut || v.Rest > 0
			return v, true
		}
		over := c - f.left
		if room = min(room, cost(v.Content)) - over; room < least {
			return v, false
		}
	}
}

// shows tells whether message i is one to show.
func (f *fitter) shows(i int) bool {
	m := f.st.msgs[i]
	return f.ask.wants(m.Role) && !empty(m)
}

// forward shows messages from the first of the strip on.
func (f *fitter) forward() {
	last := len(f.st.msgs)
	if f.st.after > 0 && last > 1 {
		last-- // its id is where the next page begins
	}
	for f.to < last {
		i := f.to
		anchor := i == 0 && f.ask.onward
		if !f.shows(i) && !(anchor && f.ask.offset > 0) {
			f.to++
			continue
		}
		room, offset := f.ask.caps(f.st.msgs[i].Role), 0
		if anchor && f.ask.offset > 0 {
			room, offset = f.left, f.ask.offset
		}
		v, ok := f.try(i, offset, room, anchor && offset > 0)
		if !ok {
			return
		}
		f.page.Messages = append(f.page.Messages, v)
		f.to++
		if offset > 0 && v.Rest > 0 {
			f.page.Next = f.ask.goOn(f.st.session.ID, v.ID, v.Rest)
			return
		}
	}
}

// backward shows messages from the last of the strip back.
func (f *fitter) backward() {
	f.to = len(f.st.msgs)
	for f.from = f.to; f.from > 0; f.from-- {
		v, ok := f.neighbour(f.from - 1)
		if !ok {
			break
		}
		f.page.Messages = append(v, f.page.Messages...)
	}
	f.page.Next = f.ask.goOn(f.st.session.ID, messageID(f.ask.around), 0)
}

// around shows the message asked for, then its neighbours by turns.
func (f *fitter) around() {
	a := f.st.anchor
	f.from, f.to = a, a+1
	last := len(f.st.msgs)
	if last-a > f.ask.window+1 {
		last = a + f.ask.window + 1
	}
	room := f.left * 6 / 10
	if len(f.st.msgs) == 1 {
		room = f.left
	}
	v, ok := f.try(a, 0, room, true)
	if !ok {
		return
	}
	f.page.Messages = append(f.page.Messages, v)
	if v.Rest > 0 {
		f.page.Next = f.ask.goOn(f.st.session.ID, v.ID, v.Rest)
	}
	up, down := true, true
	for up || down {
		if down = down && f.to < last; down {
			if v, ok := f.neighbour(f.to); ok {
				f.page.Messages = append(f.page.Messages, v...)
				f.to++
			} else {
				down, f.cut = false, true
			}
		}
		if up = up && f.from > 0; up {
			if v, ok := f.neighbour(f.from - 1); ok {
				f.page.Messages = append(v, f.page.Messages...)
				f.from--
			} else {
				up, f.cut = false, true
			}
		}
	}
}

// neighbour views message i, or nothing when it is not one to show.
func (f *fitter) neighbour(i int) (v []view, ok bool) {
	if !f.shows(i) {
		return nil, true
	}
	one, ok := f.try(i, 0, f.ask.caps(f.st.msgs[i].Role), false)
	return []view{one}, ok
}

// finish counts, and says where to go on.
func (f *fitter) finish() {
	p := f.page
	n := len(f.st.msgs)
	p.Count = len(p.Messages)
	p.MessagesBefore = f.st.before + f.from
	p.MessagesAfter = f.st.after + n - f.to
	if p.MessagesBefore > 0 && f.from < n {
		p.Previous = f.ask.goOn(f.st.session.ID, messageID(f.st.msgs[f.from].ID), -1)
	}
	if p.Next == nil && f.to < n {
		p.Next = f.ask.goOn(f.st.session.ID, messageID(f.st.msgs[f.to].ID), 0)
	}
	if p.Next == nil && f.cut {
		for _, v := range p.Messages {
			if v.Rest > 0 {
				p.Next = f.ask.goOn(f.st.session.ID, v.ID, v.Rest)
				break
			}
		}
	}
	p.Truncated = f.cut || p.MessagesAfter > 0 && (f.ask.mode == read || f.ask.onward)
}
