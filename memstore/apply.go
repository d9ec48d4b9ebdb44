package memstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hermes-mcp/hermes-mcp/memstore/document"
	"github.com/hermes-mcp/hermes-mcp/memstore/durable"
	"github.com/hermes-mcp/hermes-mcp/memstore/journal"
	"github.com/hermes-mcp/hermes-mcp/memstore/ledger"
	"github.com/hermes-mcp/hermes-mcp/scanner"
)

// Apply applies all ops or none, durably, before it returns. The Result's
// State is what is on disk, also with an error, so that the caller can show
// it. On the target Memory, ops of scope project or session go to the project's
// file or the session's. Once the write has begun it does not depend on ctx. Errors: *OpError.
func (s *Store) Apply(ctx context.Context, by Caller, t Target, ops ...Op) (Result, error) {
	scan := s.scanning(t, by, ops)
	clean, cleaned, err := check(scan, ops)
	if err != nil {
		st, _ := s.State(ctx, t) // beside the error that matters
		return Result{State: st}, err
	}
	if len(cleaned) == 0 {
		s.passed(scan, clean)
	}
	p, err := s.placeFor(t, by, clean)
	if err != nil {
		return Result{State: State{Target: t}}, err
	}
	res, err := s.edit(ctx, p, by, ledger.Request{Kind: journal.Edit, Ops: clean}, func(doc document.Doc) (document.Doc, []Change, error) {
		next, changes, err := s.applyAll(p, doc, clean)
		if err == nil {
			err = budget(p, clean, doc, next)
		}
		return next, changes, err
	})
	if err == nil {
		res.Cleaned = cleaned
		return res, nil
	}
	if full := (*OpError)(nil); errors.As(err, &full) && full.Err == ErrFull {
		full.Room = s.room(res.State, clean)
	}
	return res, err
}

// A plan makes the new content of a file out of its present one.
type plan func(document.Doc) (document.Doc, []Change, error)

// edit runs a plan at p, durably, and describes the outcome.
func (s *Store) edit(ctx context.Context, p place, by Caller, req ledger.Request, make plan) (res Result, err error) {
	var changes []Change
	req.Who = struct {
		Caller
		PID int `json:"pid"`
	}{by, os.Getpid()}
	req.Plan = func(doc document.Doc) (next document.Doc, err error) {
		next, changes, err = make(doc)
		return next, err
	}
	ops, _ := req.Ops.([]Op)
	req.Again = func() any {
		var said []Op
		for _, c := range changes {
			if c.Duplicate && c.Op < len(ops) {
				said = append(said, ops[c.Op])
			}
		}
		if said == nil {
			return nil
		}
		return said
	}
	told := false
	req.Meanwhile = func(v ledger.View) {
		res.State, told = s.state(p, v), true
		res.Conflicts = s.conflicts(res.State, changes)
	}
	v, id, err := s.ledger.Edit(ctx, p.file, req)
	switch {
	case err != nil && v.Facts == nil: // not even read under the locks
		res = Result{State: State{Target: p.target, Path: v.Real, Limit: p.limit}}
		if st, now := s.State(context.WithoutCancel(ctx), p.target); now == nil {
			res.State = st
		}
		return res, explain(err)
	case err != nil:
		return Result{State: s.state(p, v)}, explain(err)
	case !told || id == "":
		res = Result{State: s.state(p, v)}
	}
	res.Changes, res.EditID = changes, id
	if s.Written != nil && id != "" {
		s.Written(ctx, by, p.target, res)
	}
	return res, nil
}

// check judges the ops by themselves, and returns them with contents as they
// will be stored.
func check(scan Scanning, ops []Op) (clean []Op, cleaned []scanner.Finding, err error) {
	if len(ops) == 0 {
		return nil, nil, &OpError{Err: ErrInvalid, Op: -1, Reason: "no operation is given"}
	}
	for i, op := range ops {
		refuse := func(missing bool, format string, args ...any) error {
			return &OpError{Err: ErrInvalid, Op: i, Action: op.Action, Missing: missing, Reason: fmt.Sprintf(format, args...)}
		}
		op.OldText = document.Clean(op.OldText)
		switch op.Action {
		case Add, Replace, Remove:
		case "":
			return nil, nil, refuse(false, "each operation names its own action: add, replace or remove")
		default:
			return nil, nil, refuse(false, "action %q is none of add, replace, remove", op.Action)
		}
		if word := unknown(op); word != "" {
			return nil, nil, refuse(false, "%s", word)
		}
		if op.Action != Add && op.OldText == "" {
			return nil, nil, refuse(true, "old_text is missing: give a piece of the entry to %s", op.Action)
		}
		if op.Action == Remove {
			op.Content = ""
			clean = append(clean, op)
			continue
		}
		if !utf8.ValidString(op.Content) {
			return nil, nil, refuse(false, "content is not UTF-8")
		}
		content, removed, blocked := scan.screen(op)
		if blocked != nil {
			blocked.Op = i
			return nil, nil, blocked
		}
		op.Content, cleaned = content, append(cleaned, removed...)
		switch {
		case op.Content == "" && op.Action == Replace:
			return nil, nil, refuse(false, "content is empty; to delete the entry use action remove")
		case op.Content == "":
			return nil, nil, refuse(false, "content is empty")
		case document.Splits(op.Content):
			return nil, nil, refuse(false, "content has a line with only §, which would make it two entries; add them one by one, or take that line out")
		}
		clean = append(clean, op)
	}
	return clean, cleaned, nil
}

// unknown names a value of op that means nothing.
func unknown(op Op) string {
	switch op.Source {
	case "", UserExplicit, AgentObserved, Review:
	default:
		return fmt.Sprintf("source %q is none of user_explicit, agent_observed, review", op.Source)
	}
	switch op.Confidence {
	case "", Confirmed, Probable, Uncertain:
	default:
		return fmt.Sprintf("confidence %q is none of confirmed, probable, uncertain", op.Confidence)
	}
	switch op.Scope {
	case "", Global, ProjectOnly, SessionOnly:
	default:
		return fmt.Sprintf("scope %q is none of global, project, session", op.Scope)
	}
	return ""
}

// applyAll applies the ops in order.
func (s *Store) applyAll(p place, doc document.Doc, ops []Op) (document.Doc, []Change, error) {
	var changes []Change
	for i, op := range ops {
		next, c, err := s.applyOne(p, doc, op)
		if err != nil {
			err.Op, err.Action = i, op.Action
			return doc, nil, err
		}
		c.Op, c.Action = i, op.Action
		doc, changes = next, append(changes, c)
	}
	return doc, changes, nil
}

func (s *Store) applyOne(p place, doc document.Doc, op Op) (document.Doc, Change, *OpError) {
	if op.Action == Add {
		if at(doc, op.Content) >= 0 {
			return doc, Change{New: op.Content, Duplicate: true}, nil
		}
		return doc.Append(op.Content), Change{New: op.Content}, nil
	}
	i, err := s.find(p, doc, op)
	if err != nil {
		return doc, Change{}, err
	}
	old := doc.Entries()[i]
	if !op.NotAfter.IsZero() {
		if at := s.ledger.Facts(p.file, doc)[i].Updated; at.After(op.NotAfter) {
			return doc, Change{}, &OpError{Err: ErrLaterEdit, Reason: fmt.Sprintf("the entry was written at %s, after what this edit is about: %q", at.Format(time.RFC3339), old)}
		}
	}
	if op.Action == Remove {
		return doc.Remove(i), Change{Old: old}, nil
	}
	c := Change{Old: old, New: op.Content}
	switch there := at(doc, op.Content); {
	case op.Content == old:
		c.Duplicate = true
		return doc, c, nil
	case there >= 0: // the new text is an entry already: one of it is enough
		c.Duplicate = true
		return doc.Remove(i), c, nil
	}
	return doc.Replace(i, op.Content), c, nil
}

// at returns the index of the first entry equal to text, or -1.
func at(doc document.Doc, text string) int {
	for i, e := range doc.Entries() {
		if e == text {
			return i
		}
	}
	return -1
}

// find returns the entry that op.OldText means: one equal to it (or to its
// mask, when it is blocked) before those that hold it. Of equal ones the
// first.
func (s *Store) find(p place, doc document.Doc, op Op) (int, *OpError) {
	if i := at(doc, op.OldText); i >= 0 {
		return i, nil
	}
	var hits []int
	seen := make(map[string]bool)
	for i, e := range doc.Entries() {
		if _, shown := s.verdict(p.name, e); shown == op.OldText {
			return i, nil
		}
		if strings.Contains(e, op.OldText) && !seen[e] {
			seen[e] = true
			hits = append(hits, i)
		}
	}
	saved := "" // or a model that was refused adds it a second time
	if op.Action == Replace && at(doc, op.Content) >= 0 {
		saved = "; the new text is there already, so do not add it"
	}
	switch len(hits) {
	case 1:
		return hits[0], nil
	case 0:
		reason := fmt.Sprintf("no entry holds %q", op.OldText)
		if len(doc.Entries()) == 0 {
			reason = "there is no entry at all"
		}
		return 0, &OpError{Err: ErrNoMatch, Reason: reason + saved}
	}
	e := &OpError{Err: ErrAmbiguous, Reason: fmt.Sprintf("%q is in %d different entries; give a longer piece of the one you mean", op.OldText, len(hits)) + saved}
	for _, i := range hits {
		e.Matches = append(e.Matches, doc.Entries()[i])
	}
	return 0, e
}

// budget checks the end state. What makes the file smaller is always allowed.
func budget(p place, ops []Op, was, next document.Doc) error {
	e := &OpError{Err: ErrFull, Op: -1, Chars: next.Chars()}
	if len(ops) == 1 {
		e.Op, e.Action = 0, ops[0].Action
	}
	if len(next.Bytes()) > durable.MaxSize && len(next.Bytes()) > len(was.Bytes()) {
		e.Over = len(next.Bytes()) - durable.MaxSize
		e.Reason = fmt.Sprintf("%s would have %d bytes; no file over %d is read", p.name, len(next.Bytes()), durable.MaxSize)
		return e
	}
	if string(next.Bytes()) == string(was.Bytes()) || e.Chars <= p.limit || e.Chars < was.Chars() {
		return nil
	}
	e.Over = e.Chars - p.limit
	e.Reason = fmt.Sprintf("%s would have %d of %d characters (it has %d now), %d too many", p.name, e.Chars, p.limit, was.Chars(), e.Over)
	return e
}
