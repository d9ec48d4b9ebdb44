package writer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript/engine"
	"github.com/hermes-mcp/hermes-mcp/transcript/record"
)

const (
	// unread is the size of a file that was not read to its end.
	unread = -1
	// enlisted is how many files are made known in one transaction.
	enlisted = 1000
)

// A fileRow is what the archive knows of a file.
type fileRow struct {
	source, path   string
	size, modified int64
	inode          string
	position       int64
	state          string
	print          int64
	tally          record.Tally
	problems       []record.Problem
	final          bool
	gone           bool
	forgotten      bool // something that stands in it was: no cursor is kept
}

// files returns the known files of a source by path, without how far they were
// read: states are large and seldom needed, see recall. Of paths only, when there
// are some.
func (w *Writer) files(ctx context.Context, source string, paths ...string) (out map[string]fileRow, err error) {
	query, args := "SELECT path, size, modified, inode, position, print, problems, final, gone, forgotten FROM file WHERE source = ?", []any{source}
	if len(paths) > 0 {
		list, err := json.Marshal(paths)
		if err != nil {
			return nil, err
		}
		query, args = query+" AND path IN (SELECT value FROM json_each(?))", append(args, string(list))
	}
	rows, err := w.sqlite.Read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, w.sqlite.Explain(err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	out = make(map[string]fileRow)
	for rows.Next() {
		r := fileRow{source: source}
		var problems string
		if err := rows.Scan(&r.path, &r.size, &r.modified, &r.inode, &r.position, &r.print, &problems, &r.final, &r.gone, &r.forgotten); err != nil {
			return nil, err
		}
		if err := fromJSON(problems, &r.problems); err != nil {
			return nil, fmt.Errorf("file %s: %w", r.path, err)
		}
		out[r.path] = r
	}
	return out, w.sqlite.Explain(rows.Err())
}

// recall fills in how far the file was read and what was counted in it.
func (r *fileRow) recall(ctx context.Context, w *Writer) error {
	var tally string
	var state []byte
	err := w.sqlite.Read.QueryRowContext(ctx, "SELECT state, tally FROM file WHERE source = ? AND path = ?", r.source, r.path).Scan(&state, &tally)
	if noRows(err) {
		return nil
	}
	if err != nil {
		return w.sqlite.Explain(err)
	}
	if len(state) > 0 {
		unpacked, err := record.Unpack(state)
		if err != nil {
			return fmt.Errorf("file %s: %w", r.path, err)
		}
		r.state = string(unpacked)
	}
	if err := fromJSON(tally, &r.tally); err != nil {
		return fmt.Errorf("file %s: %w", r.path, err)
	}
	return nil
}

func fromJSON(text string, v any) error {
	if text == "" {
		return nil
	}
	return json.Unmarshal([]byte(text), v)
}

// save writes the row within t.
func (r fileRow) save(t *engine.Tx) error {
	numbers := database(r.path) // is all that the cursor of a database holds
	if r.forgotten && !numbers {
		r.position, r.state, r.print = 0, "", 0
	}
	tally, err := json.Marshal(r.tally)
	if err != nil {
		return err
	}
	state, err := record.Pack([]byte(r.state))
	if err != nil {
		return err
	}
	problems := []byte{}
	if len(r.problems) > 0 {
		if problems, err = json.Marshal(r.problems); err != nil {
			return err
		}
	}
	return t.Exec(`INSERT INTO file (source, path, size, modified, inode, position, state, print, tally, problems, final, gone, forgotten)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (source, path) DO UPDATE SET size = excluded.size, modified = excluded.modified, inode = excluded.inode,
			position = iif(file.forgotten > ?14, 0, excluded.position), state = iif(file.forgotten > ?14, x'', excluded.state),
			print = iif(file.forgotten > ?14, 0, excluded.print), tally = excluded.tally, problems = excluded.problems,
			final = excluded.final, gone = excluded.gone, forgotten = max(file.forgotten, excluded.forgotten)`,
		r.source, r.path, r.size, r.modified, r.inode, r.position, state, r.print, string(tally), string(problems), r.final, r.gone, r.forgotten, numbers)
}

// enlist records files that are not known yet, so that they count as pending
// from the beginning.
func (w *Writer) enlist(ctx context.Context, files []record.File, known map[string]fileRow) error {
	var fresh []fileRow
	for _, f := range files {
		if _, ok := known[f.Path]; !ok {
			fresh = append(fresh, fileRow{source: f.Source, path: f.Path, size: unread})
		}
	}
	for some := range slices.Chunk(fresh, enlisted) {
		err := w.sqlite.Update(ctx, false, func(t *engine.Tx) error {
			for _, r := range some {
				// Another process may have read it meanwhile.
				if err := t.Exec(`INSERT INTO file (source, path, size, modified, inode, position) VALUES (?, ?, ?, 0, '', 0)
					ON CONFLICT DO NOTHING`, r.source, r.path, r.size); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// rewritten tells whether the file is another than the one that was read up to
// position: shorter, or different where it was read.
func (r fileRow) rewritten(size int64) (bool, error) {
	if r.position == 0 || r.print == 0 || database(r.path) {
		return false, nil
	}
	if size < r.position {
		return true, nil
	}
	now, err := fingerprint(r.path, r.position)
	return now != r.print, err
}

// database tells whether path is a database by its name. Such a file is left
// alone: opening and closing it would drop the locks that this process holds
// on it.
func database(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".db", ".sqlite", ".sqlite3", ".vscdb", ".db3":
		return true
	}
	return false
}

const (
	printHead = 4 << 10
	printTail = 1 << 10
)

// fingerprint hashes the beginning of a file and what stands before position;
// 0 when there is nothing to hash.
func fingerprint(path string, position int64) (sum int64, err error) {
	if position <= 0 || database(path) {
		return 0, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h := sha256.New()
	head := min(position, printHead)
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, head)); err != nil {
		return 0, err
	}
	from := max(head, position-printTail)
	if _, err := io.Copy(h, io.NewSectionReader(f, from, position-from)); err != nil {
		return 0, err
	}
	return int64(binary.LittleEndian.Uint64(h.Sum(nil))>>1) | 1, nil
}

// mergeProblems joins the problems of earlier readings with new ones, each
// once, as many as are kept.
func mergeProblems(earlier, now []record.Problem) []record.Problem {
	out := slices.Clone(earlier)
	for _, p := range now {
		if len(out) < maxProblems && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// A Known says what is known of a source's files.
type Known struct {
	Files    int
	Gone     int // not on disk any more
	Pending  int // with something that was not read
	Problems []record.Problem
}

// Known sums up the files of a source.
func (w *Writer) Known(ctx context.Context, source string) (Known, error) {
	files, err := w.files(ctx, source)
	if err != nil {
		return Known{}, err
	}
	k := Known{Files: len(files)}
	for _, f := range files {
		if f.gone {
			k.Gone++
		} else if f.pending() {
			k.Pending++
		}
		k.Problems = append(k.Problems, f.problems...)
	}
	sort.Slice(k.Problems, func(i, j int) bool {
		a, b := &k.Problems[i], &k.Problems[j]
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line)) < 0
	})
	return k, nil
}

// pending tells whether the file has something that was not read.
func (r fileRow) pending() bool {
	if r.size == unread {
		return true
	}
	info, err := os.Stat(r.path)
	if err != nil {
		return false
	}
	if database(r.path) { // its size includes a log that comes and goes
		return info.ModTime().UnixNano() > r.modified
	}
	return info.Size() > r.size || info.ModTime().UnixNano() != r.modified
}

// Unread returns those of files of a source that were not read to their end as
// they are now.
func (w *Writer) Unread(ctx context.Context, source string, files []record.File) ([]record.File, error) {
	known, err := w.files(ctx, source)
	if err != nil {
		return nil, err
	}
	var out []record.File
	for _, f := range files {
		if r, ok := known[f.Path]; !ok || r.pending() {
			out = append(out, f)
		}
	}
	return out, nil
}
