package journal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/hermes-mcp/hermes-mcp/memstore/document"
	"github.com/hermes-mcp/hermes-mcp/memstore/durable"
)

// cacheEvery is how many bytes of journal a fresh process may have to read
// behind the cache.
const cacheEvery = 256 << 10

// An Index is what the journal says about the files, kept up to date by
// reading only what is new in it, and safe for concurrent use. The zero value
// knows nothing.
//
// A cache file spares a fresh process the reading of the whole journal. It may
// be deleted at any time.
type Index struct {
	mu     sync.Mutex
	at     Position
	saved  int64 // offset that the cache stands for
	loaded bool
	last   string // newest id in the journal
	tracks map[string]*track
}

// A track is what the journal says about one target.
type track struct {
	After   Text             `json:"after"`   // the file after the last edit that reached it; nil when none is known
	Entries map[string]Fact  `json:"entries"` // by the entry's text, as is Lost
	Lost    map[string]Loss  `json:"lost"`
	Gone    map[string]Grave `json:"gone"`
	Open    *open            `json:"open,omitempty"`

	pending *Record // ours, and not known to have reached the disk
	next    *growth // what absorbing pending makes, when somebody has asked already
	inPlace string  // id of an edit that may be half written
}

// A Loss is an entry that left the file without an op.
type Loss struct {
	Text string    `json:"text"`
	By   string    `json:"by"`
	At   time.Time `json:"at"`
	Fact
}

type cache struct {
	V      int               `json:"v"`
	At     Position          `json:"at"`
	Last   string            `json:"last"`
	Tracks map[string]*track `json:"tracks"`
}

// Refresh reads what is new in log, the first time behind what the cache
// holds.
func (x *Index) Refresh(log Log, cachePath string) error {
	return x.read(cachePath, log.Scan)
}

// Follow is Refresh for the one that holds the log open.
func (x *Index) Follow(w *Writer, cachePath string) error {
	return x.read(cachePath, func(p Position, fresh func(), fn func(Record)) (Position, error) {
		return w.log.scan(w.f, w.end, p, fresh, fn)
	})
}

func (x *Index) read(cachePath string, scan func(Position, func(), func(Record)) (Position, error)) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.loaded {
		x.loaded = true
		x.load(cachePath)
	}
	at, err := scan(x.at, x.forget, x.apply)
	x.at = at
	return err
}

// took takes in records that were just written at start as the bytes b.
func (x *Index) took(start int64, b []byte, records []*Record) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if start == 0 {
		x.at = Position{Head: string(b[:min(len(b), headLen)])}
	}
	if x.at.Offset != start {
		return // it does not follow this log
	}
	x.at.Offset += int64(len(b))
	for _, r := range records {
		x.apply(*r)
	}
}

func (x *Index) forget() { x.last, x.tracks, x.saved = "", nil, 0 }

// load takes over the cache. One that is missing, damaged or of another
// journal costs a reading of the journal, no more.
func (x *Index) load(path string) {
	raw, err := os.ReadFile(path)
	var c cache
	if err != nil || json.Unmarshal(raw, &c) != nil || c.V != 1 {
		return
	}
	x.at, x.last, x.tracks, x.saved = c.At, c.Last, c.Tracks, c.At.Offset
}

// Save writes the cache when much has been read since the last time. It is
// called under the home's lock.
func (x *Index) Save(path string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.at.Offset-x.saved < cacheEvery {
		return nil
	}
	for _, t := range x.tracks {
		if t.pending != nil {
			return nil // the cache holds only what is settled
		}
	}
	raw, err := json.Marshal(cache{V: 1, At: x.at, Last: x.last, Tracks: x.tracks})
	if err == nil {
		err = durable.WriteCache(path, raw)
	}
	if err == nil {
		x.saved = x.at.Offset
	}
	return err
}

// Before returns what the file should hold by the journal, the edit of ours
// that may have reached the disk or not, and whether that one may be half
// written.
func (x *Index) Before(t string) (after []byte, pending *Record, torn bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	tr := x.track(t)
	return tr.After, tr.pending, tr.pending != nil && tr.inPlace == tr.pending.ID
}

// Knows tells whether the journal tells of now as what target holds, or held
// before an edit that may not have reached the disk.
func (x *Index) Knows(target string, now []byte) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	t := x.track(target)
	p := t.pending
	return bytes.Equal(now, t.After) || p != nil && (bytes.Equal(now, p.After) || bytes.Equal(now, p.Before))
}

// Newest returns the newest id in the journal.
func (x *Index) Newest() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.last
}

// track returns what is known of t. The caller holds mu.
func (x *Index) track(t string) *track {
	if x.tracks == nil {
		x.tracks = make(map[string]*track)
	}
	if x.tracks[t] == nil {
		x.tracks[t] = &track{}
	}
	tr := x.tracks[t]
	if tr.Entries == nil {
		tr.Entries = make(map[string]Fact)
	}
	if tr.Gone == nil {
		tr.Gone = make(map[string]Grave)
	}
	if tr.Lost == nil {
		tr.Lost = make(map[string]Loss)
	}
	return tr
}

// apply takes in one line. The caller holds mu.
func (x *Index) apply(r Record) {
	x.last = max(x.last, r.ID)
	if r.Kind == Forgotten {
		delete(x.tracks, r.Target)
		return
	}
	t := x.track(r.Target)
	switch r.Kind {
	case Abort:
		if t.pending != nil && t.pending.ID == r.Of {
			t.pending, t.next = nil, nil
		}
	case Confirm:
		confirm(t.Entries, r, r.ops())
		t.next = nil
	case InPlace:
		t.inPlace, t.Open = r.Of, nil // synced by itself
	case Settled:
		t.Open = nil
	case Rescued:
		t.lose(r)
	case Foreign:
		t.settle()
		t.lose(r)
		t.absorb(r, t.grow(r))
		t.replaced(r)
	case Edit, Undo, Restore:
		t.settle()
		t.pending, t.next = &r, nil
		t.replaced(r)
	}
}

// settle takes the pending edit as one that reached the disk.
func (t *track) settle() {
	if t.pending == nil {
		return
	}
	r := *t.pending
	next := t.growth()
	t.pending, t.next = nil, nil
	t.absorb(r, next)
}

// growth is what the file is known to hold once pending is in force.
func (t *track) growth() *growth {
	if t.next == nil {
		t.next = t.grow(*t.pending)
	}
	return t.next
}

func (t *track) loss(entry string, r Record) Loss {
	f, ok := t.Entries[entry]
	if !ok {
		f.Hash = Hash([]byte(entry))
	}
	return Loss{Text: entry, By: r.ID, At: r.At, Fact: f}
}

// asOf returns what is known when the file holds doc. reached says that a
// pending edit has reached the disk, whatever the file holds now.
func (t *track) asOf(doc document.Doc, reached bool) *track {
	if t.pending != nil && (reached || string(doc.Bytes()) == string(t.pending.After)) {
		t.settle()
	}
	return t
}

// A growth is what a record makes of the entries, before it is taken in.
type growth struct {
	entries map[string]Fact
	gone    map[string]Fact // that were there before
	back    []string        // of those that had gone, what has returned
}

// grow tells what r makes of the entries, and changes nothing.
func (t *track) grow(r Record) *growth {
	g := &growth{entries: make(map[string]Fact, len(t.Entries)+1), gone: make(map[string]Fact)}
	var fresh []string
	met := make(map[string]bool) // of fresh
	for _, e := range document.EntriesOf(r.After) {
		if f, ok := t.Entries[e]; ok {
			g.entries[e] = f
		} else if !met[e] {
			met[e], fresh = true, append(fresh, e)
		}
	}
	for e, f := range t.Entries {
		if _, stays := g.entries[e]; !stays {
			g.gone[e] = f
		}
	}
	ops := r.ops()
	confirm(g.entries, r, ops)
	for _, e := range fresh {
		if old, ok := t.Gone[e]; ok && (r.Kind == Undo || r.Kind == Restore) {
			g.entries[e], g.back = old.Fact, append(g.back, e)
			continue
		}
		g.entries[e] = learn(r, ops, e, g.gone)
	}
	return g
}

// absorb makes r.After the known content, of which g tells.
func (t *track) absorb(r Record, g *growth) {
	t.After, t.Entries = r.After, g.entries
	for e := range g.entries {
		delete(t.Lost, e)
	}
	for _, e := range g.back {
		delete(t.Gone, e)
	}
	t.bury(g.gone, r.At)
}

// lose remembers the entries that r took away without an op.
func (t *track) lose(r Record) {
	added, removed := document.Difference(document.EntriesOf(r.Before), document.EntriesOf(r.After))
	for _, e := range removed {
		e = strings.Clone(e) // it may be a piece of the whole file
		if !document.LivesOn(e, added) {
			t.Lost[e] = t.loss(e, r)
		}
	}
}

// Facts returns what is known of doc's entries, in order. One without times
// is an entry that the journal has not met. reached says that the edit that
// Before tells of has reached the disk.
func (x *Index) Facts(target string, doc document.Doc, reached bool) []Fact {
	x.mu.Lock()
	defer x.mu.Unlock()
	return factsOf(x.track(target).asOf(doc, reached).Entries, doc)
}

// Soon is Facts for when the edit that Before tells of will have reached the
// disk. Nobody else learns of it.
func (x *Index) Soon(target string, doc document.Doc) []Fact {
	x.mu.Lock()
	defer x.mu.Unlock()
	t := x.track(target)
	if t.pending == nil {
		return factsOf(t.Entries, doc)
	}
	return factsOf(t.growth().entries, doc)
}

func factsOf(known map[string]Fact, doc document.Doc) []Fact {
	all := make([]Fact, 0, len(doc.Entries()))
	for _, text := range doc.Entries() {
		f, ok := known[text]
		if !ok {
			f.Hash = Hash([]byte(text))
		}
		all = append(all, f)
	}
	return all
}

// Lost returns what has left target without an op and is not in doc, newest
// first. By is empty when no line tells of the loss yet. reached is as for Facts.
func (x *Index) Lost(target string, doc document.Doc, reached bool) []Loss {
	x.mu.Lock()
	defer x.mu.Unlock()
	t := x.track(target).asOf(doc, reached)
	here := make(map[string]bool)
	for _, e := range doc.Entries() {
		here[e] = true
	}
	var all []Loss
	for _, l := range t.Lost {
		if !here[l.Text] {
			all = append(all, l)
		}
	}
	added, removed := document.Difference(document.EntriesOf(t.After), doc.Entries())
	for _, e := range removed {
		if _, told := t.Lost[e]; !told && !here[e] && !document.LivesOn(e, added) {
			all = append(all, t.loss(e, Record{}))
		}
	}
	sort.Slice(all, func(i, j int) bool {
		return cmp.Or(all[j].Updated.Compare(all[i].Updated), cmp.Compare(all[i].Text, all[j].Text)) < 0
	})
	return all
}
