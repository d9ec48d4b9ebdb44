package summarizer

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/transcript"
)

var (
	//go:embed flush.md
	flushPrompt string
	//go:embed review.md
	reviewPrompt string
	//go:embed propose.schema.json
	proposeSchema []byte
)

// An Occasion is why a conversation is looked at.
type Occasion string

const (
	Flush  Occasion = "flush"  // it is about to leave the context
	Review Occasion = "review" // it goes on, and nothing was saved for a while
)

// A Proposal is one edit that the model suggests. It is a suggestion only.
type Proposal struct {
	Target memstore.Target
	Op     memstore.Op // Op.Evidence is empty
	// Evidence are the messages named for it, of those that were sent.
	Evidence []int64
}

// An Answer is what came back for a conversation.
type Answer struct {
	Proposals []Proposal
	// Last is the newest message that was looked at, 0 when none was.
	Last int64
	// Dropped says of each operation that was not understood why.
	Dropped []string
}

const (
	proposeTokens = 3_000
	mostProposals = 20 // of one answer; a model that wants more has misunderstood
)

// Propose asks which edits of the memory a conversation calls for. Of msgs only
// what user and assistant said is sent; states are the files as they are now, with blocked
// entries masked. A conversation in which nothing was said is not sent at all.
// c must not be nil. Errors: ErrDown, ErrBudget, ErrRefused, ErrAnswer,
// ErrTimeout, and the endpoint's.
func (c *Client) Propose(ctx context.Context, why Occasion, msgs []transcript.Message, states []memstore.State) (Answer, error) {
	pieces := conversation(msgs)
	if len(pieces) == 0 {
		return Answer{}, nil
	}
	ctx, cancel := c.task(ctx)
	defer cancel()
	text, ids := join(pieces)
	r := request{
		system: flushPrompt, maxTokens: proposeTokens,
		user: remembered(states) + "\n<conversation>\n" + text + "</conversation>\n",
		tool: &tool{"memory", "Edit the curated memory. Each operation names as evidence the messages that it rests on.", proposeSchema},
	}
	if why == Review {
		r.system = reviewPrompt
	}
	out, err := c.ask(ctx, r)
	if err != nil {
		return Answer{}, err
	}
	answer := Answer{Last: pieces[len(pieces)-1].id}
	for _, call := range out.calls {
		answer.take(call, ids)
	}
	if out.cut && len(answer.Dropped) > 0 {
		return Answer{}, fmt.Errorf("%w: it was cut off", ErrAnswer)
	}
	if over := len(answer.Proposals) - mostProposals; over > 0 {
		answer.Proposals = answer.Proposals[:mostProposals]
		answer.Dropped = append(answer.Dropped, fmt.Sprintf("%d operations more than %d", over, mostProposals))
	}
	return answer, nil
}

// remembered shows the memory to the model.
func remembered(states []memstore.State) string {
	var b strings.Builder
	b.WriteString("The memory now:\n")
	for _, s := range states {
		fmt.Fprintf(&b, "\ntarget %s, %s\n", s.Target, s.Usage())
		for _, e := range s.Entries {
			day := "undated"
			if !e.UpdatedAt.IsZero() {
				day = e.UpdatedAt.UTC().Format("2006-01-02")
			}
			fmt.Fprintf(&b, "- (%s) %s\n", day, clean(e.Shown))
		}
		if len(s.Entries) == 0 {
			b.WriteString("(empty)\n")
		}
	}
	return b.String()
}

// An operation is what the model writes.
type operation struct {
	Action     string          `json:"action"`
	Target     string          `json:"target"`
	Content    string          `json:"content"`
	OldText    string          `json:"old_text"`
	Evidence   json.RawMessage `json:"evidence"`
	Confidence string          `json:"confidence"`
}

// take reads the arguments of one call. Models leave the list out for a single
// operation, and write numbers as text.
func (a *Answer) take(args json.RawMessage, sent map[int64]bool) {
	var call struct {
		operation
		Operations []operation `json:"operations"`
	}
	var quoted string
	if json.Unmarshal(args, &quoted) == nil {
		args = json.RawMessage(quoted)
	}
	if err := json.Unmarshal(args, &call); err != nil {
		a.Dropped = append(a.Dropped, "arguments of a call: "+err.Error())
		return
	}
	ops := call.Operations
	if len(ops) == 0 {
		ops = []operation{call.operation}
	}
	for _, o := range ops {
		if o.Target == "" {
			o.Target = call.Target
		}
		p, err := o.proposal(sent)
		if err != nil {
			a.Dropped = append(a.Dropped, err.Error())
			continue
		}
		a.Proposals = append(a.Proposals, p)
	}
}

// proposal is o as it is meant.
func (o operation) proposal(sent map[int64]bool) (Proposal, error) {
	p := Proposal{Target: memstore.Target(o.Target), Op: memstore.Op{
		Action: memstore.Action(o.Action), Content: strings.TrimSpace(o.Content), OldText: strings.TrimSpace(o.OldText),
	}}
	if p.Target != memstore.Memory && p.Target != memstore.User {
		return p, fmt.Errorf("target %q is neither memory nor user", clip(o.Target, 40))
	}
	var missing error
	switch p.Op.Action {
	case memstore.Add:
		p.Op.OldText = ""
		missing = need("content", p.Op.Content)
	case memstore.Replace:
		missing = errors.Join(need("content", p.Op.Content), need("old_text", p.Op.OldText))
	case memstore.Remove:
		p.Op.Content = ""
		missing = need("old_text", p.Op.OldText)
	default:
		missing = fmt.Errorf("action %q is none of add, replace, remove", clip(o.Action, 40))
	}
	switch confidence := memstore.Confidence(o.Confidence); confidence {
	case memstore.Confirmed, memstore.Probable, memstore.Uncertain:
		p.Op.Confidence = confidence
	}
	p.Evidence = evidence(o.Evidence, sent)
	return p, missing
}

func need(name, text string) error {
	if text == "" {
		return fmt.Errorf("an operation has no %s", name)
	}
	return nil
}

// evidence reads ids, however they are written, and keeps those that were sent.
func evidence(raw json.RawMessage, sent map[int64]bool) []int64 {
	var ids []int64
	for _, d := range digits.FindAllString(string(raw), -1) {
		id, err := strconv.ParseInt(d, 10, 64)
		if err == nil && sent[id] && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}
