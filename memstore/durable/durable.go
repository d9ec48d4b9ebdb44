// Package durable reads and replaces one small file so that it is always the
// old or the new whole one, and holds locks that other programs respect.
//
// A new content is written beside the file, synced, and renamed over it. The
// file that was there is kept under a second name until its bytes have been
// compared with those the edit was made from, since people's editors take no
// lock. Where a rename is impossible (a file that is itself a mount) the caller
// is told, and writes in place once its journal is safe.
package durable

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// MaxSize is the largest file that is read, in bytes.
const MaxSize = 1 << 20

// Errors of this package.
var (
	// ErrRefused: the path is not a file that may be edited. The message says
	// why, in words for the user.
	ErrRefused = errors.New("refused")
	// ErrReadOnly: who owns the file has taken the right to write it away. The
	// message says how to give it back.
	ErrReadOnly = errors.New("read-only")
	// ErrNoRename: the file system does not let the file be replaced.
	ErrNoRename = errors.New("the file cannot be replaced by another")
	// ErrBusy: the lock was not had in time.
	ErrBusy = errors.New("lock not had in time")
)

// HalfSaved is how long an empty file is given to become a saved one: some
// editors empty or remove a file before they write it.
const HalfSaved = 100 * time.Millisecond

const suffix = ".hermes-mcp"

// A Next is a new content that stands beside the file and is not yet in force.
type Next struct {
	Old             string // after Replace: the second name of what was replaced, "" when there is none
	real, temp, old string
	f               *os.File
}

// Stage writes data beside the real path, not yet synced. id, unique among all
// writers of the folder, is part of the temporary name. The new file has the
// rights of old, or 0600. A spare is used up. Replace or Discard must follow.
func Stage(real, id string, data []byte, old fs.FileInfo, spare Spare) (*Next, error) {
	base := temporary(real, id)
	n := &Next{real: real, temp: base + suffix, old: base + ".old" + suffix}
	var err error
	if n.f = spare.named(n.temp); n.f == nil {
		if n.f, err = Open(n.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			return nil, err
		}
	}
	if _, err = n.f.Write(data); err == nil && old != nil && old.Mode().Perm() != 0o600 {
		err = n.f.Chmod(old.Mode().Perm())
	}
	if err != nil {
		return nil, errors.Join(err, n.Discard())
	}
	return n, nil
}

// Staged tells whether a killed writer's new content with this id still stands
// beside the real path, so that it was never put in force.
func Staged(real, id string) bool {
	_, err := os.Lstat(temporary(real, id) + suffix)
	return err == nil
}

func temporary(real, id string) string {
	return filepath.Join(filepath.Dir(real), "."+filepath.Base(real)+"."+id)
}

// Start lets the disk begin with the staged bytes, which Sync then waits for.
func (n *Next) Start() { Start(n.f) }

// Sync makes the staged bytes durable.
func (n *Next) Sync() error { return n.f.Sync() }

// Discard removes the staged bytes, unless they are in force.
func (n *Next) Discard() error {
	if n.f != nil {
		n.f.Close() // what was written is not wanted
		n.f = nil
	}
	return os.Remove(n.temp)
}

// Replace puts the staged bytes in force. That outlives a power cut once the
// folder is synced, see [SyncFolder]. was is the file as it was read; found is
// what was really there when it was replaced, which differs from was.Bytes when
// somebody wrote in between; who has just emptied it is given HalfSaved to
// write. With done set the replacement has happened even if err is not nil; Old
// must be removed when found has been taken care of. Otherwise the file is as it
// was, and Discard must follow; ErrNoRename is one of these errors.
func (n *Next) Replace(was File) (found []byte, done bool, err error) {
	err = n.f.Close()
	n.f = nil
	if err != nil {
		return nil, false, err
	}
	kept := false
	switch err := os.Link(n.real, n.old); {
	case err == nil:
		kept = true
	case errors.Is(err, fs.ErrNotExist): // never there, or just removed: nothing of theirs is replaced
		found = was.Bytes
	case noRename(err):
		return nil, false, ErrNoRename
	default: // no second names here: look once more, as late as possible
		now, err := Read(n.real)
		if err != nil {
			return nil, false, err
		}
		found = now.Bytes
	}
	if err := rename(n.temp, n.real); err != nil {
		if noRename(err) {
			err = ErrNoRename
		}
		if kept {
			err = errors.Join(err, os.Remove(n.old))
		}
		return nil, false, err
	}
	if kept {
		n.Old = n.old
		found, err = was.again(n.old)
		for end := time.Now().Add(HalfSaved); err == nil && len(found) == 0 && len(was.Bytes) > 0 && time.Now().Before(end); time.Sleep(HalfSaved / 20) {
			found, err = was.again(n.old) // an editor is about to write there
		}
	}
	return found, true, err
}

// WriteInPlace overwrites the file at the real path, for where Replace returns
// ErrNoRename. A kill in the middle leaves data's beginning before the old
// file's rest, see [Torn].
func WriteInPlace(real string, data []byte) error {
	f, err := Open(real, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	if err == nil {
		err = f.Truncate(int64(len(data)))
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Torn tells whether now is what a killed WriteInPlace of after over before
// can have left.
func Torn(now, before, after []byte) bool {
	k := 0
	for k < len(now) && k < len(after) && now[k] == after[k] {
		k++
	}
	switch {
	case len(now) > len(before):
		return k == len(now)
	case len(now) == len(before):
		return k > 0 && bytes.Equal(now[k:], before[k:])
	default:
		return false
	}
}

// A Leftover is a file that a killed writer left beside the real path.
type Leftover struct {
	Path, ID string
	Old      bool // a second name of what was there, not a new content
}

// Leftovers lists what killed writers left beside the real path. Some may
// belong to writers that live: the caller judges by the time in ID.
func Leftovers(real string) ([]Leftover, error) {
	dir, base := filepath.Dir(real), "."+filepath.Base(real)+"."
	names, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []Leftover
	for _, e := range names {
		id, ok := strings.CutPrefix(e.Name(), base)
		if id, ok2 := strings.CutSuffix(id, suffix); ok && ok2 {
			id, old := strings.CutSuffix(id, ".old")
			all = append(all, Leftover{filepath.Join(dir, e.Name()), id, old})
		}
	}
	return all, nil
}

// MakeFolder makes dir for this user only, narrows it when others may look
// into it and private is set, and makes a new one durable.
func MakeFolder(dir string, private bool) error {
	info, err := os.Stat(dir)
	switch {
	case err == nil && !info.IsDir():
		return fmt.Errorf("%s is not a folder", dir)
	case err == nil && private && info.Mode().Perm()&0o077 != 0:
		return narrow(dir)
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	parent := filepath.Dir(dir)
	if err := MakeFolder(parent, false); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := SyncFolder(parent); !errors.Is(err, fs.ErrPermission) { // one may make names in what one may not read
		return err
	}
	return nil
}

// WriteFile replaces a file that nobody else edits, whole and durably. Its
// rights are 0600.
func WriteFile(path string, data []byte) error {
	if err := write(path, data, true); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(path))
}

// WriteCache replaces a file that may be lost, whole, and does not wait for the
// disk.
func WriteCache(path string, data []byte) error { return write(path, data, false) }

func write(path string, data []byte, sync bool) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && sync {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
