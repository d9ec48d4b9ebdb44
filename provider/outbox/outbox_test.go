package outbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

func open(t testing.TB, dir string) *Box {
	t.Helper()
	b, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func item(id string) Item {
	return Item{ID: id, Kind: "turn", Body: json.RawMessage(fmt.Sprintf(`{"text":%q}`, id))}
}

func put(t testing.TB, b *Box, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if _, err := b.Put(context.Background(), item(id)); err != nil {
			t.Fatal(err)
		}
	}
}

func status(t testing.TB, b *Box) Status {
	t.Helper()
	s, err := b.Status(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// a sink takes everything, and answers as told.
type sink struct {
	got    []string
	answer func(it Item) (Outcome, error)
	repeat bool
}

func ready(context.Context, Item) error { return nil }

func (s *sink) courier() Courier {
	return Courier{
		Ready: ready,
		Send: func(_ context.Context, it Item) (Outcome, error) {
			if want := item(it.ID).Body; !bytes.Equal(it.Body, want) {
				return Refused, fmt.Errorf("body %s, want %s", it.Body, want)
			}
			s.got = append(s.got, it.ID)
			if s.answer == nil {
				return Delivered, nil
			}
			return s.answer(it)
		},
		Repeatable: func(Item) bool { return s.repeat },
	}
}

func TestItemsArriveInOrderAndOnce(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	put(t, b, "a", "b", "c", "a")
	var s sink
	if n, err := b.Deliver(t.Context(), s.courier()); n != 3 || err != nil {
		t.Fatalf("delivered %d, %v", n, err)
	}
	put(t, open(t, dir), "b", "d")
	if n, err := open(t, dir).Deliver(t.Context(), s.courier()); n != 1 || err != nil {
		t.Fatalf("delivered %d, %v", n, err)
	}
	if !slices.Equal(s.got, []string{"a", "b", "c", "d"}) {
		t.Errorf("got %q", s.got)
	}
}

func TestWhatBecomesOfAnItem(t *testing.T) {
	cause := errors.New("no answer")
	for _, tc := range []struct {
		name     string
		outcome  Outcome
		repeat   bool
		sent     []string // by one delivery
		waiting  int
		setAside State
	}{
		{"delivered", Delivered, false, []string{"a", "b"}, 0, ""},
		{"not taken stays first and blocks", Later, false, []string{"a"}, 2, ""},
		{"refused is set aside and the next goes on", Refused, false, []string{"a", "b"}, 0, Rejected},
		{"unclear is set aside and the next goes on", Unclear, false, []string{"a", "b"}, 0, Unknown},
		{"unclear and harmless to repeat stays first", Unclear, true, []string{"a"}, 2, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := open(t, t.TempDir())
			put(t, b, "a", "b")
			s := sink{repeat: tc.repeat, answer: func(it Item) (Outcome, error) {
				if it.ID == "a" && tc.outcome != Delivered {
					return tc.outcome, cause
				}
				return Delivered, nil
			}}
			_, err := b.Deliver(t.Context(), s.courier())
			if blocked := tc.waiting > 0; blocked != errors.Is(err, cause) {
				t.Errorf("error %v", err)
			}
			if !slices.Equal(s.got, tc.sent) {
				t.Errorf("sent %q, want %q", s.got, tc.sent)
			}
			st := status(t, b)
			if st.Waiting != tc.waiting {
				t.Errorf("%d wait, want %d", st.Waiting, tc.waiting)
			}
			if tc.waiting > 0 && st.Blocked != cause.Error() {
				t.Errorf("blocked by %q", st.Blocked)
			}
			if tc.setAside == "" {
				if len(st.SetAside) != 0 {
					t.Errorf("set aside: %v", st.SetAside)
				}
				return
			}
			if len(st.SetAside) != 1 || st.SetAside[0].State != tc.setAside || st.SetAside[0].Error != cause.Error() || st.SetAside[0].Tries != 1 {
				t.Fatalf("set aside: %+v", st.SetAside)
			}
			if err := b.Settle(t.Context(), "b", true); !errors.Is(err, ErrNotFound) {
				t.Errorf("settling what is not set aside: %v", err)
			}
			if err := b.Settle(t.Context(), "a", true); err != nil {
				t.Fatal(err)
			}
			s.answer = nil
			if n, err := b.Deliver(t.Context(), s.courier()); n != 1 || err != nil {
				t.Errorf("after settling: %d, %v", n, err)
			}
		})
	}
}

func TestAFullBoxSaysSoAndTakesNothing(t *testing.T) {
	b := open(t, t.TempDir())
	if _, err := b.Put(t.Context(), Item{ID: "x", Body: json.RawMessage(`"` + strings.Repeat("x", MaxItem) + `"`)}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("error %v", err)
	}
	var many []Item
	for i := range MaxItems {
		many = append(many, item(fmt.Sprint(i)))
	}
	if n, err := b.Put(t.Context(), many...); n != MaxItems || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	if n, err := b.Put(t.Context(), item("one more")); n != 0 || !errors.Is(err, ErrFull) {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := b.Put(t.Context(), item("0")); n != 0 || err != nil {
		t.Errorf("what is there already: %d, %v", n, err)
	}
}

func TestOneDeliversAtATime(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	put(t, b, "a")
	s := sink{}
	s.answer = func(Item) (Outcome, error) {
		for _, other := range []*Box{b, open(t, dir)} {
			if _, err := other.Deliver(t.Context(), s.courier()); !errors.Is(err, ErrElsewhere) {
				t.Errorf("a second delivery: %v", err)
			}
			put(t, other, "put while sending")
		}
		return Delivered, nil
	}
	if _, err := b.Deliver(t.Context(), s.courier()); err != nil {
		t.Fatal(err)
	}
}

func TestPutsOfManyAtOnceAreAllThere(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for w := range 4 {
		b := open(t, dir)
		all.Go(func() {
			for i := range 25 {
				put(t, b, fmt.Sprintf("%d-%d", w, i))
			}
		})
	}
	all.Wait()
	var s sink
	if n, err := open(t, dir).Deliver(t.Context(), s.courier()); n != 100 || err != nil {
		t.Fatalf("delivered %d, %v", n, err)
	}
	for w := range 4 {
		last := -1
		for i := range 25 {
			at := slices.Index(s.got, fmt.Sprintf("%d-%d", w, i))
			if at < last {
				t.Fatalf("writer %d: item %d overtook", w, i)
			}
			last = at
		}
	}
}

// A kill leaves a beginning of the log. Whatever the beginning, what was put
// in it is delivered or unknown, and an item is never sent twice.
func TestEveryBeginningOfALogIsSound(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	put(t, b, "a", "b", "c")
	s := sink{answer: func(it Item) (Outcome, error) {
		if it.ID == "b" {
			return Unclear, errors.New("cut off")
		}
		return Delivered, nil
	}}
	if _, err := b.Deliver(t.Context(), s.courier()); err != nil {
		t.Fatal(err)
	}
	put(t, b, "d")
	whole, err := os.ReadFile(filepath.Join(dir, "log.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if n%5 != 0 && whole[n] != '\n' && n > 0 && whole[n-1] != '\n' {
			continue // around the ends of lines every byte counts
		}
		sub := filepath.Join(t.TempDir(), "box")
		if err := os.MkdirAll(sub, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(sub, "log.jsonl"), whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		var begun, acknowledged []string
		for line := range bytes.Lines(whole[:n]) {
			var r record
			if !bytes.HasSuffix(line, []byte("\n")) || json.Unmarshal(line, &r) != nil {
				continue
			}
			switch r.Op {
			case opPut:
				acknowledged = append(acknowledged, r.ID)
			case opBegin:
				begun = append(begun, r.ID)
			}
		}
		var again sink
		box := open(t, sub)
		if _, err := box.Deliver(t.Context(), again.courier()); err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		st := status(t, box)
		if st.Waiting != 0 || st.Damaged != 0 {
			t.Fatalf("%d bytes: %+v", n, st)
		}
		for _, id := range again.got {
			if slices.Contains(begun, id) {
				t.Fatalf("%d bytes: %s was sent twice", n, id)
			}
		}
		for _, id := range acknowledged {
			if !slices.Contains(begun, id) && !slices.Contains(again.got, id) {
				t.Fatalf("%d bytes: %s vanished", n, id)
			}
		}
	}
}

// A model of the box: what a run of random calls must leave.
func TestRandomCallsAgreeWithAModel(t *testing.T) {
	for seed := range uint64(6) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		dir := t.TempDir()
		boxes := []*Box{open(t, dir), open(t, dir)}
		var waiting, aside []string
		taken := map[string]bool{}
		sent := map[string]int{}
		repeat := seed%2 == 0
		for step := range 400 {
			b := boxes[rnd.IntN(2)]
			switch k := rnd.IntN(10); {
			case k < 5:
				id := fmt.Sprint(rnd.IntN(300))
				n, err := b.Put(t.Context(), item(id))
				if err != nil || (n == 1) == taken[id] {
					t.Fatalf("seed %d step %d: put %s: %d, %v", seed, step, id, n, err)
				}
				if n == 1 {
					waiting = append(waiting, id)
				}
				taken[id] = true
			case k < 8:
				s := sink{repeat: repeat}
				s.answer = func(it Item) (Outcome, error) {
					if it.ID != waiting[0] {
						t.Fatalf("seed %d step %d: %s sent, %s is first", seed, step, it.ID, waiting[0])
					}
					o := Outcome(rnd.IntN(4))
					if o != Later {
						sent[it.ID]++
					}
					if o == Delivered || o == Refused || (o == Unclear && !repeat) {
						waiting = waiting[1:]
					}
					if o == Refused || (o == Unclear && !repeat) {
						aside = append(aside, it.ID)
					}
					if o == Delivered {
						return o, nil
					}
					return o, errors.New("because")
				}
				if _, err := b.Deliver(t.Context(), s.courier()); err != nil && err.Error() != "because" {
					t.Fatal(err)
				}
			case len(aside) > 0:
				id, again := aside[0], rnd.IntN(2) == 0
				aside = aside[1:]
				if err := b.Settle(t.Context(), id, again); err != nil {
					t.Fatal(err)
				}
				if again {
					waiting = append(waiting, id)
					sent[id] = 0
				}
			}
			if step%50 == 0 {
				boxes[0] = open(t, dir)
			}
		}
		st := status(t, boxes[1])
		if st.Waiting != len(waiting) || len(st.SetAside) != len(aside) {
			t.Errorf("seed %d: %d wait and %d are set aside, want %d and %d", seed, st.Waiting, len(st.SetAside), len(waiting), len(aside))
		}
		for id, n := range sent {
			if n > 1 && !repeat {
				t.Errorf("seed %d: %s sent %d times", seed, id, n)
			}
		}
	}
}

func TestALogThatIsMostlyDoneIsWrittenAnew(t *testing.T) {
	dir := t.TempDir()
	b, other := open(t, dir), open(t, dir)
	put(t, b, "kept unknown")
	unclear := sink{answer: func(Item) (Outcome, error) { return Unclear, errors.New("cut off") }}
	if _, err := b.Deliver(t.Context(), unclear.courier()); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "log.jsonl")
	f, err := os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("this is no record\n\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	status(t, other)
	big := json.RawMessage(`"` + strings.Repeat("x", 100_000) + `"`)
	taken := Courier{Ready: ready, Send: func(context.Context, Item) (Outcome, error) { return Delivered, nil }, Repeatable: func(Item) bool { return false }}
	for i := range 30 {
		if _, err := b.Put(t.Context(), Item{ID: fmt.Sprint(i), Body: big}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Deliver(t.Context(), taken); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(log)
	if err != nil || info.Size() > 2*tidyAt {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
	st := status(t, other)
	if len(st.SetAside) != 1 || st.SetAside[0].ID != "kept unknown" || st.SetAside[0].Error != "cut off" || st.SetAside[0].Tries != 1 || st.Damaged != 1 {
		t.Errorf("%+v", st)
	}
	if n, err := other.Put(t.Context(), item("3")); n != 0 || err != nil {
		t.Errorf("what was delivered was taken again: %d, %v", n, err)
	}
}

func TestReadingMakesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	b := open(t, dir)
	status(t, b)
	if _, err := b.Deliver(t.Context(), Courier{}); err != nil {
		t.Fatal(err)
	}
	if exists(dir) {
		t.Error("the folder was made")
	}
}

func FuzzLog(f *testing.F) {
	f.Add([]byte(`{"op":"log","id":"x"}` + "\n" + `{"op":"put","id":"a","kind":"turn","body":{"x":1}}` + "\n" + `{"op":"begin","id":"a"}` + "\n"))
	f.Add([]byte(`{"op":"begin","id":"a"}` + "\n" + `{"op":"again","id":"a"}` + "\n{"))
	f.Add([]byte(`{"op":"done","id":"a"}` + "\n" + `{"op":"put","id":"a"}` + "\n" + `{"op":"put","id":"a"}` + "\n"))
	f.Fuzz(func(t *testing.T, log []byte) {
		v, parts := newView(), newView()
		v.read(log)
		for n := 0; n < len(log); n += 7 { // as it grew
			parts.read(log[parts.end:min(n+7, len(log))])
		}
		if v.end != parts.end || v.end != int64(bytes.LastIndexByte(log, '\n')+1) {
			t.Fatalf("read to %d at once and to %d in parts", v.end, parts.end)
		}
		if len(v.live) != len(v.byID) || len(v.live) != len(parts.live) || len(v.damaged) != len(parts.damaged) || len(v.done) != len(parts.done) {
			t.Fatalf("at once %d %d, in parts %d live", len(v.live), len(v.byID), len(parts.live))
		}
		for i, e := range v.live {
			if v.byID[e.id] != e || *parts.live[i] != *e {
				t.Fatalf("item %q differs", e.id)
			}
			var r record
			if err := json.Unmarshal(log[e.offset:e.offset+int64(e.length)], &r); err != nil || r.Op != opPut || r.ID != e.id {
				t.Fatalf("item %q is not at %d: %v", e.id, e.offset, err)
			}
		}
	})
}

func TestWhatIsForgottenIsInNoByteAndTheRestGoesOn(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	put := func(id, text string) {
		t.Helper()
		if _, err := b.Put(t.Context(), Item{ID: id, Kind: "turn", Body: json.RawMessage(strconv.Quote(text))}); err != nil {
			t.Fatal(err)
		}
	}
	put("a", "quokka one")
	put("b", "dull")
	put("c", "quokka two")
	forget := func(_ string, body []byte) bool { return bytes.Contains(body, []byte("quokka")) }
	if err := b.Forget(t.Context(), forget); err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(filepath.Join(dir, "log.jsonl")); err != nil || bytes.Contains(raw, []byte("quokka")) || !bytes.Contains(raw, []byte("dull")) {
		t.Errorf("%s, %v", raw, err)
	}
	var sent []string
	n, err := open(t, dir).Deliver(t.Context(), Courier{
		Ready:      func(context.Context, Item) error { return nil },
		Repeatable: func(Item) bool { return false },
		Send:       func(_ context.Context, it Item) (Outcome, error) { sent = append(sent, it.ID); return Delivered, nil },
	})
	if n != 1 || err != nil || sent[0] != "b" {
		t.Errorf("%d, %v: %v", n, err, sent)
	}
	// What was delivered is gone from the disk as well.
	if err := b.Forget(t.Context(), forget); err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(filepath.Join(dir, "log.jsonl")); err != nil || bytes.Contains(raw, []byte("dull")) {
		t.Errorf("%s, %v", raw, err)
	}
	put("b", "the same again")
	if st, err := b.Status(t.Context()); err != nil || st.Waiting != 0 {
		t.Errorf("taken twice: %+v, %v", st, err)
	}
}
