package journal

import (
	"bytes"
	"slices"
	"time"
)

// An open tells of replacements of a file whose folder is not known to have
// been synced since: the file may be in any of these states after a power cut.
type open struct {
	Boot   string    `json:"boot"`
	At     time.Time `json:"at"` // of the last of them
	States []string  `json:"states"`
}

// replaced takes in that r has replaced the file.
func (t *track) replaced(r Record) {
	switch {
	case r.Boot == "" && t.Open == nil:
		return
	case r.Boot == "": // somebody else's is one more state, while ours is not settled
	case t.Open == nil || t.Open.Boot != r.Boot:
		t.Open = &open{Boot: r.Boot, At: r.At}
	default:
		t.Open.At = r.At
	}
	t.Open.States = append(t.Open.States, r.BeforeSHA, r.AfterSHA)
}

// Unsettled tells in how many states, and of which boot, target may be after a
// power cut: none when its folder has been synced.
func (x *Index) Unsettled(target string) (states int, boot string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	o := x.track(target).Open
	if o == nil {
		return 0, ""
	}
	return len(o.States), o.Boot
}

// TakenBack tells whether a power cut has put target back to now, a file last
// written at written, and what it should hold. boot is the present one.
func (x *Index) TakenBack(target string, now []byte, written time.Time, boot string) (after []byte, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	t := x.track(target)
	o := t.Open
	if o == nil || boot == "" || o.Boot == boot || written.After(o.At) {
		return nil, false
	}
	after = t.After
	if t.pending != nil {
		after = t.pending.After
	}
	return after, !bytes.Equal(now, after) && slices.Contains(o.States, Hash(now))
}
