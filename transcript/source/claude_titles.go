package source

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

const (
	// mostSiblings is how many files beside a session are looked at for the
	// lines that its summaries are about, the newest first.
	mostSiblings = 200
	// siblingTail is how much of each: a summary names the last line of a
	// conversation.
	siblingTail = 64 << 10
)

// titleOthers gives the sessions beside this one the titles that its summaries
// have for them: older versions of Claude Code summed up the sessions of a folder
// at the head of the next one.
func (p *claudePass) titleOthers(ctx context.Context) error {
	if len(p.st.Leaves) == 0 || p.kind != claudeMain {
		return nil
	}
	for _, path := range siblings(p.path) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(p.st.Leaves) == 0 {
			return nil
		}
		tail, err := tailOf(path)
		if err != nil || bytes.Contains(tail, []byte(`"custom-title"`)) || bytes.Contains(tail, []byte(`"ai-title"`)) {
			continue // it is gone, or has a better title of its own
		}
		if err := p.titleOther(path, tail); err != nil {
			return err
		}
	}
	return nil
}

// titleOther gives the session at path its title, when its last lines hold one
// that a summary named.
func (p *claudePass) titleOther(path string, tail []byte) error {
	for leaf, title := range p.st.Leaves {
		at := bytes.Index(tail, []byte(`"uuid":"`+leaf+`"`))
		if at < 0 {
			continue
		}
		from := bytes.LastIndexByte(tail[:at], '\n') + 1
		to := bytes.IndexByte(tail[at:], '\n')
		if to < 0 {
			continue
		}
		var l claudeLine
		if decode(tail[from:at+to], &l) != nil || l.SessionID == "" || l.Sidechain {
			continue
		}
		delete(p.st.Leaves, leaf)
		if title = clean(strings.TrimSpace(title)); title == "" {
			continue
		}
		if err := p.sink.Session(transcript.Session{ID: claudeID(string(l.SessionID)), Title: title, SourcePath: path}); err != nil {
			return err
		}
	}
	return nil
}

// siblings lists the other sessions of the file's folder, the newest first.
func siblings(path string) []string {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil
	}
	var files []transcript.File
	for _, e := range entries {
		other := filepath.Join(filepath.Dir(path), e.Name())
		if other == path || !e.Type().IsRegular() || filepath.Ext(other) != ".jsonl" || kindOf(other) != claudeMain {
			continue
		}
		if info, err := e.Info(); err == nil {
			files = append(files, transcript.File{Path: other, Modified: info.ModTime()})
		}
	}
	slices.SortFunc(files, func(a, b transcript.File) int { return b.Modified.Compare(a.Modified) })
	var paths []string
	for _, f := range files[:min(len(files), mostSiblings)] {
		paths = append(paths, f.Path)
	}
	return paths
}

// tailOf returns the last bytes of a file.
func tailOf(path string) (tail []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	from := max(0, st.Size()-siblingTail)
	return io.ReadAll(io.NewSectionReader(f, from, st.Size()-from))
}
