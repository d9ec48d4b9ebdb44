package postings

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	_ "modernc.org/sqlite"
)

func open(t testing.TB, rows int) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "f.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if _, err := db.Exec(`PRAGMA journal_mode=WAL; CREATE VIRTUAL TABLE f USING fts5(text, content='', contentless_delete=1, tokenize='ascii')`); err != nil {
		t.Fatal(err)
	}
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		text := fmt.Sprintf("alpha word%d beta alpha gamma%d", i, i%10)
		if _, err := tx.Exec(`INSERT INTO f(rowid, text) VALUES(?, ?)`, i+1, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	return db
}

func run(t testing.TB, db *sql.DB, c *Collector, match string) {
	arg, release := c.Register()
	defer release()
	rows, err := db.Query(`SELECT 1 FROM f WHERE f MATCH ? AND hermes_collect(f, ?) ORDER BY rowid DESC`, match, arg)
	if err == nil {
		for rows.Next() {
			t.Error("the statement returned a row")
		}
		err = rows.Err()
		rows.Close()
	}
	if err != nil && !c.Stopped() {
		t.Error(err)
	}
}

func TestPositionsOfEveryPhraseAreCollected(t *testing.T) {
	db := open(t, 20)
	c := &Collector{Phrases: 3}
	run(t, db, c, `"alpha" OR "word7" OR "beta alpha"`)
	if len(c.Rows) != 20 || c.Rows[0].ID != 20 {
		t.Fatalf("rows %d, first %v", len(c.Rows), c.Rows[0])
	}
	var got []string
	for _, h := range c.Of(c.Rows[12]) { // row 8 holds word7
		got = append(got, fmt.Sprintf("%d@%d", h.Phrase, h.Pos))
	}
	if s := strings.Join(got, " "); s != "0@0 0@3 1@1 2@2" {
		t.Errorf("hits %s", s)
	}
}

func TestALimitEndsTheStatementEarly(t *testing.T) {
	db := open(t, 500)
	c := &Collector{Phrases: 1, Limit: 7}
	run(t, db, c, `"alpha"`)
	if len(c.Rows) != 7 || !c.Stopped() {
		t.Errorf("rows %d, stopped %v", len(c.Rows), c.Stopped())
	}
}

func TestUnwantedRowsAreVisitedButNotKept(t *testing.T) {
	db := open(t, 500)
	c := &Collector{First: 1, Phrases: 1, Visit: 100, Keep: func(id int64) bool { return id%2 == 0 }}
	run(t, db, c, `"alpha" OR "beta"`)
	if len(c.Rows) != 50 || len(c.Hits) != 50 || c.Hits[0].Phrase != 0 || c.Hits[0].Pos != 2 {
		t.Errorf("rows %d, hits %v", len(c.Rows), c.Hits[:1])
	}
}

func TestCollectorsOfConcurrentStatementsDoNotMix(t *testing.T) {
	db := open(t, 300)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 20 {
				c := &Collector{}
				run(t, db, c, fmt.Sprintf(`"gamma%d"`, i))
				if len(c.Rows) != 30 {
					t.Errorf("gamma%d: %d rows", i, len(c.Rows))
				}
			}
		})
	}
	wg.Wait()
}

func TestAnUnknownCollectorIsAnErrorNotACrash(t *testing.T) {
	db := open(t, 3)
	for _, q := range []string{
		`SELECT 1 FROM f WHERE f MATCH 'alpha' AND hermes_collect(f, -1)`,
		`SELECT 1 FROM f WHERE f MATCH 'alpha' AND hermes_collect(f)`,
	} {
		var n int
		if err := db.QueryRow(q).Scan(&n); err == nil || err == sql.ErrNoRows {
			t.Errorf("%s: %v", q, err)
		}
	}
}

func BenchmarkCollect(b *testing.B) {
	db := open(b, 50000)
	b.ResetTimer()
	n := 0
	for b.Loop() {
		c := &Collector{Phrases: 3}
		run(b, db, c, `"alpha" OR "gamma3" OR "gamma5"`)
		n += len(c.Rows)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/row")
}
