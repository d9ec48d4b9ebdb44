package ledger

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/memstore/durable"
	"github.com/hermes-mcp/hermes-mcp/memstore/journal"
)

// Forget removes files, what the journal quotes of them, and what is cached of
// that. Other processes learn of it with the next line that they read. Files that
// are not there and that no line is about cost nothing. Errors: durable.ErrBusy.
func (l *Ledger) Forget(ctx context.Context, files []File) (err error) {
	if _, err := os.Stat(l.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	if err := l.takeTurn(ctx); err != nil {
		return err
	}
	defer func() { <-l.turn }()
	unlock, err := durable.Lock(ctx, l.lockPath())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	var targets []string
	for _, f := range files {
		targets = append(targets, f.Target)
		delete(l.unsettled, f.Target)
	}
	lines, err := l.Log().Forget(targets)
	if err != nil {
		return err
	}
	removed, err := removeFiles(files)
	if err != nil {
		return err
	}
	if lines+removed == 0 {
		return nil
	}
	if err := os.Remove(l.cachePath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return l.tell(journal.Forgotten, slices.Values(targets), true) // for who has read the lines that were blanked
}

// removeFiles removes files and what stands beside each under its name: its lock,
// what was staged.
func removeFiles(files []File) (removed int, err error) {
	in := make(map[string][]os.DirEntry)
	for _, f := range files {
		dir := filepath.Dir(f.Path)
		if in[dir] == nil {
			if in[dir], err = os.ReadDir(dir); errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return removed, err
			}
		}
		name := filepath.Base(f.Path)
		for _, e := range in[dir] {
			if e.Name() != name && !strings.HasPrefix(e.Name(), name+".") {
				continue
			}
			if err := os.Remove(filepath.Join(dir, e.Name())); err == nil {
				removed++
			} else if !errors.Is(err, fs.ErrNotExist) {
				return removed, err
			}
		}
	}
	return removed, nil
}
