// Package residue looks for what is left of a text in a folder: in the bytes of
// its files, in compressed pieces among these bytes, and in the packed columns
// of archives. Tests of forgetting ask it; no command does.
package residue

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
	_ "modernc.org/sqlite" // the driver

	"github.com/hermes-mcp/hermes-mcp/transcript/record"
)

// mostUnpacked bounds what is unpacked of one piece.
const mostUnpacked = 4 << 20

// magic begins a compressed piece.
var magic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// Find lists where word, in lower case, stands below dir in any case.
func Find(dir, word string) (found []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if holds(raw, word) {
			found = append(found, path)
		}
		for rest := raw; ; rest = rest[len(magic):] {
			i := bytes.Index(rest, magic)
			if i < 0 {
				break
			}
			rest = rest[i:]
			if holds(unpack(rest), word) {
				found = append(found, path+", packed")
				break
			}
		}
		if bytes.HasPrefix(raw, []byte("SQLite format 3\x00")) {
			in, err := columns(path, word)
			found = append(found, in...)
			return err
		}
		return nil
	})
	return found, err
}

func holds(text []byte, word string) bool { return bytes.Contains(bytes.ToLower(text), []byte(word)) }

// unpack returns as much as can be had of a piece at the beginning of raw,
// whatever follows it.
func unpack(raw []byte) []byte {
	d, err := zstd.NewReader(bytes.NewReader(raw), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil
	}
	defer d.Close()
	var out bytes.Buffer
	if _, err := io.Copy(&out, io.LimitReader(d, mostUnpacked)); err != nil {
		return out.Bytes() // the piece ends where something else begins
	}
	return out.Bytes()
}

// columns looks into every column that holds bytes.
func columns(path, word string) (found []string, err error) {
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path)+"?mode=ro")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rows, err := db.Query(`SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c
		WHERE t.type = 'table' AND t.sql LIKE 'CREATE TABLE%' AND upper(c.type) = 'BLOB'`)
	if err != nil {
		return nil, err
	}
	var all [][2]string
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		all = append(all, [2]string{table, column})
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	for _, c := range all {
		in, err := column(db, c[0], c[1], word)
		if err != nil {
			return nil, fmt.Errorf("%s: %s.%s: %w", path, c[0], c[1], err)
		}
		if in {
			found = append(found, path+", "+strings.Join(c[:], "."))
		}
	}
	return found, nil
}

func column(db *sql.DB, table, name, word string) (found bool, err error) {
	rows, err := db.Query(`SELECT "` + name + `" FROM "` + table + `" WHERE "` + name + `" IS NOT NULL`)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var raw []byte
		if err := rows.Scan(&raw); err != nil {
			return false, err
		}
		if text, err := record.Unpack(raw); err == nil && holds(text, word) {
			found = true
		}
	}
	return found, rows.Err()
}
