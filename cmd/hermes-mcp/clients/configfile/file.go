package configfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Errors of an edit. The file is as it was after each of them.
var (
	ErrReadOnly = errors.New("file is read-only") // its owner took the right to write away
	ErrBroken   = errors.New("file does not parse")
	ErrRaced    = errors.New("file was changed by another program meanwhile, twice")
)

// An Outcome says what an edit did, or with dry would do.
type Outcome struct {
	Path    string // the file as resolved through symlinks
	Backup  string // the copy of the old bytes, "" when there was no file or no change
	Changed bool
	Removed bool // nothing was left in a file that is not known to have been there before us
}

// Edit changes the file at path, whose text parse reads. change may be called
// twice, since the file is read anew when somebody wrote it meanwhile. With dry
// nothing is written. Errors: ErrReadOnly, ErrBroken, ErrRaced, ErrShape.
func Edit[D Document](path string, parse func(text []byte) (D, error), dry bool, change func(D) error) (Outcome, error) {
	real, err := resolved(path)
	if err != nil {
		return Outcome{Path: path}, err
	}
	link, err := os.Lstat(path)
	linked := err == nil && link.Mode()&fs.ModeSymlink != 0
	for range 2 {
		var out Outcome
		out, err = editOnce(real, linked, parse, dry, change)
		if !errors.Is(err, ErrRaced) {
			return out, err
		}
	}
	return Outcome{Path: real}, err
}

// Read returns the document at path. Errors: ErrBroken, and those of reading.
func Read[D Document](path string, parse func(text []byte) (D, error)) (D, error) {
	var none D
	text, err := os.ReadFile(path)
	if err != nil {
		return none, err
	}
	d, err := parse(bytes.TrimPrefix(text, mark))
	if err != nil {
		return none, fmt.Errorf("%s: %w: %w", path, ErrBroken, err)
	}
	return d, nil
}

// resolved follows path to the file itself, which may not exist yet.
func resolved(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		return real, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("edit %s: %w", path, err)
	}
	if _, err := os.Lstat(path); err == nil {
		return "", fmt.Errorf("edit %s: is a symlink to a file that is not there: make that file, or remove the link", path)
	}
	return path, nil
}

func editOnce[D Document](path string, linked bool, parse func(text []byte) (D, error), dry bool, change func(D) error) (Outcome, error) {
	out := Outcome{Path: path}
	mode := fs.FileMode(0o600)
	before, err := os.ReadFile(path)
	exists := err == nil
	switch {
	case exists:
		info, err := os.Stat(path)
		if err != nil {
			return out, fmt.Errorf("edit %s: %w", path, err)
		}
		mode = info.Mode().Perm()
		if mode&0o200 == 0 {
			return out, fmt.Errorf("edit %s: %w", path, ErrReadOnly)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return out, fmt.Errorf("edit %s: %w", path, err)
	}
	text, marked := bytes.CutPrefix(before, mark)
	d, err := parse(text)
	if err != nil {
		return out, fmt.Errorf("edit %s: %w: %w", path, ErrBroken, err)
	}
	was := slices.Clone(d.Text())
	if err := change(d); err != nil {
		return out, fmt.Errorf("edit %s: %w", path, err)
	}
	if bytes.Equal(d.Text(), was) {
		return out, nil
	}
	out.Changed = true
	out.Removed = exists && !linked && bare(d.Text()) && !wasBare(path)
	if dry {
		return out, nil
	}
	if exists {
		if out.Backup, err = backup(path, before, mode); err != nil {
			return out, err
		}
	}
	if out.Removed {
		return out, remove(path, before)
	}
	after := d.Text()
	if marked {
		after = slices.Concat(mark, after)
	}
	return out, replace(path, before, exists, after, mode)
}

// mark is what some editors on Windows put before a text; it stays there.
var mark = []byte("\ufeff")

// bare tells whether a text says nothing at all.
func bare(text []byte) bool {
	text = bytes.TrimSpace(text)
	return len(text) == 0 || bytes.HasPrefix(text, []byte("{")) && len(bytes.TrimSpace(text[1:])) == 1
}

// wasBare tells whether the file said nothing before we first wrote to it: then
// it was somebody's, and stays.
func wasBare(path string) bool {
	beside, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return true
	}
	return slices.ContainsFunc(beside, func(f fs.DirEntry) bool {
		if !strings.HasPrefix(f.Name(), filepath.Base(path)+backupMark) {
			return false
		}
		text, err := os.ReadFile(filepath.Join(filepath.Dir(path), f.Name()))
		return err != nil || bare(text)
	})
}

// backupMark is in the name of every backup, behind the file's own.
const backupMark = ".before-hermes-mcp-"

// remove takes the file away, if it still holds before.
func remove(path string, before []byte) error {
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, before) {
		return fmt.Errorf("remove %s: %w", path, ErrRaced)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove %s: %w", path, err)
	}
	return nil
}

// backup keeps the old bytes beside the file, once per content.
func backup(path string, text []byte, mode fs.FileMode) (string, error) {
	sum := sha256.Sum256(text)
	name := path + backupMark + hex.EncodeToString(sum[:4])
	if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, text) {
		return name, nil
	}
	if err := os.WriteFile(name, text, mode); err != nil {
		return "", fmt.Errorf("back up %s: %w", path, err)
	}
	return name, nil
}

// replace puts text into path's place by rename, if path still holds before.
func replace(path string, before []byte, exists bool, text []byte, mode fs.FileMode) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".hermes-mcp-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temp.Name()))
		}
	}()
	_, werr := temp.Write(text)
	if err := errors.Join(werr, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	if err := os.Chmod(temp.Name(), mode); err != nil {
		return err
	}
	now, rerr := os.ReadFile(path)
	if exists != (rerr == nil) || !bytes.Equal(now, before) {
		return ErrRaced
	}
	return os.Rename(temp.Name(), path)
}
