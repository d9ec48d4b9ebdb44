package transcript

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
	"github.com/hermes-mcp/hermes-mcp/transcript/index"
)

// A Choice names sessions by what must all hold of them. The zero Choice names
// every session.
type Choice struct {
	Sessions []string // these, by id, bare id or unique prefix
	Sources  []string
	Project  string    // a path, or a name: the last element of the path
	Since    time.Time // began then or later
	Before   time.Time // was last active before
	Text     string    // stands in it as written, upper and lower case alike
	// Lineage takes the whole lineage of each: what it came out of, and what
	// came out of it. Without, only its subagents go with a session.
	Lineage bool
}

// Everything tells whether c leaves nothing out.
func (c Choice) Everything() bool {
	return len(c.Sessions)+len(c.Sources) == 0 && c.Project == "" && c.Since.IsZero() && c.Before.IsZero() && c.Text == ""
}

// A Chosen is what a Choice names.
type Chosen struct {
	Sessions []Session // in the order of their arrival
	Related  []Session // of the same lineages, and not among them
	Messages int       // their own
	Shared   int       // of those, repeated by sessions that are not among them
	Bytes    int64     // of text
	First    time.Time
	Last     time.Time
}

// Choose finds what c names. A session whose times are not known is in no span
// of time. Errors: ErrNotFound and ErrAmbiguous, of c.Sessions.
func (db *DB) Choose(ctx context.Context, c Choice) (Chosen, error) {
	var out Chosen
	named := make(map[string]bool)
	for _, id := range c.Sessions {
		s, err := db.Session(ctx, id)
		if err != nil {
			return out, err
		}
		named[s.ID] = true
	}
	all, err := db.sessions(ctx, "ORDER BY id")
	if err != nil {
		return out, fmt.Errorf("choose sessions: %w", err)
	}
	chosen := make(map[string]bool)
	for _, s := range all {
		if len(named) > 0 && !named[s.ID] || !c.fits(s) {
			continue
		}
		if c.Text != "" {
			holds, err := db.holds(ctx, s, c.Text)
			if err != nil {
				return out, fmt.Errorf("look into %s: %w", s.ID, err)
			}
			if !holds {
				continue
			}
		}
		chosen[s.ID] = true
	}
	if err := db.withKin(ctx, all, chosen, c.Lineage); err != nil {
		return out, fmt.Errorf("choose sessions: %w", err)
	}
	kin := make(map[string]bool)
	for _, s := range all {
		if !chosen[s.ID] {
			continue
		}
		out.Sessions = append(out.Sessions, s)
		lineage, err := db.Lineage(ctx, s.ID)
		if err != nil {
			return out, err
		}
		for _, id := range lineage {
			kin[id] = true
		}
	}
	out.Related = slices.DeleteFunc(all, func(s Session) bool { return chosen[s.ID] || !kin[s.ID] })
	return out, db.measure(ctx, &out, chosen)
}

func (c Choice) fits(s Session) bool {
	started, active := cmp.Or(s.StartedAt, s.LastActive), cmp.Or(s.LastActive, s.EndedAt, s.StartedAt)
	project := cmp.Or(s.Project, s.Dir)
	return (len(c.Sources) == 0 || slices.Contains(c.Sources, s.Source())) && index.InProject(project, c.Project) &&
		(c.Since.IsZero() || !started.IsZero() && !started.Before(c.Since)) &&
		(c.Before.IsZero() || !active.IsZero() && active.Before(c.Before))
}

// withKin adds to chosen what goes with it.
func (db *DB) withKin(ctx context.Context, all []Session, chosen map[string]bool, lineage bool) error {
	if lineage {
		var ids []string
		for id := range chosen {
			ids = append(ids, id)
		}
		related, err := db.Lineage(ctx, ids...)
		for _, id := range related {
			chosen[id] = true
		}
		return err
	}
	for more := true; more; {
		more = false
		for _, s := range all {
			if !chosen[s.ID] && chosen[s.ParentID] && (s.Relation == Subagent || s.Relation == Delegate) {
				chosen[s.ID], more = true, true
			}
		}
	}
	return nil
}

// measure sums up what is chosen.
func (db *DB) measure(ctx context.Context, out *Chosen, chosen map[string]bool) error {
	for _, s := range out.Sessions {
		var own int
		var size int64
		if err := db.read.QueryRowContext(ctx, `SELECT text, (SELECT count(*) FROM message m WHERE m.session = s.id) FROM session s WHERE name = ?`, s.ID).Scan(&size, &own); err != nil {
			return fmt.Errorf("measure %s: %w", s.ID, db.explain(err))
		}
		others, err := engine.Column[string](db.read.QueryContext(ctx, `SELECT DISTINCT m.id || ' ' || o.name FROM session s JOIN message m ON m.session = s.id
			JOIN member b ON b.message = m.id JOIN session o ON o.id = b.session WHERE s.name = ?`, s.ID))
		if err != nil {
			return fmt.Errorf("measure %s: %w", s.ID, db.explain(err))
		}
		shared := make(map[string]bool)
		for _, o := range others {
			id, name, _ := strings.Cut(o, " ")
			if !chosen[name] {
				shared[id] = true
			}
		}
		out.Messages, out.Bytes, out.Shared = out.Messages+own, out.Bytes+size, out.Shared+len(shared)
		if first := cmp.Or(s.StartedAt, s.LastActive); !first.IsZero() && (out.First.IsZero() || first.Before(out.First)) {
			out.First = first
		}
		if s.LastActive.After(out.Last) {
			out.Last = s.LastActive
		}
	}
	return nil
}

// holds tells whether text stands anywhere in a session, searched or not.
func (db *DB) holds(ctx context.Context, s Session, text string) (bool, error) {
	want := folded(text)
	if strings.Contains(folded(s.Title), want) {
		return true, nil
	}
	for part, err := range db.pieces(ctx, s.ID) {
		if err != nil {
			return false, err
		}
		for i := range part {
			if mentions(&part[i], want) {
				return true, nil
			}
		}
	}
	return false, nil
}

// atOnce is how many messages of a session are held in memory.
const atOnce = 200

// pieces yields the messages of a session in order, a few hundred at a time.
func (db *DB) pieces(ctx context.Context, id string) func(yield func([]Message, error) bool) {
	return func(yield func([]Message, error) bool) {
		ids, err := engine.Column[int64](db.read.QueryContext(ctx, `WITH s(id) AS (SELECT id FROM session WHERE name = ?)
			SELECT id FROM (SELECT seq, m.id FROM s JOIN message m ON m.session = s.id
				UNION ALL SELECT seq, message FROM s JOIN member b ON b.session = s.id) ORDER BY seq, id`, id))
		if err != nil {
			yield(nil, db.explain(err))
			return
		}
		for part := range slices.Chunk(ids, atOnce) {
			msgs, err := db.load(ctx, part)
			if !yield(msgs, db.explain(err)) || err != nil {
				return
			}
		}
	}
}

// mentions tells whether folded text stands in what m says, thinks or runs.
func mentions(m *Message, text string) bool {
	if strings.Contains(folded(m.Content), text) || strings.Contains(folded(m.Reasoning), text) {
		return true
	}
	for _, c := range m.ToolCalls {
		if jsonMentions(c.Args, text) {
			return true
		}
	}
	return jsonMentions(m.Extra, text)
}

// jsonMentions looks at strings as they are meant, whatever is escaped in them.
func jsonMentions(raw json.RawMessage, text string) bool {
	if len(raw) == 0 {
		return false
	}
	if strings.Contains(folded(string(raw)), text) {
		return true
	}
	if !bytes.ContainsRune(raw, '\\') {
		return false
	}
	for d := json.NewDecoder(bytes.NewReader(raw)); ; {
		token, err := d.Token()
		if err != nil {
			return false // the end, or no JSON: looked at already
		}
		if s, ok := token.(string); ok && strings.Contains(folded(s), text) {
			return true
		}
	}
}

// folded is text in lower case with single spaces.
func folded(text string) string {
	return strings.Join(strings.Fields(strings.ToLower(text)), " ")
}
