package transcript

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hermes-mcp/hermes-mcp/testbed"
)

type history struct {
	ID       string
	Sessions []struct {
		ID, Date string
		Turns    []struct{ Role, Text, ID string }
	}
	QA []struct {
		Question, Category string
		Gold               []string
	}
}

func readHistories(t testing.TB, name string) []history {
	t.Helper()
	raw, err := os.ReadFile(testbed.Path(t, "recall", name))
	if err != nil {
		t.Fatal(err)
	}
	var out []history
	var loose []map[string]json.RawMessage
	if err := json.Unmarshal(raw, &loose); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func parseDate(s string) time.Time {
	for _, layout := range []string{"3:04 pm on 2 January, 2006", "2006/01/02 (Mon) 15:04"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t
		}
	}
	return time.Time{}
}

func store1(t testing.TB, db *DB, h history) {
	t.Helper()
	for _, s := range h.Sessions {
		at := parseDate(s.Date)
		sess := Session{ID: "recall:" + h.ID + "/" + s.ID, StartedAt: at}
		var msgs []Message
		for i, turn := range s.Turns {
			m := Message{UID: fmt.Sprint(i), Content: turn.Text, At: at.Add(time.Duration(i) * time.Second)}
			switch turn.Role {
			case "user":
				m.Role = UserRole
			case "assistant":
				m.Role = Assistant
			default:
				m.Role, m.Content = UserRole, turn.Role+": "+turn.Text
			}
			msgs = append(msgs, m)
		}
		if err := db.Put(context.Background(), sess, msgs); err != nil {
			t.Fatal(err)
		}
	}
}

type recall struct {
	n, empty                   int
	r1, r3, r5, r10, hit1, mrr float64
}

func (r *recall) add(gold []string, got []string) {
	r.n++
	if len(got) == 0 {
		r.empty++
	}
	isGold := make(map[string]bool)
	for _, g := range gold {
		isGold[g] = true
	}
	found, first := 0, 0
	at := func(k int) float64 {
		n := 0
		for i := 0; i < min(k, len(got)); i++ {
			if isGold[got[i]] {
				n++
			}
		}
		return float64(n) / float64(len(isGold))
	}
	for i, g := range got {
		if isGold[g] {
			found++
			if first == 0 {
				first = i + 1
			}
		}
	}
	r.r1 += at(1)
	r.r3 += at(3)
	r.r5 += at(5)
	r.r10 += at(10)
	if first == 1 {
		r.hit1++
	}
	if first > 0 {
		r.mrr += 1 / float64(first)
	}
}

func (r recall) String() string {
	n := float64(r.n)
	return fmt.Sprintf("n=%d empty=%d recall @1 %.3f @3 %.3f @5 %.3f @10 %.3f hit@1 %.3f mrr %.3f", r.n, r.empty, r.r1/n, r.r3/n, r.r5/n, r.r10/n, r.hit1/n, r.mrr/n)
}

func ask(t testing.TB, db *DB, h history, r *recall, by map[string]*recall) {
	for _, qa := range h.QA {
		a, err := db.Search(context.Background(), Query{Text: qa.Question, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, hit := range a.Hits {
			got = append(got, strings.TrimPrefix(hit.Session.ID, "recall:"+h.ID+"/"))
		}
		r.add(qa.Gold, got)
		if by[qa.Category] == nil {
			by[qa.Category] = &recall{}
		}
		by[qa.Category].add(qa.Gold, got)
	}
}

// TestRecallOfNaturalQuestions measures the promise of finding the right
// session without a model, one database a history.
func TestRecallOfNaturalQuestions(t *testing.T) {
	for _, set := range []struct {
		name      string
		recall5   float64
		mrr, hit1 float64
	}{{"locomo_dev.json", 0.905, 0.855, 0}, {"lme_pool_dev.json", 0.69, 0, 0.56}} {
		t.Run(set.name, func(t *testing.T) {
			var r recall
			by := make(map[string]*recall)
			for _, h := range readHistories(t, set.name) {
				db := openTest(t)
				store1(t, db, h)
				ask(t, db, h, &r, by)
			}
			t.Log(r)
			for c, b := range by {
				t.Log(c, b)
			}
			n := float64(r.n)
			if r.r5/n < set.recall5 || r.mrr/n < set.mrr || r.hit1/n < set.hit1 || r.empty > 0 {
				t.Errorf("below the promise: %v", r)
			}
		})
	}
}
