package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/hermes-mcp/hermes-mcp/transcript"
)

// maxDepth bounds how deep a folder is searched.
const maxDepth = 24

// walk lists the files at or below root that match, by name. A missing root
// is no error. Symlinks below root are not followed, folders that cannot be
// read are passed over; root itself may be a symlink.
func walk(ctx context.Context, name, root string, match func(path string) bool) ([]transcript.File, error) {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, missingOK(err)
	}
	if real, err = filepath.Abs(real); err != nil {
		return nil, err
	}
	var found []transcript.File
	err = filepath.WalkDir(real, func(path string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			if path != real && (d.Name() == ".git" || d.Name() == "node_modules" || strings.Count(path[len(real):], string(filepath.Separator)) > maxDepth) {
				return fs.SkipDir
			}
			return nil
		}
		if d.Type().IsRegular() && match(path) {
			if f, ok := fileAt(name, path); ok {
				found = append(found, f)
			}
		}
		return nil
	})
	sort.Slice(found, func(i, j int) bool { return found[i].Path < found[j].Path })
	return found, err
}

func missingOK(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}

// fileAt describes the file at path; ok is false when it is gone.
func fileAt(name, path string) (f transcript.File, ok bool) {
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() {
		return f, false
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return f, false
	}
	return transcript.File{Source: name, Path: abs, Size: st.Size(), Modified: st.ModTime()}, true
}

// databaseAt describes a database: size and time include the -wal file's, and
// a named database that is a folder or missing is not ok.
func databaseAt(name, path string) (f transcript.File, ok bool) {
	f, ok = fileAt(name, path)
	if !ok {
		return f, false
	}
	if wal, err := os.Stat(path + "-wal"); err == nil {
		f.Size += wal.Size()
		if wal.ModTime().After(f.Modified) {
			f.Modified = wal.ModTime()
		}
	}
	return f, true
}

// gitRoot returns the folder that holds dir's repository, the main one when
// dir lies in a worktree, or "" when dir is in none or is gone.
func gitRoot(dir string) string {
	if !filepath.IsAbs(dir) {
		return ""
	}
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		dot := filepath.Join(d, ".git")
		if st, err := os.Stat(dot); err == nil {
			if st.IsDir() {
				return d
			}
			to, err := os.ReadFile(dot)
			if to, ok := strings.CutPrefix(string(to), "gitdir:"); ok && err == nil {
				if main, _, ok := strings.Cut(filepath.ToSlash(strings.TrimSpace(to)), "/.git/worktrees/"); ok {
					return filepath.FromSlash(main)
				}
			}
			return d
		}
		if d == filepath.Dir(d) {
			return ""
		}
	}
}

// namesOf returns the names of the files that match any of the patterns.
func namesOf(patterns ...string) (map[string]bool, error) {
	names := map[string]bool{}
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil {
			return nil, fmt.Errorf("look for %s: %w", pattern, err)
		}
		for _, f := range files {
			names[filepath.Base(f)] = true
		}
	}
	return names, nil
}
