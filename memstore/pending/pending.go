// Package pending keeps edits that wait for somebody's yes, one JSON file each,
// in the shape that Hermes Agent uses, so that its records can be decided here
// too.
//
// A record is written whole and durably, and goes only when it is decided.
package pending

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"time"

	"github.com/hermes-mcp/hermes-mcp/memstore/durable"
)

// A Record is one waiting edit.
type Record struct {
	ID        string  `json:"id"`
	Subsystem string  `json:"subsystem"` // "memory"
	Action    string  `json:"action"`    // of the first op, or "batch"
	Summary   string  `json:"summary"`   // at most 120 characters, for a list
	Origin    string  `json:"origin"`    // foreground or background_review
	CreatedAt Time    `json:"created_at"`
	Payload   Payload `json:"payload"`

	Path string `json:"-"` // where it was read
}

// A Payload is the call that waits.
type Payload struct {
	Op
	Target     string          `json:"target"`
	File       string          `json:"file,omitempty"` // whose file, as the journal names it; ours only
	Operations []Op            `json:"operations,omitempty"`
	Who        json.RawMessage `json:"who,omitempty"` // the caller; ours only
}

// An Op is one edit. Matched is the whole entry that old_text found when it was
// proposed: the edit is only good as long as that is what it finds.
type Op struct {
	Action     string   `json:"action,omitempty"`
	Content    string   `json:"content,omitempty"`
	NewText    string   `json:"new_text,omitempty"` // another name for content
	OldText    string   `json:"old_text,omitempty"`
	Matched    string   `json:"matched_entry,omitempty"`
	Source     string   `json:"source,omitempty"`
	Confidence string   `json:"confidence,omitempty"`
	Scope      string   `json:"scope,omitempty"`
	Evidence   []string `json:"evidence,omitempty"`
}

// Ops returns the edits of the call.
func (p Payload) Ops() []Op {
	ops := p.Operations
	if len(ops) == 0 {
		ops = []Op{p.Op}
	}
	for i := range ops {
		ops[i].Content = cmp.Or(ops[i].Content, ops[i].NewText)
	}
	return ops
}

// Time is a moment, read from RFC 3339 or from seconds since 1970.
type Time struct{ time.Time }

// UnmarshalJSON reads either form; anything else is no time.
func (t *Time) UnmarshalJSON(b []byte) error {
	var seconds float64
	if json.Unmarshal(b, &seconds) == nil {
		t.Time = time.UnixMicro(int64(seconds * 1e6)).UTC()
		return nil
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999", "2006-01-02 15:04:05"} {
		if at, err := time.Parse(layout, s); err == nil {
			t.Time = at
			return nil
		}
	}
	t.Time = time.Time{}
	return nil
}

var plainID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// List reads the records in dir, oldest first. A file that is no record is told
// in the error; the others are returned all the same.
func List(dir string) ([]Record, error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Record
	var bad error
	for _, f := range files {
		id, ok := strings.CutSuffix(f.Name(), ".json")
		if !ok || !plainID.MatchString(id) {
			continue
		}
		r, err := read(filepath.Join(dir, f.Name()))
		switch {
		case errors.Is(err, fs.ErrNotExist): // decided just now
		case err != nil:
			bad = errors.Join(bad, err)
		default:
			r.ID = id
			all = append(all, r)
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].CreatedAt.Before(all[j].CreatedAt.Time) })
	return all, bad
}

func read(path string) (Record, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return Record{}, err
	}
	r := Record{Path: path}
	if err := json.Unmarshal(raw, &r); err != nil {
		return Record{}, fmt.Errorf("%s is no record of a waiting edit: %w", path, err)
	}
	return r, nil
}

// Write puts r into dir, durably.
func Write(dir string, r Record) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := durable.MakeFolder(dir, true); err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(dir, r.ID+".json"), raw)
}

// Remove takes away a record that was decided.
func (r Record) Remove() error {
	if err := os.Remove(r.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return durable.SyncFolder(filepath.Dir(r.Path))
}
