package curator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// vetted says how far the edits of a subagent have been looked for.
const vetted transcript.Mark = "vetted"

// sameEdit is how far the times of a call and of its edit may lie apart.
const sameEdit = 5 * time.Minute

// Vet finds the edits of the memory that subagents of a session made although
// they should not: MCP does not tell who calls, so they show only in the
// subagent's transcript. An entry that is still there is put up for removal,
// with the call as evidence; a person decides. Errors: transcript.ErrNotFound
// and those of the stores.
func (c *Curator) Vet(ctx context.Context, session string) (Outcome, error) {
	out := Outcome{Session: session}
	related, err := c.Archive.Lineage(ctx, session)
	if err != nil {
		return out, err
	}
	for _, id := range related {
		s, err := c.Archive.Session(ctx, id)
		if errors.Is(err, transcript.ErrNotFound) || err == nil && s.Relation != transcript.Subagent && s.Relation != transcript.Delegate {
			continue
		}
		if err == nil {
			err = c.vet(ctx, s.ID, &out)
		}
		if err != nil {
			return out, fmt.Errorf("vet %s: %w", id, err)
		}
	}
	return out, nil
}

// vet looks at one subagent.
func (c *Curator) vet(ctx context.Context, id string, out *Outcome) error {
	since, err := c.Archive.Mark(ctx, id, vetted)
	if err != nil {
		return err
	}
	msgs, _, _, err := c.Archive.Messages(ctx, id, transcript.Window{})
	if err != nil {
		return err
	}
	var last int64
	var journal []memstore.Edit
	for _, m := range msgs {
		if m.SessionID != id || m.ID <= since {
			continue
		}
		last = max(last, m.ID)
		for _, text := range written(m) {
			if journal == nil {
				if journal, err = c.Store.History(ctx, "", 0); err != nil {
					return err
				}
			}
			if err := c.putUp(ctx, m, text, journal, out); err != nil {
				return err
			}
		}
	}
	if last == 0 {
		return nil
	}
	return c.Archive.SetMark(ctx, id, vetted, last)
}

// written lists the entries that the calls of m would bring into the memory.
func written(m transcript.Message) []string {
	var texts []string
	for _, call := range m.ToolCalls {
		if !edits(call) {
			continue
		}
		var args struct {
			Content    string `json:"content"`
			Operations []struct {
				Content string `json:"content"`
			} `json:"operations"`
		}
		if json.Unmarshal(call.Args, &args) != nil {
			continue // of another tool of that name
		}
		for _, o := range args.Operations {
			texts = append(texts, strings.TrimSpace(o.Content))
		}
		texts = append(texts, strings.TrimSpace(args.Content))
	}
	return slices.DeleteFunc(texts, func(s string) bool { return s == "" })
}

// putUp stages the removal of text, if the journal says that it was written at
// the time of m and it is still there.
func (c *Curator) putUp(ctx context.Context, m transcript.Message, text string, journal []memstore.Edit, out *Outcome) error {
	i := slices.IndexFunc(journal, func(e memstore.Edit) bool {
		apart := e.At.Sub(m.At).Abs()
		return !e.Aborted && e.Caller.Origin == "tool" && apart <= sameEdit && slices.Contains(e.Added, text)
	})
	if i < 0 {
		return nil
	}
	st, err := c.Store.State(ctx, journal[i].Target)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(st.Entries, func(e memstore.Entry) bool { return e.Text == text }) {
		return nil
	}
	j := Judged{Target: journal[i].Target, Why: "a subagent wrote it", Op: memstore.Op{
		Action: memstore.Remove, OldText: text, Source: memstore.Review,
		Evidence: []string{fmt.Sprintf("%s/%d", m.SessionID, m.ID)},
	}}
	if waiting, err := c.waits(ctx, j); err != nil || waiting {
		return err
	}
	by := memstore.Caller{Session: m.SessionID, Client: "hermes-mcp", Origin: "review"}
	p, err := c.Store.Propose(ctx, by, j.Target, j.Op)
	if err != nil {
		return settle(j, err, nil, out)
	}
	j.Pending = p.ID
	out.Staged = append(out.Staged, j)
	return nil
}
