package memstore

import (
	"strings"

	"github.com/hermes-mcp/hermes-mcp/memstore/conflict"
	"github.com/hermes-mcp/hermes-mcp/memstore/document"
)

// A Conflict is an entry that does not go together with another text. Nothing
// is done about it: who reads both decides.
type Conflict struct {
	Entry Entry
	With  string // the other text
	Kind  conflict.Kind
}

// Pairs returns the entries that contradict or nearly repeat one another, for a
// person or a model that goes through them. With is the younger of two.
func Pairs(entries []Entry) []Conflict {
	var texts []string
	for _, e := range entries {
		texts = append(texts, e.Text)
	}
	var all []Conflict
	for _, p := range conflict.Pairs(texts) {
		older, newer := entries[p.A], entries[p.B]
		if newer.UpdatedAt.Before(older.UpdatedAt) {
			older, newer = newer, older
		}
		all = append(all, Conflict{Entry: older, With: newer.Text, Kind: p.Kind})
	}
	return all
}

// conflictsWith returns the entries that contradict content. Entries equal to it
// do not count.
func conflictsWith(entries []Entry, content string, read func(string) conflict.Reading) []Conflict {
	content = document.Clean(content)
	said := read(content)
	var all []Conflict
	for _, e := range entries {
		if e.Text == content {
			continue
		}
		if kind := read(e.Text).Contradicts(said); kind != "" {
			all = append(all, Conflict{Entry: e, With: content, Kind: kind})
		}
	}
	return all
}

// reading reads an entry, which it does once.
func (s *Store) reading(entry string) conflict.Reading {
	return s.readings.about(entry, func(entry string) conflict.Reading {
		return conflict.Read(strings.Clone(entry)) // it may be a piece of a whole file
	})
}

// conflicts returns what the changes brought into conflict with st.
func (s *Store) conflicts(st State, changes []Change) []Conflict {
	var all []Conflict
	for _, c := range changes {
		if c.New != "" && !c.Duplicate {
			all = append(all, conflictsWith(st.Entries, c.New, s.reading)...)
		}
	}
	return all
}
