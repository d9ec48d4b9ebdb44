package transcript

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hermes-mcp/hermes-mcp/transcript/record"
)

// plans pins, for every statement of the planner and of what a hit is read by,
// the way that SQLite takes. Upstream #77033: search read full contents that it
// never returned; here what looks for matches names no table that holds text.
var plans = map[string]string{
	// Package index.
	"SELECT 1 FROM message_fts WHERE message_fts MATCH ? AND hermes_collect(message_fts, ?) ORDER BY rowid DESC":                          "SCAN message_fts VIRTUAL TABLE INDEX 192:M1",
	"SELECT 1 FROM message_fts WHERE message_fts MATCH ? AND hermes_collect(message_fts, ?) ORDER BY rowid":                               "SCAN message_fts VIRTUAL TABLE INDEX 64:M1",
	"SELECT 1 FROM session_fts WHERE session_fts MATCH ? AND hermes_collect(session_fts, ?) ORDER BY rowid DESC":                          "SCAN session_fts VIRTUAL TABLE INDEX 192:M1",
	"SELECT 1 FROM message_fts WHERE message_fts MATCH ? AND hermes_collect(message_fts, ?) AND rowid BETWEEN ? AND ?":                    "SCAN message_fts VIRTUAL TABLE INDEX 0:M1><",
	"SELECT count(*), coalesce(min(rowid), 0) FROM (SELECT rowid FROM message_fts WHERE message_fts MATCH ? ORDER BY rowid DESC LIMIT ?)": "CO-ROUTINE (subquery-1); SCAN message_fts VIRTUAL TABLE INDEX 192:M1; SCAN (subquery-1)",
	"SELECT term, df FROM term WHERE term = ?":                                                                     "SEARCH term USING PRIMARY KEY (term=?)",
	"SELECT term, df FROM term WHERE term IN (SELECT value FROM json_each(?)) AND df > 1":                          "SEARCH term USING PRIMARY KEY (term=?); LIST SUBQUERY 1; SCAN json_each VIRTUAL TABLE INDEX 1:",
	"SELECT term, df FROM term WHERE term IN (SELECT value FROM json_each(?)) AND df > 0 ORDER BY df DESC LIMIT ?": "SEARCH term USING PRIMARY KEY (term=?); LIST SUBQUERY 1; SCAN json_each VIRTUAL TABLE INDEX 1:; USE TEMP B-TREE FOR ORDER BY",
	"SELECT term, df FROM term WHERE term >= ? AND term < ? AND df > 0 ORDER BY df DESC LIMIT ?":                   "SEARCH term USING PRIMARY KEY (term>? AND term<?); USE TEMP B-TREE FOR ORDER BY",
	"SELECT r.value, f.value FROM counter r, counter f WHERE r.name = 'rev' AND f.name = 'forgotten'":              "SEARCH r USING PRIMARY KEY (name=?); SEARCH f USING PRIMARY KEY (name=?)",
	"SELECT id, root, name, source, CASE project WHEN '' THEN dir ELSE project END, started / 1000, active / 1000, surface, end_reason, user, chat, preview, " +
		"EXISTS (SELECT 1 FROM session c WHERE c.parent = s.name AND c.parent <> '' AND c.relation IN ('compaction', 'reset')) FROM session s WHERE rev > ?": "SEARCH s USING INDEX session_rev (rev>?); CORRELATED SCALAR SUBQUERY 1; SEARCH c USING INDEX session_parent (parent=?)",
	"SELECT id, session, slots FROM block INDEXED BY block_rev WHERE rev > ? ORDER BY id": "SEARCH block USING INDEX block_rev (rev>?); USE TEMP B-TREE FOR ORDER BY",
}

func TestPlansOfTheStatementsOfASearch(t *testing.T) {
	db := openTest(t)
	put(t, db, "t:a", "x")
	for _, query := range statements(t, "index") {
		if _, ok := plans[query]; !ok {
			t.Errorf("the plan of this statement is not pinned: %s", query)
		}
	}
	for query, want := range plans {
		rows, err := db.read.Query("EXPLAIN QUERY PLAN "+query, make([]any, strings.Count(query, "?"))...)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		var lines []string
		for rows.Next() {
			var a, b, c int
			var detail string
			if err := rows.Scan(&a, &b, &c, &detail); err != nil {
				t.Fatal(err)
			}
			lines = append(lines, detail)
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(lines, "; "); got != want {
			t.Errorf("%s\n is %q,\nwant %q", query, got, want)
		}
		if slices.ContainsFunc(lines, func(l string) bool {
			table, scan := strings.CutPrefix(l, "SCAN ")
			return scan && !strings.Contains(l, "VIRTUAL TABLE") && !strings.HasPrefix(table, "(subquery")
		}) {
			t.Errorf("%s reads a whole table: %q", query, lines)
		}
	}
}

// Every write leaves a piece of each index, and every search walks through all of
// them: upkeep leaves few, of the titles too.
func TestUpkeepLeavesFewPiecesOfEachIndex(t *testing.T) {
	db := openTest(t)
	for i := range 40 {
		put(t, db, fmt.Sprintf("t:%d", i), fmt.Sprintf("word%d and more", i))
	}
	if err := db.Tend(context.Background(), true); err != nil {
		t.Fatal(err)
	}
	for _, index := range []string{"message_fts", "session_fts"} {
		var pieces int
		if err := db.read.QueryRow("SELECT count(DISTINCT segid) FROM " + index + "_idx").Scan(&pieces); err != nil {
			t.Fatal(err)
		}
		if pieces > 8 {
			t.Errorf("%s is in %d pieces", index, pieces)
		}
	}
}

// statements returns what the files of a folder ask SQLite, with single spaces.
func statements(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var out []string
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			if text = strings.Join(strings.Fields(text), " "); strings.HasPrefix(text, "SELECT ") {
				out = append(out, text)
			}
			return true
		})
	}
	return out
}

// What a hit and a page are read by.
func init() {
	columns := strings.Join(strings.Fields(record.SessionColumns), " ")
	for rest, plan := range map[string]string{
		"WHERE id = ?": "SEARCH session USING INTEGER PRIMARY KEY (rowid=?)", "WHERE name = ?": "SEARCH session USING INDEX sqlite_autoindex_session_1 (name=?)", "WHERE bare = ?1 LIMIT 4": "SEARCH session USING INDEX session_bare (bare=?)",
		"WHERE name >= ?1 AND name < ?1 || char(1114111) LIMIT 4": "SEARCH session USING INDEX sqlite_autoindex_session_1 (name>? AND name<?)",
	} {
		plans["SELECT "+columns+" FROM session "+rest] = plan
	}
	plans["SELECT id FROM ("+membersOf+") ORDER BY seq, id"] = "CO-ROUTINE (subquery-2); COMPOUND QUERY; LEFT-MOST SUBQUERY; " +
		"SEARCH message USING COVERING INDEX message_session (session=?); UNION ALL; SEARCH member USING PRIMARY KEY (session=?); " +
		"SCAN (subquery-2); USE TEMP B-TREE FOR ORDER BY"
}

// A statement that is made for every session must not read all sessions. What
// was forgotten is little.
func TestTheWriterFindsWhatItChangesByAnIndex(t *testing.T) {
	db := openTest(t)
	put(t, db, "t:a", "x")
	seen := 0
	for _, query := range statements(t, "writer") {
		rows, err := db.read.Query("EXPLAIN QUERY PLAN "+query, make([]any, strings.Count(query, "?"))...)
		if err != nil {
			continue // a part of a statement
		}
		seen++
		for rows.Next() {
			var a, b, c int
			var detail string
			if err := rows.Scan(&a, &b, &c, &detail); err != nil {
				t.Fatal(err)
			}
			table, scan := strings.CutPrefix(detail, "SCAN ")
			if scan && table != "CONSTANT ROW" && !strings.HasPrefix(table, "tombstone") && !strings.Contains(table, "VIRTUAL TABLE") {
				t.Errorf("%s: %s", query, detail)
			}
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if seen < 10 {
		t.Errorf("%d statements found", seen)
	}
}
