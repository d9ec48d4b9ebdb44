// Package postings reads term positions out of SQLite's FTS5.
//
// FTS5 tells a query only which rows match. Ranking wants to know where in the
// row each term stands, so the package registers one auxiliary function,
// hermes_collect, on every connection opened afterwards. It hands the positions
// to a [Collector] in Go memory without a row crossing into database/sql. The
// function only reads; an archive made with it stays readable by any SQLite.
//
//	c := &postings.Collector{Limit: 1000}
//	arg, release := c.Register()
//	defer release()
//	err := query("SELECT 1 FROM f WHERE f MATCH ? AND hermes_collect(f, ?) ORDER BY rowid DESC", expr, arg)
//	if c.Stopped() { err = nil }
//
// The statement returns no row, since the function answers 0. When the limit or
// the deadline is reached it fails, which ends the statement early.
package postings

import (
	"sync"
	"sync/atomic"
	"time"
)

// A Hit is one occurrence of one phrase of the MATCH expression.
type Hit struct {
	Phrase int32 // number of the phrase in the expression, from 0
	Pos    int32 // number of its first token in the row, from 0
}

// A Row is one matching row: its hits are Hits[First : First+N] of the
// collector, grouped by phrase, ascending within one.
type Row struct {
	ID       int64
	First, N int32
}

// A Collector gathers what one statement matches. Set Limit and Deadline before
// [Collector.Register]; read the rest after the statement has ended. Not safe
// for concurrent use.
type Collector struct {
	Limit    int       // rows; 0 means no limit
	Deadline time.Time // zero means none; looked at every 64 rows

	Rows []Row
	Hits []Hit

	stopped bool
}

// Stopped tells whether the limit or the deadline ended the statement, whose
// error then means nothing.
func (c *Collector) Stopped() bool { return c.stopped }

// Of returns the hits of row.
func (c *Collector) Of(row Row) []Hit { return c.Hits[row.First : row.First+row.N] }

// collectors holds those that are registered. SQLite can carry a number to the
// function, not a Go pointer.
var (
	collectors sync.Map // int64 → *Collector
	lastID     atomic.Int64
)

// Register makes c reachable from SQL until release is called, by the number
// that is handed to hermes_collect as its argument.
func (c *Collector) Register() (arg int64, release func()) {
	arg = lastID.Add(1)
	collectors.Store(arg, c)
	return arg, func() { collectors.Delete(arg) }
}

// full tells whether c takes no further row.
func (c *Collector) full() bool {
	if c.Limit > 0 && len(c.Rows) >= c.Limit {
		return true
	}
	return !c.Deadline.IsZero() && len(c.Rows)%64 == 63 && time.Now().After(c.Deadline)
}
