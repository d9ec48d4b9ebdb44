package memstore

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/memstore/document"
	"github.com/hermes-mcp/hermes-mcp/memstore/journal"
)

// delimiters part a file as the format says, and know nothing of package document.
var delimiters = regexp.MustCompile(`(?:^|\r\n|\r|\n)[ \t]*§[ \t]*(?:\r\n|\r|\n|$)`)

// chunks are the raw bytes of a file's entries, in order.
func chunks(raw string) []string {
	var all []string
	for _, c := range delimiters.Split(strings.TrimPrefix(raw, "\ufeff"), -1) {
		if c = strings.TrimSpace(c); c != "" {
			all = append(all, c)
		}
	}
	return all
}

// A crowd is what may write into one home: three programs of ours, Hermes, and
// a person with an editor.
type crowd struct {
	t      *testing.T
	rng    *rand.Rand
	ours   []*Store
	made   []string // ids of our edits
	claims map[string][]string
}

func (c *crowd) entry() string {
	words := strings.Fields("alpha beta gamma delta 修改 服务 port tabs spaces go rust 8080")
	b := make([]string, 1+c.rng.IntN(4))
	for i := range b {
		b[i] = words[c.rng.IntN(len(words))]
	}
	return strings.Join(b, " ")
}

// For any sequence of ops by any number of writers: each acknowledged edit is in
// the journal as it was acknowledged, the bytes of entries that an edit does not
// name stay, undo of the last edit gives the bytes before it, and of an older
// one loses nothing that came later.
func TestAnySequenceOfAnyWriters(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			s := open(t, []string{"", "\ufeffseed one\r\n§\r\nseed two\r\n", "one\n\n § \n\ntwo\n§\n§\n\tthree\n\n"}[seed%3])
			c := &crowd{t: t, rng: rand.New(rand.NewPCG(seed, 2)), ours: []*Store{s, openHome(t, s.home), openHome(t, s.home)}, claims: map[string][]string{}}
			for _, s := range c.ours {
				s.MemoryLimit = 600
			}
			for range 100 {
				switch s := c.ours[c.rng.IntN(3)]; c.rng.IntN(10) {
				case 0:
					write(t, s, read(t, s)+"\n\n§\n"+c.entry()+"\n")
				case 1:
					if err := hermes(path(s), c.entry(), 1); err != nil {
						t.Fatal(err)
					}
				case 2:
					c.undoOlder(s)
				default:
					c.edit(s)
				}
			}
			c.agree()
		})
	}
}

// edit makes one edit, and takes it back sometimes.
func (c *crowd) edit(s *Store) {
	t := c.t
	words := strings.Fields("alpha beta gamma 修改 port tabs go")
	var ops []Op
	for range 1 + c.rng.IntN(3) {
		ops = append(ops, []Op{add(c.entry()), remove(words[c.rng.IntN(len(words))]), replace(words[c.rng.IntN(len(words))], c.entry())}[c.rng.IntN(3)])
	}
	before := read(t, s)
	res, err := s.Apply(context.Background(), Caller{}, Memory, ops...)
	after := read(t, s)
	if err != nil {
		if after != before {
			t.Fatalf("%v, and the file has changed", err)
		}
		return
	}
	var named []string
	for _, ch := range res.Changes {
		if ch.Action != Add {
			named = append(named, ch.Old)
		}
		if ch.New != "" && res.EditID != "" && slices.Contains(texts(res.State), ch.New) {
			c.claims[res.EditID] = append(c.claims[res.EditID], ch.New)
		}
	}
	rest := chunks(after)
	for _, raw := range chunks(before) {
		if slices.Contains(named, document.Clean(raw)) {
			continue
		}
		i := slices.Index(rest, raw)
		if i < 0 {
			t.Fatalf("%+v changed the bytes of %q or their order:\n%q\n%q", ops, raw, before, after)
		}
		rest = rest[i+1:]
	}
	if res.EditID == "" {
		return
	}
	c.made = append(c.made, res.EditID)
	if c.rng.IntN(4) == 0 {
		undo(t, s, res.EditID)
		if got := read(t, s); got != before {
			t.Fatalf("undo of %v gives %q, want %q", ops, got, before)
		}
	}
}

// undoOlder takes one of our edits back: no entry that it did not bring may go,
// and none comes twice.
func (c *crowd) undoOlder(s *Store) {
	if len(c.made) == 0 {
		return
	}
	t, id := c.t, c.made[c.rng.IntN(len(c.made))]
	all := history(t, s)
	edit := all[slices.IndexFunc(all, func(e Edit) bool { return e.ID == id })]
	was := read(t, s)
	_, err := s.Undo(context.Background(), Caller{}, id)
	if err != nil && read(t, s) != was {
		t.Fatalf("%v, and the file has changed", err)
	}
	before, after := document.EntriesOf([]byte(was)), document.EntriesOf([]byte(read(t, s)))
	added, removed := document.Difference(before, after)
	for _, e := range removed {
		if !slices.Contains(edit.Added, e) {
			t.Fatalf("undo of %+v took %q away", edit, e)
		}
	}
	for _, e := range added {
		if !slices.Contains(edit.Removed, e) || slices.Contains(before, e) {
			t.Fatalf("undo of %+v brought %q", edit, e)
		}
	}
}

// agree checks that the journal tells one story that ends with the file, and
// holds what was acknowledged.
func (c *crowd) agree() {
	t, s := c.t, c.ours[0]
	s.MemoryLimit = 1 << 20
	apply(t, s, add("the end"))
	var last []byte
	edits := map[string]journal.Record{}
	aborted := map[string]bool{}
	if err := s.ledger.Log().All(func(r journal.Record) {
		aborted[r.Of] = aborted[r.Of] || r.Kind == journal.Abort
		if !r.HasText() {
			return
		}
		if !bytes.Equal(r.Before, last) {
			t.Fatalf("%s %s starts from %q, the line before ended with %q", r.Kind, r.ID, r.Before, last)
		}
		edits[r.ID], last = r, r.After
	}); err != nil {
		t.Fatal(err)
	}
	if read(t, s) != string(last) {
		t.Errorf("the file holds %q, the journal says %q", read(t, s), last)
	}
	for id, claims := range c.claims {
		for _, e := range claims {
			if aborted[id] || !slices.Contains(document.EntriesOf(edits[id].After), e) {
				t.Errorf("edit %s acknowledged %q and is in the journal as %q", id, e, edits[id].After)
			}
		}
	}
	if len(c.claims) < 5 {
		t.Errorf("only %d edits were made", len(c.claims))
	}
}
