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
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// MaxSize is the largest file that is read, in bytes.
const MaxSize = 1 << 20

// Errors of this package.
var (
	// ErrRefused: the path is not a file that may be edited. The message says
	// why, in words for the user.
	ErrRefused = errors.New("refused")
	// ErrNoRename: the file system does not let the file be replaced.
	ErrNoRename = errors.New("the file cannot be replaced by another")
	// ErrBusy: the lock was not had in time.
	ErrBusy = errors.New("lock not had in time")
)

// Resolve returns the real file behind path: path itself, or what a symbolic
// link leads to. A path where nothing is yet is fine. ErrRefused when the link
// is dangling, when it leads to another user's file, or when there is
// something else than a regular file.
func Resolve(path string) (string, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	if err != nil {
		return path, refuse(path, err)
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		return path, regular(path, info)
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		to, _ := os.Readlink(path) // only for the message
		return path, fmt.Errorf("%w: %s is a symbolic link to %s, which does not exist: make that file, or remove the link", ErrRefused, path, to)
	}
	if err != nil {
		return path, refuse(path, err)
	}
	if info, err = os.Stat(real); err != nil {
		return path, refuse(path, err)
	}
	if err := regular(real, info); err != nil {
		return path, err
	}
	if !ours(info) {
		return path, fmt.Errorf("%w: %s is a symbolic link to %s, which belongs to another user", ErrRefused, path, real)
	}
	return real, nil
}

func refuse(path string, err error) error {
	return fmt.Errorf("%w: %s cannot be looked at: %v", ErrRefused, path, err)
}

func regular(path string, info fs.FileInfo) error {
	switch {
	case info.Mode().IsRegular():
		return nil
	case info.IsDir():
		return fmt.Errorf("%w: %s is a folder, not a file", ErrRefused, path)
	default:
		return fmt.Errorf("%w: %s is not a regular file (%s)", ErrRefused, path, info.Mode().Type())
	}
}

// A File is what was read at one moment.
type File struct {
	Bytes []byte
	Info  fs.FileInfo // nil when there was no file

	f *os.File // still open after Hold, nil otherwise
}

// Read reads the file at a path that Resolve returned. No file is an empty
// File. ErrRefused when it is not a regular file, cannot be read, or is larger
// than MaxSize.
func Read(real string) (File, error) {
	f, err := Hold(real)
	f.Release()
	return f, err
}

// Hold is Read, and keeps the file open where that does not keep others from
// replacing it, so that its blocks are not freed while somebody waits for a
// Replace. Release must follow some time.
func Hold(real string) (file File, err error) {
	f, err := Open(real, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return File{}, nil
	}
	if err != nil {
		return File{}, refuse(real, err)
	}
	defer func() {
		if file.f == nil {
			f.Close() // only read from
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return File{}, refuse(real, err)
	}
	if err := regular(real, info); err != nil {
		return File{}, err
	}
	if info.Size() > MaxSize {
		return File{}, fmt.Errorf("%w: %s has %d bytes; at most %d are read", ErrRefused, real, info.Size(), MaxSize)
	}
	raw, err := readUpTo(f, info.Size(), MaxSize+1)
	if err != nil {
		return File{}, refuse(real, err)
	}
	if len(raw) > MaxSize {
		return File{}, fmt.Errorf("%w: %s has more than %d bytes", ErrRefused, real, MaxSize)
	}
	file = File{Bytes: raw, Info: info}
	if canHold {
		file.f = f
	}
	return file, nil
}

// Release closes a held file.
func (f *File) Release() {
	if f.f != nil {
		f.f.Close() // only read from
		f.f = nil
	}
}

// again reads the old name of what was replaced: through the open file, if it
// is that one.
func (f *File) again(old string) ([]byte, error) {
	if f.f != nil {
		info, err := os.Lstat(old)
		if err != nil {
			return nil, err
		}
		if os.SameFile(info, f.Info) {
			raw, err := readUpTo(io.NewSectionReader(f.f, 0, math.MaxInt64), info.Size(), math.MaxInt64)
			return raw, err
		}
	}
	o, err := Open(old, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	raw, err := readUpTo(o, 4<<10, math.MaxInt64)
	return raw, errors.Join(err, o.Close())
}

// readUpTo reads f to its end, or n bytes.
func readUpTo(f io.Reader, size, n int64) ([]byte, error) {
	b := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	_, err := b.ReadFrom(io.LimitReader(f, n))
	return b.Bytes(), err
}

const suffix = ".hermes-mcp"

// A Next is a new content that stands beside the file and is not yet in force.
type Next struct {
	Old             string // after Replace: the second name of what was replaced, "" when there is none
	real, temp, old string
	f               *os.File
}

// Stage writes data beside the real path, not yet synced. id, unique among all
// writers of the folder, is part of the temporary name. The new file has the
// rights of old, or 0600. Replace or Discard must follow.
func Stage(real, id string, data []byte, old fs.FileInfo) (*Next, error) {
	base := temporary(real, id)
	n := &Next{real: real, temp: base + suffix, old: base + ".old" + suffix}
	var err error
	if n.f, err = Open(n.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return nil, err
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

// Replace puts the staged bytes in force. was is the file as it was read;
// found is what was really there when it was replaced, which differs from
// was.Bytes when somebody wrote in between. With done set the replacement has
// happened even if err is not nil; Old must be removed when found has been taken
// care of. Otherwise the file is as it was, and Discard must follow;
// ErrNoRename is one of these errors. meanwhile, which may be nil, is run while
// the disk is busy.
func (n *Next) Replace(was File, meanwhile func()) (found []byte, done bool, err error) {
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
	var busy sync.WaitGroup
	if meanwhile != nil {
		busy.Go(meanwhile)
	}
	err = SyncFolder(filepath.Dir(n.real))
	busy.Wait()
	if kept {
		n.Old = n.old
		old, readErr := was.again(n.old)
		err = errors.Join(err, readErr)
		found = old
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

// WriteCache replaces a file that may be lost: whole, but not synced.
func WriteCache(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		if rm := os.Remove(f.Name()); !errors.Is(rm, fs.ErrNotExist) {
			err = errors.Join(err, rm)
		}
	}
	return err
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
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(dir))
}
