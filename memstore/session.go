package memstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/hermes-mcp/hermes-mcp/memstore/document"
	"github.com/hermes-mcp/hermes-mcp/memstore/durable"
	"github.com/hermes-mcp/hermes-mcp/memstore/ledger"
)

const (
	// sessionsKept is how long the snapshot of a session that nobody asks for is
	// kept.
	sessionsKept = 90 * 24 * time.Hour
	// sweepEvery is how often the folder is looked through for such: each time
	// would be once for every new session, of which a server may have thousands.
	sweepEvery = 24 * time.Hour
	// sweptName is an empty file whose time tells when that was last done.
	sweptName = ".swept"
)

// SessionSnapshot returns the snapshot of session ("<source>:<id>"): the one
// kept under mcp/sessions when there is one, else a new one, kept before it is
// returned. Two processes that ask at once get the same bytes. Session files
// not used for 90 days are removed, which is looked after once a day. With an
// error that only concerns keeping it, the snapshot is good for as long as the
// process lives.
func (s *Store) SessionSnapshot(ctx context.Context, session string) (Snapshot, error) {
	path := s.sessionFile(session)
	if snap, err := s.kept(path, session); err == nil {
		return snap, nil
	}
	return s.keep(ctx, session, path, nil, false)
}

// RenewSnapshot replaces the kept snapshot of session by one of now
// (compaction, clear).
func (s *Store) RenewSnapshot(ctx context.Context, session string) (Snapshot, error) {
	return s.keep(ctx, session, s.sessionFile(session), nil, true)
}

// InheritSnapshot keeps for session, whose context is a copy of parent's, what
// parent was told, and returns it. Errors: fs.ErrNotExist when nothing is kept
// for parent.
func (s *Store) InheritSnapshot(ctx context.Context, session, parent string) (Snapshot, error) {
	snap, err := s.kept(s.sessionFile(parent), parent)
	if err != nil {
		return Snapshot{}, fmt.Errorf("the snapshot of %s: %w", parent, err)
	}
	return s.keep(ctx, session, s.sessionFile(session), &snap, true)
}

var plainName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,40}:[a-z0-9][a-z0-9._-]{0,120}$`)

// sessionFile is where the snapshot of session is kept. An id that is no safe
// or no unambiguous file name everywhere is hashed, and so is one of a named
// user, for whom the same session is another.
func (s *Store) sessionFile(session string) string {
	name := s.hashedName(session)
	if s.User == "" && plainName.MatchString(session) {
		name = strings.Replace(session, ":", "-", 1)
	}
	return s.own("sessions", name+".json")
}

func (s *Store) hashedName(session string) string {
	sum := sha256.Sum256([]byte(s.userPrefix() + session))
	return "x-" + hex.EncodeToString(sum[:16])
}

var errOtherSession = errors.New("kept for another session")

// kept reads a kept snapshot, and notes that it is in use.
func (s *Store) kept(path, session string) (Snapshot, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return Snapshot{}, err
	}
	var snap Snapshot
	if err := json.Unmarshal(raw, &snap); err != nil {
		return Snapshot{}, err
	}
	if snap.Session != session {
		return Snapshot{}, errOtherSession
	}
	now := s.now()
	if info, err := os.Stat(path); err == nil && now.Sub(info.ModTime()) > 24*time.Hour {
		if err := os.Chtimes(path, now, now); err != nil {
			return snap, nil // it will be renewed too early, at worst
		}
	}
	return snap, nil
}

// keep takes a snapshot, where none is given, and writes it to path, unless
// another process was quicker and renew is not set.
func (s *Store) keep(ctx context.Context, session, path string, given *Snapshot, renew bool) (snap Snapshot, err error) {
	if given != nil {
		snap = *given
	} else if snap, err = s.Snapshot(ctx); err != nil {
		return Snapshot{}, err
	}
	snap.Session = session
	dir := filepath.Dir(path)
	for _, d := range []string{s.own(), dir} {
		if err := durable.MakeFolder(d, true); err != nil {
			return snap, fmt.Errorf("keep the snapshot: %w", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, ledger.Patience)
	defer cancel()
	unlock, err := durable.Lock(ctx, filepath.Join(dir, ".lock"))
	if err != nil {
		return snap, explain(err)
	}
	defer func() {
		if e := unlock(); e != nil {
			err = errors.Join(err, e)
		}
	}()
	there, err := s.kept(path, session)
	switch {
	case err == nil && !renew:
		return there, nil
	case errors.Is(err, errOtherSession): // two ids, one name: the second is told apart by its hash
		path = filepath.Join(dir, s.hashedName(session)+".json")
		if there, err := s.kept(path, session); err == nil && !renew {
			return there, nil
		}
	}
	raw, err := json.Marshal(snap)
	if err == nil {
		err = durable.WriteCache(path, raw)
	}
	if now := s.now(); err == nil {
		err = os.Chtimes(path, now, now) // in use now, by our clock
	}
	if err == nil {
		err = s.sweepSessions(dir)
	}
	if err != nil {
		return snap, fmt.Errorf("keep the snapshot: %w", err)
	}
	return snap, nil
}

// ForgetSessions removes what was kept for those sessions alone: their entries,
// what the journal quotes of them, the caches of it. It returns how many entries
// there were. Errors: ErrBusy.
func (s *Store) ForgetSessions(ctx context.Context, sessions []string) (entries int, err error) {
	var files []ledger.File
	for _, session := range sessions {
		p, err := s.place(SessionTarget(session))
		if err != nil {
			return 0, err
		}
		files = append(files, p.file)
		raw, err := os.ReadFile(p.file.Path)
		if err == nil {
			entries += len(document.EntriesOf(raw))
		} else if !errors.Is(err, fs.ErrNotExist) {
			return 0, fmt.Errorf("forget what was kept for %s: %w", session, err)
		}
	}
	return entries, explain(s.ledger.Forget(ctx, files))
}

// sweepSessions removes the files that nobody has used for long, unless that
// was done today. The caller holds the folder's lock.
func (s *Store) sweepSessions(dir string) error {
	now := s.now()
	swept := filepath.Join(dir, sweptName)
	switch info, err := os.Stat(swept); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case now.Sub(info.ModTime()).Abs() < sweepEvery: // a clock may have been set back
		return nil
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		info, err := f.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && f.Name() != ".lock" && now.Sub(info.ModTime()) > sessionsKept {
			err = os.Remove(filepath.Join(dir, f.Name()))
		}
		if err != nil {
			return err
		}
	}
	if err := durable.WriteCache(swept, nil); err != nil {
		return err
	}
	return os.Chtimes(swept, now, now)
}
