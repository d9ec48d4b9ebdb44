// Package journal keeps every edit of the curated memory, one JSON line each,
// in an append-only file.
//
// # Format, version 1
//
// A line is an object, terminated by LF:
//
//	v              1
//	id             11 characters, sortable by time, unique in the journal
//	at             RFC 3339 time of the edit
//	target         the file it is about, for example "memory"
//	kind           see below
//	of             the id of the edit that this line is about
//	ops            the edits as asked for
//	before, after  the file's whole bytes: a string, or {"base64": "…"} when
//	               they are not UTF-8
//	before_sha256, after_sha256
//	file_time      foreign only: when the file was last written
//	boot           the machine's start during which the file was replaced, when
//	               its folder had yet to be synced; see settled
//	who            {session, client, origin, pid}; absent when unknown
//
// Kinds that carry a text: edit, undo and restore are ours; foreign is a
// change that somebody else made and that was found before an edit of ours;
// rescued is a text that a killed writer left beside the file (before), with
// the file as it then was (after). Marks, without a text: abort says that the
// edit named by of never reached the disk, in_place that it is being written
// where no rename is possible, confirm that what the ops would add was there
// already, settled that the folder of the target has been synced, forgotten that
// what lines about the target said was taken out; it also stands in their place,
// filled up with blanks to the length that they had.
//
// A line is written when its new content stands beside the file under a
// temporary name with the line's id. As long as the file is not the line's
// after and that name is there, the edit has not reached the disk.
//
// # After a power cut
//
// A line with boot was acknowledged when it and the new content were durable,
// and the new content was in force, but perhaps not yet the folder's change of
// which file has the name. A power cut may take that change back: the file is
// then, whole, what it was before that line or before one of the lines since
// the last settled one. Readers and writers that find it so, in another boot
// and not written since, put the last after in force again. What a person puts
// back by hand is told from that by the boot, by the settled mark, which
// follows in about a second, and by the file's time.
//
// # Reading and writing
//
// Writers hold mcp/memory.lock. Nothing that was written is changed, but by
// [Log.Forget]. A line that a kill cut short is ended by the
// next writer and skipped by readers; so is a line whose hashes do not fit.
// Unknown fields and kinds are skipped, so that older programs can read what
// newer ones write.
package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// Kinds of lines.
const (
	Edit    = "edit"
	Undo    = "undo"
	Restore = "restore"
	Foreign = "foreign"
	Rescued = "rescued"
	Abort   = "abort"
	InPlace = "in_place"
	Confirm = "confirm"
	Settled = "settled"

	Forgotten = "forgotten"
)

// A Record is one line.
type Record struct {
	V         int             `json:"v"`
	ID        string          `json:"id"`
	At        time.Time       `json:"at"`
	Target    string          `json:"target"`
	Kind      string          `json:"kind"`
	Of        string          `json:"of"`
	Ops       json.RawMessage `json:"ops"`
	Before    Text            `json:"before"`
	After     Text            `json:"after"`
	BeforeSHA string          `json:"before_sha256"`
	AfterSHA  string          `json:"after_sha256"`
	FileTime  time.Time       `json:"file_time"`
	Boot      string          `json:"boot"`
	Who       json.RawMessage `json:"who"`
}

// Text is a file's bytes; nil when the line carries none.
type Text []byte

// MarshalJSON writes UTF-8 as a string, anything else as an object with base64,
// and no text as null.
func (t Text) MarshalJSON() ([]byte, error) {
	if t == nil {
		return []byte("null"), nil
	}
	return t.append(nil), nil
}

// UnmarshalJSON reads a string, or an object with base64.
func (t *Text) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*t = nil
		return nil
	}
	if len(b) > 0 && b[0] == '{' {
		var v struct{ Base64 []byte }
		if err := json.Unmarshal(b, &v); err != nil {
			return err
		}
		*t = append(Text{}, v.Base64...)
		return nil
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	*t = Text(s)
	return nil
}

// Hash is the hex SHA-256 of text.
func Hash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// HasText tells whether the record's kind carries before and after.
func (r Record) HasText() bool {
	switch r.Kind {
	case Edit, Undo, Restore, Foreign, Rescued:
		return true
	}
	return false
}

// A Log is the journal file of one home.
type Log struct{ Path string }
