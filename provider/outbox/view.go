package outbox

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"
)

// remembered is how many ids of delivered items are kept, so that the same
// item is not taken twice.
const remembered = 5000

// An entry is an item that is not done. Its body stays on disk.
type entry struct {
	id, kind string
	at       time.Time
	offset   int64 // of the line that put it
	length   int
	size     int // of the body
	state    State
	err      string
	tries    int
}

func (e *entry) item() Item {
	return Item{ID: e.id, Kind: e.kind, At: e.at, State: e.state, Error: e.err, Tries: e.tries}
}

// A view is what the log says, up to end.
type view struct {
	first   []byte // the first line, with its end
	end     int64
	live    []*entry // in the order in which they are sent
	byID    map[string]*entry
	done    []string // ids, oldest first
	isDone  map[string]bool
	damaged [][]byte
}

func newView() view {
	return view{byID: map[string]*entry{}, isDone: map[string]bool{}}
}

func (v *view) knows(id string) bool { return v.byID[id] != nil || v.isDone[id] }

func (v *view) find(id string) *entry { return v.byID[id] }

// held counts the items that are not done, and the bytes of their bodies.
func (v *view) held() (items, size int) {
	for _, e := range v.live {
		size += e.size
	}
	return len(v.live), size
}

// read takes in the whole lines of tail, which stands at end.
func (v *view) read(tail []byte) {
	for {
		n := bytes.IndexByte(tail, '\n')
		if n < 0 {
			return
		}
		if v.end == 0 {
			v.first = bytes.Clone(tail[:n+1])
		}
		v.apply(tail[:n])
		v.end += int64(n) + 1
		tail = tail[n+1:]
	}
}

// apply takes in one line. Whatever makes no sense in the state that its item
// is in is damage, as is a line that is no record.
func (v *view) apply(line []byte) {
	var r record
	if err := json.Unmarshal(line, &r); err != nil || r.ID == "" {
		v.damage(line)
		return
	}
	if r.Op == opLog {
		return
	}
	e := v.byID[r.ID]
	if (r.Op == opPut) != (e == nil) && r.Op != opDone {
		v.damage(line)
		return
	}
	switch r.Op {
	case opPut:
		e = &entry{id: r.ID, kind: r.Kind, at: r.At, offset: v.end, length: len(line), size: len(r.Body), state: Waiting, tries: r.Tries}
		v.live, v.byID[r.ID] = append(v.live, e), e
	case opBegin:
		e.state, e.tries = Sending, e.tries+1
	case opBack:
		e.state, e.err = Waiting, r.Error
	case opUnknown:
		e.state, e.err = Unknown, r.Error
	case opReject:
		e.state, e.err = Rejected, r.Error
	case opAgain:
		e.state = Waiting
		v.drop(e)
		v.live, v.byID[r.ID] = append(v.live, e), e
	case opDone:
		if e != nil {
			v.drop(e)
		}
		v.remember(r.ID)
	default:
		v.damage(line)
	}
}

func (v *view) drop(e *entry) {
	delete(v.byID, e.id)
	if i := slices.Index(v.live, e); i >= 0 {
		v.live = slices.Delete(v.live, i, i+1)
	}
}

func (v *view) remember(id string) {
	if v.isDone[id] {
		return
	}
	v.isDone[id] = true
	v.done = append(v.done, id)
	if len(v.done) > remembered {
		delete(v.isDone, v.done[0])
		v.done = v.done[1:]
	}
}

// damage keeps a line that cannot be read; a blank one says nothing.
func (v *view) damage(line []byte) {
	if len(bytes.TrimSpace(line)) > 0 {
		v.damaged = append(v.damaged, bytes.Clone(line))
	}
}
