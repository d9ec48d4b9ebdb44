package holographic

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/provider"
	"github.com/hermes-mcp/hermes-mcp/scanner"
)

var (
	//go:embed fact_store.md
	storeDescription string
	//go:embed fact_store.schema.json
	storeSchema []byte
	//go:embed fact_feedback.md
	feedbackDescription string
	//go:embed fact_feedback.schema.json
	feedbackSchema []byte
)

// Tools are fact_store and fact_feedback, by the names and arguments that
// Hermes Agent gives them.
func (p *Provider) Tools(context.Context) ([]provider.Tool, error) {
	return []provider.Tool{
		{Name: "fact_store", Description: storeDescription, Schema: storeSchema, Handle: p.factStore},
		{Name: "fact_feedback", Description: feedbackDescription, Schema: feedbackSchema, Handle: p.factFeedback},
	}, nil
}

// A wrong error is about the call; its words are for the model that made it.
type wrong string

func (w wrong) Error() string { return string(w) }

// answer is the result of a call: v, or an object with the error when the call
// was wrong.
func answer(v any, err error) (json.RawMessage, error) {
	var w wrong
	switch {
	case errors.As(err, &w):
		v = map[string]string{"error": w.Error()}
	case errors.Is(err, errNoFact):
		v = map[string]string{"error": "there is no fact with this fact_id; search or list to find the right one"}
	case err != nil:
		return nil, err
	}
	return json.Marshal(v)
}

func (p *Provider) factStore(ctx context.Context, raw json.RawMessage) (json.RawMessage, error) {
	var a arguments
	if err := json.Unmarshal(raw, &a); err != nil {
		return answer(nil, wrong("the arguments must be a JSON object"))
	}
	action := strings.ToLower(strings.TrimSpace(a.text("action")))
	switch action {
	case "add", "update", "remove":
		return answer(p.edit(ctx, action, a))
	case "search", "probe", "related", "reason", "contradict", "list":
		return answer(p.look(ctx, action, a))
	default:
		return answer(nil, wrong("action must be add, search, probe, related, reason, contradict, update, remove or list"))
	}
}

// edit is an action that changes the store.
func (p *Provider) edit(ctx context.Context, action string, a arguments) (out any, err error) {
	content := strings.TrimSpace(a.text("content"))
	if found := scanner.Scan(content+" "+a.text("tags"), scanner.Context); len(found) > 0 {
		return nil, wrong("not stored: the text looks like an attack on a later reader (" + found[0].Rule + ")")
	}
	id, err := a.number("fact_id", 0)
	switch {
	case err != nil:
		return nil, err
	case action == "add" && content == "":
		return nil, wrong("content is missing: say the fact in one sentence")
	case action != "add" && id == 0:
		return nil, wrong("fact_id is missing: take it from a result of search or list")
	}
	delta, err := a.number("trust_delta", 0)
	if err != nil {
		return nil, err
	}
	err = p.write(ctx, func(tx *writer) error {
		switch action {
		case "add":
			category := a.text("category")
			if category == "" {
				category = "general"
			}
			n, isNew, err := tx.add(ctx, content, category, a.text("tags"))
			out = map[string]any{"fact_id": n, "status": "added"}
			if !isNew {
				out = map[string]any{"fact_id": n, "status": "known", "note": "the same fact is there already; nothing was changed"}
			}
			return err
		case "remove":
			out = map[string]any{"removed": true}
			return tx.remove(ctx, int64(id))
		default:
			out = map[string]any{"updated": true}
			return p.amend(ctx, tx, int64(id), a, content, delta)
		}
	})
	return out, err
}

// amend is the action update.
func (p *Provider) amend(ctx context.Context, tx *writer, id int64, a arguments, content string, delta float64) error {
	c := change{trust: delta, tags: a.given("tags"), category: a.given("category")}
	if content != "" {
		same, err := tx.find(ctx, content)
		if err != nil {
			return err
		}
		if same != 0 && same != id {
			return wrong(fmt.Sprintf("fact %d says exactly this already: remove one of the two", same))
		}
		c.content = &content
	}
	return tx.update(ctx, id, c)
}

// look is an action that reads.
func (p *Provider) look(ctx context.Context, action string, a arguments) (any, error) {
	least := or(p.MinTrust, 0.3)
	if action == "list" {
		least = 0
	}
	f := filter{category: a.text("category")}
	var err error
	if f.minTrust, err = a.number("min_trust", least); err != nil {
		return nil, err
	}
	limit, err := a.number("limit", 10)
	if err != nil {
		return nil, err
	}
	f.limit = int(min(100, max(1, limit)))
	var found []fact
	switch action {
	case "list":
		found, err = p.list(ctx, f)
		return map[string]any{"facts": some(found), "count": len(found)}, err
	case "contradict":
		pairs, compared, err := p.contradict(ctx, f, 0.3)
		if pairs == nil {
			pairs = []contradiction{}
		}
		return map[string]any{"results": pairs, "count": len(pairs), "compared": compared}, err
	case "search":
		if a.text("query") == "" {
			return nil, wrong("query is missing: say what to find")
		}
		found, err = p.search(ctx, a.text("query"), f)
	case "reason":
		names := a.list("entities")
		if len(names) == 0 {
			return nil, wrong("entities is missing: give two or more names")
		}
		found, err = p.reason(ctx, names, f)
	default:
		name := a.text("entity")
		if name == "" {
			return nil, wrong("entity is missing: give a name")
		}
		if action == "probe" {
			found, err = p.probe(ctx, name, f)
		} else {
			found, err = p.related(ctx, name, f)
		}
	}
	return map[string]any{"results": some(found), "count": len(found)}, err
}

// some is all, and never null.
func some(all []fact) []fact {
	for i := range all {
		all[i].Score = math.Round(all[i].Score*1e6) / 1e6
	}
	return append([]fact{}, all...)
}

func (p *Provider) factFeedback(ctx context.Context, raw json.RawMessage) (json.RawMessage, error) {
	var a arguments
	if err := json.Unmarshal(raw, &a); err != nil {
		return answer(nil, wrong("the arguments must be a JSON object"))
	}
	id, err := a.number("fact_id", 0)
	if err != nil {
		return answer(nil, err)
	}
	helpful := strings.EqualFold(strings.TrimSpace(a.text("action")), "helpful")
	switch {
	case !helpful && !strings.EqualFold(strings.TrimSpace(a.text("action")), "unhelpful"):
		return answer(nil, wrong("action must be helpful or unhelpful"))
	case id == 0:
		return answer(nil, wrong("fact_id is missing: take it from a result"))
	}
	var v verdict
	err = p.write(ctx, func(tx *writer) (err error) {
		v, err = tx.feedback(ctx, int64(id), helpful)
		return err
	})
	return answer(v, err)
}

// arguments are a call's, taken as meant: numbers may be texts and texts
// numbers.
type arguments map[string]json.RawMessage

func (a arguments) text(name string) string {
	var s string
	if json.Unmarshal(a[name], &s) == nil {
		return s
	}
	var n json.Number
	if json.Unmarshal(a[name], &n) == nil {
		return n.String()
	}
	return ""
}

// given is the text, nil when it is not there.
func (a arguments) given(name string) *string {
	if _, ok := a[name]; !ok || string(a[name]) == "null" {
		return nil
	}
	s := a.text(name)
	return &s
}

func (a arguments) number(name string, otherwise float64) (float64, error) {
	s := strings.TrimSpace(a.text(name))
	if s == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(n) || math.Abs(n) > 1e15 {
		return 0, wrong(name + " must be a number")
	}
	return n, nil
}

// list reads a list of texts; one text may stand for it, with commas.
func (a arguments) list(name string) (out []string) {
	var all []string
	if json.Unmarshal(a[name], &all) != nil {
		all = strings.Split(a.text(name), ",")
	}
	for _, s := range all {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}
