// Package bridge carries curated memories between programs.
//
// [Read] understands what others keep: the CLAUDE.md of a project, the folder
// in which Claude Code keeps its own memory, the JSON lines that the reference
// server "server-memory" exports, another Hermes' MEMORY.md, and what [JSON]
// and [Markdown] write. Nothing is dropped unseen: what is no fact of its own,
// such as a code block, is returned with the reason.
//
// [Fit] sorts what was read into what the memory takes now and what it does
// not. It writes nothing, so that a person can look first.
package bridge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hermes-mcp/hermes-mcp/memstore"
	"github.com/hermes-mcp/hermes-mcp/memstore/document"
)

// largest is how many bytes of one file are read.
const largest = 8 << 20

// ErrForm is returned for what is no memory in any form that is understood.
var ErrForm = errors.New("no memory in a form that is understood")

// An Item is one fact of another memory.
type Item struct {
	Target     memstore.Target // Memory, User or Project: where it belongs by what is known of it
	Text       string
	From       string // the file's name and the line, from 1
	Source     memstore.Source
	Confidence memstore.Confidence
}

// A Skipped is what is not taken, and why.
type Skipped struct {
	From string
	Text string
	Why  string
}

// Read reads the memory at path, a file or a folder. Errors: ErrForm, those of
// the file system.
func Read(path string) (items []Item, skipped []Skipped, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, fmt.Errorf("import: %w", err)
	}
	var r reader
	if info.IsDir() {
		err = r.folder(path)
	} else {
		err = r.file(path)
	}
	if err == nil && len(r.items)+len(r.skipped) == 0 {
		err = fmt.Errorf("%s: %w: neither Markdown with text, nor JSON lines of server-memory, nor a folder of Markdown files", path, ErrForm)
	}
	return r.items, r.skipped, err
}

// A reader gathers what it finds.
type reader struct {
	items   []Item
	skipped []Skipped
}

func (r *reader) add(target memstore.Target, text, from string) {
	r.addItem(Item{Target: target, Text: text, From: from})
}

func (r *reader) addItem(it Item) {
	if it.Text = document.Clean(it.Text); it.Text != "" {
		r.items = append(r.items, it)
	}
}

func (r *reader) skip(from, text, why string) {
	r.skipped = append(r.skipped, Skipped{From: from, Text: document.Clean(text), Why: why})
}

// load reads one file as text.
func load(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("import: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > largest {
		return "", fmt.Errorf("%s: %w: not a file of at most %d bytes", path, ErrForm, largest)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("import: %w", err)
	}
	if !utf8.Valid(raw) {
		return "", fmt.Errorf("%s: %w: not UTF-8", path, ErrForm)
	}
	return document.Clean(string(raw)), nil
}

func (r *reader) file(path string) error {
	text, err := load(path)
	if err != nil {
		return err
	}
	name := filepath.Base(path)
	target := memstore.Memory
	if strings.EqualFold(name, "USER.md") {
		target = memstore.User
	}
	switch {
	case strings.HasPrefix(text, "{"):
		return r.json(name, text)
	case strings.HasPrefix(text, formMark):
		r.own(name, text)
	case document.Splits(text): // another Hermes' own
		for i, e := range document.EntriesOf([]byte(text)) {
			r.add(target, e, fmt.Sprintf("%s, entry %d", name, i+1))
		}
	default:
		r.markdown(page{name: name, target: target}, text)
	}
	return nil
}

// folder reads the Markdown files of a folder, not those below it. Claude
// Code's is named memory, within the folder of a project.
func (r *reader) folder(dir string) error {
	if sub := filepath.Join(dir, "memory"); isFolder(sub) {
		dir = sub
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	var names []string
	for _, f := range files {
		if f.Type().IsRegular() && strings.EqualFold(filepath.Ext(f.Name()), ".md") {
			names = append(names, f.Name())
		}
	}
	for _, name := range names {
		text, err := load(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		r.note(name, text, names)
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// whole is the longest note that becomes one entry, in characters.
const whole = 400

// note reads one file of Claude Code's memory: a fact with a head that names
// its type, or the index, whose lines only lead to other files.
func (r *reader) note(name, text string, names []string) {
	head, body := splitHead(text)
	p := page{name: name, target: memstore.Memory, first: strings.Count(text[:len(text)-len(body)], "\n")}
	if head.Type() == "user" {
		p.target = memstore.User
	}
	if strings.EqualFold(name, "MEMORY.md") {
		p.index = names
	}
	if body = document.Clean(body); head.Name != "" && utf8.RuneCountInString(body) <= whole && !document.Splits(body) {
		r.add(p.target, body, fmt.Sprintf("%s:%d", name, p.first+1))
		return
	}
	p.heading = head.Name
	r.markdown(p, body)
}

// A Plan is what an import would do now.
type Plan struct {
	Take    map[memstore.Target][]memstore.Op       // for one Apply a target
	After   map[memstore.Target]memstore.State      // of the targets that would get entries
	Odds    map[memstore.Target][]memstore.Conflict // what would contradict
	There   []Item                                  // known already
	Skipped []Skipped                               // the memory would not take them
}

// Fit sorts items in their order. force, unless "", is the target for all.
func Fit(ctx context.Context, store *memstore.Store, by memstore.Caller, force memstore.Target, items []Item) (Plan, error) {
	p := Plan{Take: map[memstore.Target][]memstore.Op{}, After: map[memstore.Target]memstore.State{}, Odds: map[memstore.Target][]memstore.Conflict{}}
	for _, it := range items {
		t := it.Target
		if force != "" {
			t = force
		}
		op := memstore.Op{
			Action: memstore.Add, Content: it.Text, Source: it.Source, Confidence: it.Confidence,
			Evidence: []string{"import: " + it.From},
		}
		res, err := store.Try(ctx, by, t, append(slices.Clone(p.Take[t]), op)...)
		var refused *memstore.OpError
		switch {
		case errors.As(err, &refused) && refused.Err != memstore.ErrUnreadable:
			p.Skipped = append(p.Skipped, Skipped{From: it.From, Text: it.Text, Why: refused.Error()})
		case err != nil:
			return p, err
		case res.Changes[len(res.Changes)-1].Duplicate:
			p.There = append(p.There, it)
		default:
			p.Take[t], p.After[t], p.Odds[t] = append(p.Take[t], op), res.State, res.Conflicts
		}
	}
	return p, nil
}

// exists tells whether a link of an index leads to a file beside it.
func exists(link string, names []string) bool {
	return slices.Contains(names, strings.TrimPrefix(link, "./")) && fs.ValidPath(strings.TrimPrefix(link, "./"))
}
