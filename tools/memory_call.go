package tools

import (
	"cmp"

	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/tools/wire"
	"github.com/hermes-mcp/hermes-mcp/transcript/plain"
)

// An edit is one call as meant.
type edit struct {
	target     memstore.Target
	scope      memstore.Scope
	everything bool // a read of all there is
	read       bool
	batch      bool
	ops        []memstore.Op
	strange    string // what of the call was not understood and does no harm
}

// file is the target that the call's scope makes of its target.
func (e edit) file(by memstore.Caller) memstore.Target {
	switch {
	case e.target == memstore.Memory && e.scope == memstore.ProjectOnly:
		return memstore.Project
	case e.target == memstore.Memory && e.scope == memstore.SessionOnly && by.Session != "":
		return memstore.SessionTarget(by.Session)
	}
	return e.target
}

// own is where the caller's session keeps what holds in it only, "" when no
// session is known.
func own(by memstore.Caller) memstore.Target {
	if by.Session == "" {
		return ""
	}
	return memstore.SessionTarget(by.Session)
}

func parseEdit(a *wire.Arguments) edit {
	action, target := a.Word("action"), a.Word("target")
	whole := parseOp(a)
	e := edit{target: memstore.Target(target), scope: whole.Scope}
	if target == "" {
		e.target = memstore.Memory
	}
	for _, o := range a.Objects("operations") {
		op := parseOp(o)
		op.Source, op.Confidence, op.Scope = cmp.Or(op.Source, whole.Source), cmp.Or(op.Confidence, whole.Confidence), cmp.Or(op.Scope, whole.Scope)
		if t := o.Word("target"); t != "" && t != string(e.target) {
			a.Refuse("all operations of one call have one target: name it once, beside operations, and use a second call for the other")
		}
		if o.Wrong != "" {
			a.Refuse("operation %d: %s", len(e.ops)+1, o.Wrong)
		}
		e.ops = append(e.ops, op)
	}
	if e.batch = len(e.ops) > 0; e.batch {
		e.scope = e.ops[0].Scope
	}
	single := whole.Content != "" || whole.OldText != ""
	switch {
	case e.target != memstore.Memory && e.target != memstore.User:
		a.Refuse("target must be memory or user, not %q", plain.Clip(target, 40))
	case e.batch && single:
		a.Refuse("give either one edit or operations, not both: move the edit into operations")
	case e.batch && action == "read":
		a.Refuse("read and edit in two calls")
	case e.batch:
	case action == "read", action == "" && !single:
		e.read, e.everything = true, target == "" && whole.Scope == ""
	case action == "":
		a.Refuse("action is missing: say add, replace, remove or read")
	default:
		e.ops = []memstore.Op{whole}
	}
	e.strange = a.Strange()
	return e
}

// parseOp reads what makes one edit.
func parseOp(a *wire.Arguments) memstore.Op {
	return memstore.Op{
		Action:     memstore.Action(a.Word("action")),
		Content:    a.Text("content", "new_text", "new_content"),
		OldText:    a.Text("old_text", "old_string"),
		Source:     memstore.Source(a.Word("source")),
		Confidence: memstore.Confidence(a.Word("confidence")),
		Scope:      memstore.Scope(a.Word("scope")),
	}
}
