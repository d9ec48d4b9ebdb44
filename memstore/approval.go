package memstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"time"

	"github.com/hermes-mcp/hermes-mcp/memstore/document"
	"github.com/hermes-mcp/hermes-mcp/memstore/journal"
	"github.com/hermes-mcp/hermes-mcp/memstore/ledger"
	"github.com/hermes-mcp/hermes-mcp/memstore/pending"
)

// A Proposal is an edit that waits for a decision.
type Proposal struct {
	ID      string
	At      time.Time
	Target  Target
	Summary string
	Caller  Caller // who proposed it
	Ops     []Op
	Matched []string // per op: the entry it was proposed against; "" for an add
	Hermes  bool     // proposed through Hermes Agent itself
}

// Try tells what Apply would do now, and writes nothing: the Result's State is
// the one to come, with an error the present one. Errors: *OpError.
func (s *Store) Try(ctx context.Context, by Caller, t Target, ops ...Op) (Result, error) {
	_, _, res, err := s.try(ctx, by, t, ops)
	return res, err
}

func (s *Store) try(ctx context.Context, by Caller, t Target, ops []Op) (p place, clean []Op, res Result, err error) {
	clean, cleaned, err := check(s.scanning(t, by, ops), ops)
	if err != nil {
		return p, nil, res, err
	}
	if p, err = s.placeFor(t, by, clean); err != nil {
		return p, nil, res, err
	}
	if err := ctx.Err(); err != nil {
		return p, nil, res, err
	}
	v, err := s.ledger.Look(ctx, p.file)
	if err != nil {
		return p, nil, res, explain(err)
	}
	next, changes, err := s.applyAll(p, v.Doc, clean)
	if err == nil {
		err = budget(p, clean, v.Doc, next)
	}
	if err != nil {
		return p, nil, Result{State: s.state(p, v)}, err
	}
	known := make(map[string]journal.Fact)
	for i, text := range v.Doc.Entries() {
		known[text] = v.Facts[i]
	}
	v.Doc, v.Facts = next, make([]journal.Fact, 0, len(next.Entries()))
	for _, text := range next.Entries() {
		f, ok := known[text]
		if !ok {
			f.Hash = hash(text)
		}
		v.Facts = append(v.Facts, f)
	}
	res = Result{State: s.state(p, v), Changes: changes, Cleaned: cleaned}
	res.Conflicts = s.conflicts(res.State, changes)
	return p, clean, res, nil
}

// Propose checks ops as Apply does, and instead of applying them keeps them for
// a decision. What Apply would refuse now is refused.
func (s *Store) Propose(ctx context.Context, by Caller, t Target, ops ...Op) (Proposal, error) {
	p, clean, res, err := s.try(ctx, by, t, ops)
	if err != nil {
		return Proposal{}, err
	}
	changes := res.Changes
	var id [4]byte
	rand.Read(id[:]) // never fails
	r := pending.Record{ID: hex.EncodeToString(id[:]), Subsystem: "memory", Action: "batch", Origin: "foreground", CreatedAt: pending.Time{Time: s.now().UTC()}}
	if by.Origin == "review" || by.Origin == "flush" {
		r.Origin = "background_review"
	}
	if r.Payload.Who, err = json.Marshal(by); err != nil {
		return Proposal{}, fmt.Errorf("keep the proposal: %w", err)
	}
	r.Payload.Target, r.Payload.File = string(p.target), p.file.Target
	for i, op := range clean {
		r.Payload.Operations = append(r.Payload.Operations, pending.Op{
			Action: string(op.Action), Content: op.Content, OldText: op.OldText, Matched: changes[i].Old,
			Source: string(op.Source), Confidence: string(op.Confidence), Scope: string(op.Scope), Evidence: op.Evidence,
		})
	}
	if len(clean) == 1 {
		r.Action = string(clean[0].Action)
	}
	r.Summary = summary(r.Action, cmp.Or(clean[0].Content, changes[0].Old))
	if err := pending.Write(s.own("pending"), r); err != nil {
		return Proposal{}, fmt.Errorf("keep the proposal: %w", err)
	}
	return s.proposal(r), nil
}

func summary(action, text string) string {
	r := []rune(action + ": " + text)
	if len(r) > 120 {
		r = append(r[:119], '…')
	}
	return string(r)
}

func (s *Store) proposal(r pending.Record) Proposal {
	p := Proposal{ID: r.ID, At: r.CreatedAt.Time, Target: Target(r.Payload.Target), Summary: r.Summary, Hermes: filepath.Dir(r.Path) == s.hermesPending()}
	if p.Target == "" {
		p.Target = Memory
	}
	if json.Unmarshal(r.Payload.Who, &p.Caller) != nil || p.Caller == (Caller{}) {
		p.Caller = Caller{Client: "hermes-agent", Origin: r.Origin}
	}
	for _, op := range r.Payload.Ops() {
		p.Ops = append(p.Ops, Op{
			Action: Action(op.Action), Content: op.Content, OldText: op.OldText,
			Source: Source(op.Source), Confidence: Confidence(op.Confidence), Scope: Scope(op.Scope), Evidence: op.Evidence,
		})
		p.Matched = append(p.Matched, op.Matched)
	}
	return p
}

func (s *Store) hermesPending() string { return filepath.Join(s.home, "pending", "memory") }

// Proposals returns what waits for a decision, ours and Hermes Agent's, oldest
// first. Files that are no records are told in the error beside the others.
func (s *Store) Proposals(ctx context.Context) ([]Proposal, error) {
	records, err := s.waiting(ctx)
	var all []Proposal
	for _, r := range records {
		all = append(all, s.proposal(r))
	}
	return all, err
}

func (s *Store) waiting(ctx context.Context) ([]pending.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ours, err := pending.List(s.own("pending"))
	theirs, err2 := pending.List(s.hermesPending())
	all := slices.Concat(ours, theirs)
	sort.SliceStable(all, func(i, j int) bool { return all[i].CreatedAt.Before(all[j].CreatedAt.Time) })
	// Records of other users and projects are none of this store's business.
	all = slices.DeleteFunc(all, func(r pending.Record) bool {
		p, err := s.place(s.proposal(r).Target)
		if theirs := r.Payload.File == ""; theirs { // Hermes knows neither users nor projects
			return err != nil || s.User != ""
		}
		return err != nil || p.file.Target != r.Payload.File
	})
	return all, errors.Join(err, err2)
}

func (s *Store) waitingFor(ctx context.Context, id string) (pending.Record, error) {
	all, err := s.waiting(ctx)
	for _, r := range all {
		if r.ID == id {
			return r, nil
		}
	}
	return pending.Record{}, errors.Join(&OpError{Err: ErrNotFound, Op: -1, Reason: fmt.Sprintf("no edit %q waits for a decision", id)}, err)
}

// Approve applies the proposal id as Apply would, and takes it off the list. It
// is refused with ErrLaterEdit, and stays, when an entry that it was made
// against has changed since. The journal names the one who proposed it.
func (s *Store) Approve(ctx context.Context, id string) (Result, error) {
	r, err := s.waitingFor(ctx, id)
	if err != nil {
		return Result{}, err
	}
	prop := s.proposal(r)
	clean, cleaned, err := check(s.scanning(prop.Target, prop.Caller, prop.Ops), prop.Ops)
	if err != nil {
		return Result{}, err
	}
	p, err := s.placeFor(prop.Target, prop.Caller, clean)
	if err != nil {
		return Result{}, err
	}
	if done, err := s.approvedBefore(id); err != nil || done {
		return Result{}, errors.Join(err, r.Remove())
	}
	res, err := s.edit(ctx, p, prop.Caller, ledger.Request{Kind: journal.Edit, Of: id, Ops: clean}, func(doc document.Doc) (document.Doc, []Change, error) {
		if i := changed(doc, clean, prop.Matched); i >= 0 {
			return doc, nil, &OpError{Err: ErrLaterEdit, Op: i, Action: prop.Ops[i].Action, Reason: fmt.Sprintf("the entry it was proposed against has changed since: %q", prop.Matched[i])}
		}
		for i, m := range prop.Matched {
			if m != "" {
				clean[i].OldText = document.Clean(m)
			}
		}
		next, changes, err := s.applyAll(p, doc, clean)
		if err == nil {
			err = budget(p, clean, doc, next)
		}
		return next, changes, err
	})
	if err != nil {
		return res, err
	}
	res.Cleaned = cleaned
	if err := r.Remove(); err != nil {
		return res, fmt.Errorf("the edit is made, but its proposal is still there: %w", err)
	}
	return res, nil
}

// changed returns the index of an op whose entry is not there as it was, or -1.
// An entry that an earlier op brings is there by then.
func changed(doc document.Doc, ops []Op, matched []string) int {
	for i, m := range matched {
		m = document.Clean(m)
		brought := slices.ContainsFunc(ops[:i], func(op Op) bool { return op.Content == m })
		if m != "" && !brought && at(doc, m) < 0 {
			return i
		}
	}
	return -1
}

// approvedBefore tells whether a killed process has applied the proposal and
// not got to removing it.
func (s *Store) approvedBefore(id string) (bool, error) {
	all, aborted, err := s.past()
	return slices.ContainsFunc(all, func(r journal.Record) bool {
		return r.Kind == journal.Edit && r.Of == id && !aborted[r.ID]
	}), err
}

// Reject takes the proposal id off the list.
func (s *Store) Reject(ctx context.Context, id string) error {
	r, err := s.waitingFor(ctx, id)
	if err != nil {
		return err
	}
	if err := r.Remove(); err != nil {
		return fmt.Errorf("reject %s: %w", id, err)
	}
	return nil
}
