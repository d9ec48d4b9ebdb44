package sessions

import (
	"context"
	"slices"
	"sort"

	"github.com/hermes-mcp/hermes-mcp/transcript"
	"github.com/hermes-mcp/hermes-mcp/transcript/digest"
)

const (
	// reach is how many messages on either side of a match are looked at.
	reach = 5
	// fewMatches is how many matches are looked at of a hit that is not shown in
	// full.
	fewMatches = 3
	// wholeSession is up to how many messages a session is loaded whole.
	wholeSession = 300
	// endMessages is how many messages of the beginning and of the end are shown.
	endMessages = 3
	// headLoad is how many are looked at to find those.
	headLoad = 12
)

// material is what was loaded of one hit: only what may be shown.
type material struct {
	hit           transcript.Hit
	snippet       string               // of the best match
	reading       *digest.Reading      // of all, for the query
	msgs          []transcript.Message // around the match, in order
	at            int                  // the match in msgs
	before, after int                  // how many stand before and after msgs
	head, tail    []transcript.Message // what people and agents said first and last, outside of msgs
	all           []transcript.Message // everything that was loaded, in order, for the digest; the others are pieces of it
}

// anchor is the message that matched, nil when nothing was loaded.
func (m *material) anchor() *transcript.Message {
	if m.at >= len(m.msgs) {
		return nil
	}
	return &m.msgs[m.at]
}

// load takes out of the archive what is shown of a hit: of one shown in full
// the whole session, unless that is long; else what surrounds the matches.
func load(ctx context.Context, db *transcript.DB, h transcript.Hit, d detail, inFull bool) (*material, error) {
	m := &material{hit: h}
	id := h.Holder.ID
	var match int64
	if len(h.Matches) > 0 {
		match = h.Matches[0].MessageID
	}
	var err error
	switch {
	case d == index && match == 0:
	case d == index:
		m.msgs, m.before, m.after, err = db.Messages(ctx, id, transcript.Window{Around: match})
	case inFull && h.Holder.Messages <= wholeSession, h.Holder.Messages <= 2*headLoad:
		m.all, _, _, err = db.Messages(ctx, id, transcript.Window{})
		m.narrow(match)
	default:
		err = m.loadPieces(ctx, db, id, match, inFull)
	}
	return m, err
}

// narrow sets msgs, head and tail to pieces of all, which is the whole session.
func (m *material) narrow(match int64) {
	at := max(0, slices.IndexFunc(m.all, func(x transcript.Message) bool { return x.ID == match }))
	from, to := max(0, at-reach), min(len(m.all), at+reach+1)
	m.msgs, m.at = m.all[from:to], at-from
	m.before, m.after = from, len(m.all)-to
	m.head = said(m.all[:from], endMessages)
	m.tail = lastSaid(m.all[to:], endMessages)
}

// loadPieces loads the surroundings of every match of a session, and its
// beginning and end where these are shown.
func (m *material) loadPieces(ctx context.Context, db *transcript.DB, id string, match int64, inFull bool) error {
	var windows []transcript.Window
	if inFull || match == 0 {
		windows = append(windows, transcript.Window{After: headLoad}, transcript.Window{From: -headLoad})
	}
	ends := len(windows)
	matches, near := m.hit.Matches, reach
	if !inFull {
		matches, near = matches[:min(fewMatches, len(matches))], 1
	}
	for i, x := range matches {
		if i > 0 {
			near = min(near, reach/2)
		}
		windows = append(windows, transcript.Window{Around: x.MessageID, Before: near, After: near})
	}
	pieces, err := db.Pieces(ctx, id, windows...)
	if err != nil {
		return err
	}
	var head, tail []transcript.Message
	if ends > 0 {
		head, tail = pieces[0].Messages, pieces[1].Messages
	}
	m.all = head
	if match == 0 {
		m.narrow(0)
		m.after = m.hit.Holder.Messages - len(m.msgs)
		m.end(tail)
		return nil
	}
	around := pieces[ends]
	m.msgs, m.before, m.after = around.Messages, around.Before, around.After
	m.at = max(0, slices.IndexFunc(m.msgs, func(y transcript.Message) bool { return y.ID == match }))
	for _, p := range pieces[ends:] {
		m.all = append(m.all, p.Messages...)
	}
	m.head = said(head[:min(m.before, len(head))], endMessages)
	m.end(tail)
	return nil
}

// end adds the last messages of a session that is not loaded whole.
func (m *material) end(last []transcript.Message) {
	m.all = slices.Concat(m.all, last) // msgs may be a piece of it
	sort.SliceStable(m.all, func(i, j int) bool { return m.all[i].Seq < m.all[j].Seq })
	m.all = slices.CompactFunc(m.all, func(a, b transcript.Message) bool { return a.Seq == b.Seq })
	shown := 0
	if len(m.msgs) > 0 {
		shown = m.msgs[len(m.msgs)-1].Seq
	}
	after := slices.DeleteFunc(slices.Clone(last), func(x transcript.Message) bool { return x.Seq <= shown })
	m.tail = lastSaid(after, endMessages)
}

// said are the first n messages in which somebody says something.
func said(msgs []transcript.Message, n int) []transcript.Message {
	var out []transcript.Message
	for _, m := range msgs {
		if spoken(m) && len(out) < n {
			out = append(out, m)
		}
	}
	return out
}

// lastSaid are the last n, in order.
func lastSaid(msgs []transcript.Message, n int) []transcript.Message {
	var out []transcript.Message
	for _, m := range slices.Backward(msgs) {
		if spoken(m) && len(out) < n {
			out = append(out, m)
		}
	}
	slices.Reverse(out)
	return out
}

// spoken tells whether m is what a person or an agent said, not a summary, a
// notice or the output of a tool.
func spoken(m transcript.Message) bool {
	return (m.Role == transcript.UserRole || m.Role == transcript.Assistant) && m.Kind == "" && m.Content != ""
}
