package postings

import (
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// The C side of the driver is Go translated from C: a function pointer is the
// data word of a func value, and memory is addressed by uintptr. funcPointer,
// call and at are the only places that turn one into the other.

func init() {
	tls := libc.NewTLS()
	defer tls.Close()
	sqlite3.Xsqlite3_auto_extension(tls, funcPointer(install))
}

// funcPointer returns the function pointer of a top-level function.
func funcPointer(f any) uintptr {
	type iface [2]uintptr
	return (*iface)(unsafe.Pointer(&f))[1]
}

// call turns a function pointer of C's into a callable of type F.
func call[F any](p uintptr) F {
	fn := &struct{ uintptr }{p}
	return *(*F)(unsafe.Pointer(fn))
}

// at views C memory at p as a T. The memory belongs to SQLite and stays where
// it is for the duration of the callback.
func at[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

// install is SQLite's extension entry point: it adds hermes_collect to the
// FTS5 of connection db. Its error is that of opening the connection.
func install(tls *libc.TLS, db, _, _ uintptr) int32 {
	api, rc := fts5API(tls, db)
	if rc != sqlite3.SQLITE_OK {
		return rc
	}
	name, err := libc.CString("hermes_collect")
	if err != nil {
		return sqlite3.SQLITE_NOMEM
	}
	defer libc.Xfree(tls, name)
	create := call[func(*libc.TLS, uintptr, uintptr, uintptr, uintptr, uintptr) int32](at[sqlite3.Tfts5_api](api).FxCreateFunction)
	return create(tls, api, name, 0, funcPointer(collect), 0)
}

// openPatience is how long opening a connection waits, in milliseconds, for
// another process that is making or recovering the database: the statement that
// fetches FTS5's interface reads the schema. The driver sets its own later.
const openPatience = 5000

// fts5API fetches the connection's fts5_api the documented way: a statement
// that writes the pointer where a bound pointer says.
func fts5API(tls *libc.TLS, db uintptr) (api uintptr, rc int32) {
	sql, err := libc.CString("SELECT fts5(?1)")
	if err != nil {
		return 0, sqlite3.SQLITE_NOMEM
	}
	defer libc.Xfree(tls, sql)
	kind, err := libc.CString("fts5_api_ptr")
	if err != nil {
		return 0, sqlite3.SQLITE_NOMEM
	}
	defer libc.Xfree(tls, kind)
	word := int(unsafe.Sizeof(uintptr(0)))
	out := tls.Alloc(2 * word)
	defer tls.Free(2 * word)
	stmt := out + uintptr(word)
	*at[uintptr](out) = 0
	sqlite3.Xsqlite3_busy_timeout(tls, db, openPatience)
	if rc := sqlite3.Xsqlite3_prepare_v2(tls, db, sql, -1, stmt, 0); rc != sqlite3.SQLITE_OK {
		return 0, rc
	}
	sqlite3.Xsqlite3_bind_pointer(tls, *at[uintptr](stmt), 1, out, kind, 0)
	sqlite3.Xsqlite3_step(tls, *at[uintptr](stmt))
	rc = sqlite3.Xsqlite3_finalize(tls, *at[uintptr](stmt))
	if rc == sqlite3.SQLITE_OK && *at[uintptr](out) == 0 {
		rc = sqlite3.SQLITE_ERROR // an SQLite without FTS5
	}
	return *at[uintptr](out), rc
}

// collect is hermes_collect(table, n): it appends the current row to collector
// number n and answers 0, or fails when that collector is full.
func collect(tls *libc.TLS, api, fts, ctx uintptr, argc int32, argv uintptr) {
	c := collectorOf(tls, argc, argv)
	if c == nil || c.full() {
		if c != nil {
			c.stopped = true
		}
		sqlite3.Xsqlite3_result_error_code(tls, ctx, sqlite3.SQLITE_ABORT)
		return
	}
	c.visited++
	sqlite3.Xsqlite3_result_int(tls, ctx, 0)
	x := at[sqlite3.TFts5ExtensionApi](api)
	row := Row{
		ID:    call[func(*libc.TLS, uintptr) int64](x.FxRowid)(tls, fts),
		First: int32(len(c.Hits)),
	}
	if c.Keep != nil && !c.Keep(row.ID) {
		return
	}
	first := call[func(*libc.TLS, uintptr, int32, uintptr, uintptr, uintptr) int32](x.FxPhraseFirst)
	next := call[func(*libc.TLS, uintptr, uintptr, uintptr, uintptr)](x.FxPhraseNext)

	const iterSize = int(unsafe.Sizeof(sqlite3.TFts5PhraseIter{}))
	buf := tls.Alloc(iterSize + 8)
	defer tls.Free(iterSize + 8)
	iter, col, off := buf, buf+uintptr(iterSize), buf+uintptr(iterSize)+4
	for p := range c.Phrases {
		if rc := first(tls, fts, c.First+p, iter, col, off); rc != sqlite3.SQLITE_OK {
			sqlite3.Xsqlite3_result_error_code(tls, ctx, rc)
			return
		}
		for *at[int32](col) >= 0 {
			c.Hits = append(c.Hits, Hit{Phrase: p, Pos: *at[int32](off)})
			next(tls, fts, iter, col, off)
		}
	}
	row.N = int32(len(c.Hits)) - row.First
	c.Rows = append(c.Rows, row)
}

// collectorOf resolves the function's argument, or nil.
func collectorOf(tls *libc.TLS, argc int32, argv uintptr) *Collector {
	if argc != 1 {
		return nil
	}
	v, ok := collectors.Load(int64(sqlite3.Xsqlite3_value_int64(tls, *at[uintptr](argv))))
	if !ok {
		return nil
	}
	return v.(*Collector)
}
