// Package postings reads term positions out of SQLite's FTS5.
//
// FTS5 tells a query only which rows match. Ranking wants to know where in the
// row each term stands, so the package registers one auxiliary function,
// hermes_collect, on every connection opened afterwards. It hands the positions
// to a [Collector] in Go memory without a row crossing into database/sql. The
// function only reads; an archive made with it stays readable by any SQLite.
//
//	c := &postings.Collector{Limit: 1000, Phrases: 3}
//	arg, release := c.Register()
//	defer release()
//	err := query("SELECT 1 FROM f WHERE f MATCH ? AND hermes_collect(f, ?) ORDER BY rowid DESC", expr, arg)
//	if c.Stopped() { err = nil }
//
// The statement returns no row, since the function answers 0. When a limit is
// reached it fails, which ends the statement early. Limits count rows, never
// time, so that the same query finds the same on a busy machine.
package postings

import (
	"sync"
	"sync/atomic"
)

// A Hit is one occurrence of one phrase of the MATCH expression.
type Hit struct {
	Phrase int32 // number of the phrase, from the collector's First
	Pos    int32 // number of its first token in the row, from 0
}

// A Row is one matching row: its hits are Hits[First : First+N] of the
// collector, grouped by phrase, ascending within one.
type Row struct {
	ID       int64
	First, N int32
}

// A Collector gathers what one statement matches. Set the fields of the first
// group before [Collector.Register]; read the second after the statement has
// ended. Not safe for concurrent use.
type Collector struct {
	First   int32            // the first phrase of the expression whose hits are kept
	Phrases int32            // how many phrases from First on
	Keep    func(int64) bool // tells by id whether a row is wanted; nil for all
	Limit   int              // of rows kept; 0 means no limit
	Visit   int              // of rows looked at; 0 means no limit

	Rows []Row
	Hits []Hit

	visited int
	stopped bool
}

// Stopped tells whether a limit ended the statement, whose
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
	return c.Limit > 0 && len(c.Rows) >= c.Limit || c.Visit > 0 && c.visited >= c.Visit
}
