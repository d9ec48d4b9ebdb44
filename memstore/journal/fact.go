package journal

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
)

// A Fact is what is known about an entry that is in the file: who says so,
// since when, and from where. Empty fields are not known.
type Fact struct {
	Hash       string    `json:"hash"` // of the entry
	Created    time.Time `json:"created,omitzero"`
	Updated    time.Time `json:"updated,omitzero"`
	Confirmed  time.Time `json:"confirmed,omitzero"` // last said again
	Source     string    `json:"source,omitempty"`
	Confidence string    `json:"confidence,omitempty"`
	Scope      string    `json:"scope,omitempty"`
	Evidence   []string  `json:"evidence,omitempty"`
	Session    string    `json:"session,omitempty"`
	Origin     string    `json:"origin,omitempty"`
	Edit       string    `json:"edit,omitempty"`
	Unscanned  bool      `json:"unscanned,omitempty"` // a person vouched for it
}

// A Grave keeps the fact of an entry that has gone, should it return.
type Grave struct {
	Fact
	At time.Time `json:"at"`
}

// graves is how many facts of gone entries are kept. The texts themselves are
// in the journal for ever.
const graves = 500

// An op is what the index wants to know of an edit's ops.
type op struct {
	Action     string   `json:"action"`
	Content    string   `json:"content"`
	OldText    string   `json:"old_text"`
	Source     string   `json:"source"`
	Confidence string   `json:"confidence"`
	Scope      string   `json:"scope"`
	Evidence   []string `json:"evidence"`
	Unscanned  bool     `json:"unscanned"`
}

func (r Record) ops() []op {
	var ops []op
	if len(r.Ops) > 0 && json.Unmarshal(r.Ops, &ops) != nil {
		return nil // of a newer program
	}
	return ops
}

// who is the part of the caller that becomes part of a fact.
func (r Record) who() (session, origin string) {
	var w struct {
		Session string `json:"session"`
		Origin  string `json:"origin"`
	}
	if len(r.Who) > 0 && json.Unmarshal(r.Who, &w) != nil {
		return "", ""
	}
	return w.Session, w.Origin
}

// learn makes the fact of an entry that r has brought. gone is what r has taken
// away.
func learn(r Record, ops []op, entry string, gone map[string]Fact) Fact {
	if r.Kind == Foreign {
		return Fact{Hash: Hash([]byte(entry)), Created: r.FileTime, Updated: r.FileTime, Edit: r.ID}
	}
	f := Fact{Hash: Hash([]byte(entry)), Created: r.At, Updated: r.At, Confirmed: r.At, Edit: r.ID}
	f.Session, f.Origin = r.who()
	for _, o := range slices.Backward(ops) {
		if o.Content != entry {
			continue
		}
		f.say(o)
		for old, was := range gone {
			if o.Action == "replace" && strings.Contains(old, o.OldText) && !was.Created.IsZero() {
				f.Created = was.Created
			}
		}
		break
	}
	return f
}

// say takes over what o states about an entry.
func (f *Fact) say(o op) {
	f.Source = cmp.Or(o.Source, f.Source)
	f.Confidence = cmp.Or(o.Confidence, f.Confidence)
	f.Scope = cmp.Or(o.Scope, f.Scope)
	f.Unscanned = f.Unscanned || o.Unscanned
	if len(o.Evidence) > 0 {
		f.Evidence = o.Evidence
	}
}

// confirm takes in that entries that are there were said again.
func confirm(entries map[string]Fact, r Record, ops []op) {
	for _, o := range ops {
		if f, ok := entries[o.Content]; ok {
			f.Confirmed = r.At
			f.say(o)
			entries[o.Content] = f
		}
	}
}

// bury keeps the facts of entries that have gone.
func (t *track) bury(gone map[string]Fact, at time.Time) {
	for e, f := range gone {
		t.Gone[strings.Clone(e)] = Grave{f, at} // and not all of the file that e is a piece of
	}
	if len(t.Gone) <= graves {
		return
	}
	oldest := slices.SortedFunc(maps.Keys(t.Gone), func(a, b string) int { return t.Gone[a].At.Compare(t.Gone[b].At) })
	for _, e := range oldest[:len(oldest)-graves*3/4] {
		delete(t.Gone, e)
	}
}
