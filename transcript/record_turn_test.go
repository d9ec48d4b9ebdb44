package transcript

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func TestOnlyTheLatestTurnToldAgainIsKeptOnce(t *testing.T) {
	for name, c := range map[string]struct {
		turns string // user text/outcome, a blank between
		want  string // Y added, n not
	}{
		"the same pair twice in a row is one turn":     {"continue/A continue/A continue/A", "Ynn"},
		"the same words with another outcome are two":  {"continue/A continue/B", "YY"},
		"other words with the same outcome are two":    {"yes/ok go/ok", "YY"},
		"the same pair later, after another, is two":   {"yes/ok next/B yes/ok yes/ok", "YYYn"},
		"where text ends and outcome begins says much": {"ab/c a/bc", "YY"},
	} {
		t.Run(name, func(t *testing.T) {
			db := openTurns(t, filepath.Join(t.TempDir(), "a.db"))
			got, added := "", 0
			for _, turn := range strings.Fields(c.turns) {
				text, outcome, _ := strings.Cut(turn, "/")
				yes, err := db.Record(context.Background(), Session{ID: "recorded:s"}, text, outcome)
				if err != nil {
					t.Fatal(err)
				}
				if yes {
					got, added = got+"Y", added+1
				} else {
					got += "n"
				}
			}
			s, err := db.Session(context.Background(), "recorded:s")
			if got != c.want || err != nil || s.Messages != 2*added {
				t.Errorf("got %s, %d messages, %v; want %s", got, s.Messages, err, c.want)
			}
		})
	}
}

func TestOfManyWhoBeginASessionAtOnceOneOwnsIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	var kept atomic.Int32
	var wg sync.WaitGroup
	for i := range 6 {
		db := openTurns(t, path)
		wg.Go(func() {
			_, err := db.Record(context.Background(), Session{ID: "recorded:s", User: fmt.Sprint("u", i)}, "text", "outcome")
			if err == nil {
				kept.Add(1)
			} else if !errors.Is(err, ErrNotFound) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s, err := openTurns(t, path).Session(context.Background(), "recorded:s")
	if kept.Load() != 1 || err != nil || s.Messages != 2 {
		t.Errorf("%d kept a turn, %d messages, %v", kept.Load(), s.Messages, err)
	}
}

func openTurns(t *testing.T, path string) *DB {
	t.Helper()
	db, err := Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}
